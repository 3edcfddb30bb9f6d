import type { Ledger } from './ledger.ts'
import { Bytes, Groups, Ints, KeyIndex } from './columns.ts'
import { dateFits, type DateWindow } from './dates.ts'
import type { Overlaps } from './statements.ts'
import { ASIDE, ENTRY_STATUSES, INSTRUCTION_SOURCES, type InstructionSource } from './records.ts'
import { IGNORED, type Ignored, type Kind, KINDS, MATCHED_BY, type MatchedBy, UNMATCHED, type Unmatched } from './verdicts.ts'

/**
 * Whether the entry can be about the instruction, by the account that its statement is of. Only two IBANs can contradict one another;
 * transfers between banks settle over accounts that the message does not name.
 */
function accountFits({ instructions, entries }: Ledger, instruction: number, entry: number): boolean {
  const account = entries.account.get(entry)
  if (account <= 0 || instructions.sourceOf(instruction) === 'pacs.008') return true
  const debtor = instructions.debtor.get(instruction)
  const creditor = instructions.creditor.get(instruction)
  return debtor <= 0 || account === debtor || account === creditor
}

/** Which way money moves on the account of the statement when the instruction is carried out; null when the account does not tell. */
export function paysAsCredit({ instructions, entries }: Ledger, instruction: number, entry: number): boolean | null {
  const account = entries.account.get(entry)
  const debtor = instructions.debtor.get(instruction)
  const creditor = instructions.creditor.get(instruction)
  if (account !== 0 && debtor !== creditor) {
    if (account === debtor) return false
    if (account === creditor) return true
  }
  if (account !== 0 && account === debtor) return null
  return instructions.sourceOf(instruction) === 'pain.001' ? false : null
}

/** Whether the bank names another counterparty than the instruction: both are IBANs, and they differ. */
export function otherCounterparty({ instructions, entries }: Ledger, instruction: number, entry: number, credit: boolean): boolean {
  const named = entries.counterparty.get(entry)
  const meant = credit ? instructions.debtor.get(instruction) : instructions.creditor.get(instruction)
  return named > 0 && meant > 0 && named !== meant
}

/** Whether the bank names another UETR than the instruction: it may be another payment under the same id. */
export function otherUetr({ instructions, entries }: Ledger, instruction: number, entry: number): boolean {
  const named = entries.ids.uetr.get(entry)
  const meant = instructions.ids.uetr.get(instruction)
  return named !== 0 && meant !== 0 && named !== meant
}

/**
 * Entries that another statement has told already, each with one that counts in its place: the bank gives both one reference, which names
 * one booking of its account, and one day, and they are alike in amount, direction and id. So statements that overlap count once. Within one
 * statement nothing is taken for a repeat; where statements tell such an entry several times, the one that does so most often counts.
 */
function repeatedEntries(ledger: Ledger, isCounted: (row: number) => boolean): ReadonlyMap<number, number> {
  const { entries } = ledger
  const repeats = new Map<number, number>()
  if (!entries.several_statements || !entries.booking.used) return repeats
  for (const rows of alike(ledger, isCounted)) {
    const [counting = [], ...others] = [...Map.groupBy(rows, (row) => entries.statement.get(row)).values()]
      .map((told) => told.toSorted((one, other) => entries.byPlace(one, other)))
      .toSorted((one, other) => other.length - one.length || entries.byPlace(one[0] ?? -1, other[0] ?? -1))
    for (const row of others.flat()) repeats.set(row, counting[0] ?? row)
  }
  return repeats
}

const SEVERAL = -1

/** Entries that are alike, of bookings that several statements tell; most bookings stand in one, so that little is made of them. */
function alike({ entries }: Ledger, isCounted: (row: number) => boolean): Iterable<number[]> {
  const { booking, booking_beside, account, currency, flags, ids, detail, statement } = entries
  const told_in = new Map<number, number>()
  const counted: number[] = []
  for (let row = 0; row < entries.size; row++) {
    const name = booking.get(row)
    if (name === 0 || !isCounted(row)) continue
    counted.push(row)
    const before = told_in.get(name)
    told_in.set(name, before === undefined || before === statement.get(row) ? statement.get(row) : SEVERAL)
  }
  const columns = [booking, booking_beside, account, currency, flags, ids.end_to_end, detail]
  const nameOf = (row: number) => [...columns.map((column) => column.get(row)), entries.amount.get(row)].join(' ')
  return Map.groupBy(
    counted.filter((row) => told_in.get(booking.get(row)) === SEVERAL),
    nameOf,
  ).values()
}

/** Instructions and entries that belong together though it cannot be said which to which. */
export interface AmbiguousGroup {
  kind: Kind
  instructions: number[]
  entries: number[]
}

export type Misfit = 'other_account' | 'outside_window'

export interface AttributionOptions {
  /** Numbers of statements whose entries must not count again. */
  repeated: ReadonlySet<number>
  overlaps: Overlaps
  window: DateWindow
}

const OPEN = -1
const CLOSED = -2

/**
 * Which entry stands for which instruction, as it is found out step by step. Rows are those of the ledger. Only instructions of one source
 * take part: a pain.001 and the pacs.008 that carries it out speak of the same money, and each is held against all entries.
 */
export class Attribution {
  readonly ledger: Ledger
  readonly source: InstructionSource
  readonly groups: Groups
  /** Set for instructions that some entry stands for, or might. */
  readonly hit: Uint8Array
  readonly pending: Uint8Array
  /** How often a booking of a whole batch paid the instruction; below zero when it took the money back. */
  readonly coverage = new Ints()
  /** By which id that was; 0 for instructions that no batch booking is about. */
  readonly covered_by = new Bytes()
  readonly ambiguous: AmbiguousGroup[] = []
  /** One more than the place in KINDS, for members of ambiguous groups. */
  readonly ambiguous_kind = new Bytes()
  /** End-to-end ids that were seen on accounts that the instruction does not name, or outside of its window of days. */
  readonly elsewhere = new Map<number, Misfit>()
  readonly window: DateWindow
  /** Entries that another statement has told already, each with one that counts in its place. */
  readonly repeats: ReadonlyMap<number, number>
  /** ACH entries whose addenda name several payments, with the ids of these. */
  readonly several = new Map<number, readonly number[]>()
  private readonly source_number: number
  private readonly targets: Int32Array
  private readonly by = new Bytes()
  private readonly unmatched = new Bytes()
  /** One more than the place in IGNORED. */
  private readonly ignored = new Bytes()

  private readonly overlaps: Overlaps

  constructor(ledger: Ledger, { repeated, overlaps, window }: AttributionOptions, source: InstructionSource) {
    const { instructions, entries } = ledger
    this.window = window
    this.overlaps = overlaps
    this.ledger = ledger
    this.source = source
    this.source_number = INSTRUCTION_SOURCES.indexOf(source)
    this.groups = new Groups(instructions.size)
    this.hit = new Uint8Array(instructions.size)
    this.pending = new Uint8Array(instructions.size)
    this.targets = new Int32Array(entries.size).fill(OPEN)
    for (let row = 0; row < entries.size; row++) {
      const reason = repeated.has(entries.statement.get(row)) ? 'repeated_statement' : reasonToIgnore(ledger, row, overlaps)
      if (reason !== null) this.ignore(row, reason)
    }
    this.repeats = repeatedEntries(ledger, (row) => !this.isIgnored(row))
    for (const row of this.repeats.keys()) this.ignore(row, 'repeated_entry')
  }

  /** Why the entry cannot be about the instruction: its account, or its day. */
  misfit(instruction: number, entry: number): Misfit | null {
    if (!accountFits(this.ledger, instruction, entry)) return 'other_account'
    return dateFits(this.ledger, instruction, entry, this.window) ? null : 'outside_window'
  }

  /** Whether another statement seems to show the same booking. */
  isToldTwice(entry: number): boolean {
    return this.overlaps.counting.size > 0 && standsIn(this.overlaps.counting, this.ledger, entry)
  }

  private ignore(entry: number, reason: Ignored): void {
    this.ignored.set(entry, IGNORED.indexOf(reason) + 1)
    this.targets[entry] = CLOSED
  }

  /** Whether the instruction takes part. */
  admits(instruction: number): boolean {
    return this.ledger.instructions.source.get(instruction) === this.source_number
  }

  /** The instructions that take part by the ids of a column. */
  indexOf(column: Ints): KeyIndex {
    const { instructions, pool } = this.ledger
    const all = instructions.sources.size === 1 && instructions.sources.has(this.source)
    const admits = all ? null : (row: number) => this.admits(row)
    return new KeyIndex(column, instructions.size, pool.size, admits)
  }

  /** Whether the entry still looks for its instruction. */
  isOpen(entry: number): boolean {
    return this.targets[entry] === OPEN
  }

  assign(entry: number, instruction: number, by: MatchedBy): void {
    this.targets[entry] = instruction
    this.by.set(entry, MATCHED_BY.indexOf(by))
    this.unmatched.set(entry, 0)
    this.hit[instruction] = 1
  }

  /** The entry stands for nothing. */
  close(entry: number, reason: Unmatched): void {
    this.targets[entry] = CLOSED
    this.by.set(entry, 0)
    this.remark(entry, reason)
  }

  /** Why the entry would stand for nothing if nothing else is found. */
  remark(entry: number, reason: Unmatched): void {
    this.unmatched.set(entry, UNMATCHED.indexOf(reason))
  }

  /** No verdict is possible on these instructions; the entries stand for nothing. */
  contest(kind: Kind, instructions: readonly number[], entries: readonly number[]): void {
    for (const row of instructions) {
      this.hit[row] = 1
      this.ambiguous_kind.set(row, KINDS.indexOf(kind) + 1)
    }
    for (const row of entries) this.close(row, 'ambiguous')
    this.ambiguous.push({ kind, instructions: [...instructions], entries: [...entries] })
  }

  /** The entry stands for a whole batch. */
  cover(entry: number, by: MatchedBy): void {
    this.targets[entry] = CLOSED
    this.by.set(entry, MATCHED_BY.indexOf(by))
    this.unmatched.set(entry, 0)
  }

  /** The instruction, or one of those, that the entry stands for; -1 for none. */
  target(entry: number): number {
    return Math.max(OPEN, this.targets[entry] ?? OPEN)
  }

  matchedBy(entry: number): MatchedBy {
    return MATCHED_BY[this.by.get(entry)] ?? 'none'
  }

  /** Whether the entry stands for something, alone or as a batch. */
  isMatched(entry: number): boolean {
    return this.by.get(entry) !== 0
  }

  ignoredReason(entry: number): Ignored | null {
    const found = this.ignored.get(entry)
    return found === 0 ? null : (IGNORED[found - 1] ?? null)
  }

  unmatchedReason(entry: number): Unmatched {
    return UNMATCHED[this.unmatched.get(entry)] ?? 'no_instruction'
  }

  isIgnored(entry: number): boolean {
    return this.ignored.get(entry) !== 0
  }
}

/** Whether the entry, without a reference of the bank, stands in one of these days of its statement. */
function standsIn(days: Overlaps['repeating'], { entries }: Ledger, row: number): boolean {
  return entries.booking.get(row) === 0 && days.get(entries.statement.get(row))?.has(entries.day.get(row)) === true
}

function reasonToIgnore(ledger: Ledger, row: number, { repeating }: Overlaps): Ignored | null {
  const { entries } = ledger
  if (repeating.size > 0 && standsIn(repeating, ledger, row)) return 'repeated_entry'
  const aside = ASIDE[entries.aside.get(row) - 1]
  if (aside !== undefined) return aside
  switch (ENTRY_STATUSES[entries.status.get(row)] ?? 'OTHER') {
    case 'BOOK':
      return null
    case 'PDNG':
      return 'pending'
    case 'INFO':
      return 'information'
    case 'OTHER':
      return 'other_status'
  }
}
