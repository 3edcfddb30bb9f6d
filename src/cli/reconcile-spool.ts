import { createHash, randomBytes } from 'node:crypto'
import { attributeExact } from '../pure/documents/reconcile/attribute.ts'
import { Attribution } from '../pure/documents/reconcile/attribution.ts'
import { foldId, usableId } from '../pure/documents/reconcile/ids.ts'
import { Ledger } from '../pure/documents/reconcile/ledger.ts'
import { LooseKeys } from '../pure/documents/reconcile/loose-keys.ts'
import { reconcile, type ReconcileOptions } from '../pure/documents/reconcile/reconcile.ts'
import type { Entry, Instruction, InstructionSource } from '../pure/documents/reconcile/records.ts'
import type { Sink } from '../pure/documents/reconcile/report.ts'
import { Parts } from './reconcile-parts.ts'
import { PartResults } from './reconcile-part-results.ts'
import type { Reconciled } from './reconcile-result.ts'

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
