import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkLei, isLei } from '../../src/pure/checks/lei.ts'
import { runs, SEED } from '../support/counts.ts'
import { anyText, singleEdits, textNear } from '../support/identifiers.ts'
import { bigCheck97, bigRemainder97 } from '../support/mod97.ts'

const CODES = new Set(
  'ok empty too_long_input non_ascii_digits bad_charset bad_separator bad_length bad_structure all_zero bad_checksum checksum_out_of_range'.split(
    ' ',
  ),
)
const DIGITS = '0123456789'
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const good = fc
  .string({ unit: fc.constantFrom(...(DIGITS + LETTERS).split('')), minLength: 18, maxLength: 18 })
  .map((free) => free + bigCheck97(free))
const near = textNear(DIGITS + LETTERS, 'abz -–./é٣Ａ\u200b', 24)
const spoiled = fc
  .tuple(good, fc.nat(19), fc.constantFrom(...`${DIGITS}OISBZ-/é`.split('')))
  .map(([lei, at, unit]) => lei.slice(0, at) + unit + lei.slice(at + 1))
const few = { numRuns: runs(100, 1_000), seed: SEED }
const many = { numRuns: runs(2_000, 20_000), seed: SEED }

test('check digits calculated as the standard words it pass, every other pair fails', () => {
  fc.assert(
    fc.property(good, (lei) => {
      const free = lei.slice(0, 18)
      assert.equal(checkLei(lei).reason_code, 'ok')
      for (let pair = 0; pair < 100; pair++) {
        const written = String(pair).padStart(2, '0')
        const check = checkLei(free + written)
        assert.equal(check.valid, free + written === lei)
        assert.equal(check.expected_check, lei.slice(18))
        const alias = bigRemainder97(free + written) === 1 && !check.valid
        if (alias) assert.equal(check.reason_code, 'checksum_out_of_range')
      }
    }),
    few,
  )
})

test('every single digit for a digit and letter for a letter fails', () => {
  fc.assert(
    fc.property(good, (lei) => {
      for (let at = 0; at < lei.length; at++) {
        for (const unit of DIGITS.includes(lei[at] ?? '') ? DIGITS : LETTERS) {
          assert.equal(isLei(lei.slice(0, at) + unit + lei.slice(at + 1)), unit === lei[at])
        }
      }
    }),
    few,
  )
})

test('twenty characters, no more and no fewer, whatever the remainder', () => {
  for (let length = 1; length <= 40; length++) {
    if (length < 3 || length === 20) continue
    const free = '5493001234567890123456789012345678901234'.slice(0, length - 2)
    const check = checkLei(free + bigCheck97(free))
    assert.deepEqual([check.reason_code, check.facts], ['bad_length', null])
  }
})

test('an issuer is named by the prefix of no code that is older than the scheme', () => {
  fc.assert(
    fc.property(good, fc.constantFrom('5493', '2138', '5299'), (lei, prefix) => {
      for (const middle of ['00', lei.slice(4, 6)]) {
        const free = prefix + middle + lei.slice(6, 18)
        const facts = checkLei(free + bigCheck97(free)).facts
        assert.deepEqual([facts?.legacy_prefix, facts?.lou_name === null], [middle !== '00', middle !== '00'])
      }
    }),
    few,
  )
})

test('any text: documented codes only, and isLei agrees', () => {
  fc.assert(
    fc.property(fc.oneof(anyText, near, spoiled), (text) => {
      const check = checkLei(text)
      assert.ok(CODES.has(check.reason_code), check.reason_code)
      assert.equal(check.valid, check.findings.length === 0)
      assert.equal(isLei(text), check.valid, text)
      if (check.valid) assert.equal(isLei(check.normalized), true)
      for (const { found } of check.findings) assert.ok(found === null || found.isWellFormed())
    }),
    many,
  )
})

test('a suggestion passes and is the only single edit that does', () => {
  fc.assert(
    fc.property(spoiled, (text) => {
      const { reason_code, normalized, suggestion } = checkLei(text)
      if (reason_code === 'ok') return
      const passing = singleEdits(normalized).filter(
        (edit) => /^[0-9A-Z]{18}(?!00|01|99)[0-9]{2}$/.test(edit) && bigRemainder97(edit) === 1,
      )
      assert.equal(suggestion, passing.length === 1 ? passing[0] : null, text)
    }),
    many,
  )
})
