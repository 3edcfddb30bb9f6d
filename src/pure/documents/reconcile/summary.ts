import type { ReconcileOutcome } from './outcome.ts'
import { instructionOrder, isFinalVerdict, verdictRow, type VerdictRow } from './report-rows.ts'
import { VERDICT_WARNINGS } from './verdicts.ts'

/** Numbers of payments by what a desk must know of them. A payment can count in several. */
export interface PaymentConcerns {
  all: number
  settled: number
  /** Settled, booked, and nothing speaks against it. */
  final: number
  to_other_account: number
  not_covered: number
  rejected: number
  returned: number
  unpaid: number
  differing: number
  duplicate: number
}

export function countConcerns(outcome: ReconcileOutcome): PaymentConcerns {
  const counts: PaymentConcerns = {
    all: 0,
    settled: 0,
    final: 0,
    to_other_account: 0,
    not_covered: 0,
    rejected: 0,
    returned: 0,
    unpaid: 0,
    differing: 0,
    duplicate: 0,
  }
  for (let row = 0; row < outcome.ledger.instructions.size; row++) {
    const found = outcome.verdictOf(row)
    counts.all++
    if (found.verdict === 'SETTLED') counts.settled++
    if (isFinalVerdict(found)) counts.final++
    if ((found.warnings & VERDICT_WARNINGS.OTHER_COUNTERPARTY) !== 0) counts.to_other_account++
    if (found.kind === 'not_covered') counts.not_covered++
    if (found.kind === 'rejected') counts.rejected++
    if (found.kind === 'returned') counts.returned++
    if (found.verdict === 'UNPAID') counts.unpaid++
    if (found.verdict === 'AMOUNT_MISMATCH') counts.differing++
    if (found.verdict === 'DUPLICATE_PAYMENT') counts.duplicate++
  }
  return counts
}

/** Every payment is settled and final. */
export function areAllSettled({ all, final }: PaymentConcerns): boolean {
  return all > 0 && final === all
}

/** Counts in words, the ones that need action first; empty if every payment is settled and final. */
export function concernTexts(counts: PaymentConcerns): string[] {
  const { unpaid, not_covered, rejected, returned, settled, final } = counts
  const plain = unpaid - not_covered - rejected - returned
  const doubtful = settled - final - counts.to_other_account
  const parts: [number, string][] = [
    [counts.to_other_account, 'paid to another account'],
    [counts.duplicate, 'paid more than once'],
    [returned, 'returned'],
    [rejected, 'rejected'],
    [counts.differing, 'paid with a different amount'],
    [plain, 'unpaid'],
    [not_covered, 'not covered by the statements'],
    [doubtful, 'settled but not final'],
  ]
  return parts.flatMap(([count, text]) => (count > 0 ? [`${count} ${text}`] : []))
}

/** Payments named in a summary. */
const NAMED = 5

/** The result in at most three sentences: counts, then the payments that need action, five at most. */
export function summarySentence(outcome: ReconcileOutcome, unmatched: number): string {
  const counts = countConcerns(outcome)
  const entries = unmatched === 1 ? '1 entry matches no payment' : `${unmatched} entries match no payment`
  const texts = concernTexts(counts)
  const head = `${counts.settled} of ${counts.all} payments settled${texts.length === 0 ? '' : `; ${texts.join(', ')}`}; ${entries}.`
  const open: string[] = []
  let more = 0
  for (const row of instructionOrder(outcome)) {
    if (isFinalVerdict(outcome.verdictOf(row))) continue
    if (open.length < NAMED) open.push(paymentText(verdictRow(outcome, row)))
    else more++
  }
  return open.length === 0 ? head : `${head} ${open.join('; ')}${more === 0 ? '' : `; and ${more} more`}.`
}

function paymentText({ end_to_end_id, verdict, kind, warnings, file, position }: VerdictRow): string {
  const why = [kind, ...warnings].filter((text) => text !== null).join(', ')
  return `${end_to_end_id ?? `payment ${file}:${position}`}: ${verdict}${why === '' ? '' : ` (${why})`}`
}
