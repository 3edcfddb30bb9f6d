// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Finding, ReasonCode, Scope } from '../shapes.ts'

/** Check the form of a UK company number. */
export interface CompanyNumberFormatInput {
  /** The company number, such as 00445790 or SC045551. */
  company_number: string
}

export interface CompanyNumberFormatOutput {
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
    prefix: string
    number: string
    register: string | null
    entity_family: string | null
    description: string | null
    is_companies_act_company: boolean | null
    print_form: string
    parts: readonly { label: string; start: number; end: number }[]
  } | null
  /** Always GB. */
  country: string
  /** Publication date or release of each reference table used; "compiled <date>" where a person compiled it. */
  data_as_of: Readonly<Record<string, string>>
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'company-number-format'
}
