import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LAST_TICK, sqrtPriceX96At } from '../../src/pure/market/usd-prices.ts'

/** Fixed point with this many binary places. */
const PLACES = 320n
const ONE = 1n << PLACES

/** ln(1 + x) of a small x, by its series. */
function logOnePlus(x: bigint): bigint {
  let [sum, power] = [0n, x]
  for (let n = 1n; power !== 0n; n++) {
    sum += n % 2n === 1n ? power / n : -(power / n)
    power = (power * x) >> PLACES
  }
  return sum
}

/** ln 2 = 2 artanh(1/3). */
function logTwo(): bigint {
  let [sum, power] = [0n, ONE / 3n]
  for (let n = 1n; power !== 0n; n += 2n) {
    sum += power / n
    power /= 9n
  }
  return 2n * sum
}

const HALF_STEP = logOnePlus(ONE / 10_000n) / 2n
const LN2 = logTwo()

/** e to the power of x, x not negative. */
function exp(x: bigint): bigint {
  const shift = x / LN2
  const rest = x % LN2
  let [sum, term] = [0n, ONE]
  for (let n = 1n; term !== 0n; n++) {
    sum += term
    term = ((term * rest) >> PLACES) / n
  }
  return sum << shift
}

test('the published values, to the last digit', () => {
  // Uniswap v3 core, TickMath.sol and its own tests.
  const published: [number, bigint][] = [
    [-887_272, 4_295_128_739n],
    [-887_271, 4_295_343_490n],
    [0, 2n ** 96n],
    [887_271, 1_461_373_636_630_004_318_706_518_188_784_493_106_690_254_656_249n],
    [887_272, 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_342n],
  ]
  for (const [tick, root] of published) assert.equal(sqrtPriceX96At(tick), root, String(tick))
})

test('ten thousand ticks against exponential and logarithm to 320 binary places', () => {
  const step = Math.floor((2 * LAST_TICK) / 10_000)
  let compared = 0
  for (let tick = -LAST_TICK; tick <= LAST_TICK; tick += step) {
    const growth = exp(HALF_STEP * BigInt(Math.abs(tick)))
    const exact = tick < 0 ? (ONE << 96n) / growth : (growth << 96n) >> PLACES
    // Each of at most twenty products loses one unit of 128 binary places, which weighs more the smaller the product is.
    const loss = tick < 0 ? 2n : 2n + ((exact * 24n * growth) >> (PLACES + 128n))
    const difference = sqrtPriceX96At(tick) - exact
    assert.ok(difference <= loss && difference >= -loss, `${tick}: off by ${difference}, allowed ${loss}`)
    compared++
  }
  assert.ok(compared >= 10_000)
})

test('a higher tick is a higher price', () => {
  for (let tick = -LAST_TICK; tick < LAST_TICK; tick += 997) assert.ok(sqrtPriceX96At(tick) < sqrtPriceX96At(tick + 1), String(tick))
})

test('what is no tick is refused', () => {
  for (const tick of [LAST_TICK + 1, -LAST_TICK - 1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.throws(() => sqrtPriceX96At(tick), RangeError)
  }
})
