import { z } from 'zod'
import { over, toSignificant, type Fraction } from '../../pure/market/fraction.ts'
import {
  instant,
  sampleRate,
  FX_DATA_AS_OF,
  FX_SYMBOLS,
  fxSymbol,
  type FxSymbol,
  MARKET_CHAIN_ID,
  type Priced,
  spellings,
  pricedAs,
} from '../../pure/market/fx-tables.ts'
import { planUsdPrices, refusalWords, type UsdPrice } from '../../pure/market/usd-prices.ts'
import { nearWords } from '../../pure/market/crypto-symbols.ts'
import type { BlockHeader } from '../../ports/chain.ts'
import type { ChainFacts } from '../../ports/chain-facts.ts'
import { defineTool, SourceDown } from '../../service/catalogue/define.ts'
import { DATA_AS_OF } from '../../service/catalogue/schemas.ts'

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

/** Units of `quote` for one of `base`. */
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
function neededFor(base: FxSymbol, quote: FxSymbol): Priced[] {
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

const DOLLAR: Side = { usd: { numerator: 1n, denominator: 1n }, leg: { ...BARE, symbol: 'USD', usd: '1', via: 'unit' } }

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
  // The feeds only check if one side is USDC or both are averages in USDC.
  return legs.every(({ via, symbol }) => via === 'twap' || symbol === 'USDC') ? 'twap' : 'twap_and_chainlink'
}

const SYMBOL_CHARS = 16

const SYMBOL = z
  .string()
  .max(SYMBOL_CHARS)
  .check(({ value, issues }) => {
    if (fxSymbol(value) !== null) return
    const near = nearWords(value, FX_SYMBOLS)
    const hint = near.length === 0 ? `Known: ${FX_SYMBOLS.join(', ')}.` : `Near ones: ${near.join(', ')}.`
    issues.push({ code: 'custom', input: undefined, message: `No rate of this symbol is known. ${hint}`, params: {} })
  })
  .meta({ enum: FX_SYMBOLS.flatMap(spellings) })

/** Rate of one currency or token in another, from oracles on Base at one block. */
export default defineTool({
  id: 'fx-spot-price-oracle',
  title: 'Exchange rate from on-chain oracles',
  description:
    'Spot rate between US dollar, 14 currencies, BTC, ETH, USDC and EURC, read at one block of Base: 30-minute pool averages (TWAP) for ETH ' +
    'and EURC, checked against Chainlink feeds, which give the rest by way of the dollar. Exact fraction and its inverse. Stale feeds, thin ' +
    'pools or a gap of more than 2 % end in 503, uncharged.',
  family: 'market',
  version: '1.1.1',
  price: 'chain',
  annotations: { read_only: true, idempotent: true, destructive: false, open_world: true },
  scope: {
    checked: [
      'feeds: name, decimals, round and age; uptime of the sequencer (in a sandbox: fixed samples, marked in source)',
      'pools: tokens, length of history, liquidity, distance from the feed',
    ],
    not_checked: ['that anybody trades at this rate', 'spreads and fees', 'rates while foreign exchange is closed: the last before'],
  },
  headline: [{ tone: 'neutral', word: '{rate}', sentence: 'One {base} is {rate} {quote}.', badge: 'rate' }],
  sources: ['clock', 'chain'],
  input: z.strictObject({
    base: SYMBOL.describe('What is priced, such as EUR.'),
    quote: SYMBOL.describe('What it is priced in, such as USD.'),
  }),
  output: z.strictObject({
    base: z.string().describe('As it was read.'),
    quote: z.string().describe('As it was read.'),
    rate: z.string().describe('Units of quote for one of base, 18 significant digits, half to even.'),
    inverse: z.string().describe('Units of base for one of quote, rounded from the exact reciprocal.'),
    numerator: z.string().describe('The exact rate is numerator over denominator.'),
    denominator: z.string().describe('See numerator.'),
    method: z.enum(['identity', 'twap', 'twap_and_chainlink', 'chainlink_cross', 'fixed_sample']).describe('How the rate came about.'),
    source: z.enum(['base_oracles', 'fixed_sample']).describe('fixed_sample in a sandbox: it says nothing about the world.'),
    legs: z.array(z.record(z.string(), z.unknown())).describe('Each side in dollars: via, feed and its age, pool, window, deviation.'),
    oldest_feed_age_s: z.int().min(0).max(10_000_000).nullable().describe('Age of the oldest feed at the block; null without one.'),
    market_closed: z.boolean().nullable().describe('A currency’s market is closed: its price is the last before. null without feeds.'),
    block: z.record(z.string(), z.unknown()).nullable().describe('number, hash and timestamp; null where nothing was read.'),
    chain_id: z.int().min(1).max(2_147_483_647).describe('The chain of this deployment.'),
    sandbox: z.boolean().describe('Whether this is a sandbox.'),
    evaluated_at: z.string().describe('Time of the answer.'),
    data_as_of: DATA_AS_OF,
  }),
  example: { base: 'EUR', quote: 'USD' },
  async run(asked, { clock, chain }) {
    const [base, quote] = [known(asked.base), known(asked.quote)]
    const needed = neededFor(base, quote)
    const read = needed.length === 0 || chain.sandbox ? null : await readPrices(chain, needed)
    const prices = read?.prices ?? new Map<Priced, UsdPrice>()
    const rate = rateOf(base, quote, chain.sandbox ? sampleSide : (symbol) => pricedSide(symbol, prices))
    const ages = rate.legs.flatMap(({ feed_age_s }) => (feed_age_s === null ? [] : [feed_age_s]))
    return {
      base,
      quote,
      ...rate,
      legs: rate.legs.map((leg) => ({ ...leg })),
      source: chain.sandbox ? ('fixed_sample' as const) : ('base_oracles' as const),
      oldest_feed_age_s: ages.length === 0 ? null : Math.max(...ages),
      market_closed: ages.length === 0 ? null : rate.legs.some(({ market_closed }) => market_closed === true),
      block: read && { number: String(read.header.number), hash: read.header.hash, timestamp: instant(read.header.timestamp_s) },
      chain_id: chain.chain_id,
      sandbox: chain.sandbox,
      evaluated_at: new Date(clock.now_ms()).toISOString(),
      data_as_of: { ...FX_DATA_AS_OF },
    }
  },
})

function known(text: string): FxSymbol {
  const symbol = fxSymbol(text)
  if (symbol === null) throw new RangeError('the schema lets no unknown symbol through')
  return symbol
}

async function readPrices(chain: ChainFacts, needed: readonly Priced[]): Promise<{ header: BlockHeader; prices: Map<Priced, UsdPrice> }> {
  if (chain.chain_id !== MARKET_CHAIN_ID)
    throw new SourceDown('The oracles of this tool are on Base, which is not the chain here.', 'no_oracles')
  const plan = planUsdPrices(needed, true)
  return chain.atOneBlock(async (at) => {
    const answers = await at.read(plan.calls.map((call) => ({ kind: 'call', ...call })))
    const outcomes = plan.judge(answers, at.header.timestamp_s)
    const prices = new Map<Priced, UsdPrice>()
    for (const [symbol, outcome] of outcomes) {
      if (!outcome.ok) throw new SourceDown(refusalWords(outcome), outcome.reason)
      prices.set(symbol, outcome.price)
    }
    return { header: at.header, prices }
  })
}
