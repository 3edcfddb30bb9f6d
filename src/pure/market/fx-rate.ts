import { fraction, type Fraction, ONE, over, readDecimal, toSignificant } from './fraction.ts'
import { type FxSymbol, type Priced, pricedAs } from './fx-tables.ts'
import type { UsdPrice } from './usd-prices.ts'

/** Dollars for one unit, made up: what a sandbox answers, so that its answers do not depend on the world. */
const USD_FOR_ONE: Readonly<Record<FxSymbol, string>> = {
  USD: '1',
  AUD: '0.64',
  BRL: '0.2',
  CAD: '0.8',
  CHF: '1.25',
  EUR: '1.25',
  GBP: '1.28',
  IDR: '0.0000625',
  MXN: '0.05',
  NGN: '0.000625',
  NZD: '0.6',
  PHP: '0.016',
  SGD: '0.75',
  TRY: '0.025',
  ZAR: '0.06',
  BTC: '80000',
  ETH: '2500',
  WETH: '2500',
  USDC: '1',
  EURC: '1.25',
}

export function sampleRate(symbol: FxSymbol): Fraction {
  return readDecimal(USD_FOR_ONE[symbol]) ?? fraction(0n, 1n)
}

/** One rate out of dollar prices, exact until it is written down. */

/** Digits that a rate is written with. */
const RATE_DIGITS = 18
const SHARE_DIGITS = 6

type FxMethod = 'identity' | 'twap' | 'twap_and_chainlink' | 'chainlink_cross' | 'fixed_sample'

/** Origin of one side of a rate; parts that do not apply are null. */
interface Leg {
  symbol: FxSymbol
  usd: string
  via: 'unit' | 'chainlink' | 'twap' | 'fixed_sample'
  feed: string | null
  feed_updated_at: string | null
  feed_age_s: number | null
  market_closed: boolean | null
  pool: string | null
  venue: string | null
  window_s: number | null
  mean_tick: number | null
  /** Share by which the pool's average differs from the feed. */
  deviation: string | null
}

interface FxRate {
  rate: string
  inverse: string
  numerator: string
  denominator: string
  method: FxMethod
  legs: Leg[]
}

/** Units of `quote` for one of `base`; `prices` holds all that `neededFor` names. */
export function fxRate(base: FxSymbol, quote: FxSymbol, prices: ReadonlyMap<Priced, UsdPrice>): FxRate {
  return rateOf(base, quote, (symbol) => pricedSide(symbol, prices))
}

/** The same of made-up prices. */
export function sampleFxRate(base: FxSymbol, quote: FxSymbol): FxRate {
  return rateOf(base, quote, sampleSide)
}

function rateOf(base: FxSymbol, quote: FxSymbol, sideOf: (symbol: FxSymbol) => Side): FxRate {
  if (sameThing(base, quote)) return { rate: '1', inverse: '1', numerator: '1', denominator: '1', method: 'identity', legs: [] }
  const [first, second] = [sideOf(base), sideOf(quote)]
  const { numerator, denominator } = over(first.usd, second.usd)
  const legs = [first.leg, second.leg]
  return {
    rate: toSignificant({ numerator, denominator }, RATE_DIGITS),
    inverse: toSignificant({ numerator: denominator, denominator: numerator }, RATE_DIGITS),
    numerator: String(numerator),
    denominator: String(denominator),
    method: methodOf(legs),
    legs,
  }
}

/** Symbols to be priced for a rate; none when both sides are the same. */
export function neededFor(base: FxSymbol, quote: FxSymbol): Priced[] {
  if (sameThing(base, quote)) return []
  return [...new Set([base, quote].flatMap((symbol) => (symbol === 'USD' ? [] : [pricedAs(symbol)])))]
}

function sameThing(base: FxSymbol, quote: FxSymbol): boolean {
  return base === quote || (base !== 'USD' && quote !== 'USD' && pricedAs(base) === pricedAs(quote))
}

interface Side {
  usd: Fraction
  leg: Leg
}

const BARE = {
  feed: null,
  feed_updated_at: null,
  feed_age_s: null,
  market_closed: null,
  pool: null,
  venue: null,
  window_s: null,
  mean_tick: null,
  deviation: null,
}

const DOLLAR: Side = { usd: ONE, leg: { ...BARE, symbol: 'USD', usd: '1', via: 'unit' } }

function pricedSide(symbol: FxSymbol, prices: ReadonlyMap<Priced, UsdPrice>): Side {
  if (symbol === 'USD') return DOLLAR
  const price = prices.get(pricedAs(symbol))
  if (price === undefined) throw new RangeError(`${symbol} was not priced`)
  return { usd: price.usd, leg: legOf(symbol, price) }
}

function sampleSide(symbol: FxSymbol): Side {
  if (symbol === 'USD') return DOLLAR
  const usd = sampleRate(symbol)
  return { usd, leg: { ...BARE, symbol, usd: toSignificant(usd, RATE_DIGITS), via: 'fixed_sample' } }
}

function legOf(symbol: FxSymbol, { usd, feed, pool }: UsdPrice): Leg {
  return {
    symbol,
    usd: toSignificant(usd, RATE_DIGITS),
    via: pool === null ? 'chainlink' : 'twap',
    feed: feed.feed.address,
    feed_updated_at: instant(feed.updated_at_s),
    feed_age_s: feed.age_s,
    market_closed: feed.market_closed,
    pool: pool?.pool.address ?? null,
    venue: pool?.pool.venue ?? null,
    window_s: pool?.pool.window_s ?? null,
    mean_tick: pool?.mean_tick ?? null,
    deviation: pool === null ? null : toSignificant(pool.deviation, SHARE_DIGITS),
  }
}

function methodOf(legs: readonly Leg[]): FxMethod {
  if (legs.some(({ via }) => via === 'fixed_sample')) return 'fixed_sample'
  if (!legs.some(({ via }) => via === 'twap')) return 'chainlink_cross'
  // Where one side is USDC, or both are averages in USDC, the feeds only check.
  return legs.every(({ via, symbol }) => via === 'twap' || symbol === 'USDC') ? 'twap' : 'twap_and_chainlink'
}

/** Seconds since 1970 as RFC 3339. */
export function instant(at_s: number): string {
  return new Date(at_s * 1_000).toISOString()
}
