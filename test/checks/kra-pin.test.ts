import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkKraPin, isKraPin } from '../../src/pure/checks/kra-pin.ts'
import { around, exactly, holdsForAnyText, stdnumTakes } from '../support/check-properties.ts'
import { SEED } from '../support/counts.ts'

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const DIGITS = '0123456789'
const good = fc
  .tuple(exactly(1, 'AP'), exactly(9, DIGITS), exactly(1, LETTERS))
  .map((parts) => parts.join(''))
  .filter((pin) => !pin.includes('000000000'))
const near = around(good, `${DIGITS}${LETTERS}|-é٣`)

holdsForAnyText({
  check: checkKraPin,
  is: isKraPin,
  codes: 'empty too_long_input non_ascii_digits bad_charset bad_separator bad_length bad_prefix bad_structure all_zero',
  warnings: 'none',
  near,
})

test('agrees with stdnum, but for the bar in front and zeros', () => {
  fc.assert(
    fc.property(near, (text) => {
      if (/^[0-9A-Z]+$/.test(text)) assert.equal(isKraPin(text), stdnumTakes('KE', 'pin', text), text)
    }),
    { numRuns: 3_000, seed: SEED },
  )
  assert.deepEqual([isKraPin('|051365947M'), stdnumTakes('KE', 'pin', '|051365947M')], [false, true])
})

test('no letter is held for a wrong check letter, and the answer says so', () => {
  for (const letter of LETTERS) {
    const { verdict, facts, expected_check } = checkKraPin(`P051365947${letter}`)
    assert.deepEqual([verdict, facts?.check_letter_verifiable, expected_check], ['well_formed_unverifiable', false, null])
  }
})
