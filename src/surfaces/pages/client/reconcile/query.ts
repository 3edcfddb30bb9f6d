import type { Outcome } from '../../../../pure/documents/reconcile/reconcile.ts'
import { entryOrder, instructionOrder } from '../../../../pure/documents/reconcile/rows.ts'
import { IGNORED, KINDS, UNMATCHED, VERDICTS, type Verdict } from '../../../../pure/documents/reconcile/verdicts.ts'
import type { EntryShown, Query, SortKey, VerdictShown, View } from './messages.ts'
import { entryShown, verdictShown } from './shown.ts'

type Order = (one: number, other: number) => number

/** Rows of an outcome, chosen, searched and put in order; kept as numbers, and written out only where somebody looks. */
export class Rows {
  private readonly outcome: Outcome
  private readonly instructions: Int32Array
  private readonly entries: Readonly<Record<'unmatched' | 'ignored', Int32Array>>
  private found: Int32Array
  private view: View = 'all'

  constructor(outcome: Outcome) {
    this.outcome = outcome
    this.instructions = instructionOrder(outcome)
    const order = entryOrder(outcome)
    const of = (kind: 'unmatched' | 'ignored') => order.filter((row) => outcome.fate(row).kind === kind)
    this.entries = { unmatched: of('unmatched'), ignored: of('ignored') }
    this.found = this.instructions
  }

  counts(): Record<View, number> {
    const { unmatched, ignored } = this.entries
    const verdicts = Object.fromEntries(VERDICTS.map((verdict) => [verdict, 0])) as Record<Verdict, number>
    for (const row of this.instructions) verdicts[this.outcome.judgement(row).verdict]++
    return { all: this.instructions.length, ...verdicts, unmatched: unmatched.length, ignored: ignored.length }
  }

  /** How many rows there are now. */
  ask({ view, text, sort, descending }: Query): number {
    this.view = view
    const wanted = text.trim().toLowerCase()
    const all = this.rowsOf(view)
    const found = wanted === '' ? all.slice() : all.filter((row) => this.textOf(row).includes(wanted))
    // Rows come in the order of ids, or of places for entries; that is left as it is.
    const order = this.orderOf(sort)
    if (order !== null) found.sort(order)
    this.found = descending ? found.toReversed() : found
    return found.length
  }

  list(from: number, to: number): VerdictShown[] | EntryShown[] {
    const rows = [...this.found.subarray(from, to)]
    return this.isEntries() ? rows.map((row) => entryShown(this.outcome, row)) : rows.map((row) => verdictShown(this.outcome, row))
  }

  private isEntries(): boolean {
    return this.view === 'unmatched' || this.view === 'ignored'
  }

  private rowsOf(view: View): Int32Array {
    if (view === 'all') return this.instructions
    if (view === 'unmatched' || view === 'ignored') return this.entries[view]
    return this.instructions.filter((row) => this.outcome.judgement(row).verdict === view)
  }

  private textOf(row: number): string {
    const shown = this.isEntries() ? entryShown(this.outcome, row) : verdictShown(this.outcome, row)
    return Object.values(shown).join(' ').toLowerCase()
  }

  private orderOf(sort: SortKey): Order | null {
    const { ledger } = this.outcome
    const { pool } = ledger
    const table = this.isEntries() ? ledger.entries : ledger.instructions
    const byCurrency: Order = (one, other) => pool.compare(table.currency.get(one), table.currency.get(other))
    switch (sort) {
      case 'id':
        return this.isEntries() ? (one, other) => pool.compare(table.ids.end_to_end.get(one), table.ids.end_to_end.get(other)) : null
      case 'verdict':
        return this.ranked((row) => -VERDICTS.indexOf(this.outcome.judgement(row).verdict))
      case 'amount':
        return (one, other) => byCurrency(one, other) || compare(table.amount.get(one), table.amount.get(other))
      case 'difference': {
        const differences = this.differences()
        return (one, other) => byCurrency(one, other) || compare(differences[one] ?? 0n, differences[other] ?? 0n)
      }
      case 'place':
        return (one, other) => table.byPlace(one, other)
      case 'reason':
        return this.ranked((row) => REASONS.indexOf(this.reason(row)))
    }
  }

  /** Ranks are asked for once a row, not once a comparison. */
  private ranked(rankOf: (row: number) => number): Order {
    const { instructions, entries } = this.outcome.ledger
    const ranks = new Int32Array(this.isEntries() ? entries.size : instructions.size)
    for (const row of this.rowsOf(this.view)) ranks[row] = rankOf(row)
    return (one, other) => (ranks[one] ?? 0) - (ranks[other] ?? 0)
  }

  private differences(): BigInt64Array {
    const { instructions } = this.outcome.ledger
    const differences = new BigInt64Array(instructions.size)
    for (const row of this.rowsOf(this.view)) {
      const { net_minor } = this.outcome.judgement(row)
      differences[row] = net_minor === null ? 0n : net_minor - instructions.amount.get(row)
    }
    return differences
  }

  private reason(row: number): string {
    if (!this.isEntries()) return this.outcome.judgement(row).kind
    const fate = this.outcome.fate(row)
    return fate.kind === 'matched' ? '' : fate.reason
  }
}

const REASONS: readonly string[] = [...new Set([...KINDS, ...UNMATCHED, ...IGNORED])].toSorted()

function compare(one: bigint, other: bigint): number {
  return one < other ? -1 : one === other ? 0 : 1
}
