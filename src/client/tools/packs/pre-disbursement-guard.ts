// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Scope } from '../shapes.ts'

/** Check a payee before paying. */
export interface PreDisbursementGuardInput {
  /** The account to be paid. */
  recipient_iban?: string
  /** Domain of the vendor, or the e-mail address that invoices. */
  vendor_domain?: string
  /** Country that the payee claims, ISO 3166-1 alpha-2. */
  declared_country?: string
  /** UK company number; judged when the declared country is GB or absent. */
  company_number?: string
  /** Legal Entity Identifier. */
  lei?: string
  /** VAT number; judged for the EU, XI, GB, CH and NO, or when no country is declared. */
  vat_number?: string
  /** Postal address, the country last. */
  physical_address?: string
  /** Amount in US dollars, as number or decimal text. */
  invoice_amount_usd?: number | string
}

export interface PreDisbursementGuardOutput {
  /** Below 20, below 50, from 50. CLEAR only with a valid account, LEI, VAT or company number and nothing unknown; else at least REVIEW. */
  decision: 'CLEAR' | 'REVIEW' | 'BLOCK'
  /** Whether the decision is CLEAR. It is no proof of anything. */
  clear_to_disburse: boolean
  /** Sum of the points, at most 100. */
  risk_score: number
  /** 0-19, 20-44, 45-69, 70-100. */
  risk_level: 'low' | 'elevated' | 'high' | 'critical'
  /** One sentence. */
  summary: string
  /** The factors that were found; their points add up to the score. */
  flags_triggered: readonly { factor: string; points: number; reason: string }[]
  /** What to do next. */
  recommendations: readonly string[]
  /** What was read off the input. */
  inspected_counterparty: {
    declared_country: string | null
    iban_country: string | null
    address_country: string | null
    domain: {
      host: string | null
      registrable: string | null
      mailbox: boolean
      status: 'pass' | 'flagged' | 'unknown'
      age_days: number | null
      registered_at: string | null
      unknown_reason: string | null
      source: 'rdap' | 'fixed_sample'
    } | null
  }
  /** The checks of the identifiers. */
  checks: {
    recipient_iban: Readonly<Record<string, unknown>> | null
    lei: Readonly<Record<string, unknown>> | null
    vat_number: Readonly<Record<string, unknown>> | null
    company_number: Readonly<Record<string, unknown>> | null
  }
  /** The rule book. */
  standard: string
  /** keccak-256 of the canonical text of {standard, table}. */
  policy_hash: string
  /** Time of the answer, from which ages are counted. */
  evaluated_at: string
  /** Publication date or release of each reference table used; "compiled <date>" where a person compiled it. */
  data_as_of: Readonly<Record<string, string>>
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'pre-disbursement-guard'
}
