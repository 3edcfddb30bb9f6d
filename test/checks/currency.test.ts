import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import table from '../../data/iso4217.json' with { type: 'json' }
import { checkCurrency, checkCurrencyNumber, isCurrency, settlementToken } from '../../src/pure/checks/currency.ts'
import { usdcOn } from '../../src/pure/payments/usdc.ts'
import { holdsForAnyText, suggestsTheOnlyRepair } from '../support/check-promises.ts'
import { textNear } from '../support/identifiers.ts'

const current = table.rows.filter(({ withdrawn }) => withdrawn === null)
const codes = new Set(current.flatMap(({ alpha, numeric }) => [alpha, numeric ?? '']))
const promised = {
  check: checkCurrency,
  is: isCurrency,
  near: fc.oneof(
    textNear('ABCDEFGHIJKLMNOPRSTUXYZ0123456789', 'abz -/.０Ｂ٣$€', 5),
    fc
      .tuple(fc.constantFrom(...table.rows), fc.nat(2))
      .map(([{ alpha }, at]) => alpha.slice(0, at) + alpha.slice(at).split('').toReversed().join('')),
    fc.constantFrom(...codes),
  ),
  passesByRule: (value: string) => value !== '' && codes.has(value),
  codes: 'bad_length bad_structure not_listed withdrawn',
  warnings: 'test_only',
  leading_zero: true,
}

/** ISO 4217 and the locale data (CLDR 48, by what is customary) part ways here, and only here. */
const CUSTOMARY = 'AFN ALL COP HUF IDR IQD IRR KPW LAK LBP MGA MMK PKR SOS SYP YER'.split(' ')
/** Funds, metals and test codes are not in the locale data. */
const KNOWN = new Set(Intl.supportedValuesOf('currency'))

test('minor units are those of the locale data, but for the currencies that are rounded by custom', () => {
  const differing = current.flatMap(({ alpha, minor_units }) => {
    const { maximumFractionDigits } = new Intl.NumberFormat('en', { style: 'currency', currency: alpha }).resolvedOptions()
    return minor_units === null || !KNOWN.has(alpha) || minor_units === maximumFractionDigits ? [] : [alpha]
  })
  assert.deepEqual(differing.toSorted(), CUSTOMARY)
})

test('minor units other than two, as the standard lists them', () => {
  const places = (wanted: number) => current.flatMap(({ alpha, minor_units }) => (minor_units === wanted ? [alpha] : [])).toSorted()
  assert.deepEqual(places(0).join(' '), 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF')
  assert.deepEqual(places(3).join(' '), 'BHD IQD JOD KWD LYD OMR TND')
  assert.deepEqual(places(4).join(' '), 'CLF UYW')
  assert.deepEqual(places(1), [])
})

test('letters, digits and the bare number lead to the same facts', () => {
  for (const { alpha, numeric } of current) {
    const { facts } = checkCurrency(alpha)
    assert.equal(facts?.alpha, alpha)
    assert.ok(numeric !== null)
    assert.deepEqual(checkCurrency(numeric).facts, facts)
    const bare = checkCurrencyNumber(Number(numeric))
    assert.deepEqual(bare.facts, facts)
    assert.equal(bare.changes.includes('padded_zeros'), numeric.startsWith('0'))
  }
})

test('a withdrawn code is never current, and its number leads to the current code where it was used again', () => {
  const numbers = new Map(current.map(({ numeric, alpha }) => [numeric, alpha]))
  for (const { alpha, numeric, withdrawn } of table.rows) {
    if (withdrawn === null) continue
    assert.deepEqual([checkCurrency(alpha).reason_code, checkCurrency(alpha).facts?.withdrawn], ['withdrawn', withdrawn])
    if (numeric === null) continue
    const byNumber = checkCurrency(numeric)
    const again = numbers.get(numeric)
    assert.equal(byNumber.valid, again !== undefined, numeric)
    if (again !== undefined) assert.equal(byNumber.facts?.alpha, again)
    assert.ok([byNumber.facts?.alpha, ...(byNumber.facts?.same_numeric ?? [])].includes(alpha))
  }
  assert.equal(checkCurrency('532').facts?.alpha, 'XCG')
})

test('dollar and euro have a token, the dollar that of the payments; nothing else has', () => {
  for (const { alpha } of table.rows) assert.equal(settlementToken(alpha) !== null, alpha === 'USD' || alpha === 'EUR', alpha)
  assert.equal(settlementToken('USD')?.address, usdcOn(8453).address)
  assert.notEqual(settlementToken('EUR')?.address, settlementToken('USD')?.address)
})

test('any text: documented codes only, the list read apart, a stable normal form', () => holdsForAnyText(promised))

test('a suggestion is the only repair of a code that never was one', () => {
  const near = promised.near.filter((text) => checkCurrency(text).reason_code !== 'withdrawn')
  suggestsTheOnlyRepair({ ...promised, near })
})

test('a withdrawn code is no misspelling of another: its successor is expected, and nothing is suggested', () => {
  for (const { alpha, numeric, withdrawn, successor } of table.rows) {
    if (withdrawn === null) continue
    const checks = [checkCurrency(alpha), ...(numeric === null ? [] : [checkCurrency(numeric), checkCurrencyNumber(Number(numeric))])]
    for (const { reason_code, suggestion, findings, facts } of checks) {
      if (reason_code !== 'withdrawn') continue
      assert.equal(suggestion, null, alpha)
      if (facts?.alpha === alpha) assert.equal(findings[0]?.expected, successor)
    }
  }
})

/** What came after, and at how many of the old one for one of the new: the laws of the redenominations, written apart. */
const REDENOMINATED = [
  'AFA AFN 1000',
  'BRR BRL 2750',
  'CSD RSD 1',
  'GHP GHS 1',
  'MGF MGA 5',
  'MXP MXN 1000',
  'PLZ PLN 10000',
  'RUR RUB 1000',
  'SRG SRD 1000',
  'TJR TJS 1000',
]

test('redenominated currencies name what came after them', () => {
  for (const line of REDENOMINATED) {
    const { facts } = checkCurrency(line.slice(0, 3))
    assert.equal([facts?.alpha, facts?.successor, facts?.per_successor].join(' '), line)
  }
})
