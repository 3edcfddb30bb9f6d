import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkUaeTrn, isUaeTrn } from '../../src/pure/checks/uae-trn.ts'
import { around, exactly, holdsForAnyText } from '../support/check-properties.ts'
import { SEED } from '../support/counts.ts'

const DIGITS = '0123456789'
const good = exactly(12, DIGITS)
  .filter((rest) => !/^0+$/.test(rest))
  .map((rest) => `100${rest}`)

holdsForAnyText({
  check: checkUaeTrn,
  is: isUaeTrn,
  codes: 'empty too_long_input non_ascii_digits bad_charset bad_separator bad_length bad_prefix all_zero series_newer',
  warnings: 'none',
  near: around(good, `${DIGITS}OISBZ-/é٣`),
})

test('fifteen digits that begin with 100 and nothing else', () => {
  const any = fc.oneof(good, exactly(15, DIGITS), exactly(14, DIGITS), exactly(16, DIGITS), exactly(15, '01'))
  fc.assert(
    fc.property(any, (trn) => assert.equal(isUaeTrn(trn), /^100(?!0+$)[0-9]{12}$/.test(trn))),
    { numRuns: 3_000, seed: SEED },
  )
})

test('series 101 to 109 are well formed and not confirmed, series 110 and beyond are invalid', () => {
  const verdicts = Array.from({ length: 1_000 }, (_, series) => checkUaeTrn(`${String(series).padStart(3, '0')}123456700003`).verdict)
  const count = (verdict: string) => verdicts.filter((one) => one === verdict).length
  assert.deepEqual([verdicts[100], count('valid'), count('invalid')], ['valid', 1, 990])
  assert.deepEqual(new Set(verdicts.slice(101, 110)), new Set(['well_formed_unverifiable']))
})

test('the first ten digits are the TIN, and the word in front is taken off', () => {
  fc.assert(
    fc.property(good, fc.constantFrom('', 'TRN', 'trn ', 'TRN: '), (trn, word) => {
      const { facts, verdict, normalized } = checkUaeTrn(word + trn)
      assert.deepEqual([verdict, normalized], ['valid', trn])
      assert.deepEqual([facts?.tin, facts?.peppol_participant_id], [trn.slice(0, 10), `0235:${trn.slice(0, 10)}`])
      assert.equal(isUaeTrn(word + trn), true)
    }),
    { numRuns: 500, seed: SEED },
  )
})
