import type { Attribution } from './attribution.ts'
import type { Ints, KeyIndex } from './columns.ts'
import { dayFits } from './dates.ts'
import { MATCHED_BY, type MatchedBy } from './verdicts.ts'

/** The instructions that a bank may book as one: of one message, or one payment block of it, one currency and one debtor account. */
interface Cell {
  number: number
  between_banks: boolean
  message: number
  currency: number
  debtor: number
  instructions: number[]
  total: bigint
  /** First and last day of them; 0 where one of them has none. */
  first_day: number
  last_day: number
  /** Those that no entry of their own stands for. */
  free: number[]
  free_total: bigint
}

/** Cells of one key and total that are told apart by their days, as of a salary that is the same each month. */
const COMPARED = 64

/** Entries that booked one cell. */
interface Booking {
  cell: Cell
  by: MatchedBy
  entries: number[]
}

interface Contest {
  cells: Set<Cell>
  /** What was added already, since the same list comes for many entries. */
  lists: Set<readonly Cell[]>
  entries: number[]
}

/** Cells that an entry can mean. */
interface Possible {
  cells: Cell[]
  /** The cells of this total; null when there are more than anybody means by one key. */
  by_total: Map<bigint, Cell[] | null>
}

/** The cells of one key, message and currency by the account of the statement. */
interface Choice {
  all: Possible
  /** Those of debtor accounts that cannot contradict an IBAN. */
  open: Possible
  own: Map<number, Possible>
}

/**
 * Bookings of whole batches: entries that name a payment block or a message and no single payment. One counts when its amount is exactly
 * the total of the block, in its currency and on its account; then it stands for every instruction inside. A reversal takes all of them
 * back. Where the sums differ it cannot be told which were paid, and those without an entry of their own are ambiguous. Sums are never
 * searched for.
 */
export function attributeBatches(at: Attribution): void {
  const { entries, instructions } = at.ledger
  const levels: [MatchedBy, Ints, Ints][] = [
    ['payment_information_id', instructions.ids.payment_information, entries.ids.payment_information],
    ['message_id', instructions.ids.message, entries.ids.message],
  ]
  const bookings = new Map<number, Booking>()
  const contests = new Map<string, Contest>()
  const cells = new CellBook(at)
  for (const [by, keys, wanted] of levels) {
    const rows = batchRows(at, wanted)
    if (rows.length === 0) continue
    const index = at.indexOf(keys)
    for (const row of rows) {
      const key = wanted.get(row)
      const possible = cells.possible(index, by, key, row)
      // What the bank takes for a batch names it too, and is no part of it.
      const charge = entries.isCharge(row) && !possible.by_total.has(entries.amount.get(row))
      if (possible.cells.length === 0 || charge) continue
      const cell = cellOf(at, possible, row)
      if (cell === 'outside_window') {
        at.remark(row, cell)
        continue
      }
      if (cell !== null) book(bookings, cell, by, row)
      else contest(contests, `${by} ${key}`, possible.cells, [row])
      at.cover(row, by)
    }
  }
  for (const { cell, by, entries: told } of bookings.values()) {
    if (!settles(at, { cell, by, entries: told })) contest(contests, `cell ${cell.number}`, [cell], told)
  }
  // Last, so that what is contested does not depend on the order of entries.
  for (const { cells: meant, entries: told } of contests.values()) {
    at.contest(
      'batch_total',
      [...meant].flatMap(({ free }) => free),
      told,
    )
  }
}

/** The one cell that the entry can mean by its amount and day; null where several are left, or none of its amount. */
function cellOf(at: Attribution, { cells, by_total }: Possible, entry: number): Cell | 'outside_window' | null {
  const { amount, day } = at.ledger.entries
  const of_amount = cells.length === 1 ? cells : by_total.get(amount.get(entry))
  if (of_amount === undefined || of_amount === null) return null
  const booked = day.get(entry)
  const inside = of_amount.filter(({ first_day, last_day }) => dayFits(first_day, last_day, booked, at.window))
  if (inside.length === 0) return 'outside_window'
  const close = { days_before: at.window.days_before, days_after: at.window.days_before }
  const [only, another] = inside.length === 1 ? inside : inside.filter((cell) => dayFits(cell.first_day, cell.last_day, booked, close))
  return another === undefined ? (only ?? null) : null
}

/** All entries that may mean several cells of one key are contested together. */
function contest(contests: Map<string, Contest>, name: string, cells: readonly Cell[], entries: readonly number[]): void {
  const known = contests.get(name)
  const found = known ?? { cells: new Set<Cell>(), lists: new Set<readonly Cell[]>(), entries: [] }
  if (known === undefined) contests.set(name, found)
  for (const row of entries) found.entries.push(row)
  if (found.lists.has(cells)) return
  found.lists.add(cells)
  for (const cell of cells) found.cells.add(cell)
}

function book(bookings: Map<number, Booking>, cell: Cell, by: MatchedBy, entry: number): void {
  const known = bookings.get(cell.number)
  if (known === undefined) bookings.set(cell.number, { cell, by, entries: [entry] })
  else known.entries.push(entry)
}

/** Open entries of a statement that name a batch and no payment. */
function batchRows(at: Attribution, wanted: Ints): number[] {
  const { entries } = at.ledger
  const rows: number[] = []
  for (let row = 0; row < entries.size; row++) {
    if (at.isOpen(row) && wanted.get(row) !== 0 && entries.ids.end_to_end.get(row) === 0 && entries.ids.uetr.get(row) === 0) rows.push(row)
  }
  return rows
}

/** The cells of each payment block or message that entries name, made once. */
class CellBook {
  private readonly at: Attribution
  private readonly known = new Map<string, Cell[]>()
  private readonly choices = new Map<string, Choice>()
  private count = 0

  constructor(at: Attribution) {
    this.at = at
  }

  /** The cells of the account itself, else those whose account does not speak against it. */
  possible(index: KeyIndex, by: MatchedBy, key: number, entry: number): Possible {
    const { entries } = this.at.ledger
    const message = by === 'message_id' ? 0 : entries.ids.message.get(entry)
    const currency = entries.currency.get(entry)
    const name = `${by} ${key} ${message} ${currency}`
    let choice = this.choices.get(name)
    if (choice === undefined) {
      const cells = this.of(index, by, key).filter((cell) => cell.currency === currency && (message === 0 || cell.message === message))
      this.choices.set(name, (choice = choiceOf(cells)))
    }
    const account = entries.account.get(entry)
    return choice.own.get(account) ?? (account > 0 ? choice.open : choice.all)
  }

  private of(index: KeyIndex, by: MatchedBy, key: number): Cell[] {
    const name = `${by} ${key}`
    let found = this.known.get(name)
    if (found === undefined) this.known.set(name, (found = this.make(index, key)))
    return found
  }

  private make(index: KeyIndex, key: number): Cell[] {
    const { instructions } = this.at.ledger
    const cells = new Map<string, Cell>()
    for (let row = index.first(key); row !== -1; row = index.next(row)) {
      const message = instructions.ids.message.get(row)
      const currency = instructions.currency.get(row)
      const debtor = instructions.debtor.get(row)
      const between_banks = instructions.sourceOf(row) === 'pacs.008'
      const name = `${between_banks} ${message} ${currency} ${debtor}`
      let cell = cells.get(name)
      if (cell === undefined) {
        const empty = { instructions: [], total: 0n, first_day: Infinity, last_day: 0, free: [], free_total: 0n }
        cells.set(name, (cell = { number: this.count++, between_banks, message, currency, debtor, ...empty }))
      }
      this.put(cell, row)
    }
    return [...cells.values()]
  }

  private put(cell: Cell, row: number): void {
    const amount_minor = this.at.ledger.instructions.amount.get(row)
    const day = this.at.ledger.instructions.day.get(row)
    cell.instructions.push(row)
    cell.total += amount_minor
    cell.first_day = Math.min(cell.first_day, day)
    cell.last_day = Math.max(cell.last_day, day)
    if (this.at.hit[row] !== 0) return
    cell.free.push(row)
    cell.free_total += amount_minor
  }
}

function choiceOf(cells: Cell[]): Choice {
  const accounts = Map.groupBy(cells, ({ debtor }) => debtor)
  accounts.delete(0)
  const own = new Map(Array.from(accounts, ([debtor, list]) => [debtor, totalled(list)]))
  return { all: totalled(cells), open: totalled(cells.filter(({ debtor, between_banks }) => debtor <= 0 || between_banks)), own }
}

function totalled(cells: Cell[]): Possible {
  const by_total = new Map<bigint, Cell[] | null>()
  for (const cell of cells) {
    const same = by_total.get(cell.total)
    if (same === undefined) by_total.set(cell.total, [cell])
    else if (same !== null && same.push(cell) > COMPARED) by_total.set(cell.total, null)
  }
  return { cells, by_total }
}

/** Whether the entries come to the whole cell, some number of times, or to what is left of it; then they stand for its instructions. */
function settles(at: Attribution, { cell, by, entries }: Booking): boolean {
  const { amount, batch_count } = at.ledger.entries
  const signed = entries.map((row) => (isForward(at, cell, row) ? amount.get(row) : -amount.get(row)))
  const net = signed.reduce((sum, one) => sum + one, 0n)
  // Only an entry for all of them must count all of them.
  const counts = (rows: readonly number[]) =>
    entries.length > 1 || entries.every((row) => [0, rows.length + 1].includes(batch_count.get(row)))
  if (counts(cell.instructions)) {
    const whole = cell.total > 0n && signed.every((one) => one === cell.total || one === -cell.total)
    const times = whole ? net / cell.total : net === cell.total ? 1n : null
    if (times !== null) return cover(at, cell.instructions, by, times)
  }
  return cell.free.length > 0 && net === cell.free_total && counts(cell.free) && cover(at, cell.free, by, 1n)
}

function cover(at: Attribution, instructions: readonly number[], by: MatchedBy, times: bigint): true {
  for (const row of instructions) {
    at.coverage.set(row, at.coverage.get(row) + Number(times))
    at.covered_by.set(row, MATCHED_BY.indexOf(by))
  }
  return true
}

function isForward({ ledger: { entries } }: Attribution, cell: Cell, entry: number): boolean {
  if (cell.between_banks && entries.account.get(entry) !== cell.debtor) return !entries.isReturn(entry)
  return !entries.isCredit(entry)
}
