import { type Attribution, paysAsCredit } from './attribution-state.ts'
import { EVIDENCE_GRADES } from './records.ts'
import {
  MATCHED_BY,
  UNPAID_VERDICT,
  VERDICT_WARNINGS,
  type VerdictBasis,
  type InstructionVerdict,
  type VerdictKind,
  type MatchedBy,
  type Verdict,
} from './verdicts.ts'
import type { Ledger } from './ledger.ts'

/** Entries of one instruction by their effect. */
interface EntrySides {
  /** Entries that carry it out. */
  forward: number[]
  /** Entries that take it back. */
  back: number[]
  /** ACH entries that repeat entries of a statement, and entries of the other account's statement. */
  duplicates: number[]
  warnings: number
}

/** Sum of the entries. */
interface PaidSum {
  net: bigint
  charges: bigint
  /** Number of payments of the full amount. */
  full: number
  forward: number
  back: number
  instructed: boolean
  /** The bank repeats the instructed amount next to an amount that charges could have reduced it to. */
  repeated: boolean
}

/** Result: a verdict, entries that belong to something else, or an ambiguity. */
type VerdictDecision = { kind: 'judged'; judgement: InstructionVerdict } | { kind: 'released' } | { kind: 'contested'; why: VerdictKind }

/**
 * Decides one instruction from its entries, batch bookings included. Returned money is deducted; an amount in another currency is compared
 * with the instructed amount that the bank repeats and never converted; a difference counts as settled only if charges explain it exactly.
 */
export function decidePayment(at: Attribution, instruction: number, rows: readonly number[], require_settlement: boolean): VerdictDecision {
  const covered = at.covered_by.get(instruction) !== 0
  const plain_row = covered || rows.length !== 1 ? null : (rows[0] ?? null)
  if (plain_row !== null && isExactPayment(at, instruction, plain_row)) return decided(settledVerdict(at, instruction, plain_row))
  const sides = splitSides(at, instruction, rows)
  const times = covered ? at.coverage.get(instruction) : 0
  if (sides.forward.length === 0 && !covered && sides.back.length > 0 && !sides.back.some((row) => at.ledger.entries.isReturn(row))) {
    return { kind: 'released' }
  }
  if (isReversalSignUnclear(at, sides)) return { kind: 'contested', why: 'reversal_sign' }
  const facts = collectFacts(at, instruction, sides, covered)
  const plain = sumEntries(at, instruction, sides, { covered, times }, false)
  if (plain === null) return decided({ ...facts, verdict: 'AMOUNT_MISMATCH', basis: 'exact', kind: 'currency', net_minor: null })
  const [verdict, kind] = decideVerdict(at, instruction, plain)
  const charged = verdict === 'AMOUNT_MISMATCH' ? sumEntries(at, instruction, sides, { covered, times }, true) : null
  if (charged !== null && charged.charges !== 0n) {
    const [other, why] = decideVerdict(at, instruction, charged)
    if (other !== 'AMOUNT_MISMATCH')
      return decided(completeVerdict({ ...facts, verdict: other, kind: why }, charged, covered, require_settlement))
  }
  return decided(completeVerdict({ ...facts, verdict, kind }, plain, covered, require_settlement))
}

/** Fast path: one booked entry of exactly the instructed amount. */
function isExactPayment({ ledger }: Attribution, instruction: number, row: number): boolean {
  const { entries, instructions } = ledger
  return (
    entries.amount.get(row) === instructions.amount.get(instruction) &&
    entries.currency.get(row) === instructions.currency.get(instruction) &&
    !entries.isReturn(row) &&
    !entries.isAch(row) &&
    paysAsCredit(ledger, instruction, row) === entries.isCredit(row)
  )
}

function settledVerdict(at: Attribution, instruction: number, row: number): InstructionVerdict {
  const { entries } = at.ledger
  const matched_by = at.matchedBy(row)
  return {
    ...UNPAID_VERDICT,
    verdict: 'SETTLED',
    kind: 'none',
    basis: matched_by === 'folded_id' ? 'folded' : 'exact',
    matched_by,
    net_minor: entries.amount.get(row),
    payments: 1,
    evidence: entries.evidence.get(row),
    warnings: doubtWarnings(at, instruction, row),
  }
}

/** Warnings that the entry may be another payment, or one that two statements show. */
function doubtWarnings(at: Attribution, instruction: number, row: number): number {
  const { ledger } = at
  const counterparty = namesOtherCounterparty(ledger, instruction, row, ledger.entries.isCredit(row))
  return (
    (counterparty ? VERDICT_WARNINGS.OTHER_COUNTERPARTY : 0) |
    (namesOtherUetr(ledger, instruction, row) ? VERDICT_WARNINGS.OTHER_UETR : 0) |
    (at.isShownTwice(row) ? VERDICT_WARNINGS.OVERLAP_INFERRED : 0)
  )
}

/** Both counterparty accounts are IBANs and differ. */
function namesOtherCounterparty({ instructions, entries }: Ledger, instruction: number, entry: number, credit: boolean): boolean {
  const named = entries.counterparty.get(entry)
  const meant = credit ? instructions.debtor.get(instruction) : instructions.creditor.get(instruction)
  return named > 0 && meant > 0 && named !== meant
}

/** The UETRs differ: it may be another payment under the same id. */
function namesOtherUetr({ instructions, entries }: Ledger, instruction: number, entry: number): boolean {
  const named = entries.ids.uetr.get(entry)
  const meant = instructions.ids.uetr.get(instruction)
  return named !== 0 && meant !== 0 && named !== meant
}

function decided(judgement: InstructionVerdict): VerdictDecision {
  return { kind: 'judged', judgement }
}

function splitSides(at: Attribution, instruction: number, rows: readonly number[]): EntrySides {
  const { entries } = at.ledger
  const booked = rows.filter((row) => !entries.isAch(row))
  // If the account does not decide the direction, debits pay, provided that one of them is not a return.
  const debits_pay = rows.some((row) => !entries.isReturn(row) && !entries.isCredit(row))
  const pays = (row: number) => {
    const credit = paysAsCredit(at.ledger, instruction, row)
    if (credit !== null) return credit === entries.isCredit(row)
    return !entries.isReturn(row) && entries.isCredit(row) !== debits_pay
  }
  const sides: EntrySides = { forward: [], back: [], duplicates: [], warnings: 0 }
  const one_side = decidingSide(at, instruction, rows)
  const seen_booked = booked.some(pays) || at.covered_by.get(instruction) !== 0
  const returned_booked = booked.some((row) => !pays(row))
  for (const row of rows) {
    const forward = pays(row)
    if (!one_side(row)) sides.duplicates.push(row)
    else if (entries.isAch(row) && (forward ? seen_booked : returned_booked)) sides.duplicates.push(row)
    else if (forward) sides.forward.push(row)
    else sides.back.push(row)
  }
  if (sides.back.some((row) => !entries.isReturn(row) && !entries.isCharge(row))) sides.warnings |= VERDICT_WARNINGS.RETURN_NOT_MARKED
  if (seen_booked && sides.back.some((row) => entries.isAch(row))) sides.warnings |= VERDICT_WARNINGS.RETURN_IN_ACH_ONLY
  return sides
}

/** If statements of both accounts are present, the debtor's decides: the creditor's shows the same money again. */
function decidingSide(
  { ledger: { instructions, entries } }: Attribution,
  instruction: number,
  rows: readonly number[],
): (row: number) => boolean {
  const debtor = instructions.debtor.get(instruction)
  const creditor = instructions.creditor.get(instruction)
  const both = debtor !== 0 && debtor !== creditor && rows.some((row) => entries.account.get(row) === debtor)
  return (row) => !both || creditor === 0 || entries.account.get(row) !== creditor
}

/**
 * Banks disagree on the sign of a reversal. One in the direction of the payment can only undo a return; without a return of its size it
 * could also be the payment going back, so neither is assumed.
 */
function isReversalSignUnclear(at: Attribution, { forward, back }: EntrySides): boolean {
  const { entries } = at.ledger
  const total = (rows: readonly number[]) => rows.reduce((sum, row) => sum + entries.amount.get(row), 0n)
  const marked = forward.filter((row) => entries.isReturn(row))
  return marked.length > 0 && total(marked) > total(back)
}

function collectFacts(at: Attribution, instruction: number, sides: EntrySides, covered: boolean): InstructionVerdict {
  const { entries, pool } = at.ledger
  const rows = [...sides.forward, ...sides.back]
  const weakest = (list: readonly number[], least: number) => list.reduce((most, row) => Math.max(most, entries.evidence.get(row)), least)
  const paid = weakest(sides.forward, covered ? 0 : -1)
  const evidence = paid === -1 ? weakest(rows, -1) : paid
  const reasons = sides.back.map((row) => pool.text(entries.reason.get(row))).filter((text) => text !== null)
  const other = sides.forward.reduce((bits, row) => bits | doubtWarnings(at, instruction, row), 0)
  return {
    ...UNPAID_VERDICT,
    matched_by: weakestMatch(at, instruction, [...rows, ...sides.duplicates]),
    evidence: evidence === -1 ? null : evidence,
    reason: reasons.toSorted()[0] ?? null,
    warnings: sides.warnings | other | evidenceWarning(evidence) | datesApartWarning(at, sides.forward),
  }
}

/** Payments further apart than an entry may be early are probably not one payment made twice. */
function datesApartWarning(at: Attribution, forward: readonly number[]): number {
  const days = forward.map((row) => at.ledger.entries.day.get(row)).filter((day) => day !== 0)
  const [first, last] = days.reduce(([least, most], day) => [Math.min(least, day), Math.max(most, day)], [Infinity, 0])
  return last - first > at.window.days_before ? VERDICT_WARNINGS.DATES_APART : 0
}

function evidenceWarning(evidence: number): number {
  const grade = EVIDENCE_GRADES[evidence]
  if (grade === undefined || grade === 'booked') return 0
  return grade === 'ach_dated' ? VERDICT_WARNINGS.ACH_MAY_RETURN : VERDICT_WARNINGS.ACH_ORIGINATED
}

/** The weakest id by which the entries were matched. */
function weakestMatch(at: Attribution, instruction: number, rows: readonly number[]): MatchedBy {
  const weakest = rows.reduce((most, row) => Math.max(most, MATCHED_BY.indexOf(at.matchedBy(row))), at.covered_by.get(instruction))
  return MATCHED_BY[weakest] ?? 'none'
}

/** Null if an amount cannot be compared in the currency of the instruction. */
function sumEntries(
  at: Attribution,
  instruction: number,
  sides: EntrySides,
  batch: { covered: boolean; times: number },
  gross: boolean,
): PaidSum | null {
  const amount_minor = at.ledger.instructions.amount.get(instruction)
  const paid = Math.max(0, batch.times)
  const taken = batch.covered && paid === 0 ? Math.max(1, -batch.times) : 0
  const sum: PaidSum = {
    net: BigInt(batch.times) * amount_minor,
    charges: 0n,
    full: paid,
    forward: paid,
    back: taken,
    instructed: false,
    repeated: false,
  }
  for (const row of sides.forward) {
    const value = valueInCurrency(at, instruction, row, gross, sum)
    if (value === null) return null
    sum.net += value
    sum.forward++
    if (value === amount_minor) sum.full++
  }
  for (const row of sides.back) {
    // Of entries against the payment, only separate charges are reduced.
    const value = valueInCurrency(at, instruction, row, gross && at.ledger.entries.isCharge(row), sum)
    if (value === null) return null
    sum.net -= value
    sum.back++
  }
  return sum
}

/** Amount of the entry in the currency of the instruction; with `gross`, before the stated charges. */
function valueInCurrency(at: Attribution, instruction: number, row: number, gross: boolean, sum: PaidSum): bigint | null {
  const { entries, instructions } = at.ledger
  const currency = instructions.currency.get(instruction)
  const amount_minor = entries.amount.get(row)
  const instructed = entries.instructed_currency.get(row) === currency ? entries.instructed_amount.get(row) : null
  if (entries.currency.get(row) !== currency) {
    sum.instructed = true
    return instructed
  }
  if (!gross) {
    const charged = instructed !== null && (entries.isCredit(row) ? instructed > amount_minor : instructed < amount_minor)
    if (charged && instructed === instructions.amount.get(instruction)) sum.repeated = true
    return amount_minor
  }
  const charges = entries.charges.get(row)
  sum.charges += charges
  // Charges increase a debit and reduce a credit.
  return entries.isCredit(row) ? amount_minor + charges : amount_minor - charges
}

function decideVerdict(at: Attribution, instruction: number, { net, full, back }: PaidSum): [Verdict, VerdictKind] {
  const amount_minor = at.ledger.instructions.amount.get(instruction)
  if (back > 0 && net <= 0n) return ['UNPAID', 'returned']
  if (net === amount_minor) return ['SETTLED', 'none']
  if (full >= 2 && amount_minor > 0n && net >= 2n * amount_minor) return ['DUPLICATE_PAYMENT', 'none']
  if (net > amount_minor) return ['AMOUNT_MISMATCH', 'over']
  return ['AMOUNT_MISMATCH', back > 0 ? 'partly_returned' : 'under']
}

function completeVerdict(found: InstructionVerdict, sum: PaidSum, covered: boolean, require_settlement: boolean): InstructionVerdict {
  const paid = found.verdict === 'SETTLED' || found.verdict === 'DUPLICATE_PAYMENT'
  const unproved = require_settlement && paid && EVIDENCE_GRADES[found.evidence ?? 0] === 'ach_originated'
  return {
    ...found,
    verdict: unproved ? 'UNPAID' : found.verdict,
    kind: unproved ? 'no_settlement_evidence' : found.kind,
    basis: verdictBasis(found.matched_by, sum, covered),
    net_minor: sum.net,
    charges_minor: sum.charges,
    payments: sum.full,
    warnings:
      (found.verdict === 'DUPLICATE_PAYMENT' ? found.warnings : found.warnings & ~VERDICT_WARNINGS.DATES_APART) |
      (found.verdict === 'AMOUNT_MISMATCH' && sum.repeated ? VERDICT_WARNINGS.CHARGES_INFERRED : 0),
  }
}

function verdictBasis(matched_by: MatchedBy, { forward, back, full, charges, instructed }: PaidSum, covered: boolean): VerdictBasis {
  if (charges !== 0n) return 'net_of_charges'
  if (instructed) return 'instructed_amount'
  if (back > 0 && forward > 0) return 'net_of_returns'
  if (matched_by === 'folded_id') return 'folded'
  if (matched_by === 'truncated_id') return 'truncated'
  if (covered) return 'batch'
  // Payments of the full amount are not parts of a split payment.
  return forward > 1 && full < forward ? 'split' : 'exact'
}
