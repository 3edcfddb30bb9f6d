import { uintWord, wordsOf } from '../payments/abi.ts'
import { fraction, type Fraction } from './fraction.ts'

/** Prices of concentrated-liquidity pools (Uniswap v3 core, TickMath, May 2021), to the last bit as the pools compute them. */

/** 1.0001 to the power of the last tick is just below 2^128. */
export const LAST_TICK = 887_272

/** 1.0001 to the power of minus half of 1, 2, 4, 8 …, each times 2^128: the factors that a pool multiplies. */
const FACTORS = [
  0xfffcb933bd6fad37aa2d162d1a594001n,
  0xfff97272373d413259a46990580e213an,
  0xfff2e50f5f656932ef12357cf3c7fdccn,
  0xffe5caca7e10e4e61c3624eaa0941cd0n,
  0xffcb9843d60f6159c9db58835c926644n,
  0xff973b41fa98c081472e6896dfb254c0n,
  0xff2ea16466c96a3843ec78b326b52861n,
  0xfe5dee046a99a2a811c461f1969c3053n,
  0xfcbe86c7900a88aedcffc83b479aa3a4n,
  0xf987a7253ac413176f2b074cf7815e54n,
  0xf3392b0822b70005940c7a398e4b70f3n,
  0xe7159475a2c29b7443b29c7fa6e889d9n,
  0xd097f3bdfd2022b8845ad8f792aa5825n,
  0xa9f746462d870fdf8a65dc1f90e061e5n,
  0x70d869a156d2a1b890bb3df62baf32f7n,
  0x31be135f97d08fd981231505542fcfa6n,
  0x9aa508b5b7a84e1c677de54f3e99bc9n,
  0x5d6af8dedb81196699c329225ee604n,
  0x2216e584f5fa1ea926041bedfe98n,
  0x48a170391f7dc42444e8fa2n,
] as const

const LARGEST = (1n << 256n) - 1n

/**
 * The square root of a tick's price, times 2^96, rounded up. The price counts the smallest units of the pool's second token for one
 * smallest unit of its first. Throws a RangeError beyond the ticks that a pool can have.
 */
export function sqrtPriceX96At(tick: number): bigint {
  const size = Math.abs(tick)
  if (!Number.isInteger(tick) || size > LAST_TICK) throw new RangeError('not a tick')
  let ratio = 1n << 128n
  FACTORS.forEach((factor, bit) => {
    if ((size & (1 << bit)) !== 0) ratio = (ratio * factor) >> 128n
  })
  if (tick > 0) ratio = LARGEST / ratio
  return (ratio + 0xffffffffn) >> 32n
}

/** The time-weighted average price of a pool that keeps observations (Uniswap v3, Aerodrome Slipstream). */

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
