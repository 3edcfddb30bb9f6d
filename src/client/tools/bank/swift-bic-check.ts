// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Finding, ReasonCode, Scope } from '../shapes.ts'

/** Check a BIC (SWIFT code). */
export interface SwiftBicCheckInput {
  /** The BIC, 8 or 11 characters; spaces and hyphens are allowed. */
  bic: string
}

export interface SwiftBicCheckOutput {
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
    party_prefix: string
    country: string
    country_name: string
    country_alpha3: string
    party_suffix: string
    branch: string | null
    bic8: string
    bic11: string
    head_office: boolean
    test: boolean
    connection_hint: 'test_and_training' | 'passive_participant' | 'reverse_billing' | null
    numeric_prefix: boolean
    sanctions: { level: 'comprehensive' | 'elevated'; as_of: string } | null
    parts: readonly { label: string; start: number; end: number }[]
  } | null
  /** Country code, once the structure could be read. */
  country: string | null
  /** Publication date or release of each reference table used; "compiled <date>" where a person compiled it. */
  data_as_of: Readonly<Record<string, string>>
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'swift-bic-check'
}
