// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Scope } from '../shapes.ts'

/** Reconcile payments with a statement. */
export interface ReconcileInput {
  /** Instructions: a pain.001 of any version. */
  pain001_xml?: string
  /** Instructions between banks: a pacs.008 of any version. */
  pacs008_xml?: string
  /** Statement: a camt.053, versions 02 to 13. */
  camt053_xml?: string
  /** ACH file of 94-character records. */
  nacha_ach?: string
  /** A freshly originated ACH entry then settles nothing. */
  require_settlement_evidence?: boolean
  /** Entries booked up to so many days before the payment was due count; 10 if left out. */
  days_before?: number
  /** Entries booked up to so many days after it count; 90 if left out. */
  days_after?: number
}

export interface ReconcileOutput {
  /** False when an input could not be read whole; then there are no verdicts. */
  valid: boolean
  /** Every instruction is SETTLED, and there is one. */
  all_settled: boolean
  /** One sentence. */
  summary: string
  /** Instructions by verdict. */
  counts: { SETTLED: number; UNPAID: number; AMOUNT_MISMATCH: number; DUPLICATE_PAYMENT: number }
  /** One for each instruction, by id, then place. */
  verdicts: readonly {
    end_to_end_id: string | null
    source: string
    file: number
    position: number
    verdict: 'SETTLED' | 'UNPAID' | 'AMOUNT_MISMATCH' | 'DUPLICATE_PAYMENT'
    basis: string
    kind: string | null
    matched_by: string | null
    currency: string
    amount_minor: string
    net_minor: string | null
    delta_minor: string | null
    charges_minor: string
    payments: number
    evidence: 'booked' | 'ach_dated' | 'ach_originated' | null
    final: boolean
    reason: string | null
    entries: readonly string[]
    warnings: readonly string[]
  }[]
  /** Entries that stand for no instruction, with the reason. */
  unmatched: readonly Readonly<Record<string, unknown>>[]
  /** Entries that do not count: pending, repeated statements, notices. */
  ignored: readonly Readonly<Record<string, unknown>>[]
  /** Instructions and entries that cannot be told apart; those are UNPAID. */
  ambiguous: readonly Readonly<Record<string, unknown>>[]
  /** Ids that several instructions share. */
  input_defects: readonly Readonly<Record<string, unknown>>[]
  /** By currency: sums of instructions by verdict, of entries by fate. */
  totals: readonly Readonly<Record<string, unknown>>[]
  /** Matched, unmatched and ignored add up to all entries; false when nothing was judged. */
  conserved: boolean
  /** The inputs, as numbered. */
  files: readonly string[]
  /** Days around the due date of a payment in which an entry counts. */
  window: { days_before: number; days_after: number }
  /** Remarks on the inputs: code, severity, file, line, message; at most 200. */
  findings: readonly Readonly<Record<string, unknown>>[]
  /** All of them. */
  finding_count: number
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'reconcile'
}
