import { Attribution, type AttributionOptions, paysAsCredit } from './attribution-state.ts'
import { VERDICT_KINDS, type VerdictKind } from './verdicts.ts'
import { ReconcileOutcome } from './outcome.ts'
import { attributeEntries, contestMultiplePayments } from './attribute-entries.ts'
import { attributeBatches } from './attribute-batches.ts'
import { decidePayment } from './instruction-verdict.ts'
import type { Ledger } from './ledger.ts'
import { INSTRUCTION_SOURCES } from './records.ts'
import type { IntColumn } from './columns.ts'

export interface ReconcileOptions extends AttributionOptions {
  /** A forward ACH entry alone does not settle: verdicts that rest on it become UNPAID. */
  require_settlement_evidence: boolean
}

/**
 * Decides every instruction of the ledger, per source against all entries. Linear in both sides, apart from sorting rows that share an id.
 */
export function reconcileLedger(ledger: Ledger, options: ReconcileOptions): ReconcileOutcome {
  const given = INSTRUCTION_SOURCES.filter((source) => ledger.instructions.sources.has(source))
  const sources = given.length === 0 ? INSTRUCTION_SOURCES.slice(0, 1) : given
  const all = sources.map((source) => new Attribution(ledger, options, source))
  const outcome = new ReconcileOutcome(ledger, all)
  for (const at of all) decideSource(at, outcome, options)
  return outcome
}

function decideSource(at: Attribution, outcome: ReconcileOutcome, options: ReconcileOptions): void {
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
  const debtors = new Set(instructions.map((row) => instruction_table.debtor.get(row)))
  const creditors = new Set(instructions.map((row) => instruction_table.creditor.get(row)))
  // Debtor accounts that decide no direction as statement account, and debtor accounts of interbank transfers.
  const own = new Set(
    instructions
      .filter((row) => instruction_table.creditor.get(row) === instruction_table.debtor.get(row))
      .map((row) => instruction_table.debtor.get(row)),
  )
  const banks = new Set(
    instructions.filter((row) => instruction_table.sourceOf(row) === 'pacs.008').map((row) => instruction_table.debtor.get(row)),
  )
  return entries.every((row) => {
    const account = entry_table.account.get(row)
    if (entry_table.isReturn(row)) return false
    if (!entry_table.isCredit(row)) return account !== 0 && creditors.size === 1 && creditors.has(account) && !debtors.has(account)
    if (account === 0) return banks.size === 0
    return !own.has(account) && !creditors.has(account) && banks.size <= 1 && (banks.size === 0 || banks.has(account))
  })
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
    separateByLikeness(at, instructions, entries)
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
  if (entries.length === 0 && at.covered_by.get(row) === 0) return outcome.storeUnpaid(row, unpaidKind(at, row))
  const ending = decidePayment(at, row, entries, options.require_settlement_evidence)
  switch (ending.kind) {
    case 'judged':
      return outcome.store(row, ending.judgement, entries)
    case 'released':
      return storeOpposed(at, outcome, [row], entries)
    case 'contested':
      return storeAmbiguous(at, outcome, ending.why, [row], entries)
  }
}

function unpaidKind(at: Attribution, row: number): VerdictKind {
  if (at.pending[row] === 1) return 'pending'
  return at.misfits_by_id.get(at.ledger.instructions.ids.end_to_end.get(row)) ?? 'not_found'
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
