// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { CoverageType, Scope } from '../shapes.ts'

/** Quote third-party insurance. */
export interface Quote3rdPartyInsuranceInput {
  /** The sum to be covered, USDC as number or decimal text. Give this or amount. */
  amount_usdc?: number | string
  /** The same by another name. Where both are given, they must be equal. */
  amount?: number | string
  /** Transaction that is insured. */
  tx_hash?: string
  /** What is insured, by a name of your own. */
  transaction_id?: string
  /** Invoice that is insured. */
  invoice_id?: string
  /** Kind of cover; all kinds when absent. */
  coverage_type?: CoverageType
  /** The other side; echoed for the underwriter. */
  counterparty_address?: string
}

export interface Quote3rdPartyInsuranceOutput {
  /** Underwriters whose card takes it. */
  quote_count: number
  /** The cheapest 100: underwriter_id, proven_domain, proven_at, premium_minor, rate, term, jurisdictions, terms, entry_hash. */
  quotes: readonly Readonly<Record<string, unknown>>[]
  /** One sentence. */
  reason: string
  /** Why other cards do not take it, counted. */
  excluded: Readonly<Record<string, number>>
  /** The sum, USDC minor units. */
  coverage_minor: string
  /** Of all amounts. */
  currency: string
  /** As given. */
  coverage_type: CoverageType | null
  /** tx_hash, transaction_id, invoice_id and counterparty as given. */
  subject: Readonly<Record<string, string | null>>
  /** Whether the capitals of counterparty_address are those of EIP-55; null when none was given. */
  counterparty_checksum: 'absent' | 'holds' | 'broken' | null
  /** Nobody has vetted the underwriters. */
  vetted: false
  /** What listing means. */
  notice: string
  /** The rule book. */
  standard: string
  /** keccak-256 of the canonical text of {standard, table}. */
  policy_hash: string
  /** Time of the answer. */
  evaluated_at: string
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'quote-3rd-party-insurance'
}
