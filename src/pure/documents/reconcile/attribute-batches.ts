import { type Attribution, paysAsCredit } from './attribution-state.ts'
import type { IntColumn, RowIndex } from './columns.ts'
import { dayFits } from './values.ts'
import { MATCHED_BY, type MatchedBy } from './verdicts.ts'

/** Instructions that a bank may book as one: same message or payment block, currency and debtor account. */
interface PaymentBatch {
  number: number
  between_banks: boolean
  message: number
  currency: number
  debtor: number
  instructions: number[]
  total: bigint
  /** First and last day of the instructions; 0 if one has none. */
  first_day: number
  last_day: number
  /** Instructions without their own entry. */
  unclaimed: number[]
  unclaimed_total: bigint
}

/** Maximum number of batches with the same key and total that are distinguished by day, such as a monthly payroll. */
const COMPARED_BATCHES = 64

/** Entries that booked one batch. */
interface BatchBooking {
  batch: PaymentBatch
  by: MatchedBy
  entries: number[]
}

interface ContestedBatches {
  batches: Set<PaymentBatch>
  /** Lists already added; many entries share the same list. */
  lists: Set<readonly PaymentBatch[]>
  entries: number[]
}

/** Batches that an entry can mean. */
interface CandidateBatches {
  batches: PaymentBatch[]
  /** Batches by total; null if too many share it to be distinguished. */
  by_total: Map<bigint, PaymentBatch[] | null>
}

/** Batches of one key, message and currency, by the statement's account. */
interface CandidatesByAccount {
  all: CandidateBatches
  /** Batches whose debtor account cannot contradict an IBAN. */
  open: CandidateBatches
  own: Map<number, CandidateBatches>
}

/** Matches entries for several instructions: those that name each, then bookings of whole batches. What the former name and nothing paid is ambiguous. */
export function attributeBatches(at: Attribution): void {
  attributeEnclosed(at)
  attributeBookings(at)
  contestEnclosed(at)
}

/**
 * Matches bookings of whole batches: entries that name a payment block or message but no payment. A booking counts if its amount is exactly
 * the total of the block, in its currency and on its account; it then pays every instruction inside. A reversal takes all of them back. If
 * the sums differ, instructions without their own entry are ambiguous. Sums are never searched for.
 */
function attributeBookings(at: Attribution): void {
  const { entries, instructions } = at.ledger
  const levels: [MatchedBy, IntColumn, IntColumn][] = [
    ['payment_information_id', instructions.ids.payment_information, entries.ids.payment_information],
    ['message_id', instructions.ids.message, entries.ids.message],
  ]
  const bookings = new Map<number, BatchBooking>()
  const contests = new Map<string, ContestedBatches>()
  const batches = new BatchIndex(at)
  for (const [by, keys, wanted] of levels) {
    const rows = batchRows(at, wanted)
    if (rows.length === 0) continue
    const index = at.indexInstructions(keys)
    for (const row of rows) {
      const key = wanted.get(row)
      const possible = batches.possible(index, by, key, row)
      // Charges for a batch name it too, but are not part of it.
      const charge = entries.isCharge(row) && !possible.by_total.has(entries.amount.get(row))
      if (possible.batches.length === 0 || charge) continue
      const batch = selectBatch(at, possible, row)
      if (batch === 'outside_window') {
        at.noteUnmatched(row, batch)
        continue
      }
      if (batch !== null) addBooking(bookings, batch, by, row)
      else addContest(contests, `${by} ${key}`, possible.batches, [row])
      at.matchBatch(row, by)
    }
  }
  for (const { batch, by, entries: booked_entries } of bookings.values()) {
    if (!coverIfPaid(at, { batch, by, entries: booked_entries })) addContest(contests, `batch ${batch.number}`, [batch], booked_entries)
  }
  // Last, so that the result does not depend on the order of entries.
  for (const { batches: meant, entries: booked_entries } of contests.values()) {
    at.markAmbiguous(
      'batch_total',
      [...meant].flatMap(({ unclaimed }) => unclaimed),
      booked_entries,
    )
  }
}

/** Selects the batch by amount and day; null if several are possible or none has the amount. */
function selectBatch(at: Attribution, { batches, by_total }: CandidateBatches, entry: number): PaymentBatch | 'outside_window' | null {
  const { amount, day } = at.ledger.entries
  const of_amount = batches.length === 1 ? batches : by_total.get(amount.get(entry))
  if (of_amount === undefined || of_amount === null) return null
  const booked = day.get(entry)
  const inside = of_amount.filter(({ first_day, last_day }) => dayFits(first_day, last_day, booked, at.window))
  if (inside.length === 0) return 'outside_window'
  const close = { days_before: at.window.days_before, days_after: at.window.days_before }
  const [only, another] = inside.length === 1 ? inside : inside.filter((batch) => dayFits(batch.first_day, batch.last_day, booked, close))
  return another === undefined ? (only ?? null) : null
}

/** Entries that may mean several batches of one key are ambiguous together. */
function addContest(
  contests: Map<string, ContestedBatches>,
  name: string,
  batches: readonly PaymentBatch[],
  entries: readonly number[],
): void {
  const known = contests.get(name)
  const found = known ?? { batches: new Set<PaymentBatch>(), lists: new Set<readonly PaymentBatch[]>(), entries: [] }
  if (known === undefined) contests.set(name, found)
  for (const row of entries) found.entries.push(row)
  if (found.lists.has(batches)) return
  found.lists.add(batches)
  for (const batch of batches) found.batches.add(batch)
}

function addBooking(bookings: Map<number, BatchBooking>, batch: PaymentBatch, by: MatchedBy, entry: number): void {
  const known = bookings.get(batch.number)
  if (known === undefined) bookings.set(batch.number, { batch, by, entries: [entry] })
  else known.entries.push(entry)
}

/** Open entries that name a batch and no payment. */
function batchRows(at: Attribution, wanted: IntColumn): number[] {
  const { entries } = at.ledger
  const rows: number[] = []
  for (let row = 0; row < entries.size; row++) {
    if (at.isOpen(row) && wanted.get(row) !== 0 && entries.ids.end_to_end.get(row) === 0 && entries.ids.uetr.get(row) === 0) rows.push(row)
  }
  return rows
}

/** Batches of each payment block or message that entries name, built once. */
class BatchIndex {
  private readonly at: Attribution
  private readonly known = new Map<string, PaymentBatch[]>()
  private readonly choices = new Map<string, CandidatesByAccount>()
  private count = 0

  constructor(at: Attribution) {
    this.at = at
  }

  /** Batches of the account itself, otherwise those whose account does not contradict. */
  possible(index: RowIndex, by: MatchedBy, key: number, entry: number): CandidateBatches {
    const { entries } = this.at.ledger
    const message = by === 'message_id' ? 0 : entries.ids.message.get(entry)
    const currency = entries.currency.get(entry)
    const name = `${by} ${key} ${message} ${currency}`
    let choice = this.choices.get(name)
    if (choice === undefined) {
      const batches = this.of(index, by, key).filter((batch) => batch.currency === currency && (message === 0 || batch.message === message))
      this.choices.set(name, (choice = candidatesByAccount(batches)))
    }
    const account = entries.account.get(entry)
    return choice.own.get(account) ?? (account > 0 ? choice.open : choice.all)
  }

  private of(index: RowIndex, by: MatchedBy, key: number): PaymentBatch[] {
    const name = `${by} ${key}`
    let found = this.known.get(name)
    if (found === undefined) this.known.set(name, (found = this.make(index, key)))
    return found
  }

  private make(index: RowIndex, key: number): PaymentBatch[] {
    const { instructions } = this.at.ledger
    const batches = new Map<string, PaymentBatch>()
    for (let row = index.first(key); row !== -1; row = index.next(row)) {
      const message = instructions.ids.message.get(row)
      const currency = instructions.currency.get(row)
      const debtor = instructions.debtor.get(row)
      const between_banks = instructions.sourceOf(row) === 'pacs.008'
      const name = `${between_banks} ${message} ${currency} ${debtor}`
      let batch = batches.get(name)
      if (batch === undefined) {
        const empty = { instructions: [], total: 0n, first_day: Infinity, last_day: 0, unclaimed: [], unclaimed_total: 0n }
        batches.set(name, (batch = { number: this.count++, between_banks, message, currency, debtor, ...empty }))
      }
      this.put(batch, row)
    }
    return [...batches.values()]
  }

  private put(batch: PaymentBatch, row: number): void {
    const amount_minor = this.at.ledger.instructions.amount.get(row)
    const day = this.at.ledger.instructions.day.get(row)
    batch.instructions.push(row)
    batch.total += amount_minor
    batch.first_day = Math.min(batch.first_day, day)
    batch.last_day = Math.max(batch.last_day, day)
    if (this.at.claimed[row] !== 0) return
    batch.unclaimed.push(row)
    batch.unclaimed_total += amount_minor
  }
}

function candidatesByAccount(batches: PaymentBatch[]): CandidatesByAccount {
  const accounts = Map.groupBy(batches, ({ debtor }) => debtor)
  accounts.delete(0)
  const own = new Map(Array.from(accounts, ([debtor, list]) => [debtor, candidatesByTotal(list)]))
  return {
    all: candidatesByTotal(batches),
    open: candidatesByTotal(batches.filter(({ debtor, between_banks }) => debtor <= 0 || between_banks)),
    own,
  }
}

function candidatesByTotal(batches: PaymentBatch[]): CandidateBatches {
  const by_total = new Map<bigint, PaymentBatch[] | null>()
  for (const batch of batches) {
    const same = by_total.get(batch.total)
    if (same === undefined) by_total.set(batch.total, [batch])
    else if (same !== null && same.push(batch) > COMPARED_BATCHES) by_total.set(batch.total, null)
  }
  return { batches, by_total }
}

/** Returns true and covers the instructions if the entries add up to a multiple of the batch, or to its unclaimed rest. */
function coverIfPaid(at: Attribution, { batch, by, entries }: BatchBooking): boolean {
  const { amount, batch_count } = at.ledger.entries
  const signed = entries.map((row) => (isForward(at, batch, row) ? amount.get(row) : -amount.get(row)))
  const net = signed.reduce((sum, one) => sum + one, 0n)
  // Only a single entry must state the number of all payments.
  const counts = (rows: readonly number[]) =>
    entries.length > 1 || entries.every((row) => [0, rows.length + 1].includes(batch_count.get(row)))
  if (counts(batch.instructions)) {
    const whole = batch.total > 0n && signed.every((one) => one === batch.total || one === -batch.total)
    const times = whole ? net / batch.total : net === batch.total ? 1n : null
    if (times !== null) return coverInstructions(at, batch.instructions, by, times)
  }
  return (
    batch.unclaimed.length > 0 && net === batch.unclaimed_total && counts(batch.unclaimed) && coverInstructions(at, batch.unclaimed, by, 1n)
  )
}

function coverInstructions(at: Attribution, instructions: readonly number[], by: MatchedBy, times: bigint): true {
  for (const row of instructions) {
    at.coverage.set(row, at.coverage.get(row) + Number(times))
    at.covered_by.set(row, MATCHED_BY.indexOf(by))
  }
  return true
}

function isForward({ ledger: { entries } }: Attribution, batch: PaymentBatch, entry: number): boolean {
  if (batch.between_banks && entries.account.get(entry) !== batch.debtor) return !entries.isReturn(entry)
  return !entries.isCredit(entry)
}

interface EnclosedIdLevel {
  by: MatchedBy
  instruction_ids: IntColumn
  entry_ids: IntColumn
  index: RowIndex
}

/** Instructions that the transactions inside a row name. */
interface NamedInstructions {
  row: number
  /** For each transaction with a known id, the instructions it may mean. */
  lists: (readonly number[])[]
  /** Number of transactions. */
  count: number
  /** The weakest id used. */
  by: MatchedBy
}

/**
 * Matches rows for several transactions without amounts: each must name one distinct instruction, and these must add up exactly
 * to the row. Sums are never searched for.
 */
function attributeEnclosed(at: Attribution): void {
  for (const named of namedInstructions(at)) settleEnclosed(at, named)
}

/** Instructions named by such rows that are still unclaimed after batch bookings are ambiguous. */
function contestEnclosed(at: Attribution): void {
  // Collected before any is marked, so that the result does not depend on row order.
  const all = namedInstructions(at).map(({ row, lists }) => {
    const named = [...new Set([...new Set(lists)].flat())]
    return { row, named, free: named.filter((one) => at.claimed[one] === 0) }
  })
  for (const { row, named, free } of all) {
    if (free.length > 0) at.markAmbiguous('batch_total', free, [row])
    else if (named.length > 0) at.leaveUnmatched(row, 'ambiguous')
  }
}

function namedInstructions(at: Attribution): NamedInstructions[] {
  const { entries, instructions } = at.ledger
  const rows = [...entries.inside].filter(([row]) => at.isOpen(row))
  if (rows.length === 0) return []
  const [instruction_ids, entry_ids] = [instructions.ids, entries.inside_ids]
  const level = (by: MatchedBy, mine: IntColumn, theirs: IntColumn): EnclosedIdLevel => ({
    by,
    instruction_ids: mine,
    entry_ids: theirs,
    index: at.indexInstructions(mine),
  })
  const levels = [
    level('end_to_end_id', instruction_ids.end_to_end, entry_ids.end_to_end),
    level('uetr', instruction_ids.uetr, entry_ids.uetr),
    level('instruction_id', instruction_ids.instruction, entry_ids.instruction),
    level('transaction_id', instruction_ids.transaction, entry_ids.transaction),
  ]
  return rows.map(([row, [first, end]]) => namedBy(at, levels, row, first, end))
}

function namedBy(at: Attribution, levels: readonly EnclosedIdLevel[], row: number, first: number, end: number): NamedInstructions {
  const known = new Map<string, number[]>()
  const lists: number[][] = []
  let weakest = 0
  for (let one = first; one < end; one++) {
    // Weaker ids are reused, so they do not count next to an end-to-end id.
    const identified = (levels[0]?.entry_ids.get(one) ?? 0) !== 0
    for (const { by, entry_ids, index } of identified ? levels.slice(0, 2) : levels) {
      const key = entry_ids.get(one)
      const name = `${by} ${key}`
      let found = known.get(name)
      if (found === undefined) known.set(name, (found = instructionsWithId(at, index, key, row)))
      if (found.length === 0) continue
      lists.push(found)
      weakest = Math.max(weakest, MATCHED_BY.indexOf(by))
      break
    }
  }
  return { row, lists, count: end - first, by: MATCHED_BY[weakest] ?? 'none' }
}

function instructionsWithId(at: Attribution, index: RowIndex, key: number, row: number): number[] {
  const found: number[] = []
  if (key === 0) return found
  for (let one = index.first(key); one !== -1; one = index.next(one)) if (at.misfit(one, row) === null) found.push(one)
  return found
}

function settleEnclosed(at: Attribution, { row, lists, count, by }: NamedInstructions): void {
  const { entries, instructions } = at.ledger
  if (entries.unclear.has(row)) return
  const named = new Set(lists.flatMap((list) => (list.length === 1 ? list : [])))
  if (named.size !== count || ![0, count + 1].includes(entries.batch_count.get(row))) return
  let sum = 0n
  for (const one of named) {
    if (instructions.currency.get(one) !== entries.currency.get(row)) return
    sum += instructions.amount.get(one)
  }
  const times = bookingSign(at, named, row)
  if (sum !== entries.amount.get(row) || times === 0) return
  for (const one of named) {
    at.coverage.set(one, at.coverage.get(one) + times)
    at.covered_by.set(one, Math.max(at.covered_by.get(one), MATCHED_BY.indexOf(by)))
    at.claimed[one] = 1
  }
  at.matchBatch(row, by)
}

/** 1 if the row carries all of them out, -1 if it takes all of them back, 0 if unclear. */
function bookingSign({ ledger }: Attribution, named: ReadonlySet<number>, row: number): number {
  const { entries } = ledger
  const returned = entries.isReturn(row)
  const forward = [...named].filter((one) => {
    const credit = paysAsCredit(ledger, one, row)
    return credit === null ? !returned : credit === entries.isCredit(row)
  })
  if (returned) return forward.length === 0 ? -1 : 0
  return forward.length === named.size ? 1 : 0
}
