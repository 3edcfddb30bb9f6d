/** The time-weighted average price of a pool that keeps observations (Uniswap v3, Aerodrome Slipstream). */
import { uintWord, wordsOf } from '../payments/abi.ts'
import { fraction, type Fraction } from './fraction.ts'
import { LAST_TICK, sqrtPriceX96At } from './tick-math.ts'

const OBSERVE = '883bdbfd'

/** The question `observe([window, 0])`. */
export function observeCall(window_s: number): string {
  return `0x${OBSERVE}${[0x20n, 2n, BigInt(window_s), 0n].map(uintWord).join('')}`
}

export interface Average {
  /** Rounded towards minus infinity, as the pools' own libraries do. */
  mean_tick: number
  /** Smallest units of the second token for one of the first: the exact square of the root at the mean tick. */
  price: Fraction
  /** Harmonic mean over the window of the liquidity in range. */
  mean_liquidity: bigint
}

/** The average over the window from what `observe` returned; null when that is not what a pool returns. */
export function averageOf(data: string, window_s: number): Average | null {
  const words = wordsOf(data)?.map((word) => BigInt(`0x${word}`))
  if (words?.length !== 8) return null
  const [first = 0n, second = 0n, ticks = 0n, tick_then = 0n, tick_now = 0n, rates = 0n, rate_then = 0n, rate_now = 0n] = words
  if (first !== 0x40n || second !== 0xa0n || ticks !== 2n || rates !== 2n) return null
  if (!isSigned(tick_then, 56) || !isSigned(tick_now, 56) || rate_then >> 160n !== 0n || rate_now >> 160n !== 0n) return null
  const mean_tick = floorDivide(BigInt.asIntN(56, tick_now - tick_then), BigInt(window_s))
  if (mean_tick < -LAST_TICK || mean_tick > LAST_TICK) return null
  const root = sqrtPriceX96At(Number(mean_tick))
  // Seconds per liquidity are counted in 128 binary places and wrap around at 160 bits.
  const rate = BigInt.asUintN(160, rate_now - rate_then)
  const mean_liquidity = rate === 0n ? 0n : (BigInt(window_s) << 128n) / rate
  return { mean_tick: Number(mean_tick), price: fraction(root * root, 1n << 192n), mean_liquidity }
}

/**
 * What a pool of this liquidity would hold of its second token if it lay over every price, in smallest units: moving the price by one
 * percent takes about half a percent of it.
 */
export function virtualReserve(liquidity: bigint, mean_tick: number): bigint {
  return (liquidity * sqrtPriceX96At(mean_tick)) >> 96n
}

/** Rounds towards minus infinity, which BigInt's own division does not. */
export function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by
  return value % by !== 0n && value < 0n !== by < 0n ? quotient - 1n : quotient
}

/** Whether a word is a number of this many bits with its sign carried through. */
function isSigned(word: bigint, bits: number): boolean {
  return BigInt.asUintN(256, BigInt.asIntN(bits, word)) === word
}
