import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { stdnum } from 'stdnum'
import { checkAbn, isAbn } from '../../src/pure/checks/abn.ts'
import { holdsForAnyText, spoiled, suggestsTheOnlyRepair, textOf } from '../support/check-promises.ts'
import { runs, SEED } from '../support/counts.ts'
import { textNear } from '../support/identifiers.ts'

const few = { numRuns: runs(100, 1_000), seed: SEED }
const DIGITS = '0123456789'

/** The four steps of the register: 1 off the first digit, weights, sum, 89. Apart from the code under test. */
function sumFits(value: string): boolean {
  const digits = Array.from(value, Number).map((digit, at) => (at === 0 ? digit - 1 : digit))
  return digits.map((digit, at) => digit * (at === 0 ? 10 : 2 * at - 1)).reduce((one, other) => one + other, 0) % 89 === 0
}

/** The pair from 11 on with which the sum fits. */
function withCheck(nine: string): string {
  return Array.from({ length: 89 }, (_, index) => `${index + 11}${nine}`).find(sumFits) ?? ''
}

const good = textOf(DIGITS, 9).map(withCheck)
const promised = {
  check: checkAbn,
  is: isAbn,
  near: fc.oneof(textNear(DIGITS, 'OISBZ -/.x０٣', 14), good, spoiled(good, `${DIGITS}OISBZ- /`)),
  passesByRule: (value: string) => /^\d{11}$/.test(value) && value >= '11' && sumFits(value),
  codes: 'bad_length all_zero bad_checksum checksum_out_of_range',
  warnings: '',
}

test('of a hundred pairs one passes, and the one that fits but is never calculated is out of range', () => {
  fc.assert(
    fc.property(good, (value) => {
      for (let pair = 0; pair < 100; pair++) {
        const tried = String(pair).padStart(2, '0') + value.slice(2)
        const check = checkAbn(tried)
        assert.equal(check.valid, tried === value)
        if (check.reason_code !== 'all_zero') assert.equal(check.expected_check, value.slice(0, 2))
        if (!check.valid && sumFits(tried)) assert.equal(check.reason_code, 'checksum_out_of_range')
        assert.equal(stdnum['AU']?.['abn']?.validate(tried).isValid, check.valid, tried)
      }
    }),
    few,
  )
})

test('every single wrong digit and every swap of neighbours fails', () => {
  fc.assert(
    fc.property(good, (value) => {
      for (let at = 0; at < 11; at++) {
        for (const digit of DIGITS) assert.equal(isAbn(value.slice(0, at) + digit + value.slice(at + 1)), digit === value[at])
        const [one = '', other = ''] = value.slice(at, at + 2)
        assert.equal(isAbn(value.slice(0, at) + other + one + value.slice(at + 2)), other === '' || one === other)
      }
    }),
    few,
  )
})

test('the company number inside is found as stdnum finds it', () => {
  fc.assert(
    fc.property(good, (value) => {
      const { facts } = checkAbn(value)
      assert.equal(facts?.acn_embedded, stdnum['AU']?.['acn']?.validate(value.slice(2)).isValid)
      assert.equal(facts?.acn?.replaceAll(' ', '') ?? null, facts?.acn_embedded === true ? value.slice(2) : null)
    }),
    { ...few, numRuns: few.numRuns * 10 },
  )
})

test('any text: documented codes only, the rule written apart, a stable normal form', () => holdsForAnyText(promised))

test('a suggestion is the only single edit that passes', () => suggestsTheOnlyRepair(promised))

// Companies: the nine digits of the register (ASIC) behind two check digits; the pair by stdnum's au.acn.
test('a company number alone is told as such, with the number that it stands for', () => {
  const { valid, reason_code, reason } = checkAbn('004 085 616')
  assert.deepEqual([valid, reason_code], [false, 'bad_length'])
  assert.match(reason, /ACN.* 53004085616\./)
  for (const text of ['004085617', '000000000']) assert.doesNotMatch(checkAbn(text).reason, /ACN/)
})
