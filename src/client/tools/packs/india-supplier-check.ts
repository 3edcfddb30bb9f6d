// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { CrossCheck, Scope } from '../shapes.ts'

/** Check an Indian supplier. */
export interface IndiaSupplierCheckInput {
  /** GSTIN, 15 characters. */
  gstin?: string
  /** PAN, 10 characters. */
  pan?: string
  /** UPI payment address, name@handle. */
  vpa?: string
  /** IFSC of the branch, 11 characters. */
  ifsc?: string
}

export interface IndiaSupplierCheckOutput {
  /** No given value is invalid and no cross finding is fatal. */
  valid: boolean
  /** review: valid, with warnings to read. */
  verdict: 'pass' | 'review' | 'fail'
  /** One sentence for people. */
  summary: string
  /** Each check whole, under the field that was given. */
  checks: {
    gstin: Readonly<Record<string, unknown>> | null
    pan: Readonly<Record<string, unknown>> | null
    vpa: Readonly<Record<string, unknown>> | null
    ifsc: Readonly<Record<string, unknown>> | null
  }
  /** What the values say of one another. */
  cross_checks: readonly CrossCheck[]
  /** Publication date or release of each reference table used; "compiled <date>" where a person compiled it. */
  data_as_of: Readonly<Record<string, string>>
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'india-supplier-check'
}
