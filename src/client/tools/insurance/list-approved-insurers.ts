// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { CoverageType, Scope } from '../shapes.ts'

/** List registered underwriters. */
export interface ListApprovedInsurersInput {
  /** Only underwriters of this kind of cover. */
  coverage_type?: CoverageType
  /** Only those that cover at least this much, USDC as number or decimal text. */
  min_coverage_usdc?: number | string
}

export interface ListApprovedInsurersOutput {
  /** Underwriters listed. */
  count: number
  /** The signed entries, proven ones first, each with underwriter_id, entry_hash, proven, proven_domain, proven_at and vetted false. */
  insurers: readonly Readonly<Record<string, unknown>>[]
  /** Nobody has vetted them. */
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
  tool: 'list-approved-insurers'
}
