import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Outcome, reconcile, type ReconcileOptions } from '../pure/documents/reconcile/reconcile.ts'
import {
  type AmbiguousRow,
  ambiguousRows,
  type DefectRow,
  defectRows,
  entryOrder,
  entryRow,
  type EntryRow,
  instructionOrder,
  verdictRow,
  type VerdictRow,
} from '../pure/documents/reconcile/rows.ts'
import { TotalsBook } from '../pure/documents/reconcile/totals.ts'
import { inMemory, type Reconciled } from './reconcile-result.ts'
import { createHash, randomBytes } from 'node:crypto'
import { attributeExact } from '../pure/documents/reconcile/attribute.ts'
import { Attribution } from '../pure/documents/reconcile/attribution.ts'
import { foldId, usableId } from '../pure/documents/reconcile/ids.ts'
import { Ledger } from '../pure/documents/reconcile/ledger.ts'
import { LooseKeys } from '../pure/documents/reconcile/loose-keys.ts'
import type { Entry, Instruction, InstructionSource } from '../pure/documents/reconcile/records.ts'
import type { Sink } from '../pure/documents/reconcile/report.ts'
import type { DateWindow } from '../pure/documents/reconcile/dates.ts'
import type { Findings } from '../pure/documents/reconcile/extract/findings.ts'
import { StatementBook } from '../pure/documents/reconcile/statements.ts'
import { type GivenFile, readFiles, unreadable } from './reconcile-read.ts'

const BLOCK_CHARS = 16_384
const READ_BYTES = 65_536

/** Files of lines in a folder of their own, which is gone when it is closed. */
class Parts {
  private readonly folder = mkdtempSync(join(tmpdir(), 'assay-reconcile-'))
  private readonly open = new Map<string, { file: number; block: string }>()

  append(name: string, line: string): void {
    let part = this.open.get(name)
    if (part === undefined) this.open.set(name, (part = { file: openSync(join(this.folder, name), 'w'), block: '' }))
    part.block += `${line}\n`
    if (part.block.length >= BLOCK_CHARS) flush(part)
  }

  has(name: string): boolean {
    return this.open.has(name)
  }

  /** The lines written so far; none of a part that was never written. */
  *lines(name: string): Generator<string> {
    const part = this.open.get(name)
    if (part === undefined) return
    flush(part)
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

function flush(part: { file: number; block: string }): void {
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

interface Head<Item> {
  item: Item
  list: Iterator<Item>
}

type Order<Item> = (one: Item, other: Item) => number

/** Walks sorted lists as one sorted list. */
export function* merged<Item>(lists: readonly Iterator<Item>[], order: Order<Item>): Generator<Item> {
  // A heap of the next item of each list, the least on top.
  const heap: Head<Item>[] = []
  for (const list of lists) {
    const { value, done } = list.next()
    if (done !== true) rise(heap, { item: value, list }, order)
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

function rise<Item>(heap: Head<Item>[], added: Head<Item>, order: Order<Item>): void {
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

/** Puts an item on top in place of the one there and lets it sink. */
function sinkTop<Item>(heap: Head<Item>[], added: Head<Item>, order: Order<Item>): void {
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

/** A row with what it is sorted by, since rows show texts of strangers cut and cleaned. */
interface Sorted<Row> {
  id: string
  place: readonly [number, number, number]
  row: Row
}

const KINDS = ['unmatched', 'ignored'] as const

/** The rows of each part, sorted on disk, and read back as one sorted list. */
class PartResults {
  private readonly parts: Parts
  private readonly names: string[] = []
  private readonly totals = new TotalsBook()
  private readonly ambiguous: AmbiguousRow[] = []
  private readonly defects: DefectRow[] = []

  constructor(parts: Parts) {
    this.parts = parts
  }

  add(name: string, outcome: Outcome): void {
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
      const fate = outcome.fate(row)
      if (fate.kind === 'matched') continue
      const place = [entries.file.get(row), entries.entry.get(row), entries.detail.get(row)] as const
      this.put(`${fate.kind}-${name}`, { id: '', place, row: entryRow(outcome, row, fate.reason) })
    }
  }

  report(): Reconciled {
    const [unmatched, ignored] = KINDS.map((kind) => () => this.rows<EntryRow>(kind))
    return {
      totals: this.totals.totals(),
      verdicts: () => this.rows<VerdictRow>('verdicts'),
      verdictLines: () => this.lines(),
      unmatched: unmatched ?? (() => []),
      ignored: ignored ?? (() => []),
      ambiguous: this.ambiguous.toSorted(byFirst),
      input_defects: this.defects.toSorted((one, other) => byText(one.end_to_end_id, other.end_to_end_id)),
    }
  }

  private put<Row>(part: string, sorted: Sorted<Row>): void {
    this.parts.append(part, JSON.stringify(sorted))
  }

  private *rows<Row>(kind: string): Generator<Row> {
    const lists = this.names.map((name) => this.sorted<Row>(`${kind}-${name}`))
    for (const { row } of merged(lists, bySorted)) yield row
  }

  private *lines(): Generator<string> {
    for (const row of this.rows<VerdictRow>('verdicts')) yield JSON.stringify(row)
  }

  private *sorted<Row>(part: string): Generator<Sorted<Row>> {
    for (const line of this.parts.lines(part)) yield JSON.parse(line) as Sorted<Row>
  }
}

function bySorted({ id, place }: Sorted<unknown>, other: Sorted<unknown>): number {
  return byText(id, other.id) || byPlace(place, other.place)
}

function byPlace(one: readonly number[], other: readonly number[]): number {
  const index = one.findIndex((value, at) => value !== other[at])
  return index === -1 ? 0 : (one[index] ?? 0) - (other[index] ?? 0)
}

/** By code point, as the bytes of UTF-8 have it. */
function byText(one: string, other: string): number {
  return one === other ? 0 : Buffer.compare(Buffer.from(one), Buffer.from(other))
}

function byFirst(one: AmbiguousRow, other: AmbiguousRow): number {
  const [first, second] = [placeOf(one.instructions[0]), placeOf(other.instructions[0])]
  return byPlace(first, second) || byPlace(placeOf(one.entries[0]), placeOf(other.entries[0])) || byText(one.kind, other.kind)
}

/** Numbers of `file:place` or `file:entry.detail`; what is missing comes first. */
function placeOf(text: string | undefined): number[] {
  const found = text === undefined ? [] : text.split(/[:.]/).map((part) => Number.parseInt(part, 10))
  return [found[0] ?? -1, found[1] ?? -1, found[2] ?? 0]
}

const PARTS = 64
/** Where everything is judged that a single id does not keep in one part. */
const REST = 'rest'

/**
 * A reconciliation in parts, on disk, with the verdicts that one in memory gives.
 *
 * Instructions and statement entries are spread by a keyed hash of their folded end-to-end id, so that nobody who chooses ids can fill one
 * part. Entries without such an id, entries that find no instruction of some source by it, entries that are not booked, and everything of
 * ACH files are loose: they, and every instruction that shares any key with one of them, with all that shares its folded id, are judged together at the end. That rest must fit
 * in memory; of statements that carry end-to-end ids it is small, but a batch booked as one sum brings all its instructions there.
 */
export class Spool implements Sink {
  private readonly parts = new Parts()
  private readonly key = randomBytes(16)
  private readonly loose = new LooseKeys()
  private readonly sources = new Set<InstructionSource>()

  instruction(instruction: Instruction): void {
    this.sources.add(instruction.source)
    this.parts.append(`instructions-${this.partOf(instruction.end_to_end_id)}`, written(instruction))
  }

  entry(entry: Entry): void {
    const part = entry.source === 'nacha' ? REST : this.partOf(entry.end_to_end_id)
    this.parts.append(`entries-${part}`, written(entry))
    if (part === REST) this.loose.add(entry)
  }

  reconcile(options: ReconcileOptions): Reconciled {
    const results = new PartResults(this.parts)
    const names = Array.from({ length: PARTS }, (_, part) => String(part))
    for (const part of names) this.findLoose(part, options)
    for (const part of names) results.add(part, this.judgePart(part, options))
    results.add(REST, reconcile(ledgerOf(this.entriesIn(REST), this.instructionsIn(REST)), options))
    return results.report()
  }

  close(): void {
    this.parts.close()
  }

  /** Ids of nobody go to the rest. */
  private partOf(end_to_end_id: string | null): string {
    const id = usableId(end_to_end_id)
    if (id === null) return REST
    return String(createHash('sha256').update(this.key).update(foldId(id)).digest().readUInt32BE(0) % PARTS)
  }

  /** Entries that find nothing by their id are loose; they are told apart again when the part is judged. */
  private findLoose(part: string, options: ReconcileOptions): void {
    const ledger = ledgerOf(this.entriesIn(part), this.instructionsIn(part))
    const all = [...this.sources].map((source) => new Attribution(ledger, options, source))
    for (const at of all) attributeExact(at)
    let row = 0
    for (const entry of this.entriesIn(part)) {
      // One that repeats another goes where that goes.
      if (!isBooked(entry) || all.some((at) => at.isOpen(at.repeats.get(row) ?? row))) {
        this.loose.add(entry)
        this.parts.append(`loose-${part}`, String(row))
      }
      row++
    }
  }

  private judgePart(part: string, options: ReconcileOptions) {
    const moved = new Set<string>()
    for (const instruction of this.instructionsIn(part)) if (this.loose.concern(instruction)) moved.add(keyOf(instruction))
    return reconcile(ledgerOf(this.stayingEntries(part, moved), this.stayingInstructions(part, moved)), options)
  }

  /** The entries of a part that can be judged in it; the others go to the rest. */
  private *stayingEntries(part: string, moved: ReadonlySet<string>): Generator<Entry> {
    const loose = new Set(Array.from(this.parts.lines(`loose-${part}`), (line) => Number.parseInt(line, 10)))
    let row = 0
    for (const entry of this.entriesIn(part)) {
      if (loose.has(row++) || moved.has(keyOf(entry))) this.parts.append(`entries-${REST}`, written(entry))
      else yield entry
    }
  }

  private *stayingInstructions(part: string, moved: ReadonlySet<string>): Generator<Instruction> {
    for (const instruction of this.instructionsIn(part)) {
      if (moved.has(keyOf(instruction))) this.parts.append(`instructions-${REST}`, written(instruction))
      else yield instruction
    }
  }

  private *instructionsIn(part: string): Generator<Instruction> {
    for (const line of this.parts.lines(`instructions-${part}`)) yield readInstruction(line)
  }

  private *entriesIn(part: string): Generator<Entry> {
    for (const line of this.parts.lines(`entries-${part}`)) yield readEntry(line)
  }
}

function ledgerOf(entries: Iterable<Entry>, instructions: Iterable<Instruction>): Ledger {
  const ledger = new Ledger()
  for (const entry of entries) ledger.entries.add(entry)
  for (const instruction of instructions) ledger.addLast(instruction)
  return ledger
}

/** One that is not tells what became of an instruction by any id. */
function isBooked({ status }: Entry): boolean {
  return status === 'BOOK' || status === 'OTHER'
}

function keyOf({ end_to_end_id }: Instruction | Entry): string {
  return foldId(usableId(end_to_end_id) ?? '')
}

/** A record as JSON has it: amounts are text. */
type Written<Record> = { [Name in keyof Record]: Record[Name] extends bigint ? string : Written<Record[Name]> }

function written(record: Instruction | Entry): string {
  return JSON.stringify(record, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value))
}

function readInstruction(line: string): Instruction {
  const record = JSON.parse(line) as Written<Instruction>
  return { ...record, amount_minor: BigInt(record.amount_minor) }
}

function readEntry(line: string): Entry {
  const record = JSON.parse(line) as Written<Entry>
  const instructed = record.instructed === null ? null : { ...record.instructed, amount_minor: BigInt(record.instructed.amount_minor) }
  return { ...record, amount_minor: BigInt(record.amount_minor), charges_minor: BigInt(record.charges_minor), instructed }
}

/** Bytes that an instruction or entry takes in memory with its ids and what is judged of it. */
const RECORD_BYTES = 400
/** Instructions and entries that are held in memory at once: half of what the machine has left. Beyond it parts go to disk, which takes three times as long. */
const LEAST_IN_MEMORY = 2_000_000

function recordsInMemory(): number {
  return Math.max(LEAST_IN_MEMORY, Math.floor(process.availableMemory() / 2 / RECORD_BYTES))
}

interface FileOptions {
  require_settlement_evidence: boolean
  window: DateWindow
  records_in_memory?: number
}

/** A reconciliation and what it keeps on disk. */
interface Found {
  report: Reconciled
  close(): void
}

/** Thrown by the sink to end the first reading early. */
class TooMany extends Error {}

/**
 * Reconciles files. When they hold more records than fit, they are read once more and spread over parts on disk. Throws a CliError when a
 * file cannot be read whole.
 */
export function reconcileFiles(files: readonly GivenFile[], findings: Findings, options: FileOptions): Found {
  const { require_settlement_evidence, window, records_in_memory = recordsInMemory() } = options
  const how = { require_settlement_evidence, window }
  try {
    const book = new StatementBook()
    const ledger = readLedger(files, findings, book, records_in_memory)
    return { report: inMemory(reconcile(ledger, { ...how, ...judged(findings, book) })), close: () => undefined }
  } catch (error) {
    if (!(error instanceof TooMany)) throw error
  }
  findings.clear()
  const book = new StatementBook()
  const spool = new Spool()
  try {
    if (!readFiles(files, findings, book, spool)) throw unreadable(files, findings)
    return { report: spool.reconcile({ ...how, ...judged(findings, book) }), close: () => spool.close() }
  } catch (error) {
    spool.close()
    throw error
  }
}

function readLedger(files: readonly GivenFile[], findings: Findings, book: StatementBook, most: number): Ledger {
  const ledger = new Ledger()
  const bounded = () => {
    if (ledger.instructions.size + ledger.entries.size >= most) throw new TooMany()
  }
  const sink = {
    instruction(instruction: Instruction) {
      bounded()
      ledger.addLast(instruction)
    },
    entry(entry: Entry) {
      bounded()
      ledger.entries.add(entry)
    },
  }
  if (!readFiles(files, findings, book, sink)) throw unreadable(files, findings)
  return ledger
}

function judged(findings: Findings, book: StatementBook): Pick<ReconcileOptions, 'repeated' | 'overlaps'> {
  const { repeated, overlaps, remarks } = book.judge()
  for (const { code, file } of remarks) findings.add(code, file, null)
  return { repeated, overlaps }
}
