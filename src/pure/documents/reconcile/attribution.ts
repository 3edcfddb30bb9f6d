import { accountFits } from './accounts.ts'
import { Bytes, Ints } from './columns.ts'
import { dateFits, type DateWindow } from './dates.ts'
import { Groups, KeyIndex } from './groups.ts'
import type { Ledger } from './ledger.ts'
import { repeatedEntries } from './repeated-entries.ts'
import type { Overlaps } from './statements.ts'
import { ASIDE, ENTRY_STATUSES, INSTRUCTION_SOURCES, type InstructionSource } from './records.ts'
import { IGNORED, KINDS, MATCHED_BY, UNMATCHED, type Ignored, type Kind, type MatchedBy, type Unmatched } from './verdicts.ts'

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
