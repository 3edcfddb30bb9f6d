import table from '../../../data/crypto-symbols.json' with { type: 'json' }
import { nearWords } from './near-words.ts'
import { dataDate } from '../data-date.ts'

/** An asset whose price may be asked, and what its sources call it. */
export interface CryptoAsset {
  ticker: string
  /** CoinGecko's id. */
  asset_id: string
  name: string
  /** Null where the source has no such pair. */
  coinbase: string | null
  kraken: string | null
}

export const CRYPTO_SYMBOLS_AS_OF = { crypto_symbols: dataDate(table) } as const

const BY_SYMBOL: ReadonlyMap<string, CryptoAsset> = new Map(
  table.rows.flatMap((row) => [row.ticker, row.ticker.toLowerCase(), row.asset_id].map((symbol) => [symbol, row])),
)

/** All that may stand for an asset: its ticker in capitals or small letters, and its id. */
export const CRYPTO_SYMBOLS: readonly string[] = [...BY_SYMBOL.keys()]

/** Null for a symbol that is not in the table. */
export function cryptoAsset(symbol: string): CryptoAsset | null {
  return BY_SYMBOL.get(symbol) ?? null
}

/** Tickers and ids that an unknown symbol may mean. */
export function nearCryptoSymbols(symbol: string): string[] {
  const own = table.rows.flatMap(({ ticker, asset_id }) => [ticker, asset_id])
  return nearWords(symbol, [...new Set(own)])
}
