import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkCompanyNumber, isCompanyNumber } from '../../src/pure/checks/company-number.ts'
import { runs, SEED } from '../support/counts.ts'
import { anyText, singleEdits, textNear } from '../support/identifiers.ts'

const CODES = new Set('ok empty too_long_input non_ascii_digits bad_charset bad_separator bad_length bad_structure all_zero'.split(' '))
/** The prefixes of the registrar's guide, and those that the census of the company data file met. */
const KNOWN =
  'AC BR CE CS EN ES FC FE GE GN GS IC IP LP NA NC NF NI NL NO NP NR NV NZ OC OE PC RC RS SA SC SE SF SG SI SL SO SP SR SZ ZC'.split(' ')
const DIGITS = '0123456789'
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const digits = (length: number) =>
  fc.string({ unit: fc.constantFrom(...DIGITS.split('')), minLength: length, maxLength: length }).filter((text) => /[1-9]/.test(text))
const letters = (length: number) => fc.string({ unit: fc.constantFrom(...LETTERS.split('')), minLength: length, maxLength: length })
const good = fc.oneof(
  digits(8),
  digits(7).map((number) => `R${number}`),
  fc.tuple(letters(2), digits(6)).map((parts) => parts.join('')),
)
const near = textNear('0123456789SCNIORLP', 'ab -–./_é٣Ａ\u200b', 10)
const many = { numRuns: runs(2_000, 20_000), seed: SEED }

/** Written apart from the code under test, for values of eight characters. */
const passes = (value: string) =>
  (/^(?:[0-9]{8}|[A-Z]{2}[0-9]{6}|R[0-9]{7})$/.test(value) && /[1-9]/.test(value)) ||
  /^(?:SL|NI|IP|SP|NP|NO|RS)(?=.{6}$)[0-9]{3,5}[A-Z]{1,3}$/.test(value)

test('the shapes of the register pass, and never as more than well formed', () => {
  fc.assert(
    fc.property(good, (number) => {
      const check = checkCompanyNumber(number)
      assert.deepEqual([check.valid, check.verdict, check.normalized], [true, 'well_formed_unverifiable', number])
      assert.equal(check.facts?.parts.at(-1)?.end, 8)
      assert.equal(`${check.facts?.prefix}${check.facts?.number}`, number)
      const known = /^(?:[0-9]|R[0-9])/.test(number) || KNOWN.includes(number.slice(0, 2))
      assert.equal(check.facts?.register !== null, known, number)
      assert.equal(
        check.warnings.some(({ code }) => code === 'bad_prefix'),
        !known,
      )
    }),
    many,
  )
})

test('zeros that were left out go behind the letters', () => {
  fc.assert(
    fc.property(fc.constantFrom('', 'R', 'SC', 'OC'), fc.integer({ min: 1, max: 999_999 }), (prefix, number) => {
      const whole = prefix + String(number).padStart(8 - prefix.length, '0')
      const { valid, normalized, changes, warnings } = checkCompanyNumber(`${prefix}${number}`)
      const padded = `${prefix}${number}` !== whole
      assert.deepEqual([valid, normalized, changes.includes('padded_zeros')], [true, whole, padded])
      assert.equal(
        warnings.some(({ code }) => code === 'too_short'),
        padded,
      )
    }),
    many,
  )
})

test('letters at the end belong to a few registers', () => {
  for (const prefix of [...KNOWN, 'ZZ']) {
    const allowed = ['IP', 'NI', 'NO', 'NP', 'RS', 'SL', 'SP'].includes(prefix)
    assert.equal(isCompanyNumber(`${prefix}00525R`), allowed, prefix)
    assert.equal(isCompanyNumber(`${prefix}AB525R`), false)
  }
})

test('any text: documented codes only, isCompanyNumber agrees, and what was normalized stays so', () => {
  fc.assert(
    fc.property(fc.oneof(anyText, near, good), (text) => {
      const check = checkCompanyNumber(text)
      assert.ok(CODES.has(check.reason_code), check.reason_code)
      assert.equal(check.valid, check.findings.length === 0)
      assert.equal(isCompanyNumber(text), check.valid, text)
      if (check.findings.every(({ code }) => !/^(empty|too_long_input|non_ascii_digits)$/.test(code))) {
        assert.equal(check.valid, passes(check.normalized), text)
        assert.equal(checkCompanyNumber(check.normalized).normalized, check.normalized)
      }
      for (const { found } of check.findings) assert.ok(found === null || found.isWellFormed())
    }),
    many,
  )
})

test('a suggestion is the only single edit that lands on a known register', () => {
  const spoiled = fc
    .tuple(fc.constantFrom('SC045551', 'OC301540', '00445790', 'NI000123'), fc.nat(7), fc.constantFrom(...'0158OISBZ'.split('')))
    .map(([number, place, unit]) => number.slice(0, place) + unit + number.slice(place + 1))
  let suggested = 0
  fc.assert(
    fc.property(spoiled, (text) => {
      const { valid, normalized, suggestion } = checkCompanyNumber(text)
      if (valid) return
      const passing = singleEdits(normalized).filter(
        (edit) => passes(edit) && (/^(?:[0-9]|R[0-9])/.test(edit) || KNOWN.includes(edit.slice(0, 2))),
      )
      assert.equal(suggestion, passing.length === 1 ? passing[0] : null, text)
      if (suggestion !== null) suggested++
    }),
    many,
  )
  assert.ok(suggested > 0)
})
