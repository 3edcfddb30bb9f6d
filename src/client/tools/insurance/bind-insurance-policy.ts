// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { CoverageType, Scope } from '../shapes.ts'

/** Bind a policy of an underwriter. */
export interface BindInsurancePolicyInput {
  /** From list-approved-insurers, or the address of the underwriter. */
  underwriter_id: string
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
  /** Who takes the cover. A broken checksum (EIP-55) is refused. */
  policyholder_address?: string
  /** Who is paid, the policyholder when absent. A broken checksum (EIP-55) is refused. */
  beneficiary_address?: string
  /** Kind of cover; that of the rate card when absent. */
  coverage_type?: CoverageType
}

export interface BindInsurancePolicyOutput {
  /** BOUND only after the underwriter countersigned. */
  status: 'PENDING_UNDERWRITER' | 'BOUND' | 'REFUSED'
  /** ok, or why there is no certificate. */
  reason_code:
    | 'ok'
    | 'unknown_underwriter'
    | 'not_proven'
    | 'entry_expired'
    | 'coverage_type_not_offered'
    | 'below_minimum'
    | 'above_maximum'
    | 'policyholder_checksum'
    | 'beneficiary_checksum'
  /** One sentence. */
  reason: string
  /** False when this certificate was there before. */
  created: boolean
  /** The whole POL-1 certificate; null when refused. */
  certificate: Readonly<Record<string, unknown>> | null
  /** What the underwriter countersigns, as a hash. */
  policy_digest: string | null
  /** Where the underwriter sends policy_id and signature. */
  countersign_at: string | null
  /** Where the certificate can be fetched again. */
  certificate_url: string | null
  /** What should be known all the same. */
  warnings: readonly { code: string; message: string }[]
  /** What the service is not. */
  disclaimer: string
  /** The rule book. */
  standard: string
  /** keccak-256 of the canonical text of {standard, table}. */
  policy_hash: string
  /** Time of the answer. */
  evaluated_at: string
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'bind-insurance-policy'
}
