// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { CrossCheck, Scope } from '../shapes.ts'

/** Screen a new vendor. */
export interface VendorOnboardingPackInput {
  /** IBAN to be paid. */
  iban?: string
  /** Legal Entity Identifier, 20 characters. */
  lei?: string
  /** VAT number with its country prefix. */
  vat_number?: string
  /** UK company number, 8 characters. */
  company_number?: string
}

export interface VendorOnboardingPackOutput {
  /** No given value is invalid and no cross finding is fatal. */
  valid: boolean
  /** review: valid, with warnings to read. */
  verdict: 'pass' | 'review' | 'fail'
  /** One sentence for people. */
  summary: string
  /** Each check whole, under the field that was given. */
  checks: {
    iban: Readonly<Record<string, unknown>> | null
    lei: Readonly<Record<string, unknown>> | null
    vat_number: Readonly<Record<string, unknown>> | null
    company_number: Readonly<Record<string, unknown>> | null
  }
  /** What the values say of one another. */
  cross_checks: readonly CrossCheck[]
  /** Publication date or release of each reference table used; "compiled <date>" where a person compiled it. */
  data_as_of: Readonly<Record<string, string>>
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'vendor-onboarding-pack'
}
