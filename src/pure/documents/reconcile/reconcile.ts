import { Attribution, type AttributionOptions, paysAsCredit } from './attribution-state.ts'
import { VERDICT_KINDS, VERDICT_WARNINGS, type InstructionVerdict, type VerdictKind } from './verdicts.ts'
import { ReconcileOutcome } from './outcome.ts'
import { attributeEntries, contestMultiplePayments } from './attribute-entries.ts'
import { attributeBatches } from './attribute-batches.ts'
import { decidePayment } from './instruction-verdict.ts'
import { assignLanes, type Ledger } from './ledger.ts'
import type { StatementCoverage } from './coverage.ts'
import { isCollection, isInterbank } from './records.ts'
import type { IntColumn } from './columns.ts'

export interface ReconcileOptions extends AttributionOptions {
  /** A forward ACH entry alone does not settle: verdicts that rest on it become UNPAID. */
  require_settlement_evidence: boolean
  /** Accounts and days that the statements cover; without it, every payment is covered. */
  coverage?: StatementCoverage
  /** Reasons of rejected payments by their ids. */
  rejections?: ReadonlyMap<string, string | null>
  /** Reasons of rejected messages and payment blocks by their ids. */
  rejected_groups?: ReadonlyMap<string, string | null>
}

/**
 * Decides every instruction of the ledger, per lane against all entries. Linear in both sides, apart from sorting rows that share an id.
 */
export function reconcileLedger(ledger: Ledger, options: ReconcileOptions): ReconcileOutcome {
  const all = assignLanes(ledger).map((lane) => new Attribution(ledger, options, lane))
  const outcome = new ReconcileOutcome(ledger, all)
  for (const at of all) decideLane(at, outcome, options)
  return outcome
}

function decideLane(at: Attribution, outcome: ReconcileOutcome, options: ReconcileOptions): void {
  const { ledger } = at
  attributeEntries(at)
  attributeBatches(at)
  contestMultiplePayments(at)
  const members = new RowChains(ledger.instructions.size, (row) => (at.takesPart(row) ? at.groups.root(row) : -1))
  const rows = new RowChains(
    ledger.instructions.size,
    (row) => (at.target(row) === -1 ? -1 : at.groups.root(at.target(row))),
    ledger.entries.size,
  )
  for (let row = 0; row < ledger.instructions.size; row++) {
    if (members.isEmpty(row)) continue
    decideGroup(at, outcome, members.list(row), rows.list(row), options)
  }
}

/** Rows by group, as linked lists. */
class RowChains {
  private readonly heads: Int32Array
  private readonly nexts: Int32Array

  constructor(groups: number, groupOf: (row: number) => number, rows = groups) {
    this.heads = new Int32Array(groups).fill(-1)
    this.nexts = new Int32Array(rows)
    for (let row = rows - 1; row >= 0; row--) {
      const group = groupOf(row)
      if (group === -1) continue
      this.nexts[row] = this.heads[group] ?? -1
      this.heads[group] = row
    }
  }

  isEmpty(group: number): boolean {
    return this.heads[group] === -1
  }

  list(group: number): number[] {
    const found: number[] = []
    for (let row = this.heads[group] ?? -1; row !== -1; row = this.nexts[row] ?? -1) found.push(row)
    return found
  }
}

/** Features by which payments with the same id are distinguished. */
interface Likeness {
  row: number
  currency: number
  amount_minor: bigint
  /** The other side's account; 0 if unknown. */
  counterparty: number
}

function decideGroup(
  at: Attribution,
  outcome: ReconcileOutcome,
  instructions: readonly number[],
  entries: readonly number[],
  options: ReconcileOptions,
): void {
  const [first = -1, another] = instructions
  if (another === undefined) return decideInstruction(at, outcome, first, entries, options)
  if (allOppose(at, instructions, entries)) return storeOpposed(at, outcome, instructions, entries)
  const apart = separateInstructions(at, instructions, entries)
  if (apart === null) return storeAmbiguous(at, outcome, 'shared_id', instructions, entries)
  for (const [row, own] of apart) decideInstruction(at, outcome, row, own, options)
}

/**
 * True if no entry can belong to any of them, because money moved the other way and nothing marks it as returned. Same result as
 * `paysAsCredit` for every pair, in one pass over each side.
 */
function allOppose(at: Attribution, instructions: readonly number[], entries: readonly number[]): boolean {
  const { instructions: instruction_table, entries: entry_table } = at.ledger
  if (instructions.some((row) => isCollection(instruction_table.sourceOf(row)))) return collectionsOppose(at, instructions, entries)
  const debtors = new Set(instructions.map((row) => instruction_table.debtor.get(row)))
  const creditors = new Set(instructions.map((row) => instruction_table.creditor.get(row)))
  // Debtor accounts that decide no direction as statement account, and debtor accounts of interbank transfers.
  const own = new Set(
    instructions
      .filter((row) => instruction_table.creditor.get(row) === instruction_table.debtor.get(row))
      .map((row) => instruction_table.debtor.get(row)),
  )
  const banks = new Set(
    instructions.filter((row) => isInterbank(instruction_table.sourceOf(row))).map((row) => instruction_table.debtor.get(row)),
  )
  return entries.every((row) => {
    const account = entry_table.account.get(row)
    if (entry_table.isReturn(row)) return false
    if (!entry_table.isCredit(row)) return account !== 0 && creditors.size === 1 && creditors.has(account) && !debtors.has(account)
    if (account === 0) return banks.size === 0
    return !own.has(account) && !creditors.has(account) && banks.size <= 1 && (banks.size === 0 || banks.has(account))
  })
}

/** Pairs compared one by one; a larger group is not decided. */
const COMPARED_PAIRS = 1_000_000

function collectionsOppose({ ledger }: Attribution, instructions: readonly number[], entries: readonly number[]): boolean {
  if (instructions.length * entries.length > COMPARED_PAIRS) return false
  const opposes = (entry: number) => (row: number) => paysAsCredit(ledger, row, entry) === !ledger.entries.isCredit(entry)
  return entries.every((entry) => !ledger.entries.isReturn(entry) && instructions.every(opposes(entry)))
}

/**
 * Separates instructions with one id: by UETR or instruction id if every entry has one that belongs to a single instruction; otherwise by
 * day if each entry is close to a single one, as with an id reused each month; otherwise by currency, amount and account if both sides are
 * the same set. Returns the entries of each instruction, or null: nothing is guessed.
 */
function separateInstructions(at: Attribution, instructions: readonly number[], entries: readonly number[]): Map<number, number[]> | null {
  if (instructions.some((row) => at.covered_by.get(row) !== 0)) return null
  const { ids: instruction_ids } = at.ledger.instructions
  const { ids: entry_ids } = at.ledger.entries
  return (
    separateById(instruction_ids.uetr, entry_ids.uetr, instructions, entries) ??
    separateById(instruction_ids.instruction, entry_ids.instruction, instructions, entries) ??
    separateByDay(at, instructions, entries) ??
    separateByLikeness(at, instructions, entries) ??
    separateByAccount(at, instructions, entries)
  )
}

function separateById(
  instruction_ids: IntColumn,
  entry_ids: IntColumn,
  instructions: readonly number[],
  entries: readonly number[],
): Map<number, number[]> | null {
  const owners = new Map<number, number>()
  for (const row of instructions) {
    const id = instruction_ids.get(row)
    // Ids that no entry has may not be stored; a duplicate matters only if an entry has the id.
    if (id > 0) owners.set(id, owners.has(id) ? -1 : row)
  }
  const found = new Map<number, number[]>(instructions.map((row) => [row, []]))
  for (const row of entries) {
    const owner = owners.get(entry_ids.get(row))
    if (owner === undefined || owner === -1) return null
    found.get(owner)?.push(row)
  }
  return found
}

/** Returns may come long after the payment, so their day does not decide. */
function separateByDay(at: Attribution, instructions: readonly number[], entries: readonly number[]): Map<number, number[]> | null {
  const { instructions: instruction_table, entries: entry_table } = at.ledger
  const days = instructions.map((row) => ({ row, day: instruction_table.day.get(row) })).toSorted((one, other) => one.day - other.day)
  if ((days[0]?.day ?? 0) === 0 || entries.some((row) => entry_table.isReturn(row) || entry_table.day.get(row) === 0)) return null
  const close = at.window.days_before
  const found = new Map<number, number[]>(instructions.map((row) => [row, []]))
  for (const row of entries) {
    const booked = entry_table.day.get(row)
    const next = firstDayFrom(days, booked - close)
    const [one, another] = [days[next], days[next + 1]]
    if (one === undefined || one.day > booked + close || (another !== undefined && another.day <= booked + close)) return null
    found.get(one.row)?.push(row)
  }
  return found
}

/** Binary search: index of the first day not before `least`. */
function firstDayFrom(days: readonly { day: number }[], least: number): number {
  let [low, high] = [0, days.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((days[middle]?.day ?? 0) < least) low = middle + 1
    else high = middle
  }
  return low
}

function separateByLikeness(at: Attribution, instructions: readonly number[], entries: readonly number[]): Map<number, number[]> | null {
  if (instructions.length !== entries.length) return null
  const { instructions: instruction_table, entries: entry_table } = at.ledger
  const credits = entries.some((row) => entry_table.isCredit(row))
  if (entries.some((row) => entry_table.isReturn(row) || entry_table.isCredit(row) !== credits)) return null
  const known =
    instructions.every((row) => counterpartyAccount(at, row, credits) > 0) && entries.every((row) => entry_table.counterparty.get(row) > 0)
  const wanted = instructions.map((row): Likeness => {
    const counterparty = known ? counterpartyAccount(at, row, credits) : 0
    return { row, currency: instruction_table.currency.get(row), amount_minor: instruction_table.amount.get(row), counterparty }
  })
  const currencies = new Set(wanted.map(({ currency }) => currency))
  const given = entries.map((row): Likeness => {
    const own = currencies.has(entry_table.currency.get(row))
    const currency = own ? entry_table.currency.get(row) : entry_table.instructed_currency.get(row)
    const amount_minor = own ? entry_table.amount.get(row) : entry_table.instructed_amount.get(row)
    return { row, currency, amount_minor, counterparty: known ? entry_table.counterparty.get(row) : 0 }
  })
  const pairs = pairLike(
    wanted.toSorted((one, other) => compareLikeness(one, other) || instruction_table.byPlace(one.row, other.row)),
    given.toSorted((one, other) => compareLikeness(one, other) || entry_table.byPlace(one.row, other.row)),
  )
  const against = [...(pairs ?? [])].some(([row, [entry = -1]]) => (paysAsCredit(at.ledger, row, entry) ?? credits) !== credits)
  return against ? null : pairs
}

/**
 * A payment and an interbank transfer under one id that are not the same money: the entries belong to the one that names the account of the
 * statement. Used only between messages of both kinds, because the accounts of several payments are usually the same.
 */
function separateByAccount(at: Attribution, instructions: readonly number[], entries: readonly number[]): Map<number, number[]> | null {
  const { instructions: instruction_table, entries: entry_table } = at.ledger
  const interbank = instructions.filter((row) => isInterbank(instruction_table.sourceOf(row))).length
  if (interbank === 0 || interbank === instructions.length) return null
  const found = new Map<number, number[]>(instructions.map((row) => [row, []]))
  for (const entry of entries) {
    const account = entry_table.account.get(entry)
    const names = (row: number) => instruction_table.debtor.get(row) === account || instruction_table.creditor.get(row) === account
    const [owner, another] = account === 0 ? [] : instructions.filter(names)
    if (owner === undefined || another !== undefined) return null
    found.get(owner)?.push(entry)
  }
  return found
}

function counterpartyAccount({ ledger: { instructions } }: Attribution, row: number, credit: boolean): number {
  return credit ? instructions.debtor.get(row) : instructions.creditor.get(row)
}

function compareLikeness(one: Likeness, other: Likeness): number {
  if (one.amount_minor !== other.amount_minor) return one.amount_minor < other.amount_minor ? -1 : 1
  return one.currency - other.currency || one.counterparty - other.counterparty
}

function pairLike(wanted: readonly Likeness[], given: readonly Likeness[]): Map<number, number[]> | null {
  const found = new Map<number, number[]>()
  for (const [index, one] of wanted.entries()) {
    const other = given[index]
    if (other === undefined || compareLikeness(one, other) !== 0) return null
    found.set(one.row, [other.row])
  }
  return found
}

function decideInstruction(
  at: Attribution,
  outcome: ReconcileOutcome,
  row: number,
  entries: readonly number[],
  options: ReconcileOptions,
): void {
  const contested = at.ambiguous_kind.get(row)
  if (contested !== 0) return outcome.storeAmbiguous(row, VERDICT_KINDS[contested - 1] ?? 'none')
  const rejection = rejectionOf(at, row, options)
  if (entries.length === 0 && at.covered_by.get(row) === 0) {
    if (rejection !== undefined) return outcome.storeUnpaid(row, 'rejected', rejection)
    return outcome.storeUnpaid(row, unpaidKind(at, row, options.coverage))
  }
  if (rejection !== undefined) at.addDoubt(row, VERDICT_WARNINGS.STATUS_REJECTED)
  const ending = decidePayment(at, row, entries, options.require_settlement_evidence)
  switch (ending.kind) {
    case 'judged':
      return outcome.store(row, withDoubts(ending.judgement, at.doubts.get(row)), entries)
    case 'released':
      return storeOpposed(at, outcome, [row], entries)
    case 'contested':
      return storeAmbiguous(at, outcome, ending.why, [row], entries)
  }
}

/** Doubts concern money that moved. */
function withDoubts(judgement: InstructionVerdict, doubts: number): InstructionVerdict {
  return doubts === 0 || judgement.verdict === 'UNPAID' ? judgement : { ...judgement, warnings: judgement.warnings | doubts }
}

function unpaidKind(at: Attribution, row: number, coverage: StatementCoverage | undefined): VerdictKind {
  if (at.pending[row] === 1) return 'pending'
  const misfit = at.misfits_by_id.get(at.ledger.instructions.ids.end_to_end.get(row))
  if (coverage !== undefined && !isCovered(at, row, coverage, misfit !== undefined)) return 'not_covered'
  return misfit ?? 'not_found'
}

/** Reason for which the payment was rejected, null without a stated one; undefined if nothing says that it was. */
function rejectionOf(
  { ledger: { instructions, pool } }: Attribution,
  row: number,
  { rejections, rejected_groups }: ReconcileOptions,
): string | null | undefined {
  const { end_to_end, uetr, payment_information, message } = instructions.ids
  const find = (reasons: ReadonlyMap<string, string | null> | undefined, columns: readonly IntColumn[]) => {
    if (reasons === undefined || reasons.size === 0) return undefined
    const ids = columns.map((column) => pool.text(Math.max(0, column.get(row))))
    const found = ids.find((id) => id !== null && reasons.has(id))
    return found === undefined || found === null ? undefined : reasons.get(found)
  }
  const own = find(rejections, [end_to_end, uetr])
  return own === undefined ? find(rejected_groups, [payment_information, message]) : own
}

/** Interbank transfers settle over accounts that the message does not name, so any statement may show them. */
function isCovered(
  { ledger: { instructions, pool }, window }: Attribution,
  row: number,
  coverage: StatementCoverage,
  by_statement: boolean,
): boolean {
  const numbers = isInterbank(instructions.sourceOf(row)) ? [] : [instructions.debtor.get(row), instructions.creditor.get(row)]
  const accounts = instructions.debtor.get(row) === 0 ? [] : numbers.map((number) => pool.text(Math.abs(number)))
  return coverage.covers(accounts, instructions.day.get(row), window, by_statement)
}

function storeAmbiguous(
  at: Attribution,
  outcome: ReconcileOutcome,
  kind: VerdictKind,
  instructions: readonly number[],
  entries: readonly number[],
): void {
  at.markAmbiguous(kind, instructions, entries)
  for (const row of instructions) outcome.storeAmbiguous(row, kind)
}

function storeOpposed(at: Attribution, outcome: ReconcileOutcome, instructions: readonly number[], entries: readonly number[]): void {
  for (const row of entries) at.leaveUnmatched(row, 'wrong_direction')
  for (const row of instructions) outcome.storeUnpaid(row, 'wrong_direction')
}
