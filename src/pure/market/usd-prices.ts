import feed_table from '../../../data/chainlink-feeds.json' with { type: 'json' }
import pool_table from '../../../data/uniswap-pools.json' with { type: 'json' }
import { addressInWord, decodeUint, uintWord, splitAbiWords, decodeString } from '../payments/token-calls.ts'
import { compare, distance, fraction, type Fraction, over, times } from './fraction.ts'
import type { Priced } from './fx-tables.ts'

/** Uptime of Base's sequencer, as Chainlink's page on L2 networks names it; the directory of feeds does not list it. */
export const SEQUENCER_FEED = '0xbcf85224fc0756b9fa45aa7892530b47e10b6433'

export interface Feed {
  address: string
  description: string
  decimals: number
  /** Longest time between two updates. */
  heartbeat_s: number
  /** Pauses while foreign exchange is closed. */
  market_hours: boolean
}

const FEEDS: ReadonlyMap<string, readonly Feed[]> = Map.groupBy(feed_table.rows, ({ symbol }) => symbol)

/** The feeds of dollars for one unit, the one to be tried first at the head. */
export function feedsOf(symbol: Priced): readonly Feed[] {
  return FEEDS.get(symbol) ?? []
}

/** A pool whose second token is USDC. */
interface Pool {
  venue: string
  address: string
  token0: string
  token1: string
  decimals0: number
  decimals1: number
  window_s: number
  /** Minimum amount of its second token, as if its liquidity were spread over every price. */
  least_reserve_minor: bigint
}

const POOLS: ReadonlyMap<string, Pool> = new Map(
  pool_table.rows.map(({ base, quote: _quote, least_reserve_minor, ...pool }) => [
    base,
    { ...pool, least_reserve_minor: BigInt(least_reserve_minor) },
  ]),
)

/** Null where the price comes from a feed alone. */
export function poolOf(symbol: Priced): Pool | null {
  return POOLS.get(symbol === 'ETH' ? 'WETH' : symbol) ?? null
}

/** When foreign exchange rests: from Friday 17:00 to Sunday 18:00 in New York, which is the schedule of Chainlink's currency feeds. */

const HOUR_S = 3_600
const DAY_S = 24 * HOUR_S
const WEEK_S = 7 * DAY_S
/** 1 January 1970 was a Thursday: Friday 21:00 UTC, the earlier of its two times of the year. */
const CLOSES_S = DAY_S + 21 * HOUR_S
/** Sunday 23:00 UTC, the later of its two times. */
const OPENS_S = 3 * DAY_S + 23 * HOUR_S

/** Errs towards closed: for an hour on either side, one half of the year each. */
export function isFxClosed(at_s: number): boolean {
  const of_week_s = at_s % WEEK_S
  return of_week_s >= CLOSES_S && of_week_s < OPENS_S
}

/** Seconds of the span in which the market is closed. Times are seconds since 1970; the span must not end before it begins. */
export function closedSeconds(from_s: number, to_s: number): number {
  return closedSince1970(to_s) - closedSince1970(from_s)
}

function closedSince1970(at_s: number): number {
  const of_week_s = at_s % WEEK_S
  const this_week_s = Math.min(Math.max(of_week_s - CLOSES_S, 0), OPENS_S - CLOSES_S)
  return Math.floor(at_s / WEEK_S) * (OPENS_S - CLOSES_S) + this_week_s
}

/** Answers of Chainlink price feeds (AggregatorV3Interface) and of the sequencer's uptime feed. */

const LATEST_ROUND = '0xfeaf968c'
const DECIMALS = '0x313ce567'
const DESCRIPTION = '0x7284e416'

/** Data that a call returned; none when the contract refused. */
export type CallAnswer = { ok: true; data: string } | { ok: false }

interface Round {
  round_id: bigint
  answer: bigint
  started_at_s: bigint
  updated_at_s: bigint
  answered_in_round: bigint
}

type FeedFault = 'feed_unreadable' | 'feed_mismatch' | 'round_invalid' | 'feed_stale'

type Reading =
  /** `market_closed`: foreign exchange is closed now, and the price is the last one before. */
  { ok: true; price: Fraction; updated_at_s: number; age_s: number; market_closed: boolean } | { ok: false; reason: FeedFault }

/** Values of `latestRoundData()`; null when the data are not five words of the right sizes. */
export function readRound(data: string): Round | null {
  const words = splitAbiWords(data)?.map((word) => BigInt(`0x${word}`))
  if (words?.length !== 5) return null
  const [round_id = 0n, answer = 0n, started_at_s = 0n, updated_at_s = 0n, answered_in_round = 0n] = words
  if (round_id >> 80n !== 0n || answered_in_round >> 80n !== 0n) return null
  return { round_id, answer: BigInt.asIntN(256, answer), started_at_s, updated_at_s, answered_in_round }
}

/**
 * Judges the answers to `latestRoundData`, `decimals` and `description` of one feed, read at a block of this time. A feed that does not
 * call itself what it should, an answer of zero or less, a round that was never answered or lies in the future, and an answer older than
 * the heartbeat and a tenth are refused; hours in which the market of the feed is closed do not count. Errs towards refusing.
 */
export function readFeed(feed: Feed, answers: readonly [CallAnswer, CallAnswer, CallAnswer], at_s: number): Reading {
  const [latest, decimals, description] = answers
  if (!latest.ok || !decimals.ok || !description.ok) return { ok: false, reason: 'feed_unreadable' }
  const round = readRound(latest.data)
  const name = decodeString(description.data)
  if (round === null || name === null) return { ok: false, reason: 'feed_unreadable' }
  if (plain(name) !== plain(feed.description) || decodeUint(decimals.data) !== BigInt(feed.decimals)) {
    return { ok: false, reason: 'feed_mismatch' }
  }
  const { answer, updated_at_s, answered_in_round, round_id } = round
  if (answer <= 0n || updated_at_s === 0n || updated_at_s > BigInt(at_s) || answered_in_round < round_id) {
    return { ok: false, reason: 'round_invalid' }
  }
  const updated = Number(updated_at_s)
  const age_s = at_s - updated
  const counted_s = feed.market_hours ? age_s - closedSeconds(updated, at_s) : age_s
  if (counted_s * 10 > feed.heartbeat_s * 11) return { ok: false, reason: 'feed_stale' }
  const price = fraction(answer, 10n ** BigInt(feed.decimals))
  return { ok: true, price, updated_at_s: updated, age_s, market_closed: feed.market_hours && isFxClosed(at_s) }
}

type SequencerFault = 'sequencer_unreadable' | 'sequencer_down' | 'sequencer_recovering'

/** For so long after the sequencer came back, prices may be from before; Chainlink's own advice for L2 networks. */
const RECOVERY_S = 3_600n

/** Null when the sequencer is up, and has been for an hour. Its feed answers 0 for up and 1 for down. */
export function sequencerFault(latest: CallAnswer, at_s: number): SequencerFault | null {
  const round = latest.ok ? readRound(latest.data) : null
  if (round === null || round.started_at_s === 0n || (round.answer !== 0n && round.answer !== 1n)) return 'sequencer_unreadable'
  if (round.answer === 1n) return 'sequencer_down'
  return BigInt(at_s) - round.started_at_s <= RECOVERY_S ? 'sequencer_recovering' : null
}

/** Feeds differ in how they space and case their names. */
function plain(name: string): string {
  return name.replaceAll(' ', '').toUpperCase()
}

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

interface Average {
  /** Rounded towards minus infinity, as the pools' own libraries do. */
  mean_tick: number
  /** Smallest units of the second token for one of the first: the exact square of the root at the mean tick. */
  price: Fraction
  /** Harmonic mean over the window of the liquidity in range. */
  mean_liquidity: bigint
}

/** The average over the window from what `observe` returned; null when that is not what a pool returns. */
export function averageOf(data: string, window_s: number): Average | null {
  const words = splitAbiWords(data)?.map((word) => BigInt(`0x${word}`))
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
 * Amount of its second token that a pool of this liquidity would contain if it covered every price, in smallest units: moving the price
 * by one percent takes about half a percent of it.
 */
export function virtualReserve(liquidity: bigint, mean_tick: number): bigint {
  return (liquidity * sqrtPriceX96At(mean_tick)) >> 96n
}

/** Rounds towards minus infinity, which BigInt's own division does not. */
export function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by
  return value % by !== 0n && value < 0n !== by < 0n ? quotient - 1n : quotient
}

/** Returns true when a word is a sign-extended number of this many bits. */
function isSigned(word: bigint, bits: number): boolean {
  return BigInt.asUintN(256, BigInt.asIntN(bits, word)) === word
}

/** Value of one unit of currencies and tokens in US dollars, read from Base at one block. */

const TOKEN0 = '0x0dfe1681'
const TOKEN1 = '0xd21220a7'
const LIQUIDITY = '0x1a686502'
/** Maximum deviation of an average from the feed: two percent. */
const FARTHEST: Fraction = { numerator: 2n, denominator: 100n }

interface Call {
  to: string
  data: string
}

type MarketFault =
  | SequencerFault
  | FeedFault
  | 'pool_mismatch'
  /** The pool's history is shorter than the window. */
  | 'twap_window_unavailable'
  | 'pool_too_shallow'
  | 'sources_disagree'

interface FeedPrice {
  price: Fraction
  feed: Feed
  updated_at_s: number
  age_s: number
  market_closed: boolean
}

interface PoolPrice {
  /** USDC for one unit, the average over the window. */
  price: Fraction
  pool: Pool
  mean_tick: number
  /** From the feed's price, as a share of it. */
  deviation: Fraction
}

export interface UsdPrice {
  /** From the pool where there is one, else from the feed. */
  usd: Fraction
  feed: FeedPrice
  pool: PoolPrice | null
}

/** Why there is no price, and of what. */
export interface MarketRefusal {
  ok: false
  reason: MarketFault
  about: string
}

type UsdOutcome = { ok: true; price: UsdPrice } | MarketRefusal

/** All calls that these prices need, in one round: including pools unless `pools` is false. */
interface Plan {
  calls: readonly Call[]
  /** Evaluates the answers, in the order of the calls, for a block of this time; every requested symbol has an outcome. */
  judge(answers: readonly CallAnswer[], at_s: number): ReadonlyMap<Priced, UsdOutcome>
}

/**
 * Plans the reading of prices. Each comes from the first feed of its table that passes `readFeed`; where a pool is known it comes from the
 * pool's average, in USDC, times the dollar price of USDC, and must lie within 2 % of the feed. All of it is refused while the sequencer
 * is down and for an hour after. Errs towards refusing.
 */
export function planUsdPrices(symbols: readonly Priced[], use_pools: boolean): Plan {
  const pooled = use_pools ? symbols.filter((symbol) => poolOf(symbol) !== null) : []
  const read = [...new Set<Priced>([...symbols, ...(pooled.length > 0 ? (['USDC'] as const) : [])])]
  const calls: Call[] = [{ to: SEQUENCER_FEED, data: LATEST_ROUND }]
  /** Adds calls; what it returns later picks their answers. */
  const ask = (more: readonly Call[]) => {
    const at = calls.push(...more) - more.length
    return (answers: readonly CallAnswer[], index: number): CallAnswer => answers[at + index] ?? { ok: false }
  }
  const feeds = read.map((symbol) => ({ symbol, tries: feedsOf(symbol).map((feed) => ({ feed, answer: ask(feedCalls(feed)) })) }))
  const pools = pooled.flatMap((symbol) => {
    const pool = poolOf(symbol)
    return pool === null ? [] : [{ symbol, pool, answer: ask(poolCalls(pool)) }]
  })
  return {
    calls,
    judge(answers, at_s) {
      const fault = sequencerFault(answers[0] ?? { ok: false }, at_s)
      const stopped: MarketRefusal | null = fault === null ? null : { ok: false, reason: fault, about: 'the sequencer of Base' }
      const outcomes = new Map<Priced, UsdOutcome>()
      for (const { symbol, tries } of feeds) outcomes.set(symbol, stopped ?? fromFeeds(symbol, tries, answers, at_s))
      const dollar = outcomes.get('USDC')
      for (const { symbol, pool, answer } of pools) {
        const own = outcomes.get(symbol)
        if (own?.ok !== true || dollar === undefined) continue
        const average = poolAverage(
          symbol,
          pool,
          [0, 1, 2, 3].map((index) => answer(answers, index)),
        )
        outcomes.set(symbol, !dollar.ok ? dollar : average.ok ? joined(symbol, own.price, dollar.price, pool, average.average) : average)
      }
      return outcomes
    },
  }
}

function feedCalls({ address }: Feed): Call[] {
  return [LATEST_ROUND, DECIMALS, DESCRIPTION].map((data) => ({ to: address, data }))
}

function poolCalls({ address, window_s }: Pool): Call[] {
  return [observeCall(window_s), LIQUIDITY, TOKEN0, TOKEN1].map((data) => ({ to: address, data }))
}

type Picked = (answers: readonly CallAnswer[], index: number) => CallAnswer

/** The first feed that is good; else what is wrong with the first. */
function fromFeeds(
  symbol: Priced,
  tries: readonly { feed: Feed; answer: Picked }[],
  answers: readonly CallAnswer[],
  at_s: number,
): UsdOutcome {
  let reason: FeedFault | null = null
  for (const { feed, answer } of tries) {
    const reading = readFeed(feed, [answer(answers, 0), answer(answers, 1), answer(answers, 2)], at_s)
    if (reading.ok) return { ok: true, price: { usd: reading.price, feed: { feed, ...reading }, pool: null } }
    reason ??= reading.reason
  }
  return { ok: false, reason: reason ?? 'feed_unreadable', about: `the ${symbol} / USD feed` }
}

function poolAverage(symbol: Priced, pool: Pool, answers: readonly CallAnswer[]): { ok: true; average: Average } | MarketRefusal {
  const refuse = (reason: MarketFault): MarketRefusal => ({ ok: false, reason, about: `the pool of ${symbol} and USDC` })
  const [observed = null, liquidity = null, token0 = null, token1 = null] = answers.map((answer) => (answer.ok ? answer.data : null))
  if (tokenOf(token0) !== pool.token0 || tokenOf(token1) !== pool.token1) return refuse('pool_mismatch')
  const average = observed === null ? null : averageOf(observed, pool.window_s)
  if (average === null) return refuse('twap_window_unavailable')
  const in_range = liquidity === null ? null : decodeUint(liquidity)
  if (in_range === null) return refuse('pool_too_shallow')
  // Now and over the window: neither liquidity of a moment nor liquidity that has left counts.
  const least = average.mean_liquidity < in_range ? average.mean_liquidity : in_range
  return virtualReserve(least, average.mean_tick) < pool.least_reserve_minor ? refuse('pool_too_shallow') : { ok: true, average }
}

function joined(symbol: Priced, own: UsdPrice, dollar: UsdPrice, pool: Pool, average: Average): UsdOutcome {
  const units = fraction(10n ** BigInt(pool.decimals0), 10n ** BigInt(pool.decimals1))
  const price = times(average.price, units)
  const usd = times(price, dollar.usd)
  const deviation = over(distance(usd, own.usd), own.usd)
  if (compare(deviation, FARTHEST) > 0) return { ok: false, reason: 'sources_disagree', about: `the pool of ${symbol} and its feed` }
  return { ok: true, price: { usd, feed: own.feed, pool: { price, pool, mean_tick: average.mean_tick, deviation } } }
}

function tokenOf(data: string | null): string | null {
  const words = data === null ? null : splitAbiWords(data)
  const [word] = words ?? []
  return words?.length === 1 && word !== undefined ? addressInWord(word) : null
}

const WORDS: Readonly<Record<MarketRefusal['reason'], string>> = {
  sequencer_unreadable: 'cannot be read',
  sequencer_down: 'is down, so that its prices are not updated',
  sequencer_recovering: 'came back less than an hour ago, so that prices may be from before',
  feed_unreadable: 'cannot be read',
  feed_mismatch: 'does not call itself what it should',
  round_invalid: 'has no valid round',
  feed_stale: 'was not updated in time',
  pool_mismatch: 'does not hold the tokens that it should',
  twap_window_unavailable: 'does not remember the whole window',
  pool_too_shallow: 'holds too little to be relied on',
  sources_disagree: 'are too far apart',
}

/** Message for a price that cannot be given. */
export function refusalWords({ reason, about }: MarketRefusal): string {
  return `No rate can be given now: ${about} ${WORDS[reason]}. Nothing was charged; ask again later.`
}
