import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  batchPrice,
  SALES_DELAY_EPOCHS,
  nextPrice,
  priceAt,
  type EpochSales,
  type PriceRules,
} from '../../src/pure/payments/price-curve.ts'
import { runs, SEED } from '../support/counts.ts'

const settings = { numRuns: runs(300, 10_000), seed: SEED }
const USDC: PriceRules = { floor_minor: 5_000n, cap_minor: 50_000n, target: 20 }

const rules = fc
  .tuple(fc.bigInt(0n, 10n ** 7n), fc.bigInt(0n, 10n ** 7n), fc.integer({ min: 1, max: 5_000 }))
  .map(([floor_minor, span, target]): PriceRules => ({ floor_minor, cap_minor: floor_minor + span, target }))
/** Rules, and an amount within them. */
const priced = rules.chain((one) => fc.tuple(fc.constant(one), fc.bigInt(one.floor_minor, one.cap_minor)))
const payers = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 100_000 }))
const sales = fc.array(fc.record({ epoch: fc.integer({ min: 0, max: 80 }), payers }), { maxLength: 20 }).map(oneAnEpoch)

function oneAnEpoch(list: EpochSales[]): EpochSales[] {
  return [...new Map(list.map((one) => [one.epoch, one])).values()]
}

/** A fraction, exactly. */
interface Fraction {
  over: bigint
  under: bigint
}

/** The price as the rule says it, as a fraction: p + p/8 · (s − t)/t, the last factor cut to −1 … 1; bounds aside. */
function ruled(amount: bigint, sold: number, { target }: PriceRules): Fraction {
  const [s, t] = [BigInt(sold > 2 * target ? 2 * target : sold), BigInt(target)]
  return { over: amount * 8n * t + amount * (s - t), under: 8n * t }
}

test('the next price is the one of the rule, to less than a unit, and moves when the rule says so', () => {
  const property = fc.property(priced, payers, ([rule, amount], sold) => {
    const next = nextPrice(amount, sold, rule)
    assert.ok(next >= rule.floor_minor && next <= rule.cap_minor)
    const { over, under } = ruled(amount, sold, rule)
    const off = next * under - over
    if (next > rule.floor_minor) assert.ok(off <= under, 'more than a unit above')
    if (next < rule.cap_minor) assert.ok(off >= -under, 'more than a unit below')
    if (sold > rule.target) assert.ok(next > amount || amount === rule.cap_minor)
    if (sold < rule.target) assert.ok(next < amount || amount === rule.floor_minor)
    if (sold === rule.target) assert.equal(next, amount)
  })
  fc.assert(property, settings)
})

test('no epoch moves a price by more than 12.5 %, from the smallest price on that has an eighth', () => {
  const property = fc.property(priced, payers, ([rule, amount], sold) => {
    const next = nextPrice(amount, sold, rule)
    const moved = next > amount ? next - amount : amount - next
    assert.ok(1000n * moved <= 125n * amount || (amount < 8n && moved <= 1n))
  })
  fc.assert(property, settings)
})

test('the bounds of 12.5 % are reached: idle, and at twice the target and beyond', () => {
  assert.equal(nextPrice(40_000n, 0, USDC), 35_000n)
  for (const sold of [40, 41, 1_000_000]) assert.equal(nextPrice(40_000n, sold, USDC), 45_000n)
  assert.equal(nextPrice(40_000n, 30, USDC), 42_500n)
  assert.equal(nextPrice(40_000n, 10, USDC), 37_500n)
  assert.equal(nextPrice(49_999n, 40, USDC), 50_000n)
  assert.equal(nextPrice(5_001n, 0, USDC), 5_000n)
})

test('an idle price is at its floor after 18 epochs from the cap, three minutes', () => {
  // The smallest n with 50,000 · (7/8)^n ≤ 5,000, in whole numbers.
  let needed = 0
  while (50_000n * 7n ** BigInt(needed) > 5_000n * 8n ** BigInt(needed)) needed++
  assert.equal(needed, 18)
  const way = Array.from({ length: needed + 1 }, (_, epoch) => priceAt(epoch, { epoch: 0, amount_minor: 50_000n }, [], USDC))
  assert.equal(
    way.findIndex((amount) => amount === 5_000n),
    needed,
  )
})

test('no price is stuck: idle, any comes to its floor, even one of a few units', () => {
  const property = fc.property(priced, ([rule, amount]) => {
    const later = priceAt(1_000, { epoch: 0, amount_minor: amount }, [], rule)
    assert.equal(later, rule.floor_minor)
  })
  fc.assert(property, settings)
})

test('the price of an epoch is the one before it, moved by the sales of the epoch before that', () => {
  const property = fc.property(priced, sales, fc.integer({ min: 0, max: 40 }), ([rule, amount], sold, start) => {
    const in_epoch = new Map(sold.map((one) => [one.epoch, one.payers]))
    let price = amount
    for (let epoch = start + 1; epoch <= 90; epoch++) {
      price = nextPrice(price, in_epoch.get(epoch - 2) ?? 0, rule)
      assert.equal(priceAt(epoch, { epoch: start, amount_minor: amount }, sold, rule), price)
    }
  })
  fc.assert(property, settings)
})

test('sales of the epoch itself, of the one before it and of later ones change nothing', () => {
  const property = fc.property(priced, sales, fc.integer({ min: 0, max: 80 }), ([rule, amount], sold, epoch) => {
    const told = sold.filter((one) => one.epoch <= epoch - SALES_DELAY_EPOCHS)
    const known = { epoch: 0, amount_minor: amount }
    assert.equal(priceAt(epoch, known, sold, rule), priceAt(epoch, known, told, rule))
    assert.equal(priceAt(epoch, known, sold.toReversed(), rule), priceAt(epoch, known, told, rule))
  })
  fc.assert(property, settings)
})

test('it makes no difference from which of its earlier prices a price is computed', () => {
  const property = fc.property(priced, sales, fc.integer({ min: 0, max: 80 }), ([rule, amount], sold, between) => {
    const known = { epoch: 0, amount_minor: amount }
    const middle = { epoch: between, amount_minor: priceAt(between, known, sold, rule) }
    assert.equal(priceAt(80, middle, sold, rule), priceAt(80, known, sold, rule))
  })
  fc.assert(property, settings)
})

test('without a known price the floor held until the first sale', () => {
  assert.equal(priceAt(10, null, [], USDC), 5_000n)
  assert.equal(priceAt(10, null, [{ epoch: 8, payers: 40 }], USDC), 5_625n)
  assert.equal(priceAt(9, null, [{ epoch: 8, payers: 40 }], USDC), 5_000n)
})

test('an eternity without sales costs no steps, and an old price out of bounds is brought within', () => {
  const far = Number.MAX_SAFE_INTEGER
  assert.equal(priceAt(far, { epoch: 0, amount_minor: 50_000n }, [], USDC), 5_000n)
  const lone = [{ epoch: far - 2, payers: 40 }]
  assert.equal(priceAt(far, { epoch: 0, amount_minor: 50_000n }, lone, USDC), 5_625n)
  assert.equal(priceAt(7, { epoch: 7, amount_minor: 90_000n }, [], USDC), 50_000n)
  assert.equal(priceAt(7, { epoch: 7, amount_minor: 1n }, [], USDC), 5_000n)
})

test('a batch costs the least number of units that is a tenth of a check an item, within the bounds', () => {
  const property = fc.property(fc.integer({ min: 1, max: 50 }), fc.bigInt(5_000n, 50_000n), (items, check) => {
    const price = batchPrice(items, check, USDC)
    const owed = BigInt(items) * check
    if (price === 5_000n) assert.ok(owed <= 50_000n)
    else if (price === 50_000n) assert.ok(owed > 499_990n)
    else assert.ok(10n * price >= owed && 10n * (price - 1n) < owed)
  })
  fc.assert(property, settings)
  assert.equal(batchPrice(11, 5_001n, USDC), 5_502n)
})
