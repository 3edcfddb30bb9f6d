/** The interfaces that may be asked, and what each of them answers. What does not answer the question that was asked is no price. */
import { readDecimal } from '../../pure/market/fraction.ts'
import type { CryptoAsset } from '../../pure/market/crypto-symbols.ts'
import type { SourceQuote } from '../../ports/prices.ts'

export interface PriceSource {
  readonly name: Exclude<SourceQuote['name'], 'fixed_sample'>
  readonly base_url: string
  /** Path of the question; null where the source does not know the asset. */
  path(asset: CryptoAsset): string | null
  /** The quote in its answer, null when there is none; `at_ms` is when it came. */
  read(body: unknown, asset: CryptoAsset, at_ms: number): SourceQuote | null
  /** Whether an answer with status 200 says that the source was asked too much. */
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
export function parseKeeping(text: string): unknown {
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
        ? quote('coinbase', member(data, 'amount'), at_ms)
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
      return Array.isArray(last) ? quote('kraken', last[0], at_ms) : null
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
      return quote('coingecko', member(coin, 'usd'), Number(updated.text) * 1_000)
    },
  }
}

function quote(name: PriceSource['name'], price: unknown, as_of_ms: number): SourceQuote | null {
  const text = price instanceof Literal ? price.text : typeof price === 'string' ? price : ''
  const value = text.length > 40 ? null : readDecimal(text)
  return value === null || value.numerator === 0n ? null : { name, price_usd: text, as_of_ms }
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, name)) return undefined
  return (value as Record<string, unknown>)[name]
}
