import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { reconcileLedger, type ReconcileOptions } from '../pure/documents/reconcile/reconcile.ts'
import { TotalsCollector, type CurrencyTotals, type ReconcileOutcome } from '../pure/documents/reconcile/outcome.ts'
import {
  ambiguousRows,
  defectRows,
  entryOrder,
  entryRow,
  instructionOrder,
  type AmbiguousRow,
  type DefectRow,
  type EntryRow,
  type VerdictRow,
  verdictRowJson,
  verdictRow,
} from '../pure/documents/reconcile/report-rows.ts'
import { createHash, randomBytes } from 'node:crypto'
import { attributeByEndToEndId } from '../pure/documents/reconcile/attribute-entries.ts'
import { Attribution } from '../pure/documents/reconcile/attribution-state.ts'
import { foldId, usableId, type BookingWindow } from '../pure/documents/reconcile/values.ts'
import { Ledger, LooseKeys } from '../pure/documents/reconcile/ledger.ts'
import {
  type BankEntry,
  type PaymentInstruction,
  type InstructionSource,
  type ReadFindings,
  StatementBook,
} from '../pure/documents/reconcile/records.ts'
import type { RecordSink } from '../pure/documents/reconcile/reconcile-documents.ts'
import { type InputFile, readFiles, unreadableError } from './reconcile-read.ts'

const BLOCK_CHARS = 16_384
const READ_BYTES = 65_536

/** Files of lines in a temporary folder, which is deleted on close. */
class SpoolFiles {
  private readonly folder = mkdtempSync(join(tmpdir(), 'assay-reconcile-'))
  private readonly open = new Map<string, { file: number; block: string }>()

  append(name: string, line: string): void {
    let part = this.open.get(name)
    if (part === undefined) this.open.set(name, (part = { file: openSync(join(this.folder, name), 'w'), block: '' }))
    part.block += `${line}\n`
    if (part.block.length >= BLOCK_CHARS) flushBlock(part)
  }

  has(name: string): boolean {
    return this.open.has(name)
  }

  /** Lines written so far; empty for a part that was never written. */
  *lines(name: string): Generator<string> {
    const part = this.open.get(name)
    if (part === undefined) return
    flushBlock(part)
    const file = openSync(join(this.folder, name), 'r')
    try {
      yield* linesIn(file)
    } finally {
      closeSync(file)
    }
  }

  close(): void {
    for (const { file } of this.open.values()) closeSync(file)
    this.open.clear()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

function flushBlock(part: { file: number; block: string }): void {
  if (part.block !== '') writeSync(part.file, part.block)
  part.block = ''
}

function* linesIn(file: number): Generator<string> {
  const bytes = new Uint8Array(READ_BYTES)
  const decoder = new TextDecoder()
  let rest = ''
  for (let read = readSync(file, bytes); read > 0; read = readSync(file, bytes)) {
    const lines = (rest + decoder.decode(bytes.subarray(0, read), { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

interface MergeHead<Item> {
  item: Item
  list: Iterator<Item>
}

type Order<Item> = (one: Item, other: Item) => number

/** Merges sorted lists. */
export function* mergeSorted<Item>(lists: readonly Iterator<Item>[], order: Order<Item>): Generator<Item> {
  // Heap of the next item of each list, smallest on top.
  const heap: MergeHead<Item>[] = []
  for (const list of lists) {
    const { value, done } = list.next()
    if (done !== true) pushUp(heap, { item: value, list }, order)
  }
  for (let [top] = heap; top !== undefined; [top] = heap) {
    yield top.item
    const { value, done } = top.list.next()
    if (done !== true) sinkTop(heap, { item: value, list: top.list }, order)
    else {
      const last = heap.pop()
      if (last !== undefined && heap.length > 0) sinkTop(heap, last, order)
    }
  }
}

function pushUp<Item>(heap: MergeHead<Item>[], added: MergeHead<Item>, order: Order<Item>): void {
  heap.push(added)
  for (let at = heap.length - 1; at > 0;) {
    const parent = (at - 1) >> 1
    const above = heap[parent]
    if (above === undefined || order(above.item, added.item) <= 0) return
    heap[at] = above
    heap[parent] = added
    at = parent
  }
}

/** Replaces the top item and restores the heap. */
function sinkTop<Item>(heap: MergeHead<Item>[], added: MergeHead<Item>, order: Order<Item>): void {
  heap[0] = added
  for (let at = 0; ;) {
    const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]]
    if (left === undefined) return
    const child = right !== undefined && order(right.item, left.item) < 0 ? 2 * at + 2 : 2 * at + 1
    const below = heap[child]
    if (below === undefined || order(added.item, below.item) <= 0) return
    heap[child] = added
    heap[at] = below
    at = child
  }
}

/** A row with its sort key, because rows contain cut and cleaned texts. */
interface SortedRow<Row> {
  id: string
  place: readonly [number, number, number]
  row: Row
}

const ENTRY_KINDS = ['unmatched', 'ignored'] as const

/** Rows of each part, sorted on disk and read back as one sorted list. */
class PartResults {
  private readonly parts: SpoolFiles
  private readonly names: string[] = []
  private readonly totals = new TotalsCollector()
  private readonly ambiguous: AmbiguousRow[] = []
  private readonly defects: DefectRow[] = []

  constructor(parts: SpoolFiles) {
    this.parts = parts
  }

  add(name: string, outcome: ReconcileOutcome): void {
    this.names.push(name)
    this.totals.add(outcome)
    for (const row of ambiguousRows(outcome)) this.ambiguous.push(row)
    for (const row of defectRows(outcome)) this.defects.push(row)
    const { instructions, entries, pool } = outcome.ledger
    for (const row of instructionOrder(outcome)) {
      const id = pool.text(instructions.ids.end_to_end.get(row) || instructions.placeholder.get(row)) ?? ''
      const place = [instructions.file.get(row), instructions.position.get(row), 0] as const
      this.put(`verdicts-${name}`, { id, place, row: verdictRow(outcome, row) })
    }
    for (const row of entryOrder(outcome)) {
      const fate = outcome.entryOutcome(row)
      if (fate.kind === 'matched') continue
      const place = [entries.file.get(row), entries.entry.get(row), entries.detail.get(row)] as const
      this.put(`${fate.kind}-${name}`, { id: '', place, row: entryRow(outcome, row, fate.reason) })
    }
  }

  report(): ReconcileReportLists {
    const [unmatched, ignored] = ENTRY_KINDS.map((kind) => () => this.rows<EntryRow>(kind))
    return {
      totals: this.totals.totals(),
      verdicts: () => this.rows<VerdictRow>('verdicts'),
      verdictLines: () => this.lines(),
      unmatched: unmatched ?? (() => []),
      ignored: ignored ?? (() => []),
      ambiguous: this.ambiguous.toSorted(compareGroups),
      input_defects: this.defects.toSorted((one, other) => compareTexts(one.end_to_end_id, other.end_to_end_id)),
    }
  }

  private put<Row>(part: string, sorted: SortedRow<Row>): void {
    this.parts.append(part, JSON.stringify(sorted))
  }

  private *rows<Row>(kind: string): Generator<Row> {
    const lists = this.names.map((name) => this.sorted<Row>(`${kind}-${name}`))
    for (const { row } of mergeSorted(lists, bySorted)) yield row
  }

  private *lines(): Generator<string> {
    for (const row of this.rows<VerdictRow>('verdicts')) yield JSON.stringify(row)
  }

  private *sorted<Row>(part: string): Generator<SortedRow<Row>> {
    for (const line of this.parts.lines(part)) yield JSON.parse(line) as SortedRow<Row>
  }
}

function bySorted({ id, place }: SortedRow<unknown>, other: SortedRow<unknown>): number {
  return compareTexts(id, other.id) || comparePlaces(place, other.place)
}

function comparePlaces(one: readonly number[], other: readonly number[]): number {
  const index = one.findIndex((value, at) => value !== other[at])
  return index === -1 ? 0 : (one[index] ?? 0) - (other[index] ?? 0)
}

/** Orders by code point, as UTF-8 bytes do. */
function compareTexts(one: string, other: string): number {
  return one === other ? 0 : Buffer.compare(Buffer.from(one), Buffer.from(other))
}

function compareGroups(one: AmbiguousRow, other: AmbiguousRow): number {
  const [first, second] = [parseLabel(one.instructions[0]), parseLabel(other.instructions[0])]
  return (
    comparePlaces(first, second) ||
    comparePlaces(parseLabel(one.entries[0]), parseLabel(other.entries[0])) ||
    compareTexts(one.kind, other.kind)
  )
}

/** Numbers of `file:position` or `file:entry.detail`; missing ones sort first. */
function parseLabel(text: string | undefined): number[] {
  const found = text === undefined ? [] : text.split(/[:.]/).map((part) => Number.parseInt(part, 10))
  return [found[0] ?? -1, found[1] ?? -1, found[2] ?? 0]
}

const PART_COUNT = 64
/** Part for everything that cannot be decided by a single id. */
const REST_PART = 'rest'

/**
 * Reconciliation in partitions on disk, with the same verdicts as in memory.
 *
 * Instructions and statement entries are partitioned by a keyed hash of their folded end-to-end id, so that chosen ids cannot fill one
 * partition. Loose entries are those without such an id, those without a match for some source, those not booked, and all ACH entries. They
 * are decided together at the end, with every instruction that shares a key with one of them and everything of its folded id. That rest
 * must fit in memory; for statements with end-to-end ids it is small, but a batch booked as one sum adds all its instructions.
 */
export class Spool implements RecordSink {
  private readonly parts = new SpoolFiles()
  private readonly key = randomBytes(16)
  private readonly loose = new LooseKeys()
  private readonly sources = new Set<InstructionSource>()

  instruction(instruction: PaymentInstruction): void {
    this.sources.add(instruction.source)
    this.parts.append(`instructions-${this.partOf(instruction.end_to_end_id)}`, serializeRecord(instruction))
  }

  entry(entry: BankEntry): void {
    const part = entry.source === 'nacha' ? REST_PART : this.partOf(entry.end_to_end_id)
    this.parts.append(`entries-${part}`, serializeRecord(entry))
    if (part === REST_PART) this.loose.add(entry)
  }

  reconcile(options: ReconcileOptions): ReconcileReportLists {
    const results = new PartResults(this.parts)
    const names = Array.from({ length: PART_COUNT }, (_, part) => String(part))
    for (const part of names) this.findLoose(part, options)
    for (const part of names) results.add(part, this.reconcilePart(part, options))
    results.add(REST_PART, reconcileLedger(buildLedger(this.entriesIn(REST_PART), this.instructionsIn(REST_PART)), options))
    return results.report()
  }

  close(): void {
    this.parts.close()
  }

  /** Records without an id go to the rest. */
  private partOf(end_to_end_id: string | null): string {
    const id = usableId(end_to_end_id)
    if (id === null) return REST_PART
    return String(createHash('sha256').update(this.key).update(foldId(id)).digest().readUInt32BE(0) % PART_COUNT)
  }

  /** Finds entries without a match by their id, which are loose. */
  private findLoose(part: string, options: ReconcileOptions): void {
    const ledger = buildLedger(this.entriesIn(part), this.instructionsIn(part))
    const all = [...this.sources].map((source) => new Attribution(ledger, options, source))
    for (const at of all) attributeByEndToEndId(at)
    let row = 0
    for (const entry of this.entriesIn(part)) {
      // A repeated entry goes where the original goes.
      if (!isBooked(entry) || all.some((at) => at.isOpen(at.repeats.get(row) ?? row))) {
        this.loose.add(entry)
        this.parts.append(`loose-${part}`, String(row))
      }
      row++
    }
  }

  private reconcilePart(part: string, options: ReconcileOptions) {
    const moved = new Set<string>()
    for (const instruction of this.instructionsIn(part)) if (this.loose.mayConcern(instruction)) moved.add(foldedEndToEndId(instruction))
    return reconcileLedger(buildLedger(this.stayingEntries(part, moved), this.stayingInstructions(part, moved)), options)
  }

  /** Entries that can be decided in this part; the others move to the rest. */
  private *stayingEntries(part: string, moved: ReadonlySet<string>): Generator<BankEntry> {
    const loose = new Set(Array.from(this.parts.lines(`loose-${part}`), (line) => Number.parseInt(line, 10)))
    let row = 0
    for (const entry of this.entriesIn(part)) {
      if (loose.has(row++) || moved.has(foldedEndToEndId(entry))) this.parts.append(`entries-${REST_PART}`, serializeRecord(entry))
      else yield entry
    }
  }

  private *stayingInstructions(part: string, moved: ReadonlySet<string>): Generator<PaymentInstruction> {
    for (const instruction of this.instructionsIn(part)) {
      if (moved.has(foldedEndToEndId(instruction))) this.parts.append(`instructions-${REST_PART}`, serializeRecord(instruction))
      else yield instruction
    }
  }

  private *instructionsIn(part: string): Generator<PaymentInstruction> {
    for (const line of this.parts.lines(`instructions-${part}`)) yield parseInstruction(line)
  }

  private *entriesIn(part: string): Generator<BankEntry> {
    for (const line of this.parts.lines(`entries-${part}`)) yield parseEntry(line)
  }
}

function buildLedger(entries: Iterable<BankEntry>, instructions: Iterable<PaymentInstruction>): Ledger {
  const ledger = new Ledger()
  for (const entry of entries) ledger.entries.add(entry)
  for (const instruction of instructions) ledger.addInstructionLast(instruction)
  return ledger
}

/** Entries that are not booked can concern an instruction by any id. */
function isBooked({ status }: BankEntry): boolean {
  return status === 'BOOK' || status === 'OTHER'
}

function foldedEndToEndId({ end_to_end_id }: PaymentInstruction | BankEntry): string {
  return foldId(usableId(end_to_end_id) ?? '')
}

/** JSON form of a record: amounts are text. */
type SerializedRecord<Record> = { [Name in keyof Record]: Record[Name] extends bigint ? string : SerializedRecord<Record[Name]> }

function serializeRecord(record: PaymentInstruction | BankEntry): string {
  return JSON.stringify(record, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value))
}

function parseInstruction(line: string): PaymentInstruction {
  const record = JSON.parse(line) as SerializedRecord<PaymentInstruction>
  return { ...record, amount_minor: BigInt(record.amount_minor) }
}

function parseEntry(line: string): BankEntry {
  const record = JSON.parse(line) as SerializedRecord<BankEntry>
  const instructed = record.instructed === null ? null : { ...record.instructed, amount_minor: BigInt(record.instructed.amount_minor) }
  return { ...record, amount_minor: BigInt(record.amount_minor), charges_minor: BigInt(record.charges_minor), instructed }
}

/** Memory of an instruction or entry with its ids and verdict, in bytes. */
const RECORD_BYTES = 400
/**
 * Minimum number of records kept in memory; more if half of the available memory allows it. Beyond that, reconciliation uses the disk and
 * takes three times as long.
 */
const LEAST_IN_MEMORY = 2_000_000

function recordsInMemory(): number {
  return Math.max(LEAST_IN_MEMORY, Math.floor(process.availableMemory() / 2 / RECORD_BYTES))
}

interface FileOptions {
  require_settlement_evidence: boolean
  window: BookingWindow
  records_in_memory?: number
}

/** A report and its temporary files. */
interface SpooledReport {
  report: ReconcileReportLists
  close(): void
}

/** Thrown by the sink to abort the first reading. */
class TooManyRecords extends Error {}

/**
 * Reconciles files. If the records do not fit in memory, the files are read again and partitioned on disk. Throws a CliError if a file
 * cannot be read completely.
 */
export function reconcileFiles(files: readonly InputFile[], findings: ReadFindings, options: FileOptions): SpooledReport {
  const { require_settlement_evidence, window, records_in_memory = recordsInMemory() } = options
  const how = { require_settlement_evidence, window }
  try {
    const book = new StatementBook()
    const ledger = readLedger(files, findings, book, records_in_memory)
    return { report: reportInMemory(reconcileLedger(ledger, { ...how, ...repeatOptions(findings, book) })), close: () => undefined }
  } catch (error) {
    if (!(error instanceof TooManyRecords)) throw error
  }
  findings.clear()
  const book = new StatementBook()
  const spool = new Spool()
  try {
    if (!readFiles(files, findings, book, spool)) throw unreadableError(files, findings)
    return { report: spool.reconcile({ ...how, ...repeatOptions(findings, book) }), close: () => spool.close() }
  } catch (error) {
    spool.close()
    throw error
  }
}

function readLedger(files: readonly InputFile[], findings: ReadFindings, book: StatementBook, most: number): Ledger {
  const ledger = new Ledger()
  const bounded = () => {
    if (ledger.instructions.size + ledger.entries.size >= most) throw new TooManyRecords()
  }
  const sink = {
    instruction(instruction: PaymentInstruction) {
      bounded()
      ledger.addInstructionLast(instruction)
    },
    entry(entry: BankEntry) {
      bounded()
      ledger.entries.add(entry)
    },
  }
  if (!readFiles(files, findings, book, sink)) throw unreadableError(files, findings)
  return ledger
}

function repeatOptions(findings: ReadFindings, book: StatementBook): Pick<ReconcileOptions, 'repeated' | 'overlaps'> {
  const { repeated, overlaps, remarks } = book.findRepeats()
  for (const { code, file } of remarks) findings.add(code, file, null)
  return { repeated, overlaps }
}

/** Lists of a report, from memory or from disk. They can be iterated repeatedly. */
export interface ReconcileReportLists {
  totals: readonly CurrencyTotals[]
  verdicts(): Iterable<VerdictRow>
  /** Verdict rows as JSON text. */
  verdictLines(): Iterable<string>
  unmatched(): Iterable<EntryRow>
  ignored(): Iterable<EntryRow>
  ambiguous: readonly AmbiguousRow[]
  input_defects: readonly DefectRow[]
}

/** Rows are generated on demand: a million of them would not fit in memory. */
function reportInMemory(outcome: ReconcileOutcome): ReconcileReportLists {
  const totals = new TotalsCollector()
  totals.add(outcome)
  const instructions = instructionOrder(outcome)
  const entries = entryOrder(outcome)
  return {
    totals: totals.totals(),
    verdicts: function* () {
      for (const row of instructions) yield verdictRow(outcome, row)
    },
    verdictLines: function* () {
      for (const row of instructions) yield verdictRowJson(outcome, row)
    },
    unmatched: () => entryRowsOf(outcome, entries, 'unmatched'),
    ignored: () => entryRowsOf(outcome, entries, 'ignored'),
    ambiguous: ambiguousRows(outcome),
    input_defects: defectRows(outcome),
  }
}

function* entryRowsOf(outcome: ReconcileOutcome, order: Iterable<number>, kind: 'unmatched' | 'ignored'): Generator<EntryRow> {
  for (const row of order) {
    const fate = outcome.entryOutcome(row)
    if (fate.kind !== 'matched' && fate.kind === kind) yield entryRow(outcome, row, fate.reason)
  }
}
