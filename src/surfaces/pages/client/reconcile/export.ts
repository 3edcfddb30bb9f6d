import { DEFAULT_WINDOW } from '../../../../pure/documents/reconcile/dates.ts'
import type { Outcome } from '../../../../pure/documents/reconcile/reconcile.ts'
import { csvHead, entryCsv, verdictCsv } from '../../../../pure/documents/reconcile/report-csv.ts'
import { ambiguousRows, defectRows, entryOrder, entryRow, instructionOrder, verdictRow } from '../../../../pure/documents/reconcile/rows.ts'
import { isConserved, TotalsBook, totalsRow } from '../../../../pure/documents/reconcile/totals.ts'
import { verdictJson } from '../../../../pure/documents/reconcile/verdict-json.ts'
import type { ReadFinding } from '../../../../pure/documents/reconcile/extract/findings.ts'

export interface Exported {
  outcome: Outcome
  /** Names of the files, as numbered in the rows. */
  files: readonly string[]
  findings: readonly ReadFinding[]
}

/** Lines are joined into blocks, so that a large report is not a million pieces. */
const BLOCK_LINES = 2_000

/** The report as the command line writes it with `--csv`. */
export function csvBlob({ outcome, files }: Exported): Blob {
  return blobOf('text/csv;charset=utf-8', csvLines(outcome, files))
}

function* csvLines(outcome: Outcome, files: readonly string[]): Generator<string> {
  yield `${csvHead()}\n`
  for (const row of instructionOrder(outcome)) yield `${verdictCsv(verdictRow(outcome, row), files)}\n`
  for (const kind of ['unmatched', 'ignored'] as const)
    for (const { row, reason } of entriesOf(outcome, kind)) yield `${entryCsv(kind, entryRow(outcome, row, reason), files)}\n`
}

/** The report as one JSON document: what the tool answers, with the names of the files. */
export function jsonBlob(exported: Exported): Blob {
  return blobOf('application/json', jsonLines(exported))
}

function* jsonLines({ outcome, files, findings }: Exported): Generator<string> {
  const book = new TotalsBook()
  book.add(outcome)
  const totals = book.totals()
  const head = { files, window: DEFAULT_WINDOW, totals: totals.map(totalsRow), conserved: isConserved(totals), findings }
  yield `${JSON.stringify(head).slice(0, -1)},\n"verdicts":[`
  yield* listed(instructionOrder(outcome), (row) => verdictJson(outcome, row))
  for (const kind of ['unmatched', 'ignored'] as const) {
    yield `],\n"${kind}":[`
    yield* listed(entriesOf(outcome, kind), ({ row, reason }) => JSON.stringify(entryRow(outcome, row, reason)))
  }
  yield `],\n"ambiguous":${JSON.stringify(ambiguousRows(outcome))},\n"input_defects":${JSON.stringify(defectRows(outcome))}}\n`
}

function* listed<Item>(items: Iterable<Item>, write: (item: Item) => string): Generator<string> {
  let before = '\n'
  for (const item of items) {
    yield before + write(item)
    before = ',\n'
  }
}

function* entriesOf(outcome: Outcome, kind: 'unmatched' | 'ignored'): Generator<{ row: number; reason: string }> {
  for (const row of entryOrder(outcome)) {
    const fate = outcome.fate(row)
    if (fate.kind !== 'matched' && fate.kind === kind) yield { row, reason: fate.reason }
  }
}

function blobOf(type: string, lines: Iterable<string>): Blob {
  const blocks: string[] = []
  let block: string[] = []
  for (const line of lines) {
    block.push(line)
    if (block.length < BLOCK_LINES) continue
    blocks.push(block.join(''))
    block = []
  }
  return new Blob([...blocks, ...block], { type })
}
