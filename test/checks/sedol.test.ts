import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import validator from 'validator'
import { checkSedol, isSedol } from '../../src/pure/checks/sedol.ts'
import { holdsForAnyText, spoiled, suggestsTheOnlyRepair, textOf } from '../support/check-promises.ts'
import { runs, SEED } from '../support/counts.ts'
import { textNear } from '../support/identifiers.ts'

const few = { numRuns: runs(200, 5_000), seed: SEED }
const DIGITS = '0123456789'
const CONSONANTS = 'BCDFGHJKLMNPQRSTVWXYZ'

function sum(value: string): number {
  return Array.from(value, (unit) => Number.parseInt(unit, 36)).reduce(
    (total, one, at) => total + one * ([1, 3, 1, 7, 3, 9, 1][at] ?? 0),
    0,
  )
}

function withCheck(six: string): string {
  return Array.from(DIGITS, (digit) => six + digit).find((seven) => sum(seven) % 10 === 0) ?? ''
}

const numeric = textOf(DIGITS, 6).map(withCheck)
const alphanumeric = fc.tuple(textOf(CONSONANTS, 1), textOf(DIGITS + CONSONANTS, 5)).map(([first, rest]) => withCheck(first + rest))
const good = fc.oneof(numeric, alphanumeric)
const promised = {
  check: checkSedol,
  is: isSedol,
  near: fc.oneof(textNear(DIGITS + CONSONANTS, 'AEIOUabk -/.０Ｂ٣', 9), good, spoiled(good, `${DIGITS + CONSONANTS}AEIOU- /`)),
  passesByRule: (value: string) => /^(?:\d{7}|[B-DF-HJ-NP-TV-Z][\dB-DF-HJ-NP-TV-Z]{5}\d)$/.test(value) && sum(value) % 10 === 0,
  codes: 'bad_length bad_structure bad_checksum',
  warnings: 'reserved_range all_zero',
}

test('a calculated check digit passes, every other one is named wrong', () => {
  fc.assert(
    fc.property(good, (value) => {
      for (const digit of DIGITS) {
        const check = checkSedol(value.slice(0, 6) + digit)
        assert.equal(check.valid, digit === value[6])
        assert.equal(check.expected_check, value[6])
      }
    }),
    few,
  )
})

test('a wrong digit fails, a wrong letter too unless it lies ten or twenty places off', () => {
  fc.assert(
    fc.property(good, (value) => {
      for (let at = 0; at < 7; at++) {
        const here = value.charAt(at)
        for (const unit of DIGITS.includes(here) ? DIGITS : CONSONANTS) {
          const same = (Number.parseInt(unit, 36) - Number.parseInt(here, 36)) % 10 === 0
          assert.equal(isSedol(value.slice(0, at) + unit + value.slice(at + 1)), same)
        }
      }
    }),
    few,
  )
})

test('the British ISIN passes with validator, and numbers of users have none', () => {
  fc.assert(
    fc.property(good, (value) => {
      const { facts, warnings } = checkSedol(value)
      const own = value.startsWith('9')
      assert.equal(facts?.gb_isin === null, own)
      assert.equal(
        warnings.some(({ code }) => code === 'reserved_range'),
        own,
      )
      if (!own) assert.ok(validator.isISIN(facts?.gb_isin ?? ''))
    }),
    few,
  )
})

test('any text: documented codes only, the rule written apart, a stable normal form', () => holdsForAnyText(promised))

test('a suggestion is the only single edit that passes', () => suggestsTheOnlyRepair(promised))
