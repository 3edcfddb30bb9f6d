import type { Clock, SteadyClock } from '../../ports/clock.ts'
import type { Prices, SourceQuote, Spot } from '../../ports/prices.ts'
import { once } from '../../pure/once.ts'
import { readBoundedText } from '../../pure/read-bounded.ts'
import { compare, distance, fraction, type Fraction, over, plus, readDecimal, times, toExact } from '../../pure/market/fraction.ts'
import { type CryptoAsset, cryptoAsset } from '../../pure/market/crypto-symbols.ts'
import { priceLimits } from '../../service/limits.ts'
import { Breaker } from '../../pure/breaker.ts'

/** Public interfaces in a live deployment, fixed samples in a sandbox, whose answers must not depend on the world. */
export function choosePrices(mode: 'sandbox' | 'live', clock: Clock & SteadyClock): Prices {
  const chosen = once(() => (mode === 'live' ? publicPrices({ clock }) : samplePrices(clock)))
  return {
    source: mode === 'live' ? 'public_api' : 'fixed_sample',
    spot: (asset_id) => chosen().spot(asset_id),
    ready: () => chosen().ready(),
  }
}

/** Made up; what is not here costs one dollar. */
const PRICES_USD: Readonly<Record<string, string>> = {
  'avalanche-2': '20',
  binancecoin: '800',
  bitcoin: '80000',
  'bitcoin-cash': '500',
  chainlink: '16',
  dogecoin: '0.125',
  ethereum: '2500',
  'euro-coin': '1.25',
  litecoin: '80',
  pepe: '0.000004',
  ripple: '2',
  'shiba-inu': '0.000008',
  solana: '125',
}

/** Prices of a sandbox: fixed samples that do not describe real prices. */
export function samplePrices(clock: Clock): Prices {
  return {
    source: 'fixed_sample',
    spot(asset_id) {
      const price_usd = PRICES_USD[asset_id] ?? '1'
      const as_of_ms = clock.now_ms()
      return Promise.resolve({
        kind: 'priced',
        price_usd,
        as_of_ms,
        quotes: [{ name: 'fixed_sample', price_usd, as_of_ms }],
        cached: false,
      })
    },
    ready: () => Promise.resolve(true),
  }
}

/**
 * `limited`: the source says that it was asked too much. `refused`: it does not like the question. `failed`: no connection, no answer in
 * time, another status, or an answer without end.
 */
type PriceResponse = { kind: 'text'; text: string } | { kind: 'limited' | 'refused' | 'failed' }

const KINDS: Readonly<Record<number, 'limited' | 'refused'>> = { 400: 'refused', 404: 'refused', 429: 'limited' }

/** One GET: no redirects, no second try, a bounded body. Never rejects. */
async function get(url: string): Promise<PriceResponse> {
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json', 'user-agent': 'assay' },
      redirect: 'manual',
      signal: AbortSignal.timeout(priceLimits.attempt_ms),
    })
    if (response.status !== 200) {
      await response.body?.cancel()
      return { kind: KINDS[response.status] ?? 'failed' }
    }
    const text = await readBoundedText(response.body, priceLimits.answer_bytes)
    return text === null ? { kind: 'failed' } : { kind: 'text', text }
  } catch {
    return { kind: 'failed' }
  }
}

/** Price interfaces, each with a reader of its answer. An answer about another asset is not a price. */

interface PriceSource {
  readonly name: Exclude<SourceQuote['name'], 'fixed_sample'>
  readonly base_url: string
  /** Path of the question; null where the source does not know the asset. */
  path(asset: CryptoAsset): string | null
  /** The quote in its answer, null when there is none; `at_ms` is when it came. */
  read(body: unknown, asset: CryptoAsset, at_ms: number): SourceQuote | null
  /** True when an answer with status 200 says that the rate limit was exceeded. */
  isLimit?(body: unknown): boolean
}

/** A number of the answer, by its own literal: nothing is lost to binary fractions. */
class Literal {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** JSON whose numbers are kept as they are written. Throws when the text is none. */
function parseKeeping(text: string): unknown {
  const keep = (_key: string, value: unknown, { source }: { source?: string }): unknown =>
    typeof value === 'number' && source !== undefined ? new Literal(source) : value
  return JSON.parse(text, keep as (key: string, value: unknown) => unknown) as unknown
}

/** Coinbase: prices of its retail business, without login; `{data: {amount, base, currency}}`. */
export function coinbase(base_url = 'https://api.coinbase.com'): PriceSource {
  return {
    name: 'coinbase',
    base_url,
    path: ({ coinbase: pair }) => pair && `/v2/prices/${pair}/spot`,
    read(body, asset, at_ms) {
      const data = member(body, 'data')
      const named = [member(data, 'base'), member(data, 'currency')]
      return named.every((name) => typeof name === 'string') && named.join('-') === asset.coinbase
        ? quoteOf('coinbase', member(data, 'amount'), at_ms)
        : null
    },
  }
}

/** docs.kraken.com, API errors: `EAPI:Rate limit exceeded`, `EGeneral:Too many requests`, `EService:Throttled: …`. */
const LIMIT_WORDS = /rate limit|too many requests|throttled/i

/** Kraken: the last trade, `{error: [], result: {pair: {c: [price, volume]}}}`; faults come with status 200. */
export function kraken(base_url = 'https://api.kraken.com'): PriceSource {
  return {
    name: 'kraken',
    base_url,
    path: ({ kraken: pair }) => pair && `/0/public/Ticker?pair=${pair}`,
    read(body, asset, at_ms) {
      const faults = member(body, 'error')
      if (!Array.isArray(faults) || faults.length > 0 || asset.kraken === null) return null
      const last = member(member(member(body, 'result'), asset.kraken), 'c')
      return Array.isArray(last) ? quoteOf('kraken', last[0], at_ms) : null
    },
    isLimit(body) {
      const faults = member(body, 'error')
      return Array.isArray(faults) && faults.some((fault) => typeof fault === 'string' && LIMIT_WORDS.test(fault))
    },
  }
}

/** CoinGecko: an average over exchanges, `{id: {usd, last_updated_at}}`; its times are seconds since 1970. */
export function coingecko(base_url = 'https://api.coingecko.com'): PriceSource {
  return {
    name: 'coingecko',
    base_url,
    path: ({ asset_id }) => `/api/v3/simple/price?ids=${asset_id}&vs_currencies=usd&include_last_updated_at=true&precision=full`,
    read(body, asset) {
      const coin = member(body, asset.asset_id)
      const updated = member(coin, 'last_updated_at')
      if (!(updated instanceof Literal) || !/^[0-9]{10}$/.test(updated.text)) return null
      return quoteOf('coingecko', member(coin, 'usd'), Number(updated.text) * 1_000)
    },
  }
}

function quoteOf(name: PriceSource['name'], price: unknown, as_of_ms: number): SourceQuote | null {
  const text = price instanceof Literal ? price.text : typeof price === 'string' ? price : ''
  const value = text.length > 40 ? null : readDecimal(text)
  return value === null || value.numerator === 0n ? null : { name, price_usd: text, as_of_ms }
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, name)) return undefined
  return (value as Record<string, unknown>)[name]
}

/** The price that two independent public interfaces agree on. */

interface PublicPricesOptions {
  clock: Clock & SteadyClock
  /** In the order of use; the first two that know an asset are requested together, the others replace a failed one. */
  sources?: readonly PriceSource[]
}

type Priced = Extract<Spot, { kind: 'priced' }>

const NEEDED = 2
/** Maximum difference of two sources, as a share of the lower price. */
const FARTHEST: Fraction = { numerator: 1n, denominator: 100n }
const HALF: Fraction = { numerator: 1n, denominator: 2n }

/**
 * Requests two sources concurrently, and a further one only when one of them gave no price, which spares the source with the smallest
 * allowance. The answer is the mean of the two; there is none when they differ by more than one percent. It is cached for a minute;
 * concurrent callers share one request.
 */
export function publicPrices({ clock, sources = [coinbase(), kraken(), coingecko()] }: PublicPricesOptions): Prices {
  const watched = sources.map((source) => ({ source, breaker: new Breaker(priceLimits.breaker, clock) }))
  const kept = new Map<string, { spot: Spot; until_ms: number }>()
  const asking = new Map<string, Promise<Spot>>()

  async function fresh(asset_id: string): Promise<Spot> {
    const spot = await agreed(watched, cryptoAsset(asset_id), clock)
    const kept_ms = spot.kind === 'priced' ? spot.as_of_ms + priceLimits.oldest_ms - clock.now_ms() : priceLimits.refused_ms
    kept.set(asset_id, { spot, until_ms: clock.steady_ms() + kept_ms })
    return spot
  }

  return {
    source: 'public_api',
    spot(asset_id) {
      const known = kept.get(asset_id)
      if (known !== undefined && clock.steady_ms() < known.until_ms) {
        return Promise.resolve(known.spot.kind === 'priced' ? { ...known.spot, cached: true } : known.spot)
      }
      kept.delete(asset_id)
      const begun = asking.get(asset_id)
      if (begun !== undefined) return begun
      const begins = fresh(asset_id).finally(() => asking.delete(asset_id))
      asking.set(asset_id, begins)
      return begins
    },
    ready: () => Promise.resolve(watched.filter(({ breaker }) => !breaker.isOpen()).length >= NEEDED),
  }
}

interface Watched {
  source: PriceSource
  breaker: Breaker
}

async function agreed(watched: readonly Watched[], asset: CryptoAsset | null, clock: Clock): Promise<Spot> {
  // Only names from the table become part of an address.
  if (asset === null) return joined([])
  const able = watched.filter(({ source, breaker }) => source.path(asset) !== null && !breaker.isOpen())
  const quotes: SourceQuote[] = []
  for (let next = 0; quotes.length < NEEDED && next < able.length;) {
    const together = able.slice(next, next + NEEDED - quotes.length)
    next += together.length
    const answers = await Promise.all(together.map((one) => ask(one, asset, clock)))
    quotes.push(...answers.filter((answer) => answer !== null))
  }
  return joined(quotes.filter((one) => isFresh(one, clock.now_ms())))
}

/** The quote, when the source gave one that is not too old. An answer that names no price says nothing about the source's health. */
async function ask({ source, breaker }: Watched, asset: CryptoAsset, clock: Clock): Promise<SourceQuote | null> {
  const ticket = breaker.take()
  if (ticket === null) return null
  const got = await get(`${source.base_url}${source.path(asset) ?? ''}`)
  const body = got.kind === 'text' ? parsed(got.text) : null
  const now_ms = clock.now_ms()
  const quote = body === null ? null : source.read(body.value, asset, now_ms)
  if (quote === null) {
    if (got.kind === 'limited' || (body !== null && source.isLimit?.(body.value) === true))
      breaker.paused(ticket, priceLimits.limited_open_ms)
    else if (body === null) breaker.failed(ticket)
    else breaker.dropped(ticket)
    return null
  }
  breaker.succeeded(ticket)
  return isFresh(quote, now_ms) ? { ...quote, as_of_ms: Math.min(quote.as_of_ms, now_ms) } : null
}

/** Null when it is not JSON. */
function parsed(text: string): { value: unknown } | null {
  try {
    return { value: parseKeeping(text) }
  } catch {
    return null
  }
}

function isFresh({ as_of_ms }: SourceQuote, now_ms: number): boolean {
  return as_of_ms > now_ms - priceLimits.oldest_ms && as_of_ms <= now_ms + priceLimits.ahead_ms
}

function joined(quotes: readonly SourceQuote[]): Spot {
  const [one, other] = quotes
  if (one === undefined || other === undefined) return { kind: 'down', reason: 'too_few_sources' }
  const [first, second] = [valueOf(one), valueOf(other)]
  const lower = compare(first, second) <= 0 ? first : second
  if (compare(over(distance(first, second), lower), FARTHEST) > 0) return { kind: 'down', reason: 'sources_disagree' }
  return priced(toExact(times(plus(first, second), HALF)) ?? one.price_usd, [one, other])
}

function priced(price_usd: string, quotes: readonly SourceQuote[]): Priced {
  return { kind: 'priced', price_usd, as_of_ms: Math.min(...quotes.map(({ as_of_ms }) => as_of_ms)), quotes, cached: false }
}

function valueOf({ price_usd }: SourceQuote): Fraction {
  return readDecimal(price_usd) ?? fraction(0n, 1n)
}
