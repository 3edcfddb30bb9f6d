import { addressOf, decodeUint, wordsOf } from '../payments/abi.ts'
import {
  type CallAnswer,
  DECIMALS,
  DESCRIPTION,
  type Feed,
  type FeedFault,
  LATEST_ROUND,
  readFeed,
  sequencerFault,
  type SequencerFault,
} from './chainlink.ts'
import { compare, distance, fraction, type Fraction, over, times } from './fraction.ts'
import { feedsOf, type Pool, poolOf, type Priced, SEQUENCER_FEED } from './fx-tables.ts'
import { type Average, averageOf, observeCall, virtualReserve } from './twap.ts'

/** What one unit of currencies and tokens is worth in US dollars, read from Base at one block. */

const TOKEN0 = '0x0dfe1681'
const TOKEN1 = '0xd21220a7'
const LIQUIDITY = '0x1a686502'
/** How far an average may lie from the feed: two percent. */
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

/** All that must be asked for these prices, in one round: pools too unless told otherwise. */
interface Plan {
  calls: readonly Call[]
  /** Judges the answers, which stand in the order of the calls, for a block of this time; each asked symbol has its outcome. */
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
  const words = data === null ? null : wordsOf(data)
  const [word] = words ?? []
  return words?.length === 1 && word !== undefined ? addressOf(word) : null
}

const WORDS: Readonly<Record<MarketRefusal['reason'], string>> = {
  sequencer_unreadable: 'cannot be read',
  sequencer_down: 'is down, so that its prices stand still',
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

/** What a caller is told of a price that cannot be given. */
export function refusalWords({ reason, about }: MarketRefusal): string {
  return `No rate can be given now: ${about} ${WORDS[reason]}. Nothing was charged; ask again later.`
}
