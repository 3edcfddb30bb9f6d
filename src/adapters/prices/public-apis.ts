/** The price that two independent public interfaces agree on. */
import { compare, distance, fraction, over, plus, readDecimal, times, toExact, type Fraction } from '../../pure/market/fraction.ts'
import { cryptoAsset, type CryptoAsset } from '../../pure/market/crypto-symbols.ts'
import type { Clock, SteadyClock } from '../../ports/clock.ts'
import type { Prices, SourceQuote, Spot } from '../../ports/prices.ts'
import { Breaker } from '../../pure/breaker.ts'
import { get } from './get.ts'
import { priceLimits } from './limits.ts'
import { coinbase, coingecko, kraken, parseKeeping, type PriceSource } from './sources.ts'

export interface PublicPricesOptions {
  clock: Clock & SteadyClock
  /** In the order in which they are asked; the first two that know an asset are asked together, the others stand in for them. */
  sources?: readonly PriceSource[]
}

type Priced = Extract<Spot, { kind: 'priced' }>

const NEEDED = 2
/** How far two sources may be apart, as a share of the lower one. */
const FARTHEST: Fraction = { numerator: 1n, denominator: 100n }
const HALF: Fraction = { numerator: 1n, denominator: 2n }

/**
 * Asks two sources at once, and a further one only when one of them gave no price, so that the one with the smallest allowance is spared.
 * The answer is the mean of the two; beyond one percent of difference there is none. It is kept until it is a minute old; whoever asks
 * while it is being fetched waits for the same answer.
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
  // Only what stands in the table ever becomes part of an address.
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

/** Null when it is no JSON. */
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
