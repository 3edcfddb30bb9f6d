// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { CrossCheck, Scope } from '../shapes.ts'

/** Check an African supplier. */
export interface AfricaSupplierCheckInput {
  /** Kenyan KRA PIN, 11 characters. */
  kra_pin?: string
  /** IBAN to be paid. */
  iban?: string
  /** BIC (SWIFT code) of the bank, 8 or 11 characters. */
  swift?: string
}

export interface AfricaSupplierCheckOutput {
  /** No given value is invalid and no cross finding is fatal. */
  valid: boolean
  /** review: valid, with warnings to read. */
  verdict: 'pass' | 'review' | 'fail'
  /** One sentence for people. */
  summary: string
  /** Each check whole, under the field that was given. */
  checks: {
    kra_pin: Readonly<Record<string, unknown>> | null
    iban: Readonly<Record<string, unknown>> | null
    swift: Readonly<Record<string, unknown>> | null
  }
  /** What the values say of one another. */
  cross_checks: readonly CrossCheck[]
  /** Publication date or release of each reference table used; "compiled <date>" where a person compiled it. */
  data_as_of: Readonly<Record<string, string>>
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'africa-supplier-check'
}
