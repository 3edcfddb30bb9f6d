import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { stdnum } from 'stdnum'
import { checkEin, isEin } from '../../src/pure/checks/ein.ts'
import { holdsForAnyText, spoiled, suggestsTheOnlyRepair, textOf } from '../support/check-promises.ts'
import { runs, SEED } from '../support/counts.ts'
import { textNear } from '../support/identifiers.ts'

const few = { numRuns: runs(300, 5_000), seed: SEED }
const DIGITS = '0123456789'
/** IRS, How EINs are assigned and valid EIN prefixes: these belong to nobody. */
const UNASSIGNED = '00 07 08 09 17 18 19 28 29 49 69 70 78 79 89 96 97'.split(' ')
const passesByRule = (value: string) => /^\d{9}$/.test(value) && !UNASSIGNED.includes(value.slice(0, 2))

const good = textOf(DIGITS, 9).filter(passesByRule)
const promised = {
  check: checkEin,
  is: isEin,
  near: fc.oneof(textNear(DIGITS, 'OISBZ -/.x０٣', 12), good, spoiled(good, `${DIGITS}OISBZ- /`)),
  passesByRule,
  codes: 'bad_length bad_prefix',
  warnings: 'bad_separator',
  leading_zero: true,
}

test('a hundred prefixes, as stdnum has them; each assigned one names its campuses', () => {
  for (let number = 0; number < 100; number++) {
    const prefix = String(number).padStart(2, '0')
    const { valid, verdict, facts } = checkEin(`${prefix}-1234567`)
    assert.equal(valid, !UNASSIGNED.includes(prefix), prefix)
    assert.equal(valid, stdnum['US']?.['ein']?.validate(`${prefix}1234567`).isValid, prefix)
    assert.equal(verdict, valid ? 'well_formed_unverifiable' : 'invalid')
    assert.equal((facts?.campuses.length ?? 0) > 0, valid)
  }
})

test('dashes and spaces anywhere; only a hyphen or space behind the second digit goes without a remark', () => {
  fc.assert(
    fc.property(
      good,
      fc.array(fc.tuple(fc.integer({ min: 1, max: 8 }), fc.constantFrom('-', ' ', '–', '\u00a0')), { maxLength: 3 }),
      (value, marks) => {
        const text = Array.from(value, (digit, at) => marks.flatMap(([place, mark]) => (place === at ? [mark] : [])).join('') + digit).join(
          '',
        )
        const check = checkEin(text)
        assert.equal(check.valid, true)
        assert.equal(check.normalized, value)
        assert.equal(check.facts?.print_form, `${value.slice(0, 2)}-${value.slice(2)}`)
        assert.equal(check.warnings.length, marks.every(([place]) => place === 2) ? 0 : 1)
      },
    ),
    few,
  )
  assert.match(checkEin('123-45-6789').warnings[0]?.message ?? '', /social security/)
  assert.match(checkEin('1-23456789').warnings[0]?.message ?? '', /unusually/)
  for (const text of ['  12-3456789 ', 'EIN 12-3456789', 'FEIN: 12 3456789', 'EIN-12-3456789', '12-3456789-', '- 123456789'])
    assert.deepEqual(checkEin(text).warnings, [])
})

test('any text: documented codes only, the rule written apart, a stable normal form', () => holdsForAnyText(promised))

test('a suggestion is the only repair, a dropped zero included', () => suggestsTheOnlyRepair(promised))
