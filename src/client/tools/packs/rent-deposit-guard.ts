// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Scope } from '../shapes.ts'

/** Check where a rental deposit goes. */
export interface RentDepositGuardInput {
  /** The account that the deposit is asked to. */
  deposit_iban: string
  /** Country of the property, ISO 3166-1 alpha-2. */
  property_country?: string
  /** Whether the deposit is asked before a viewing. */
  deposit_before_viewing?: boolean
}

export interface RentDepositGuardOutput {
  /** Sum of the points, at most 100. */
  risk_score: number
  /** 0-19, 20-44, 45-69, 70-100. */
  band: 'low' | 'elevated' | 'high' | 'critical'
  /** What to do. */
  recommendation: string
  /** The factors that were found; their points add up to the score. */
  flags: readonly { factor: string; points: number; reason: string }[]
  /** How many. */
  flags_fired: number
  /** As iban-check answers. */
  iban: Readonly<Record<string, unknown>>
  /** Country read off the IBAN, or null. */
  iban_country: string | null
  /** Country of the property as it was read, or null. */
  property_country: string | null
  /** The rule book. */
  standard: string
  /** keccak-256 of the canonical text of {standard, table}. */
  policy_hash: string
  /** Publication date or release of each reference table used; "compiled <date>" where a person compiled it. */
  data_as_of: Readonly<Record<string, string>>
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'rent-deposit-guard'
}
