// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Finding, ReasonCode, Scope } from '../shapes.ts'

/** Check a number by the Luhn method. */
export interface LuhnCheckInput {
  /** The number, 12 to 19 digits; spaces and hyphens are allowed. Never a real payment card number. */
  number: string
}

export interface LuhnCheckOutput {
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
    digit_count: number
    payload: string
    check_digit: string
    blind_spots: readonly string[]
    parts: readonly { label: string; start: number; end: number }[]
  } | null
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'luhn-check'
}
