import type { Outcome } from '../pure/documents/reconcile/reconcile.ts'
import { ambiguousRows, defectRows, entryOrder, entryRow, instructionOrder, verdictRow } from '../pure/documents/reconcile/rows.ts'
import type { AmbiguousRow, DefectRow, EntryRow, VerdictRow } from '../pure/documents/reconcile/rows.ts'
import { TotalsBook, type CurrencyTotals } from '../pure/documents/reconcile/totals.ts'
import { verdictJson } from '../pure/documents/reconcile/verdict-json.ts'
import { VERDICTS, type Verdict } from '../pure/documents/reconcile/verdicts.ts'

/** A reconciliation as it is written out, whether it was made in memory or in parts. Lists can be walked as often as needed. */
export interface Reconciled {
  totals: readonly CurrencyTotals[]
  verdicts(): Iterable<VerdictRow>
  /** The same, each as JSON. */
  verdictLines(): Iterable<string>
  unmatched(): Iterable<EntryRow>
  ignored(): Iterable<EntryRow>
  ambiguous: readonly AmbiguousRow[]
  input_defects: readonly DefectRow[]
}

/** Rows are made when they are asked for: a million at once would not fit. */
export function inMemory(outcome: Outcome): Reconciled {
  const totals = new TotalsBook()
  totals.add(outcome)
  const instructions = instructionOrder(outcome)
  const entries = entryOrder(outcome)
  return {
    totals: totals.totals(),
    verdicts: function* () {
      for (const row of instructions) yield verdictRow(outcome, row)
    },
    verdictLines: function* () {
      for (const row of instructions) yield verdictJson(outcome, row)
    },
    unmatched: () => entriesOf(outcome, entries, 'unmatched'),
    ignored: () => entriesOf(outcome, entries, 'ignored'),
    ambiguous: ambiguousRows(outcome),
    input_defects: defectRows(outcome),
  }
}

function* entriesOf(outcome: Outcome, order: Iterable<number>, kind: 'unmatched' | 'ignored'): Generator<EntryRow> {
  for (const row of order) {
    const fate = outcome.fate(row)
    if (fate.kind !== 'matched' && fate.kind === kind) yield entryRow(outcome, row, fate.reason)
  }
}

/** Instructions by verdict, over all currencies. */
export function countsOf(totals: readonly CurrencyTotals[]): Record<Verdict, number> {
  const count = (verdict: Verdict) => totals.reduce((sum, { verdicts }) => sum + verdicts[verdict].count, 0)
  return Object.fromEntries(VERDICTS.map((verdict) => [verdict, count(verdict)])) as Record<Verdict, number>
}
