import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import validator from 'validator'
import { checkEan13, isEan13 } from '../../src/pure/checks/ean13.ts'
import { checkIsbn } from '../../src/pure/checks/isbn.ts'
import { holdsForAnyText, spoiled, suggestsTheOnlyRepair, textOf } from '../support/check-promises.ts'
import { runs, SEED } from '../support/counts.ts'
import { textNear } from '../support/identifiers.ts'

const few = { numRuns: runs(200, 5_000), seed: SEED }
const DIGITS = '0123456789'

/** GS1: the digits in even places three times, and all together a multiple of ten. */
function fits(value: string): boolean {
  const places = (odd: boolean) => Array.from(value, Number).filter((_, at) => (at % 2 === 0) === odd)
  const total = [...places(true), ...places(false), ...places(false), ...places(false)].reduce((one, other) => one + other, 0)
  return total % 10 === 0
}

function withCheck(twelve: string): string {
  return Array.from(DIGITS, (digit) => twelve + digit).find(fits) ?? ''
}

const good = textOf(DIGITS, 12).map(withCheck)
const promised = {
  check: checkEan13,
  is: isEan13,
  near: fc.oneof(textNear(DIGITS, 'OISBZ -/.x０٣', 15), good, spoiled(good, `${DIGITS}OISBZ- /`)),
  passesByRule: (value: string) => /^\d{13}$/.test(value) && fits(value),
  codes: 'bad_length bad_checksum',
  warnings: 'reserved_range unassigned_range all_zero',
  leading_zero: true,
}

test('a calculated check digit passes here and with validator, every other single digit fails', () => {
  fc.assert(
    fc.property(good, (value) => {
      const check = checkEan13(value)
      assert.equal(check.valid, true)
      assert.equal(validator.isEAN(value), true)
      for (let at = 0; at < 13; at++) {
        for (const digit of DIGITS) assert.equal(isEan13(value.slice(0, at) + digit + value.slice(at + 1)), digit === value[at])
      }
      assert.equal(checkEan13(value.slice(0, 12) + ((Number(value[12]) + 1) % 10)).expected_check, value[12])
    }),
    few,
  )
})

test('thirteen digits and no other number of them, whatever validator takes', () => {
  for (const code of ['73513537', '04006381333931', '614141000036']) {
    assert.equal(checkEan13(code).reason_code, 'bad_length')
  }
  assert.equal(validator.isEAN('73513537'), true)
})

test('restricted circulation is 020-029, 040-049 and 200-299, and nothing else', () => {
  for (let number = 0; number < 1_000; number++) {
    const prefix = String(number).padStart(3, '0')
    const { facts, warnings } = checkEan13(withCheck(`${prefix}123456789`))
    const restricted = /^(?:0[24]\d|2\d\d)$/.test(prefix)
    assert.equal(facts?.restricted_circulation, restricted, prefix)
    if (restricted) assert.equal(warnings[0]?.code, 'reserved_range')
    assert.equal(
      facts?.kind === null,
      warnings.some(({ code }) => code === 'unassigned_range'),
    )
    assert.equal(facts?.upc_a === null, number > 99)
  }
})

// GS1 General Specifications, release 26.0 (January 2026), table 1-4.
test('five zeros in front are a GTIN-8 that was filled up: prefix 0000000 is restricted, 0000001-0000099 are unused', () => {
  for (let number = 0; number < 100; number++) {
    const { valid, facts, warnings } = checkEan13(withCheck(`${String(number).padStart(7, '0')}12345`))
    assert.deepEqual([valid, facts?.kind, warnings[0]?.code], [true, number === 0 ? 'restricted' : 'reserved', 'reserved_range'])
    assert.equal(facts?.restricted_circulation, number === 0)
  }
  const filled = checkEan13('0000073513537')
  assert.deepEqual([filled.warnings[0]?.position, filled.warnings[0]?.found], [[0, 5], '00000'])
  for (const prefix of ['0000100', '0009999', '0010000']) {
    const { facts, warnings } = checkEan13(withCheck(`${prefix}12345`))
    assert.deepEqual([facts?.organisation, warnings], ['GS1 US', []], prefix)
  }
})

test('coupons of common currency areas end at 983, and prefixes that moved are where they are', () => {
  const kindOf = (prefix: string) => checkEan13(withCheck(`${prefix}123456789`)).facts?.kind
  assert.deepEqual(['980', '981', '983', '984', '989', '990'].map(kindOf), ['refund', 'coupon', 'coupon', 'reserved', 'reserved', 'coupon'])
  assert.deepEqual(['381', '390', '391', '612', '623', '887'].map(kindOf), ['member', 'member', null, 'member', 'reserved', 'member'])
})

test('a book number is one for the ISBN check too; music and serials are not', () => {
  fc.assert(
    fc.property(fc.constantFrom('977', '978', '979'), textOf(DIGITS, 9), (prefix, rest) => {
      const value = withCheck(prefix + rest)
      const { facts } = checkEan13(value)
      assert.equal(facts?.isbn13 ?? null, checkIsbn(value).valid ? value : null)
      const named = [facts?.isbn13, facts?.ismn, facts?.issn].filter((one) => one !== null)
      assert.equal(named.length, 1)
      if (prefix === '977') assert.equal(validator.isISSN(facts?.issn ?? ''), true)
    }),
    few,
  )
})

test('any text: documented codes only, the rule written apart, a stable normal form', () => holdsForAnyText(promised))

test('a suggestion is the only repair, the zero of a UPC-A included', () => suggestsTheOnlyRepair(promised))
