/** Gas against prices: one table of base fees, and what follows from it for terms, deposits, sweeps, relays and claims. */
// attack: calls and deposits that cost more gas than they pay while gas is expensive
// in: money and signatures
// asset: gas
// attacker: payer
// defence: the network leaves the terms; minimums follow from gas

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readDecimal } from '../../src/pure/market/fraction.ts'
import { NETWORKS } from '../../src/pure/networks.ts'
import {
  claimCost,
  type CoinPriceOrigin,
  gasCost,
  gasMinimums,
  type GasPrices,
  type GasStanding,
  gasVerdict,
  itemsWithin,
  nextStanding,
  OFFERED,
  settlementItem,
} from '../../src/pure/payments/gas-policy.ts'

const PRICE = 5_000n
const GWEI = 1_000_000_000

const pricesAt = (gwei: number, usd = '2450', origin: CoinPriceOrigin = 'price_source', byte_wei = 0n): GasPrices => {
  return { gas_wei: BigInt(Math.round(gwei * GWEI)), byte_wei, coin: { usd: readDecimal(usd) ?? assert.fail(), origin } }
}

/**
 * Base fee and tip in gwei; then, in USDC at 2,450 USD for one ETH and computed by hand as gas × gwei × 2450 / 10^9, rounded up: a batch item
 * (45,100 gas), a single payment (71,100), and the minimums: twice 299,000 gas in steps of 0.001, twenty times 57,000 and 71,100 in steps of 0.01.
 */
const TABLE = [
  { gwei: 0.006, batch: 663n, single: 1_046n, deposit: 9_000n, sweep: 20_000n, relay: 30_000n, terms: 'below', alone: 'below' },
  { gwei: 0.0092, batch: 1_017n, single: 1_603n, deposit: 14_000n, sweep: 30_000n, relay: 40_000n, terms: 'below', alone: 'below' },
  { gwei: 0.029, batch: 3_205n, single: 5_052n, deposit: 43_000n, sweep: 90_000n, relay: 110_000n, terms: 'below', alone: 'above' },
  { gwei: 0.045, batch: 4_973n, single: 7_839n, deposit: 66_000n, sweep: 130_000n, relay: 160_000n, terms: 'below', alone: 'above' },
  { gwei: 0.046, batch: 5_083n, single: 8_013n, deposit: 68_000n, sweep: 130_000n, relay: 170_000n, terms: 'above', alone: 'above' },
  { gwei: 2, batch: 220_990n, single: 348_390n, deposit: 2_931_000n, sweep: 5_590_000n, relay: 6_970_000n, terms: 'above', alone: 'above' },
  {
    gwei: 46,
    batch: 5_082_770n,
    single: 8_012_970n,
    deposit: 67_395_000n,
    sweep: 128_480_000n,
    relay: 160_260_000n,
    terms: 'above',
    alone: 'above',
  },
  {
    gwei: 100,
    batch: 11_049_500n,
    single: 17_419_500n,
    deposit: 146_510_000n,
    sweep: 279_300_000n,
    relay: 348_390_000n,
    terms: 'above',
    alone: 'above',
  },
] as const

for (const row of TABLE) {
  test(`${row.gwei} gwei: a batch item costs ${row.batch} minor units, a single payment ${row.single}`, () => {
    const prices = pricesAt(row.gwei)
    const [batch, single] = [gasCost(settlementItem(true), prices), gasCost(settlementItem(false), prices)]
    assert.deepEqual([batch, single], [row.batch, row.single])
    assert.deepEqual([gasVerdict(batch, PRICE, prices.coin), gasVerdict(single, PRICE, prices.coin)], [row.terms, row.alone])
    assert.deepEqual(gasMinimums(prices), { channel_deposit_minor: row.deposit, sweep_minor: row.sweep, relay_minor: row.relay })
  })
}

test('the data fee of an OP chain counts by the byte, also where gas itself is nearly free', () => {
  // 300 bytes at 7 * 10^9 wei are 2.1 * 10^12 wei: 0.005145 USDC at 2,450 USD.
  const prices = pricesAt(0, '2450', 'price_source', 7_000_000_000n)
  assert.equal(gasCost('batch_item', prices), 5_145n)
  assert.equal(gasVerdict(5_145n, PRICE, prices.coin), 'above')
})

test('a lowest price proves that gas is too expensive, never that it is not, and sets no minimums', () => {
  const lowest = (gwei: number) => pricesAt(gwei, '50', 'lowest')
  for (const [gwei, expected] of [
    [2, 'unknown'],
    [21, 'above'],
    [46, 'above'],
  ] as const) {
    const prices = lowest(gwei)
    assert.equal(gasVerdict(gasCost('batch_item', prices), PRICE, prices.coin), expected, `${gwei} gwei`)
    assert.deepEqual(gasMinimums(prices), { channel_deposit_minor: 0n, sweep_minor: 0n, relay_minor: 0n })
    assert.equal(claimCost(1, prices), null)
  }
})

test('the lowest prices of all coins are below the prices of any recent day', () => {
  for (const { gas } of NETWORKS) {
    const dollars = Number(gas.lowest_usd.numerator) / Number(gas.lowest_usd.denominator)
    assert.ok(dollars <= { ETH: 80, POL: 0.08, AVAX: 2.8 }[gas.coin as 'ETH' | 'POL' | 'AVAX'], gas.coin)
  }
})

test('a network leaves the terms after a minute above, and returns after a minute that is not', () => {
  let standing: GasStanding = OFFERED
  const offeredAt = (second: number, verdict: 'below' | 'above' | 'unknown' | null) => {
    standing = nextStanding(standing, verdict, second * 1_000)
    return standing.offered
  }
  assert.deepEqual(
    [offeredAt(0, 'above'), offeredAt(30, 'above'), offeredAt(59.9, 'above'), offeredAt(60, 'above')],
    [true, true, true, false],
  )
  assert.deepEqual(
    [offeredAt(70, 'below'), offeredAt(100, 'above'), offeredAt(110, 'below'), offeredAt(169, 'below')],
    [false, false, false, false],
  )
  assert.equal(offeredAt(170, 'below'), true)
  // A spike, and a check without a result, begin the minute again.
  assert.deepEqual(
    [offeredAt(180, 'above'), offeredAt(200, 'below'), offeredAt(210, 'above'), offeredAt(260, null)],
    [true, true, true, true],
  )
  assert.deepEqual([offeredAt(265, 'above'), offeredAt(324, 'above'), offeredAt(325, 'above')], [true, true, false])
  assert.deepEqual([offeredAt(330, 'unknown'), offeredAt(390, 'unknown')], [false, true])
})

test('properties: cost grows with gas and price, is never rounded down, and a budget pays for the items it names', () => {
  const item = fc.constantFrom('single', 'batch_item', 'sweep', 'channel_deposit')
  const wei = fc.bigInt({ min: 0n, max: 10n ** 13n })
  const cents = fc.bigInt({ min: 1n, max: 10n ** 7n })
  fc.assert(
    fc.property(item, wei, wei, cents, (name, gas_wei, byte_wei, numerator) => {
      const coin = { usd: { numerator, denominator: 100n }, origin: 'setting' } as const
      const cost = gasCost(name, { gas_wei, byte_wei, coin })
      assert.ok(gasCost(name, { gas_wei: gas_wei + 1n, byte_wei, coin }) >= cost)
      assert.ok(gasCost(name, { gas_wei, byte_wei, coin: { ...coin, usd: { numerator: numerator + 1n, denominator: 100n } } }) >= cost)
      const budget = 10n ** 17n
      const items = itemsWithin(budget, name, { gas_wei, byte_wei }, 1_000)
      // A wei of ETH at one dollar is 10^-12 minor units: costs of the items together stay within the budget but for the rounding of each.
      const worth = (budget * numerator) / 100n / 10n ** 12n
      assert.ok(items <= 1_000 && cost * BigInt(items) <= worth + BigInt(items) + 1n)
    }),
  )
})
