import { type Attribution, otherCounterparty, otherUetr, paysAsCredit } from './attribution.ts'
import { EVIDENCE } from './records.ts'
import { MATCHED_BY, WARNINGS, type Basis, type Judgement, type Kind, type MatchedBy, type Verdict } from './verdicts.ts'

/** The entries of one instruction, sorted by what they do to it. */
interface Sides {
  /** Carry it out. */
  forward: number[]
  /** Take it back. */
  back: number[]
  /** ACH entries beside a statement, which repeat what the statement shows. */
  beside: number[]
  warnings: number
}

/** What the entries come to. */
interface Sum {
  net: bigint
  charges: bigint
  /** Payments that each are the full amount. */
  full: number
  forward: number
  back: number
  instructed: boolean
  /** The bank repeats the instructed amount beside one that charges could have made of it. */
  repeated: boolean
}

const UNPAID: Judgement = {
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

export function unpaid(kind: Kind): Judgement {
  return { ...UNPAID, kind }
}

export function undecided(kind: Kind): Judgement {
  return { ...UNPAID, basis: 'ambiguous', kind, net_minor: null }
}

/** How a judgement ends: with a verdict, with entries that turn out to be about something else, or without a decision. */
export type Ending = { kind: 'judged'; judgement: Judgement } | { kind: 'released' } | { kind: 'contested'; why: Kind }

/**
 * The verdict on one instruction from the entries that stand for it, batch bookings included. Money that came back is taken off; an amount
 * in another currency is compared with the instructed amount that the bank repeats and never converted; a difference counts as settled
 * only when charges explain it to the last unit.
 */
export function judgePayment(at: Attribution, instruction: number, rows: readonly number[], require_settlement: boolean): Ending {
  const covered = at.covered_by.get(instruction) !== 0
  const plain_row = covered || rows.length !== 1 ? null : (rows[0] ?? null)
  if (plain_row !== null && isPlain(at, instruction, plain_row)) return judged(settledBy(at, instruction, plain_row))
  const sides = sidesOf(at, instruction, rows)
  const times = covered ? at.coverage.get(instruction) : 0
  if (sides.forward.length === 0 && !covered && sides.back.length > 0 && !sides.back.some((row) => at.ledger.entries.isReturn(row))) {
    return { kind: 'released' }
  }
  if (signIsUnclear(at, sides)) return { kind: 'contested', why: 'reversal_sign' }
  const facts = factsOf(at, instruction, sides, covered)
  const plain = sumOf(at, instruction, sides, { covered, times }, false)
  if (plain === null) return judged({ ...facts, verdict: 'AMOUNT_MISMATCH', basis: 'exact', kind: 'currency', net_minor: null })
  const [verdict, kind] = decide(at, instruction, plain)
  const charged = verdict === 'AMOUNT_MISMATCH' ? sumOf(at, instruction, sides, { covered, times }, true) : null
  if (charged !== null && charged.charges !== 0n) {
    const [other, why] = decide(at, instruction, charged)
    if (other !== 'AMOUNT_MISMATCH') return judged(finish({ ...facts, verdict: other, kind: why }, charged, covered, require_settlement))
  }
  return judged(finish({ ...facts, verdict, kind }, plain, covered, require_settlement))
}

/** One booked entry that carries the instruction out to the last unit, as most do: the long way would come to the same. */
function isPlain({ ledger }: Attribution, instruction: number, row: number): boolean {
  const { entries, instructions } = ledger
  return (
    entries.amount.get(row) === instructions.amount.get(instruction) &&
    entries.currency.get(row) === instructions.currency.get(instruction) &&
    !entries.isReturn(row) &&
    !entries.isAch(row) &&
    paysAsCredit(ledger, instruction, row) === entries.isCredit(row)
  )
}

function settledBy(at: Attribution, instruction: number, row: number): Judgement {
  const { entries } = at.ledger
  const matched_by = at.matchedBy(row)
  return {
    ...UNPAID,
    verdict: 'SETTLED',
    kind: 'none',
    basis: matched_by === 'folded_id' ? 'folded' : 'exact',
    matched_by,
    net_minor: entries.amount.get(row),
    payments: 1,
    evidence: entries.evidence.get(row),
    warnings: doubtsAbout(at, instruction, row),
  }
}

/** Signs that the entry may be another payment, or one that was counted once though it stands twice. */
function doubtsAbout(at: Attribution, instruction: number, row: number): number {
  const { ledger } = at
  const counterparty = otherCounterparty(ledger, instruction, row, ledger.entries.isCredit(row))
  return (
    (counterparty ? WARNINGS.OTHER_COUNTERPARTY : 0) |
    (otherUetr(ledger, instruction, row) ? WARNINGS.OTHER_UETR : 0) |
    (at.isToldTwice(row) ? WARNINGS.OVERLAP_INFERRED : 0)
  )
}

function judged(judgement: Judgement): Ending {
  return { kind: 'judged', judgement }
}

function sidesOf(at: Attribution, instruction: number, rows: readonly number[]): Sides {
  const { entries } = at.ledger
  const booked = rows.filter((row) => !entries.isAch(row))
  // Where the account does not tell the direction, debits pay if there are any that are no returns.
  const debits_pay = rows.some((row) => !entries.isReturn(row) && !entries.isCredit(row))
  const pays = (row: number) => {
    const credit = paysAsCredit(at.ledger, instruction, row)
    if (credit !== null) return credit === entries.isCredit(row)
    return !entries.isReturn(row) && entries.isCredit(row) !== debits_pay
  }
  const sides: Sides = { forward: [], back: [], beside: [], warnings: 0 }
  const one_side = oneSide(at, instruction, rows)
  const seen_booked = booked.some(pays) || at.covered_by.get(instruction) !== 0
  const returned_booked = booked.some((row) => !pays(row))
  for (const row of rows) {
    const forward = pays(row)
    if (!one_side(row)) sides.beside.push(row)
    else if (entries.isAch(row) && (forward ? seen_booked : returned_booked)) sides.beside.push(row)
    else if (forward) sides.forward.push(row)
    else sides.back.push(row)
  }
  if (sides.back.some((row) => !entries.isReturn(row) && !entries.isCharge(row))) sides.warnings |= WARNINGS.RETURN_NOT_MARKED
  if (seen_booked && sides.back.some((row) => entries.isAch(row))) sides.warnings |= WARNINGS.RETURN_IN_ACH_ONLY
  return sides
}

/** Where statements of both accounts are here, the debtor's decides: the creditor's shows the same money once more. */
function oneSide(
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
 * Banks disagree on the sign of a reversal. One that runs with the payment can only undo a return; where no return of its size is there, it
 * may as well be the payment going back, and neither is assumed.
 */
function signIsUnclear(at: Attribution, { forward, back }: Sides): boolean {
  const { entries } = at.ledger
  const total = (rows: readonly number[]) => rows.reduce((sum, row) => sum + entries.amount.get(row), 0n)
  const marked = forward.filter((row) => entries.isReturn(row))
  return marked.length > 0 && total(marked) > total(back)
}

function factsOf(at: Attribution, instruction: number, sides: Sides, covered: boolean): Judgement {
  const { entries, pool } = at.ledger
  const rows = [...sides.forward, ...sides.back]
  const weakest = (list: readonly number[], least: number) => list.reduce((most, row) => Math.max(most, entries.evidence.get(row)), least)
  const paid = weakest(sides.forward, covered ? 0 : -1)
  const evidence = paid === -1 ? weakest(rows, -1) : paid
  const reasons = sides.back.map((row) => pool.text(entries.reason.get(row))).filter((text) => text !== null)
  const other = sides.forward.reduce((bits, row) => bits | doubtsAbout(at, instruction, row), 0)
  return {
    ...UNPAID,
    matched_by: matchedBy(at, instruction, [...rows, ...sides.beside]),
    evidence: evidence === -1 ? null : evidence,
    reason: reasons.toSorted()[0] ?? null,
    warnings: sides.warnings | other | evidenceWarning(evidence) | apartWarning(at, sides.forward),
  }
}

/** Payments further apart than an entry may come early are hardly one payment that the bank made twice. */
function apartWarning(at: Attribution, forward: readonly number[]): number {
  const days = forward.map((row) => at.ledger.entries.day.get(row)).filter((day) => day !== 0)
  const [first, last] = days.reduce(([least, most], day) => [Math.min(least, day), Math.max(most, day)], [Infinity, 0])
  return last - first > at.window.days_before ? WARNINGS.DATES_APART : 0
}

function evidenceWarning(evidence: number): number {
  const grade = EVIDENCE[evidence]
  if (grade === undefined || grade === 'booked') return 0
  return grade === 'ach_dated' ? WARNINGS.ACH_MAY_RETURN : WARNINGS.ACH_ORIGINATED
}

/** The weakest of the ids by which the entries were found: what the verdict leans on. */
function matchedBy(at: Attribution, instruction: number, rows: readonly number[]): MatchedBy {
  const weakest = rows.reduce((most, row) => Math.max(most, MATCHED_BY.indexOf(at.matchedBy(row))), at.covered_by.get(instruction))
  return MATCHED_BY[weakest] ?? 'none'
}

/** Null when an amount cannot be compared in the currency of the instruction. */
function sumOf(at: Attribution, instruction: number, sides: Sides, batch: { covered: boolean; times: number }, gross: boolean): Sum | null {
  const amount_minor = at.ledger.instructions.amount.get(instruction)
  const paid = Math.max(0, batch.times)
  const taken = batch.covered && paid === 0 ? Math.max(1, -batch.times) : 0
  const sum: Sum = {
    net: BigInt(batch.times) * amount_minor,
    charges: 0n,
    full: paid,
    forward: paid,
    back: taken,
    instructed: false,
    repeated: false,
  }
  for (const row of sides.forward) {
    const value = valueOf(at, instruction, row, gross, sum)
    if (value === null) return null
    sum.net += value
    sum.forward++
    if (value === amount_minor) sum.full++
  }
  for (const row of sides.back) {
    // Of what goes against the payment only a charge by itself is taken off.
    const value = valueOf(at, instruction, row, gross && at.ledger.entries.isCharge(row), sum)
    if (value === null) return null
    sum.net -= value
    sum.back++
  }
  return sum
}

/** The entry in the currency of the instruction; with `gross`, before the charges that the bank states. */
function valueOf(at: Attribution, instruction: number, row: number, gross: boolean, sum: Sum): bigint | null {
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
  // Charges come on top of what leaves an account and off what arrives.
  return entries.isCredit(row) ? amount_minor + charges : amount_minor - charges
}

function decide(at: Attribution, instruction: number, { net, full, back }: Sum): [Verdict, Kind] {
  const amount_minor = at.ledger.instructions.amount.get(instruction)
  if (back > 0 && net <= 0n) return ['UNPAID', 'returned']
  if (net === amount_minor) return ['SETTLED', 'none']
  if (full >= 2 && amount_minor > 0n && net >= 2n * amount_minor) return ['DUPLICATE_PAYMENT', 'none']
  if (net > amount_minor) return ['AMOUNT_MISMATCH', 'over']
  return ['AMOUNT_MISMATCH', back > 0 ? 'partly_returned' : 'under']
}

function finish(found: Judgement, sum: Sum, covered: boolean, require_settlement: boolean): Judgement {
  const paid = found.verdict === 'SETTLED' || found.verdict === 'DUPLICATE_PAYMENT'
  const unproved = require_settlement && paid && EVIDENCE[found.evidence ?? 0] === 'ach_originated'
  return {
    ...found,
    verdict: unproved ? 'UNPAID' : found.verdict,
    kind: unproved ? 'no_settlement_evidence' : found.kind,
    basis: basisOf(found.matched_by, sum, covered),
    net_minor: sum.net,
    charges_minor: sum.charges,
    payments: sum.full,
    warnings:
      (found.verdict === 'DUPLICATE_PAYMENT' ? found.warnings : found.warnings & ~WARNINGS.DATES_APART) |
      (found.verdict === 'AMOUNT_MISMATCH' && sum.repeated ? WARNINGS.CHARGES_INFERRED : 0),
  }
}

function basisOf(matched_by: MatchedBy, { forward, back, full, charges, instructed }: Sum, covered: boolean): Basis {
  if (charges !== 0n) return 'net_of_charges'
  if (instructed) return 'instructed_amount'
  if (back > 0 && forward > 0) return 'net_of_returns'
  if (matched_by === 'folded_id') return 'folded'
  if (matched_by === 'truncated_id') return 'truncated'
  if (covered) return 'batch'
  // Payments that each are the full amount are no parts of it.
  return forward > 1 && full < forward ? 'split' : 'exact'
}
