import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import savings, { compareIn, pathOf } from '../../src/tools/market/calculate-fx-savings.ts'
import { fraction, readDecimal } from '../../src/pure/market/fraction.ts'
import { runs, SEED } from '../support/counts.ts'

/** The words of each refusal, by field. */
function refusals(input: unknown): string[] {
  const read = savings.input.safeParse(input)
  return read.success ? [] : read.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
}

test('one amount is needed; equal ones pass, however they are written, and others do not', () => {
  assert.deepEqual(refusals({ amount: 100 }), [])
  assert.deepEqual(refusals({ amount_usd: '100.00', amount: 100, amount_usdc: '0100' }), [])
  assert.equal(refusals({ currency: 'EUR' }).length, 3)
  assert.deepEqual(refusals({ amount_usdc: 100, amount: 101 }), ['amount: It differs from amount_usdc; give one of them.'])
  assert.equal(refusals({ amount_usdc: 1, amount_usd: 2, amount: 3 }).length, 2)
})

test('what is no sum, no percentage or no currency is refused', () => {
  for (const amount of [-1, 1e15 + 1, '-1', '1e3', '1,000', '', ' 1', '1.', '9'.repeat(16), null, true, Number.NaN]) {
    assert.notDeepEqual(refusals({ amount }), [], String(amount))
  }
  for (const pct of [-0.1, 100.1, '101', '100.5', '1e1', '5%', '']) {
    assert.notDeepEqual(refusals({ amount: 1, bank_fee_pct: pct }), [], String(pct))
  }
  for (const pct of [0, 100, '0', '100.0', '99.999999999999', 2.25]) assert.deepEqual(refusals({ amount: 1, custodial_fee_pct: pct }), [])
  assert.deepEqual(refusals({ amount: 1, currency: 'EURO' }), ['currency: No rate of this currency is known. Near ones: EUR.'])
  assert.match(refusals({ amount: 1, currency: 'JPY' }).join(), /Known: AUD, /)
})

test('fee and rest make the sum, to the last digit', () => {
  const cents = fc.bigInt({ min: 0n, max: 10n ** 24n })
  const property = fc.property(cents, fc.bigInt({ min: 0n, max: 10n ** 8n }), (scaled, parts) => {
    const [sum, pct] = [fraction(scaled, 10n ** 6n), fraction(parts, 10n ** 6n)]
    const { fee_usd, net_usd } = pathOf(sum, pct)
    const units = (text: string) => {
      const [whole = '', part = ''] = text.split('.')
      return BigInt(whole + part.padEnd(14, '0'))
    }
    assert.equal(units(fee_usd) + units(net_usd), scaled * 10n ** 8n)
    assert.equal(units(fee_usd), scaled * parts)
  })
  fc.assert(property, { numRuns: runs(200, 5_000), seed: SEED })
})

test('a currency: what arrives and what is missing, each rounded by itself', () => {
  // Python's decimal, to 40 digits: 1 / 1.16543210 = 0.85805084654867495069…, 970 and 30 of them 832.3093… and 25.7415….
  const rate = readDecimal('1.16543210') ?? fraction(1n, 1n)
  const pct = readDecimal('3') ?? fraction(1n, 1n)
  assert.deepEqual(compareIn('EUR', rate, fraction(1_000n, 1n), { bank: pct, custodial: null }), {
    currency: 'EUR',
    units_per_usd: '0.858050846548674951',
    usd_per_unit: '1.1654321',
    direct: '858.05',
    bank: { arrives: '832.31', short_by: '25.74' },
    custodial: null,
  })
})
