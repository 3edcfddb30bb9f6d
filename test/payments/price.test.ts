import { usdcDecimal } from '../../src/pure/payments/usdc.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { marketOf, priceBounds, priceOf, type PriceClass, type PricesNow } from '../../src/service/payments/price-book.ts'
import { publicPrice } from '../../src/surfaces/health.ts'

const PRICES: PricesNow = {
  epoch: 7,
  amounts: { check: 12_345n, chain: 6_000n, contract: 20_000n, document: 11_000n },
  payable: { check: [12_345n, 11_000n, 5_000n, 5_001n], chain: [6_000n], contract: [20_000n, 22_500n], document: [11_000n] },
}
const items = (count: number) => ({ items: Array.from({ length: count }, () => ({ tool: 'iban-check', value: 'x' })) })

test('a check costs the price of the moment, and each price that still stands pays for it', () => {
  const { amount_minor, payable, floor_minor, cap_minor, formula } = priceOf('check', { iban: 'x' }, PRICES)
  assert.deepEqual([amount_minor, floor_minor, cap_minor, formula], [12_345n, 5_000n, 50_000n, null])
  assert.deepEqual(payable, [12_345n, 11_000n, 5_000n, 5_001n])
})

test('each market has its own price: that of token contracts never falls below 0.02 USDC', () => {
  const { amount_minor, payable, floor_minor } = priceOf('contract', {}, PRICES)
  assert.deepEqual([amount_minor, payable, floor_minor], [20_000n, [20_000n, 22_500n], 20_000n])
  assert.equal(priceOf('chain', {}, PRICES).amount_minor, 6_000n)
  assert.equal(priceOf('document', {}, PRICES).amount_minor, 11_000n)
  assert.deepEqual((['chain', 'contract', 'document'] as const).map(marketOf), ['chain', 'contract', 'document'])
})

test('a batch costs a tenth of a check an item, rounded up, and its quotes stand as long', () => {
  // 17 · 12,345 / 10 = 20,986.5; 17 · 11,000 / 10 = 18,700; 17 · 5,000 / 10 = 8,500; 17 · 5,001 / 10 = 8,501.7
  const { amount_minor, payable, formula } = priceOf('batch', items(17), PRICES)
  assert.equal(amount_minor, 20_987n)
  assert.deepEqual(payable, [20_987n, 18_700n, 8_500n, 8_502n])
  assert.match(formula ?? '', /items/)
  assert.deepEqual(priceOf('batch', items(50), PRICES).payable, [50_000n, 25_000n, 25_005n])
})

test('without an input a batch is shown at the price of one item, the floor', () => {
  assert.deepEqual([priceOf('batch', null, PRICES).amount_minor, priceOf('batch', null, PRICES).payable], [5_000n, [5_000n]])
  assert.throws(() => priceOf('batch', {}, PRICES))
})

test('a free tool costs nothing, and no amount pays for it', () => {
  const { amount_minor, payable } = priceOf('free', {}, PRICES)
  assert.deepEqual([amount_minor, payable], [0n, []])
})

test('sales of a batch count for the price of a check, which is the one that a batch pays', () => {
  assert.deepEqual((['free', 'check', 'batch'] satisfies PriceClass[]).map(marketOf), [null, 'check', 'check'])
})

test('documents show the bounds even while the price of the moment is not known', () => {
  const shown = { class: 'check', amount_minor: '12345', amount_usdc: '0.012345', floor_minor: '5000', cap_minor: '50000', formula: null }
  assert.deepEqual(publicPrice({ price: 'check' }, PRICES), shown)
  assert.deepEqual(publicPrice({ price: 'check' }, null), { ...shown, amount_minor: null, amount_usdc: null })
  assert.equal(publicPrice({ price: 'free' }, null).amount_minor, '0')
  assert.deepEqual(priceBounds('check'), { floor_minor: 5_000n, cap_minor: 50_000n, formula: null })
})

test('amounts are written in USDC exactly', () => {
  const written = [0n, 1n, 5_000n, 50_000n, 1_000_000n, 1_500_001n].map(usdcDecimal)
  assert.deepEqual(written, ['0', '0.000001', '0.005', '0.05', '1', '1.500001'])
})
