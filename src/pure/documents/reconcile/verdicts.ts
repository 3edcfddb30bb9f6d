import { EVIDENCE } from './records.ts'

/** What can be said of an instruction. The four verdicts are fixed; basis and kind say why. */

export const VERDICTS = ['SETTLED', 'UNPAID', 'AMOUNT_MISMATCH', 'DUPLICATE_PAYMENT'] as const
export type Verdict = (typeof VERDICTS)[number]

/** How entries came to stand for the instruction. The names are the wire's. */
export const BASES = [
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
export type Basis = (typeof BASES)[number]

/** Why it is not plainly settled, in one word; `none` on the wire is null. */
export const KINDS = [
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
export type Kind = (typeof KINDS)[number]

/** By which id an entry found its instruction. */
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

/** Remarks on a verdict, one bit each in `Judgement.warnings`. */
export const WARNINGS = {
  /** The only evidence is that the payment was originated. */
  ACH_ORIGINATED: 1,
  /** The only evidence is an ACH entry with a settlement date; it may still be returned. */
  ACH_MAY_RETURN: 2,
  /** Money came back under the same id without the bank's mark of a return. */
  RETURN_NOT_MARKED: 4,
  /** The difference may be charges, since the bank repeats the instructed amount; it does not list them, so they explain nothing. */
  CHARGES_INFERRED: 8,
  /** The bank names another account of the counterparty than the instruction does. */
  OTHER_COUNTERPARTY: 16,
  /** The return stands in an ACH file and not in the statement. */
  RETURN_IN_ACH_ONLY: 32,
  /** The bank names another UETR than the instruction does: it may be another payment under the same id. */
  OTHER_UETR: 64,
  /** Two statements show the payment on the same day without references of the bank: it is taken for one payment told twice. */
  OVERLAP_INFERRED: 128,
  /** Payments under this id were booked so far apart that the id may have been used again for another payment. */
  DATES_APART: 256,
} as const
export type Warning = keyof typeof WARNINGS

/** Why an entry stands for no instruction. */
export const UNMATCHED = ['no_instruction', 'ambiguous', 'wrong_direction', 'other_account', 'outside_window'] as const
export type Unmatched = (typeof UNMATCHED)[number]

/** Why an entry does not count at all. */
export const IGNORED = [
  'pending',
  'information',
  'other_status',
  'repeated_statement',
  'repeated_entry',
  'notification_of_change',
  'prenote',
] as const
export type Ignored = (typeof IGNORED)[number]

/** The verdict on one instruction. */
export interface Judgement {
  verdict: Verdict
  basis: Basis
  kind: Kind
  matched_by: MatchedBy
  /** What is left of the payment after returns, in the currency of the instruction; null when it cannot be said. */
  net_minor: bigint | null
  /** The part of the difference that charges explain. */
  charges_minor: bigint
  /** How often the full amount was paid. */
  payments: number
  /** The weakest evidence that the verdict rests on; null without entries. */
  evidence: number | null
  reason: string | null
  /** Bits of WARNINGS. */
  warnings: number
}

/** Remarks that leave open whether it was this payment, so that what rests on it is not final. */
const DOUBTS = WARNINGS.OTHER_COUNTERPARTY | WARNINGS.OTHER_UETR | WARNINGS.OVERLAP_INFERRED

/** Whether nothing more is to be expected: settled, booked in a statement, and nothing speaks for another payment. */
export function isFinal({ verdict, evidence, warnings }: Judgement): boolean {
  return verdict === 'SETTLED' && evidence === BOOKED && (warnings & DOUBTS) === 0
}

const BOOKED = EVIDENCE.indexOf('booked')

export function warningNames(bits: number): Warning[] {
  return (Object.keys(WARNINGS) as Warning[]).filter((name) => (bits & WARNINGS[name]) !== 0)
}
