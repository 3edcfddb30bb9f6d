import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkRfc, isRfc } from '../../src/pure/checks/rfc.ts'
import { around, exactly, holdsForAnyText, stdnumTakes } from '../support/check-properties.ts'
import { runs, SEED } from '../support/counts.ts'

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const DIGITS = '0123456789'
/** SAT's table, as a list of pairs: apart from the one in the code. */
const VALUES = new Map<string, number>([
  ...Array.from(DIGITS, (digit, value): [string, number] => [digit, value]),
  ...Array.from('ABCDEFGHIJKLMN', (letter, index): [string, number] => [letter, 10 + index]),
  ['&', 24],
  ...Array.from('OPQRSTUVWXYZ', (letter, index): [string, number] => [letter, 25 + index]),
  [' ', 37],
  ['Ñ', 38],
])

function withCheck(free: string): string {
  const sum = Array.from(free.padStart(12, ' ')).reduce((total, unit, index) => total + (VALUES.get(unit) ?? 0) * (13 - index), 0)
  const check = 11 - (sum % 11)
  return free + (check === 11 ? '0' : check === 10 ? 'A' : String(check))
}

const date = fc
  .tuple(fc.integer({ min: 0, max: 99 }), fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 28 }))
  .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(''))
/** SAT's 34 characters have no letter O. */
const homoclave = fc.tuple(exactly(1, '123456789ABCDEFGHIJKLMNPQRSTUV'), exactly(1, `${DIGITS.slice(1)}${LETTERS.replace('O', '')}`))
/** X as the fourth letter makes no word that SAT avoids. */
const initials = fc.oneof(
  exactly(3, `${LETTERS}Ñ&`),
  exactly(3, LETTERS).map((three) => `${three}X`),
)
const good = fc.tuple(initials, date, homoclave).map(([name, day, [first, second]]) => withCheck(name + day + first + second))
const near = around(good, `${DIGITS}${LETTERS}Ññ& -*é٣`)
const CODES = 'empty too_long_input non_ascii_digits bad_charset bad_separator bad_length bad_structure bad_date bad_component'

holdsForAnyText({ check: (text) => checkRfc(text), is: (text) => isRfc(text), codes: CODES, warnings: 'bad_checksum too_short', near })
holdsForAnyText({
  check: (text) => checkRfc(text, true),
  is: (text) => isRfc(text, true),
  codes: `${CODES} bad_checksum too_short`,
  warnings: 'none',
  near,
})

test('the calculated check digit passes strictly, and any other is a remark unless strict', () => {
  fc.assert(
    fc.property(good, (rfc) => {
      for (const digit of '0123456789A') {
        const text = rfc.slice(0, -1) + digit
        const right = text === rfc
        const { valid, verdict, expected_check, warnings } = checkRfc(text)
        assert.deepEqual([valid, verdict], [true, right ? 'valid' : 'well_formed_unverifiable'])
        assert.deepEqual([expected_check, warnings.map(({ code }) => code)], [rfc.slice(-1), right ? [] : ['bad_checksum']])
        assert.equal(isRfc(text, true), right)
      }
    }),
    { numRuns: runs(200, 5_000), seed: SEED },
  )
})

test('the letter O is in no homoclave', () => {
  const taken = (place: number) => Array.from(LETTERS).filter((letter) => isRfc(`ABC930714${place === 0 ? `${letter}B` : `A${letter}`}1`))
  assert.deepEqual([taken(0).join(''), taken(1).join('')], ['ABCDEFGHIJKLMNPQRSTUV', 'ABCDEFGHIJKLMNPQRSTUVWXYZ'])
})

test('every date of two centuries and no other', () => {
  for (let year = 0; year < 100; year++) {
    for (let month = 0; month <= 13; month++) {
      for (const day of [0, 1, 28, 29, 30, 31, 32]) {
        const text = [year, month, day].map((part) => String(part).padStart(2, '0')).join('')
        const exists = [1900, 2000].some(
          (century) =>
            new Date(Date.UTC(century + year, month - 1, day)).toISOString().slice(2, 10) === text.replace(/(..)(..)(..)/, '$1-$2-$3'),
        )
        assert.equal(isRfc(`ABC${text}AB1`), exists, text)
      }
    }
  }
})

test('dates in both centuries, 29 February 2000 in one', () => {
  assert.deepEqual(checkRfc(withCheck('ABC000229AB')).facts?.date_candidates, ['2000-02-29'])
  assert.deepEqual(checkRfc(withCheck('ABC040229AB')).facts?.date_candidates, ['1904-02-29', '2004-02-29'])
})

test('a small or decomposed ñ is the capital', () => {
  for (const text of ['ñoñ930714124', 'n\u0303on\u0303930714124', 'ÑOÑ930714124', 'N\u0303OÑ930714124']) {
    const { valid, normalized } = checkRfc(text)
    assert.deepEqual([valid, normalized], [true, 'ÑOÑ930714124'])
    assert.equal(isRfc(text, true), true)
  }
})

test('words that SAT avoids fail for persons only', () => {
  for (const word of ['BUEI', 'CACA', 'MULA', 'RUIN']) assert.equal(checkRfc(`${word}800101AB1`).reason_code, 'bad_component')
  assert.equal(isRfc('CAC800101AB1'), true)
  assert.equal(isRfc('CACX800101AB1'), true)
})

test('stands between stdnum, which takes a second table, and the strict reading', () => {
  fc.assert(
    fc.property(near, (text) => {
      if (!/^[0-9A-ZÑ&]+$/.test(text)) return
      const theirs = stdnumTakes('MX', 'rfc', text)
      // They take the letter O in the homoclave, which SAT never writes.
      if (theirs) assert.equal(isRfc(text), !text.slice(-3, -1).includes('O'), text)
      if (isRfc(text, true)) assert.equal(theirs, true, text)
    }),
    { numRuns: runs(3_000, 20_000), seed: SEED },
  )
  // The generic numbers, which stdnum refuses.
  for (const generic of ['XAXX010101000', 'XEXX010101000'])
    assert.deepEqual([isRfc(generic, true), stdnumTakes('MX', 'rfc', generic)], [true, false])
})
