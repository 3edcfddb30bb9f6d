import type { Ledger } from './ledger.ts'
import { ByteColumn, IntColumn, RowIndex } from './columns.ts'
import { dayFits, type BookingWindow } from './values.ts'
import { type StatementOverlaps, NON_PAYMENT_KINDS, ENTRY_STATUSES, INSTRUCTION_SOURCES, type InstructionSource } from './records.ts'
import {
  IGNORED_REASONS,
  VERDICT_KINDS,
  MATCHED_BY,
  UNMATCHED_REASONS,
  type IgnoredReason,
  type VerdictKind,
  type MatchedBy,
  type UnmatchedReason,
} from './verdicts.ts'

/** Union-find over instructions that can only be decided together. */
class DisjointSets {
  private readonly parents: Int32Array

  constructor(size: number) {
    this.parents = Int32Array.from({ length: size }, (_, index) => index)
  }

  /** Smallest member of the set, so that it does not depend on the order of joins. */
  root(member: number): number {
    const { parents } = this
    let root = member
    for (let next = parents[root] ?? root; next !== root; next = parents[root] ?? root) root = next
    for (let at = member; at !== root;) {
      const next = parents[at] ?? root
      parents[at] = root
      at = next
    }
    return root
  }

  join(one: number, other: number): void {
    const [first, second] = [this.root(one), this.root(other)]
    if (first < second) this.parents[second] = first
    else this.parents[first] = second
  }
}

/**
 * Checks the statement's account against the instruction. Only two IBANs can contradict each other; interbank transfers settle over
 * accounts that the message does not name.
 */
function accountFits({ instructions, entries }: Ledger, instruction: number, entry: number): boolean {
  const account = entries.account.get(entry)
  if (account <= 0 || instructions.sourceOf(instruction) === 'pacs.008') return true
  const debtor = instructions.debtor.get(instruction)
  const creditor = instructions.creditor.get(instruction)
  return debtor <= 0 || account === debtor || account === creditor
}

/** Direction on the statement's account when the instruction is carried out: true for credit, null if the account does not decide. */
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

/**
 * Maps entries that another statement already shows to the entry that counts. They share the bank's reference, which identifies one booking
 * of the account, the day, amount, direction and id. Entries within one statement are never repeats; if statements show an entry a
 * different number of times, the largest number counts.
 */
function repeatedEntries(ledger: Ledger, isCounted: (row: number) => boolean): ReadonlyMap<number, number> {
  const { entries } = ledger
  const repeats = new Map<number, number>()
  if (!entries.several_statements || !entries.booking.used) return repeats
  for (const rows of groupAlikeEntries(ledger, isCounted)) {
    const [counting = [], ...others] = [...Map.groupBy(rows, (row) => entries.statement.get(row)).values()]
      .map((same) => same.toSorted((one, other) => entries.byPlace(one, other)))
      .toSorted((one, other) => other.length - one.length || entries.byPlace(one[0] ?? -1, other[0] ?? -1))
    for (const row of others.flat()) repeats.set(row, counting[0] ?? row)
  }
  return repeats
}

const SEVERAL_STATEMENTS = -1

/** Groups equal entries of bookings that several statements show. Most bookings are in one statement, so the rest is filtered first. */
function groupAlikeEntries({ entries }: Ledger, isCounted: (row: number) => boolean): Iterable<number[]> {
  const { booking, booking_check, account, currency, flags, ids, detail, statement } = entries
  const shown_in = new Map<number, number>()
  const counted: number[] = []
  for (let row = 0; row < entries.size; row++) {
    const name = booking.get(row)
    if (name === 0 || !isCounted(row)) continue
    counted.push(row)
    const before = shown_in.get(name)
    shown_in.set(name, before === undefined || before === statement.get(row) ? statement.get(row) : SEVERAL_STATEMENTS)
  }
  const columns = [booking, booking_check, account, currency, flags, ids.end_to_end, detail]
  const nameOf = (row: number) => [...columns.map((column) => column.get(row)), entries.amount.get(row)].join(' ')
  return Map.groupBy(
    counted.filter((row) => shown_in.get(booking.get(row)) === SEVERAL_STATEMENTS),
    nameOf,
  ).values()
}

/** Instructions and entries that belong together without a unique assignment. */
export interface AmbiguousGroup {
  kind: VerdictKind
  instructions: number[]
  entries: number[]
}

export type AttributionMisfit = 'other_account' | 'outside_window'

export interface AttributionOptions {
  /** Numbers of repeated statements. */
  repeated: ReadonlySet<number>
  overlaps: StatementOverlaps
  window: BookingWindow
}

const OPEN_ENTRY = -1
const CLOSED_ENTRY = -2

/**
 * Assignment of entries to instructions, built up step by step. Rows are those of the ledger. Covers the instructions of one source: a
 * pain.001 and the pacs.008 that carries it out are about the same money, so each is matched against all entries.
 */
export class Attribution {
  readonly ledger: Ledger
  readonly source: InstructionSource
  readonly groups: DisjointSets
  /** 1 for instructions that some entry matches or might match. */
  readonly claimed: Uint8Array
  readonly pending: Uint8Array
  /** Number of batch bookings that paid the instruction; negative if they took the money back. */
  readonly coverage = new IntColumn()
  /** MATCHED_BY index of those bookings; 0 if there are none. */
  readonly covered_by = new ByteColumn()
  readonly ambiguous: AmbiguousGroup[] = []
  /** VERDICT_KINDS index plus one, for members of ambiguous groups. */
  readonly ambiguous_kind = new ByteColumn()
  /** End-to-end ids seen on another account or outside the day window. */
  readonly misfits_by_id = new Map<number, AttributionMisfit>()
  readonly window: BookingWindow
  /** Entries that another statement already shows, with the entry that counts. */
  readonly repeats: ReadonlyMap<number, number>
  /** ACH entries whose addenda name several payments, with the ids. */
  readonly ids_of_multiple = new Map<number, readonly number[]>()
  private readonly source_number: number
  private readonly targets: Int32Array
  private readonly by = new ByteColumn()
  private readonly unmatched = new ByteColumn()
  /** IGNORED_REASONS index plus one. */
  private readonly ignored = new ByteColumn()

  private readonly overlaps: StatementOverlaps

  constructor(ledger: Ledger, { repeated, overlaps, window }: AttributionOptions, source: InstructionSource) {
    const { instructions, entries } = ledger
    this.window = window
    this.overlaps = overlaps
    this.ledger = ledger
    this.source = source
    this.source_number = INSTRUCTION_SOURCES.indexOf(source)
    this.groups = new DisjointSets(instructions.size)
    this.claimed = new Uint8Array(instructions.size)
    this.pending = new Uint8Array(instructions.size)
    this.targets = new Int32Array(entries.size).fill(OPEN_ENTRY)
    for (let row = 0; row < entries.size; row++) {
      const reason = repeated.has(entries.statement.get(row)) ? 'repeated_statement' : reasonToIgnore(ledger, row, overlaps)
      if (reason !== null) this.ignore(row, reason)
    }
    this.repeats = repeatedEntries(ledger, (row) => !this.isIgnored(row))
    for (const row of this.repeats.keys()) this.ignore(row, 'repeated_entry')
  }

  /** Reason why the entry cannot belong to the instruction: its account or its day. */
  misfit(instruction: number, entry: number): AttributionMisfit | null {
    if (!accountFits(this.ledger, instruction, entry)) return 'other_account'
    const due = this.ledger.instructions.day.get(instruction)
    return dayFits(due, due, this.ledger.entries.day.get(entry), this.window) ? null : 'outside_window'
  }

  /** Another statement appears to show the same booking. */
  isShownTwice(entry: number): boolean {
    return this.overlaps.counting.size > 0 && isBookedOn(this.overlaps.counting, this.ledger, entry)
  }

  private ignore(entry: number, reason: IgnoredReason): void {
    this.ignored.set(entry, IGNORED_REASONS.indexOf(reason) + 1)
    this.targets[entry] = CLOSED_ENTRY
  }

  /** The instruction is of this attribution's source. */
  takesPart(instruction: number): boolean {
    return this.ledger.instructions.source.get(instruction) === this.source_number
  }

  /** Indexes the instructions of this source by an id column. */
  indexInstructions(column: IntColumn): RowIndex {
    const { instructions, pool } = this.ledger
    const all = instructions.sources.size === 1 && instructions.sources.has(this.source)
    const admits = all ? null : (row: number) => this.takesPart(row)
    return new RowIndex(column, instructions.size, pool.size, admits)
  }

  /** The entry has no instruction yet. */
  isOpen(entry: number): boolean {
    return this.targets[entry] === OPEN_ENTRY
  }

  assign(entry: number, instruction: number, by: MatchedBy): void {
    this.targets[entry] = instruction
    this.by.set(entry, MATCHED_BY.indexOf(by))
    this.unmatched.set(entry, 0)
    this.claimed[instruction] = 1
  }

  leaveUnmatched(entry: number, reason: UnmatchedReason): void {
    this.targets[entry] = CLOSED_ENTRY
    this.by.set(entry, 0)
    this.noteUnmatched(entry, reason)
  }

  /** Sets the reason to report if no match is found. */
  noteUnmatched(entry: number, reason: UnmatchedReason): void {
    this.unmatched.set(entry, UNMATCHED_REASONS.indexOf(reason))
  }

  /** No verdict is possible for these instructions; the entries stay unmatched. */
  markAmbiguous(kind: VerdictKind, instructions: readonly number[], entries: readonly number[]): void {
    for (const row of instructions) {
      this.claimed[row] = 1
      this.ambiguous_kind.set(row, VERDICT_KINDS.indexOf(kind) + 1)
    }
    for (const row of entries) this.leaveUnmatched(row, 'ambiguous')
    this.ambiguous.push({ kind, instructions: [...instructions], entries: [...entries] })
  }

  /** The entry pays a whole batch. */
  matchBatch(entry: number, by: MatchedBy): void {
    this.targets[entry] = CLOSED_ENTRY
    this.by.set(entry, MATCHED_BY.indexOf(by))
    this.unmatched.set(entry, 0)
  }

  /** The instruction of the entry, or one of its group; -1 if none. */
  target(entry: number): number {
    return Math.max(OPEN_ENTRY, this.targets[entry] ?? OPEN_ENTRY)
  }

  matchedBy(entry: number): MatchedBy {
    return MATCHED_BY[this.by.get(entry)] ?? 'none'
  }

  /** The entry is matched, alone or as a batch. */
  isMatched(entry: number): boolean {
    return this.by.get(entry) !== 0
  }

  ignoredReason(entry: number): IgnoredReason | null {
    const found = this.ignored.get(entry)
    return found === 0 ? null : (IGNORED_REASONS[found - 1] ?? null)
  }

  unmatchedReason(entry: number): UnmatchedReason {
    return UNMATCHED_REASONS[this.unmatched.get(entry)] ?? 'no_instruction'
  }

  isIgnored(entry: number): boolean {
    return this.ignored.get(entry) !== 0
  }
}

/** The entry has no bank reference and is booked on one of these days of its statement. */
function isBookedOn(days: StatementOverlaps['repeating'], { entries }: Ledger, row: number): boolean {
  return entries.booking.get(row) === 0 && days.get(entries.statement.get(row))?.has(entries.day.get(row)) === true
}

function reasonToIgnore(ledger: Ledger, row: number, { repeating }: StatementOverlaps): IgnoredReason | null {
  const { entries } = ledger
  if (repeating.size > 0 && isBookedOn(repeating, ledger, row)) return 'repeated_entry'
  const aside = NON_PAYMENT_KINDS[entries.aside.get(row) - 1]
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
