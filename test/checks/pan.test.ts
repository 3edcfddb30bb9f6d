import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkPan, isPan } from '../../src/pure/checks/pan.ts'
import { around, exactly, holdsForAnyText, stdnumTakes } from '../support/check-properties.ts'
import { SEED } from '../support/counts.ts'

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const DIGITS = '0123456789'
const good = fc
  .tuple(exactly(3, LETTERS), exactly(1, 'ABCFGHJLPT'), exactly(1, LETTERS), exactly(4, DIGITS), exactly(1, LETTERS))
  .map((parts) => parts.join(''))
  .filter((pan) => !pan.includes('0000'))
const near = around(good, `${DIGITS}${LETTERS}-/é٣`)

holdsForAnyText({
  check: checkPan,
  is: isPan,
  codes: 'empty too_long_input non_ascii_digits bad_charset bad_separator bad_length bad_structure bad_component reserved_range',
  warnings: 'not_listed',
  near,
})

test('agrees with stdnum, but for the holder E, which some lists have', () => {
  fc.assert(
    fc.property(near, (text) => {
      if (!/^[0-9A-Z]*$/.test(text) || text[3] === 'E') return
      assert.equal(isPan(text), stdnumTakes('IN', 'pan', text), text)
    }),
    { numRuns: 3_000, seed: SEED },
  )
})

test('holders that only some lists have pass with a remark', () => {
  for (const [pan, expected] of Object.entries({ AAAEB1234C: ['not_listed'], AAAKB1234C: ['not_listed'], AAAPB1234C: [] })) {
    const { valid, warnings } = checkPan(pan)
    assert.deepEqual([valid, warnings.map(({ code }) => code)], [true, expected])
  }
})

test('the masked form hides all but four characters', () => {
  assert.equal(checkPan('AAPPV8261K').facts?.masked, 'AA******1K')
})
