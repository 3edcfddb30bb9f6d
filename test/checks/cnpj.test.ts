import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkCnpj, isCnpj } from '../../src/pure/checks/cnpj.ts'
import { around, exactly, holdsForAnyText, stdnumTakes } from '../support/check-properties.ts'
import { runs, SEED } from '../support/counts.ts'

const DIGITS = '0123456789'
const PLAIN = `${DIGITS}ABCDEFGHIJKLMNOPQRSTUVWXYZ`
const WEIGHTS = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]

/** Apart from the code under test: the rule as Receita Federal words it, one digit after the other. */
function withCheck(free: string): string {
  return [0, 1].reduce((text) => {
    const weights = WEIGHTS.slice(-text.length)
    const sum = Array.from(text).reduce((total, unit, index) => total + (unit.charCodeAt(0) - 48) * (weights[index] ?? 0), 0)
    return text + (sum % 11 < 2 ? 0 : 11 - (sum % 11))
  }, free)
}

const good = fc
  .oneof(exactly(12, DIGITS), exactly(12, PLAIN))
  .filter((free) => !/^0+$/.test(free))
  .map(withCheck)
const near = around(good, `${PLAIN}-*é٣`)

holdsForAnyText({
  check: checkCnpj,
  is: isCnpj,
  codes: 'empty too_long_input non_ascii_digits bad_charset bad_separator bad_length bad_structure all_zero bad_checksum',
  warnings: 'reserved_range',
  near,
})

test('calculated check digits pass and every other pair fails', () => {
  fc.assert(
    fc.property(good, (cnpj) => {
      for (let pair = 0; pair < 100; pair++) {
        const written = String(pair).padStart(2, '0')
        const { valid, expected_check } = checkCnpj(cnpj.slice(0, 12) + written)
        assert.deepEqual([valid, expected_check], [written === cnpj.slice(12), cnpj.slice(12)])
      }
    }),
    { numRuns: runs(100, 2_000), seed: SEED },
  )
})

test('agrees with stdnum, but for the zeros', () => {
  fc.assert(
    fc.property(near, (text) => {
      if (/^[0-9A-Z]+$/.test(text)) assert.equal(isCnpj(text), stdnumTakes('BR', 'cnpj', text), text)
    }),
    { numRuns: runs(3_000, 20_000), seed: SEED },
  )
  assert.deepEqual([isCnpj('0'.repeat(14)), stdnumTakes('BR', 'cnpj', '0'.repeat(14))], [false, true])
})

test('the print form is the value again', () => {
  fc.assert(
    fc.property(good, (cnpj) => {
      const { facts } = checkCnpj(cnpj)
      assert.match(facts?.print_form ?? '', /^.{2}\..{3}\..{3}\/.{4}-[0-9]{2}$/)
      assert.equal(checkCnpj(facts?.print_form ?? '').normalized, cnpj)
    }),
    { numRuns: 500, seed: SEED },
  )
})

test('the number of a person is named, and a zero that a spreadsheet dropped is proposed', () => {
  assert.match(checkCnpj('390.533.447-05').reason, /CPF/)
  for (const text of ['39053344706', '11111111111']) assert.doesNotMatch(checkCnpj(text).reason, /CPF/)
  assert.equal(checkCnpj('191').suggestion, null)
  assert.equal(checkCnpj('0000000000191').suggestion, '00000000000191')
})
