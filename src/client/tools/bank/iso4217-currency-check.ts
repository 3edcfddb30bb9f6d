// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Finding, ReasonCode, Scope } from '../shapes.ts'

/** Look up a currency code. */
export interface Iso4217CurrencyCheckInput {
  /** Three letters or three digits; a number is read with leading zeros. */
  currency: string | number
}

export interface Iso4217CurrencyCheckOutput {
  /** True when every rule that was checked holds. It never says that the thing exists. */
  valid: boolean
  /** well_formed_unverifiable: no published checksum, list or series confirms a right form. */
  verdict: 'valid' | 'well_formed_unverifiable' | 'invalid'
  /** ok, or the code of the first finding. */
  reason_code: ReasonCode
  /** One sentence for people. */
  reason: string
  /** The value as it was checked. */
  normalized: string
  /** What normalization altered. */
  changes: readonly string[]
  /** Faults of the earliest stage that failed, or what could not be confirmed. */
  findings: readonly Finding[]
  /** Remarks that do not make the value invalid. */
  warnings: readonly Finding[]
  /** The check characters that the rest calls for. */
  expected_check: string | null
  /** The one repair that passes, of look-alikes (O/0, I/1, S/5, B/8, Z/2), neighbours swapped and a lost leading zero; or null. Never apply it to a payment unasked. */
  suggestion: string | null
  /** What can be read off a well-formed value. */
  facts: {
    alpha: string
    numeric: string | null
    name: string
    minor_units: number | null
    kind: 'currency' | 'fund' | 'metal' | 'unit' | 'testing' | 'none'
    fund: boolean
    symbol: string
    symbol_distinct: string
    status: 'current' | 'withdrawn'
    withdrawn: string | null
    successor: string | null
    per_successor: string | null
    countries: readonly string[]
    other_entities: readonly string[]
    same_numeric: readonly string[]
    parts: readonly { label: string; start: number; end: number }[]
  } | null
  /** The token that settles this currency on chain, or null. */
  settlement_token: { symbol: string; chain_id: number; address: string; decimals: number } | null
  /** Why there is no token; null when there is one. */
  settlement_token_reason: string | null
  /** Publication date or release of each reference table used; "compiled <date>" where a person compiled it. */
  data_as_of: Readonly<Record<string, string>>
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'iso4217-currency-check'
}
