import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import fc from 'fast-check'
import type { Spot } from '../../src/ports/prices.ts'
import { readDecimal } from '../../src/pure/market/fraction.ts'
import { watchEuroRate, type EuroRates } from '../../src/service/payments/euro-rate.ts'
import { tokenAmount } from '../../src/service/payments/terms.ts'
import { clockAt } from '../support/clock-at.ts'

/** A log that keeps nothing. */
const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined }
const START_MS = Date.UTC(2026, 10, 26)

interface Scene {
  rates: EuroRates
  /** Lets so many seconds pass and the sources be read once, with this answer. */
  read(spot: Spot, after_s?: number): Promise<void>
  pass(seconds: number): void
}

function scene(t: TestContext): Scene {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let now_ms = START_MS
  let spot: Spot = { kind: 'down', reason: 'too_few_sources' }
  const rates = watchEuroRate({
    prices: { spot: () => Promise.resolve(spot) },
    clock: clockAt(() => now_ms),
    log: SILENT,
    every_ms: 1_000,
  })
  rates.start()
  t.after(() => rates.stop())
  return {
    rates,
    async read(next, after_s = 0) {
      await settled()
      spot = next
      now_ms += after_s * 1_000
      t.mock.timers.tick(1_000)
      await settled()
    },
    pass: (seconds) => void (now_ms += seconds * 1_000),
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))
const priced = (price_usd: string, age_s = 0, passed_s = 0): Spot => {
  return { kind: 'priced', price_usd, as_of_ms: START_MS + (passed_s - age_s) * 1_000, quotes: [], cached: false }
}
const rateOf = (text: string) => readDecimal(text) ?? assert.fail()

test('an amount is the price over the rate, rounded up to the unit: never below the price, and less than a unit above', () => {
  assert.equal(tokenAmount(5_000n, rateOf('1.25')), 4_000n)
  assert.equal(tokenAmount(5_000n, rateOf('1.1578')), 4_319n)
  const rate = fc.bigInt({ min: 800_000n, max: 1_500_000n }).map((numerator) => ({ numerator, denominator: 1_000_000n }))
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10n ** 12n }), rate, (price, of) => {
      const worth = tokenAmount(price, of) * of.numerator
      assert.ok(worth >= price * of.denominator && worth < price * of.denominator + of.numerator)
    }),
  )
})

test('a rate is used inside its bounds only, and one outside them withdraws the last at once', async (t) => {
  const { rates, read } = scene(t)
  assert.equal(rates.now(), null)
  assert.equal(rates.priceOf(4_000n, [5_000n]), 'no_rate')
  for (const [price, is_used] of [
    ['0.8', true],
    ['0.7999', false],
    ['1.5', true],
    ['1.5001', false],
    ['0', false],
    ['1.15', true],
  ] as const) {
    await read(priced(price))
    assert.deepEqual(rates.now(), is_used ? rateOf(price) : null, price)
  }
  await read({ kind: 'down', reason: 'sources_disagree' })
  assert.equal(rates.now(), null)
})

test('silent sources leave the last rate until it is five minutes old, by the time of its oldest quote', async (t) => {
  const { rates, read, pass } = scene(t)
  await read(priced('1.25', 40))
  await read({ kind: 'down', reason: 'too_few_sources' }, 200)
  assert.deepEqual(rates.now(), rateOf('1.25'))
  pass(59)
  assert.deepEqual(rates.now(), rateOf('1.25'))
  pass(1)
  assert.equal(rates.now(), null)
  // Earlier offers can be paid as long as their terms are valid.
  assert.equal(rates.priceOf(4_000n, [5_000n]), 5_000n)
  pass(120)
  assert.equal(rates.priceOf(4_000n, [5_000n]), 5_000n)
  pass(1)
  assert.equal(rates.priceOf(4_000n, [5_000n]), 'no_rate')
})

test('after the rate moved, an amount is good at any rate of the last two minutes or within half a percent of one, and pays the newest price', async (t) => {
  const { rates, read, pass } = scene(t)
  await read(priced('1.25'))
  await read(priced('1', 0, 10), 10)
  const accepted = (amount: bigint) => rates.priceOf(amount, [6_000n, 5_000n])
  assert.deepEqual([4_000n, 4_800n, 5_000n, 6_000n].map(accepted), [5_000n, 6_000n, 5_000n, 6_000n])
  assert.deepEqual([3_980n, 3_979n, 4_020n, 4_021n, 5_025n, 5_026n, 4_500n, 0n].map(accepted), [
    5_000n,
    null,
    5_000n,
    null,
    5_000n,
    null,
    null,
    null,
  ])
  pass(120)
  assert.equal(accepted(4_000n), 5_000n)
  pass(1)
  assert.deepEqual([4_000n, 5_000n].map(accepted), [null, 5_000n])
})

test('a clock that was set back uses no rate of the future', async (t) => {
  const { rates, read, pass } = scene(t)
  await read(priced('1.25'))
  pass(-61)
  assert.equal(rates.now(), null)
})
