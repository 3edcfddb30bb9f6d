/** The four verdicts are fixed; basis and kind give the reason. */

export const VERDICTS = ['SETTLED', 'UNPAID', 'AMOUNT_MISMATCH', 'DUPLICATE_PAYMENT'] as const
export type Verdict = (typeof VERDICTS)[number]

/** The way in which entries account for the instruction, as named in the API. */
export const VERDICT_BASES = [
  'none',
  'exact',
  'folded',
  'truncated',
  'split',
  'batch',
  'net_of_charges',
  'net_of_returns',
  'instructed_amount',
  'ambiguous',
] as const
export type VerdictBasis = (typeof VERDICT_BASES)[number]

/** Reason why the instruction is not plainly settled; `none` is null in the API. */
export const VERDICT_KINDS = [
  'none',
  'not_found',
  'pending',
  'returned',
  'wrong_direction',
  'other_account',
  'outside_window',
  'no_settlement_evidence',
  'shared_id',
  'unclear_id',
  'batch_total',
  'reversal_sign',
  'under',
  'over',
  'currency',
  'partly_returned',
] as const
export type VerdictKind = (typeof VERDICT_KINDS)[number]

/** The id by which an entry was matched to its instruction. */
export const MATCHED_BY = [
  'none',
  'end_to_end_id',
  'uetr',
  'instruction_id',
  'transaction_id',
  'clearing_reference',
  'reference',
  'folded_id',
  'truncated_id',
  'trace',
  'payment_information_id',
  'message_id',
] as const
export type MatchedBy = (typeof MATCHED_BY)[number]

/** Warnings on a verdict, one bit each in `InstructionVerdict.warnings`. */
export const VERDICT_WARNINGS = {
  /** The only evidence is that the payment was originated. */
  ACH_ORIGINATED: 1,
  /** The only evidence is an ACH entry with a settlement date; it may still be returned. */
  ACH_MAY_RETURN: 2,
  /** Money came back under the same id without being marked as a return. */
  RETURN_NOT_MARKED: 4,
  /** The difference may be charges, because the bank repeats the instructed amount. It does not list them, so they are not deducted. */
  CHARGES_INFERRED: 8,
  /** The bank names another counterparty account than the instruction. */
  OTHER_COUNTERPARTY: 16,
  /** The return is in an ACH file and not in the statement. */
  RETURN_IN_ACH_ONLY: 32,
  /** The bank names another UETR than the instruction: it may be another payment under the same id. */
  OTHER_UETR: 64,
  /** Two statements show the payment on the same day without bank references: it is counted once. */
  OVERLAP_INFERRED: 128,
  /** Payments under this id were booked so far apart that the id may have been reused for another payment. */
  DATES_APART: 256,
} as const

/** Reason why an entry matches no instruction. */
export const UNMATCHED_REASONS = ['no_instruction', 'ambiguous', 'wrong_direction', 'other_account', 'outside_window'] as const
export type UnmatchedReason = (typeof UNMATCHED_REASONS)[number]

/** Reason why an entry does not count. */
export const IGNORED_REASONS = [
  'pending',
  'information',
  'other_status',
  'repeated_statement',
  'repeated_entry',
  'notification_of_change',
  'prenote',
] as const
export type IgnoredReason = (typeof IGNORED_REASONS)[number]

/** Verdict on one instruction. */
export interface InstructionVerdict {
  verdict: Verdict
  basis: VerdictBasis
  kind: VerdictKind
  matched_by: MatchedBy
  /** Amount paid minus returns, in the currency of the instruction; null if it cannot be determined. */
  net_minor: bigint | null
  /** Part of the difference that charges explain. */
  charges_minor: bigint
  /** Number of payments of the full amount. */
  payments: number
  /** Index in EVIDENCE_GRADES of the weakest evidence for the verdict; null without entries. */
  evidence: number | null
  reason: string | null
  /** Bits of VERDICT_WARNINGS. */
  warnings: number
}

export const UNPAID_VERDICT: InstructionVerdict = {
  verdict: 'UNPAID',
  basis: 'none',
  kind: 'not_found',
  matched_by: 'none',
  net_minor: 0n,
  charges_minor: 0n,
  payments: 0,
  evidence: null,
  reason: null,
  warnings: 0,
}
