import type { Outcome } from '../pure/documents/reconcile/reconcile.ts'
import { ambiguousRows, defectRows, entryOrder, entryRow, instructionOrder, verdictRow } from '../pure/documents/reconcile/rows.ts'
import type { AmbiguousRow, DefectRow, EntryRow, VerdictRow } from '../pure/documents/reconcile/rows.ts'
import { TotalsBook } from '../pure/documents/reconcile/totals.ts'
import { merged, type Parts } from './reconcile-parts.ts'
import type { Reconciled } from './reconcile-result.ts'

/** A row with what it is sorted by, since rows show texts of strangers cut and cleaned. */
interface Sorted<Row> {
  id: string
  place: readonly [number, number, number]
  row: Row
}

const KINDS = ['unmatched', 'ignored'] as const

/** The rows of each part, sorted on disk, and read back as one sorted list. */
export class PartResults {
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
