import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkIfsc, isIfsc } from '../../src/pure/checks/ifsc.ts'
import { around, exactly, holdsForAnyText } from '../support/check-properties.ts'
import { SEED } from '../support/counts.ts'

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const PLAIN = `0123456789${LETTERS}`
const good = fc.tuple(exactly(4, LETTERS), exactly(6, PLAIN)).map(([bank, branch]) => `${bank}0${branch}`)

holdsForAnyText({
  check: checkIfsc,
  is: isIfsc,
  codes: 'empty too_long_input non_ascii_digits bad_charset bad_separator bad_length bad_structure',
  warnings: 'not_listed',
  near: around(good, `${PLAIN}oO0-/é٣`),
})

test('the pattern of the Reserve Bank and nothing else', () => {
  const any = fc.oneof(good, exactly(11, PLAIN), exactly(11, 'A0O1'))
  fc.assert(
    fc.property(any, (code) => assert.equal(isIfsc(code), /^[A-Z]{4}0[A-Z0-9]{6}$/.test(code))),
    { numRuns: 2_000, seed: SEED },
  )
})

test('the letter O for the zero is put right, whatever stands behind it', () => {
  fc.assert(
    fc.property(good, (code) => {
      const { valid, suggestion } = checkIfsc(`${code.slice(0, 4)}O${code.slice(5)}`)
      assert.deepEqual([valid, suggestion], [false, code])
    }),
    { numRuns: 500, seed: SEED },
  )
})

test('a code without checksum is never called more than well formed', () => {
  const { verdict, facts, expected_check } = checkIfsc('SBIN0000300')
  assert.deepEqual(
    [verdict, facts?.bank_name, facts?.branch_code, expected_check],
    ['well_formed_unverifiable', 'State Bank of India', '000300', null],
  )
})
