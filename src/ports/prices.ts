/** Spot prices of crypto assets in US dollars, out of public price interfaces. */

/** Quote of one source. The text is the source's own. */
export interface SourceQuote {
  name: 'coinbase' | 'kraken' | 'coingecko' | 'fixed_sample'
  price_usd: string
  /** The source's time of the price, or the time of its answer when it gives none. */
  as_of_ms: number
}

/**
 * `down`: fewer than two sources gave a price that can be used, or they were too far apart; the same question is worth another try. Of an
 * answered price `as_of_ms` is that of its oldest quote.
 */
export type Spot =
  | { kind: 'priced'; price_usd: string; as_of_ms: number; quotes: readonly SourceQuote[]; cached: boolean }
  | { kind: 'down'; reason: 'too_few_sources' | 'sources_disagree' }

export interface Prices {
  /** Kind of source: public interfaces, or fixed samples that do not describe real prices. */
  readonly source: 'public_api' | 'fixed_sample'
  /** The price that the sources agree on, never older than a minute, of an asset of the table of symbols, by its id. Never rejects. */
  spot(asset_id: string): Promise<Spot>
  /** True when enough sources can be used now; sends no request. */
  ready(): Promise<boolean>
}
