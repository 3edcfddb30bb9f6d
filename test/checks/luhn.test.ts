import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkLuhn, isLuhn } from '../../src/pure/checks/luhn.ts'
import { runs, SEED } from '../support/counts.ts'
import { anyText, singleEdits, textNear } from '../support/identifiers.ts'

const CODES = new Set(['ok', 'empty', 'too_long_input', 'non_ascii_digits', 'bad_charset', 'bad_separator', 'bad_length', 'bad_checksum'])
const CARD = { min_digits: 12, max_digits: 19 }
const few = { numRuns: runs(200, 5_000), seed: SEED }
const many = { numRuns: runs(1_000, 20_000), seed: SEED }

const payload = fc.string({ unit: fc.constantFrom(...Array.from('0123456789')), minLength: 1, maxLength: 30 })
const near = textNear('0123456789', '0123456789OISBZ -.x０٣', 22)

/** Apart from the code under test: every second digit from the right is replaced by the digit sum of its double. */
function withCheck(digits: string): string {
  const cross = [0, 2, 4, 6, 8, 1, 3, 5, 7, 9]
  const sum = Array.from(digits)
    .toReversed()
    .reduce((total, digit, index) => total + (index % 2 === 0 ? (cross[+digit] ?? 0) : +digit), 0)
  return digits + String((10 - (sum % 10)) % 10)
}

test('published numbers of any length', () => {
  // Wikipedia "Luhn algorithm", Rosetta Code "Luhn test", Canadian SIN specimen.
  for (const number of ['79927398713', '49927398716', '046 454 286', '18', '00', '4111111111111111'])
    assert.equal(isLuhn(number), true, number)
  for (const number of ['79927398710', '49927398717', '046 454 287', '1', '']) assert.equal(isLuhn(number), false, number)
})

test('a calculated check digit passes and every other digit in its place is named wrong', () => {
  fc.assert(
    fc.property(payload, (digits) => {
      const number = withCheck(digits)
      const check = checkLuhn(number)
      assert.equal(check.valid, true)
      assert.equal(check.facts?.payload, digits)
      const wrong = checkLuhn(digits + `${(Number.parseInt(number.slice(-1), 10) + 1) % 10}`)
      assert.equal(wrong.reason_code, 'bad_checksum')
      assert.equal(wrong.expected_check, number.at(-1))
    }),
    few,
  )
})

test('every single wrong digit fails; of swapped neighbours only 09 and 90 pass', () => {
  fc.assert(
    fc.property(payload, (digits) => {
      const number = withCheck(digits)
      for (let at = 0; at < number.length; at++) {
        for (const digit of '0123456789') {
          assert.equal(isLuhn(number.slice(0, at) + digit + number.slice(at + 1)), digit === number[at])
        }
        const pair = number.slice(at, at + 2)
        if (pair.length < 2 || pair[0] === pair[1]) continue
        assert.equal(isLuhn(number.slice(0, at) + pair[1] + pair[0] + number.slice(at + 2)), pair === '09' || pair === '90')
      }
    }),
    few,
  )
})

test('each stated blind spot is one', () => {
  const number = withCheck('9022033044')
  for (const [from, to] of Object.entries({ 90: '09', 22: '55', 33: '66', 44: '77' })) {
    const other = number.replace(from, to)
    assert.notEqual(other, number)
    assert.equal(isLuhn(other), true, from)
  }
  assert.equal(isLuhn(`00${number}`), true)
  const [a = '', b = '', c = ''] = withCheck('12')
  assert.equal(isLuhn(c + b + a), true)
})

test('bounds decide the length, spaces and hyphens do not count', () => {
  for (let length = 1; length <= 24; length++) {
    const number = withCheck('7'.repeat(length - 1))
    const spaced = Array.from(number).join(' - ')
    const expected = length >= 12 && length <= 19
    assert.equal(isLuhn(number, CARD), expected)
    assert.equal(isLuhn(spaced, CARD), expected)
    if (!expected) assert.equal(checkLuhn(spaced, CARD).reason_code, 'bad_length')
  }
  assert.equal(isLuhn('0'.repeat(256)), true)
  assert.equal(checkLuhn('0'.repeat(257)).reason_code, 'too_long_input')
})

test('zeros pass with a warning', () => {
  assert.deepEqual(
    checkLuhn('0000').warnings.map(({ code }) => code),
    ['all_zero'],
  )
  assert.deepEqual(checkLuhn('18').warnings, [])
})

test('any text: documented codes only, a stable normal form, and isLuhn agrees', () => {
  fc.assert(
    fc.property(fc.oneof(anyText, near), fc.constantFrom(undefined, CARD), (text, bounds) => {
      const check = checkLuhn(text, bounds)
      assert.ok(CODES.has(check.reason_code))
      assert.equal(check.valid, check.findings.length === 0)
      assert.equal(isLuhn(text, bounds), check.valid)
      if (check.reason_code === 'too_long_input') return
      const again = checkLuhn(check.normalized, bounds)
      assert.equal(again.normalized, check.normalized)
      assert.deepEqual(again.changes, [])
      assert.equal(again.reason_code, check.reason_code)
    }),
    many,
  )
})

test('a suggestion passes and is the only single edit that does', () => {
  fc.assert(
    fc.property(near, (text) => {
      const { reason_code, normalized, suggestion } = checkLuhn(text)
      if (suggestion !== null) assert.equal(isLuhn(suggestion), true)
      if (reason_code === 'ok' || reason_code === 'empty' || reason_code === 'non_ascii_digits') return
      const passing = singleEdits(normalized).filter((edit) => /^[0-9]{2,}$/.test(edit) && withCheck(edit.slice(0, -1)) === edit)
      assert.equal(suggestion, passing.length === 1 ? passing[0] : null)
    }),
    many,
  )
})
