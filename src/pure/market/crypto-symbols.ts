import { editDistance } from '../documents/edit-distance.ts'
import table from '../../../data/crypto-symbols.json' with { type: 'json' }
import { releaseTable } from '../datasets/release-table.ts'
import { datesOf } from '../datasets/table.ts'

const WORD_CHARS = 32
const SHORT_CHARS = 4

/** The known words that a mistyped one most likely means: the same but for capitals, same beginning, or few edits away; nearest first, at most three. */
export function nearWords(text: string, known: readonly string[]): string[] {
  const asked = text.toLowerCase()
  if (asked === '' || asked.length > WORD_CHARS) return []
  const judged = known.map((word) => ({ word, edits: editsOf(asked, word.toLowerCase()) }))
  const near = judged.filter((one) => one.edits <= (asked.length > SHORT_CHARS ? 2 : 1))
  return near
    .toSorted((one, other) => one.edits - other.edits)
    .slice(0, 3)
    .map(({ word }) => word)
}

/** An added suffix counts as one edit. */
function editsOf(asked: string, word: string): number {
  if (word === asked) return 0
  return word.startsWith(asked) ? 1 : editDistance(asked, word)
}

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

export const CRYPTO_SYMBOL_TABLE = releaseTable('crypto_symbols', () => table)
export const CRYPTO_SYMBOLS_AS_OF = datesOf([CRYPTO_SYMBOL_TABLE])

const BY_SYMBOL: ReadonlyMap<string, CryptoAsset> = new Map(
  table.rows.flatMap((row) => [row.ticker, row.ticker.toLowerCase(), row.asset_id].map((symbol) => [symbol, row])),
)

/** Accepted spellings of an asset: its ticker in capitals or small letters, and its id. */
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
