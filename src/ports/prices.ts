/** Spot prices of crypto assets in US dollars, out of public price interfaces. */

/** What one source says. The text is the source's own. */
export interface SourceQuote {
  name: 'coinbase' | 'kraken' | 'coingecko' | 'fixed_sample'
  price_usd: string
  /** The source's own time where it tells one, else when it answered. */
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
  /** Who answers: public interfaces, or fixed samples that say nothing about the world. */
  readonly source: 'public_api' | 'fixed_sample'
  /** The price that the sources agree on, never older than a minute, of an asset of the table of symbols, by its id. Never rejects. */
  spot(asset_id: string): Promise<Spot>
  /** Whether enough sources can be asked now; asks nobody. */
  ready(): Promise<boolean>
}
