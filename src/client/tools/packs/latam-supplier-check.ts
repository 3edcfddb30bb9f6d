// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { CrossCheck, Scope } from '../shapes.ts'

/** Check a Latin American supplier. */
export interface LatamSupplierCheckInput {
  /** Brazilian CNPJ, 14 characters. */
  cnpj?: string
  /** Mexican RFC, 12 or 13 characters. */
  rfc?: string
  /** IBAN to be paid. */
  iban?: string
}

export interface LatamSupplierCheckOutput {
  /** No given value is invalid and no cross finding is fatal. */
  valid: boolean
  /** review: valid, with warnings to read. */
  verdict: 'pass' | 'review' | 'fail'
  /** One sentence for people. */
  summary: string
  /** Each check whole, under the field that was given. */
  checks: {
    cnpj: Readonly<Record<string, unknown>> | null
    rfc: Readonly<Record<string, unknown>> | null
    iban: Readonly<Record<string, unknown>> | null
  }
  /** What the values say of one another. */
  cross_checks: readonly CrossCheck[]
  /** Publication date or release of each reference table used; "compiled <date>" where a person compiled it. */
  data_as_of: Readonly<Record<string, string>>
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'latam-supplier-check'
}
