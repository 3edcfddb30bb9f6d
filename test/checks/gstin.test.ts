import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkGstin, isGstin } from '../../src/pure/checks/gstin.ts'
import { around, exactly, holdsForAnyText, stdnumTakes } from '../support/check-properties.ts'
import { runs, SEED } from '../support/counts.ts'

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const DIGITS = '0123456789'
const PLAIN = DIGITS + LETTERS
const STATES = [...Array.from({ length: 38 }, (_, index) => String(index + 1).padStart(2, '0')), '97', '99']

/** Apart from the code under test: each product is written in base 36 and its digits are added up. */
function withCheck(free: string): string {
  let sum = 0
  Array.from(free).forEach((unit, index) => {
    for (const digit of (Number.parseInt(unit, 36) * (index % 2 === 0 ? 1 : 2)).toString(36)) sum += Number.parseInt(digit, 36)
  })
  return free + ((36 - (sum % 36)) % 36).toString(36).toUpperCase()
}

const pan = fc
  .tuple(exactly(3, LETTERS), exactly(1, 'ABCFGHJLPT'), exactly(1, LETTERS), exactly(4, DIGITS), exactly(1, LETTERS))
  .map((parts) => parts.join(''))
  .filter((text) => !text.includes('0000'))
const state = fc.constantFrom(...STATES)
const regular = fc.tuple(state, pan, exactly(1, PLAIN.slice(1))).map(([code, inside, entity]) => withCheck(`${code}${inside}${entity}Z`))
const abroad = fc
  .tuple(state, exactly(2, DIGITS), exactly(3, LETTERS), exactly(5, DIGITS), fc.constantFrom('UN', 'ON', 'NR'))
  .map((parts) => withCheck(parts.join('')))
const near = around(fc.oneof(regular, regular, abroad), `${PLAIN}-*é٣`)

holdsForAnyText({
  check: checkGstin,
  is: isGstin,
  codes:
    'empty too_long_input non_ascii_digits bad_charset bad_separator bad_length bad_structure bad_component reserved_range bad_checksum',
  warnings: 'withdrawn reserved_range not_listed',
  near,
})

test('a calculated check character passes and every other one is named wrong', () => {
  fc.assert(
    fc.property(fc.oneof(regular, abroad), (gstin) => {
      for (const unit of PLAIN) {
        const { valid, reason_code, expected_check } = checkGstin(gstin.slice(0, 14) + unit)
        const good = unit === gstin[14]
        assert.deepEqual([valid, reason_code, expected_check], [good, good ? 'ok' : 'bad_checksum', gstin[14]])
      }
    }),
    { numRuns: runs(100, 2_000), seed: SEED },
  )
})

test('every single wrong character fails', () => {
  fc.assert(
    fc.property(fc.oneof(regular, abroad), (gstin) => {
      for (let at = 0; at < 15; at++) {
        for (const unit of PLAIN) assert.equal(isGstin(gstin.slice(0, at) + unit + gstin.slice(at + 1)), unit === gstin[at])
      }
    }),
    { numRuns: runs(50, 1_000), seed: SEED },
  )
})

test('agrees with stdnum, but for states and kinds that it lacks', () => {
  const older = (text: string) =>
    /^[0-9A-Z]+$/.test(text) && /^(0[1-9]|[12][0-9]|3[0-7])[A-Z]{5}/.test(text) && text[13] === 'Z' && !/^.{5}[EK]/.test(text)
  fc.assert(
    fc.property(near, (text) => {
      if (older(text)) assert.equal(isGstin(text), stdnumTakes('IN', 'gstin', text), text)
    }),
    { numRuns: runs(3_000, 20_000), seed: SEED },
  )
})

test('each kind is told by its shape, and only those with a PAN show one', () => {
  const kinds: Record<string, [kind: string, pan: boolean, tan: boolean]> = {
    '27AAPFU0939F1Z': ['regular', true, false],
    '29AABCF8078M1C': ['tcs_collector', true, false],
    '19AAACI1681G1D': ['tds_deductor', true, false],
    '06DELI09652G1D': ['tds_deductor', false, true],
    '06DELI09652G0Z': ['government', false, true],
    '0717UNO00157UN': ['uin', false, false],
    '0717USA00001NR': ['non_resident', false, false],
    '9917SGP29001OS': ['oidar', false, false],
  }
  for (const [free, [kind, with_pan, with_tan]] of Object.entries(kinds)) {
    const { facts } = checkGstin(withCheck(free))
    assert.deepEqual([facts?.kind, facts?.pan !== null, facts?.tan !== null], [kind, with_pan, with_tan])
  }
})
