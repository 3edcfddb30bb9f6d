import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { iso31661Alpha2ToAlpha3 } from 'iso-3166'
import validator from 'validator'
import { checkIsin, isIsin } from '../../src/pure/checks/isin.ts'
import { holdsForAnyText, spoiled, suggestsTheOnlyRepair, textOf } from '../support/check-promises.ts'
import { runs, SEED } from '../support/counts.ts'
import { textNear } from '../support/identifiers.ts'

const few = { numRuns: runs(200, 5_000), seed: SEED }
const DIGITS = '0123456789'
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
/** ANNA, and countries that are gone; XK is Kosovo. */
const OTHERS = 'EU XS XA XB XC XD XF XK XT EZ QS QT QW AN SU CS YU'.split(' ')
const PREFIXES = new Set([...Object.keys(iso31661Alpha2ToAlpha3), ...OTHERS])

/** ISO 6166, annex C, as it is worded: letters to numbers, double every second from the right, add all digits. */
function isLuhn(value: string): boolean {
  const digits = Array.from(value, (unit) => Number.parseInt(unit, 36)).join('')
  const doubled = Array.from(digits, Number).map((digit, at) => ((digits.length - at) % 2 === 0 ? digit * 2 : digit))
  return Array.from(doubled.join(''), Number).reduce((one, other) => one + other, 0) % 10 === 0
}

function withCheck(eleven: string): string {
  return Array.from(DIGITS, (digit) => eleven + digit).find(isLuhn) ?? ''
}

const good = fc.tuple(fc.constantFrom(...PREFIXES), textOf(DIGITS + LETTERS, 9)).map(([prefix, nsin]) => withCheck(prefix + nsin))
const promised = {
  check: checkIsin,
  is: isIsin,
  near: fc.oneof(textNear(DIGITS + LETTERS, 'abz -/.０Ｂ٣', 14), good, spoiled(good, `${DIGITS + LETTERS}- /é`)),
  passesByRule: (value: string) => /^[A-Z]{2}[\dA-Z]{9}\d$/.test(value) && PREFIXES.has(value.slice(0, 2)) && isLuhn(value),
  codes: 'bad_length bad_structure bad_prefix bad_checksum',
  warnings: 'reserved_range withdrawn bad_national_checksum',
}

test('a calculated check digit passes here and with validator, every other one is named wrong', () => {
  fc.assert(
    fc.property(good, (value) => {
      assert.equal(validator.isISIN(value), true)
      for (const digit of DIGITS) {
        const check = checkIsin(value.slice(0, 11) + digit)
        assert.equal(check.valid, digit === value[11])
        assert.equal(check.expected_check, value[11])
      }
    }),
    few,
  )
})

test('every pair of letters is a prefix of ISO 3166 or of the list, or is refused as one', () => {
  for (const first of LETTERS) {
    for (const second of LETTERS) {
      const prefix = first + second
      const { reason_code } = checkIsin(withCheck(`${prefix}123456789`))
      assert.equal(reason_code, PREFIXES.has(prefix) ? 'ok' : 'bad_prefix', prefix)
    }
  }
})

test('a wrong digit fails, and a wrong letter as validator says', () => {
  fc.assert(
    fc.property(good, (value) => {
      for (let at = 2; at < 12; at++) {
        const here = value.charAt(at)
        for (const unit of DIGITS.includes(here) ? DIGITS : LETTERS) {
          const changed = value.slice(0, at) + unit + value.slice(at + 1)
          assert.equal(isIsin(changed), DIGITS.includes(here) ? unit === here : validator.isISIN(changed), changed)
        }
      }
    }),
    few,
  )
})

test('a US number holds a CUSIP, and a wrong one is a remark, no fault', () => {
  // CUSIPs on the cover pages of SEC filings: Apple, Cisco, Google, Oracle, Microsoft.
  for (const cusip of ['037833100', '17275R102', '38259P508', '68389X105', '594918104']) {
    const check = checkIsin(withCheck(`US${cusip}`))
    assert.deepEqual([check.facts?.embedded, check.warnings], [{ kind: 'cusip', id: cusip, check_ok: true }, []])
    const wrong = checkIsin(withCheck(`US${cusip.slice(0, 8)}${(Number(cusip[8]) + 1) % 10}`))
    assert.deepEqual([wrong.valid, wrong.facts?.embedded?.check_ok, wrong.warnings[0]?.code], [true, false, 'bad_national_checksum'])
  }
})

test('any text: documented codes only, the rule written apart, a stable normal form', () => holdsForAnyText(promised))

test('a suggestion is the only single edit that passes', () => suggestsTheOnlyRepair(promised))
