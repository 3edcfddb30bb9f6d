import { type Attribution, paysAsCredit } from './attribution.ts'
import type { Ints } from './columns.ts'

/** A payment as far as one of several with the same id can be told from the others. */
interface Likeness {
  row: number
  currency: number
  amount_minor: bigint
  /** The other side's account; 0 when it is not known. */
  counterparty: number
}

/**
 * Tells several instructions with one id apart: by UETR or instruction id where every entry has one that a single instruction has, else by
 * day where each entry is close to that of a single one, as of an id that is used again each month, else by currency, amount and account,
 * when both sides are the same set. Then each instruction gets its entries; else null: nothing is guessed.
 */
export function tellApart(at: Attribution, instructions: readonly number[], entries: readonly number[]): Map<number, number[]> | null {
  if (instructions.some((row) => at.covered_by.get(row) !== 0)) return null
  const { ids: asked } = at.ledger.instructions
  const { ids: told } = at.ledger.entries
  return (
    byId(asked.uetr, told.uetr, instructions, entries) ??
    byId(asked.instruction, told.instruction, instructions, entries) ??
    byDay(at, instructions, entries) ??
    byLikeness(at, instructions, entries)
  )
}

/**
 * Whether no entry can be about any of them, since money moved the other way and nothing says that it came back. The same as asking
 * `paysAsCredit` of every pair, in the time of one pass over each side.
 */
export function allRunAgainst(at: Attribution, instructions: readonly number[], entries: readonly number[]): boolean {
  const { instructions: asked, entries: told } = at.ledger
  const debtors = new Set(instructions.map((row) => asked.debtor.get(row)))
  const creditors = new Set(instructions.map((row) => asked.creditor.get(row)))
  // Debtors whose account, when it is that of the statement, tells no direction; and those of transfers that need theirs to tell one.
  const own = new Set(instructions.filter((row) => asked.creditor.get(row) === asked.debtor.get(row)).map((row) => asked.debtor.get(row)))
  const banks = new Set(instructions.filter((row) => asked.sourceOf(row) === 'pacs.008').map((row) => asked.debtor.get(row)))
  return entries.every((row) => {
    const account = told.account.get(row)
    if (told.isReturn(row)) return false
    if (!told.isCredit(row)) return account !== 0 && creditors.size === 1 && creditors.has(account) && !debtors.has(account)
    if (account === 0) return banks.size === 0
    return !own.has(account) && !creditors.has(account) && banks.size <= 1 && (banks.size === 0 || banks.has(account))
  })
}

function byId(asked: Ints, told: Ints, instructions: readonly number[], entries: readonly number[]): Map<number, number[]> | null {
  const owners = new Map<number, number>()
  for (const row of instructions) {
    const id = asked.get(row)
    // Ids that no entry has may not even be kept; that one stands twice matters only where an entry has it.
    if (id > 0) owners.set(id, owners.has(id) ? -1 : row)
  }
  const found = new Map<number, number[]>(instructions.map((row) => [row, []]))
  for (const row of entries) {
    const owner = owners.get(told.get(row))
    if (owner === undefined || owner === -1) return null
    found.get(owner)?.push(row)
  }
  return found
}

/** Returns may come long after the payment, so that they tell nothing by their day. */
function byDay(at: Attribution, instructions: readonly number[], entries: readonly number[]): Map<number, number[]> | null {
  const { instructions: asked, entries: told } = at.ledger
  const days = instructions.map((row) => ({ row, day: asked.day.get(row) })).toSorted((one, other) => one.day - other.day)
  if ((days[0]?.day ?? 0) === 0 || entries.some((row) => told.isReturn(row) || told.day.get(row) === 0)) return null
  const close = at.window.days_before
  const found = new Map<number, number[]>(instructions.map((row) => [row, []]))
  for (const row of entries) {
    const booked = told.day.get(row)
    const next = firstFrom(days, booked - close)
    const [one, another] = [days[next], days[next + 1]]
    if (one === undefined || one.day > booked + close || (another !== undefined && another.day <= booked + close)) return null
    found.get(one.row)?.push(row)
  }
  return found
}

/** Where in the sorted list the first day stands that is not before this one. */
function firstFrom(days: readonly { day: number }[], least: number): number {
  let [low, high] = [0, days.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((days[middle]?.day ?? 0) < least) low = middle + 1
    else high = middle
  }
  return low
}

function byLikeness(at: Attribution, instructions: readonly number[], entries: readonly number[]): Map<number, number[]> | null {
  if (instructions.length !== entries.length) return null
  const { instructions: asked, entries: told } = at.ledger
  const credits = entries.some((row) => told.isCredit(row))
  if (entries.some((row) => told.isReturn(row) || told.isCredit(row) !== credits)) return null
  const known = instructions.every((row) => counterpart(at, row, credits) > 0) && entries.every((row) => told.counterparty.get(row) > 0)
  const wanted = instructions.map((row): Likeness => {
    const counterparty = known ? counterpart(at, row, credits) : 0
    return { row, currency: asked.currency.get(row), amount_minor: asked.amount.get(row), counterparty }
  })
  const currencies = new Set(wanted.map(({ currency }) => currency))
  const given = entries.map((row): Likeness => {
    const own = currencies.has(told.currency.get(row))
    const currency = own ? told.currency.get(row) : told.instructed_currency.get(row)
    const amount_minor = own ? told.amount.get(row) : told.instructed_amount.get(row)
    return { row, currency, amount_minor, counterparty: known ? told.counterparty.get(row) : 0 }
  })
  const pairs = pair(
    wanted.toSorted((one, other) => byLike(one, other) || asked.byPlace(one.row, other.row)),
    given.toSorted((one, other) => byLike(one, other) || told.byPlace(one.row, other.row)),
  )
  const against = [...(pairs ?? [])].some(([row, [entry = -1]]) => (paysAsCredit(at.ledger, row, entry) ?? credits) !== credits)
  return against ? null : pairs
}

function counterpart({ ledger: { instructions } }: Attribution, row: number, credit: boolean): number {
  return credit ? instructions.debtor.get(row) : instructions.creditor.get(row)
}

function byLike(one: Likeness, other: Likeness): number {
  if (one.amount_minor !== other.amount_minor) return one.amount_minor < other.amount_minor ? -1 : 1
  return one.currency - other.currency || one.counterparty - other.counterparty
}

function pair(wanted: readonly Likeness[], given: readonly Likeness[]): Map<number, number[]> | null {
  const found = new Map<number, number[]>()
  for (const [index, one] of wanted.entries()) {
    const other = given[index]
    if (other === undefined || byLike(one, other) !== 0) return null
    found.set(one.row, [other.row])
  }
  return found
}
