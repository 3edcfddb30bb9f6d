// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Base, Scope } from '../shapes.ts'

/** Exchange rate from on-chain oracles. */
export interface FxSpotPriceOracleInput {
  /** What is priced, such as EUR. */
  base: Base
  /** What it is priced in, such as USD. */
  quote: Base
}

export interface FxSpotPriceOracleOutput {
  /** As it was read. */
  base: string
  /** As it was read. */
  quote: string
  /** Units of quote for one of base, 18 significant digits, half to even. */
  rate: string
  /** Units of base for one of quote, rounded from the exact reciprocal. */
  inverse: string
  /** The exact rate is numerator over denominator. */
  numerator: string
  /** See numerator. */
  denominator: string
  /** How the rate came about. */
  method: 'identity' | 'twap' | 'twap_and_chainlink' | 'chainlink_cross' | 'fixed_sample'
  /** fixed_sample in a sandbox: it says nothing about the world. */
  source: 'base_oracles' | 'fixed_sample'
  /** Each side in dollars: via, feed and its age, pool, window, deviation. */
  legs: readonly Readonly<Record<string, unknown>>[]
  /** Age of the oldest feed at the block; null without one. */
  oldest_feed_age_s: number | null
  /** A currency’s market is closed: its price is the last before. null without feeds. */
  market_closed: boolean | null
  /** number, hash and timestamp; null where nothing was read. */
  block: Readonly<Record<string, unknown>> | null
  /** The chain of this deployment. */
  chain_id: number
  /** Whether this is a sandbox. */
  sandbox: boolean
  /** Time of the answer. */
  evaluated_at: string
  /** Publication date or release of each reference table used; "compiled <date>" where a person compiled it. */
  data_as_of: Readonly<Record<string, string>>
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'fx-spot-price-oracle'
}
