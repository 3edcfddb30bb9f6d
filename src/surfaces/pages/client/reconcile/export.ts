import { DEFAULT_WINDOW } from '../../../../pure/documents/reconcile/values.ts'
import { TotalsCollector, isConserved, totalsJson, type ReconcileOutcome } from '../../../../pure/documents/reconcile/outcome.ts'
import {
  ambiguousRows,
  csvHeader,
  defectRows,
  entryCsv,
  entryOrder,
  entryRow,
  instructionOrder,
  verdictCsv,
  verdictRowJson,
  verdictRow,
} from '../../../../pure/documents/reconcile/report-rows.ts'
import type { ReadFinding } from '../../../../pure/documents/reconcile/records.ts'

export interface ExportSource {
  outcome: ReconcileOutcome
  /** Names of the files by their number in the rows. */
  files: readonly string[]
  findings: readonly ReadFinding[]
}

/** Lines are joined into blocks, so that a large report is not a million strings. */
const BLOCK_LINES = 2_000

/** Report as the command line writes it with `--csv`. */
export function csvBlob({ outcome, files }: ExportSource): Blob {
  return blobOf('text/csv;charset=utf-8', csvLines(outcome, files))
}

function* csvLines(outcome: ReconcileOutcome, files: readonly string[]): Generator<string> {
  yield `${csvHeader()}\n`
  for (const row of instructionOrder(outcome)) yield `${verdictCsv(verdictRow(outcome, row), files)}\n`
  for (const kind of ['unmatched', 'ignored'] as const)
    for (const { row, reason } of entriesOf(outcome, kind)) yield `${entryCsv(kind, entryRow(outcome, row, reason), files)}\n`
}

/** Report as one JSON document: the answer of the tool, with the names of the files. */
export function jsonBlob(source: ExportSource): Blob {
  return blobOf('application/json', jsonLines(source))
}

function* jsonLines({ outcome, files, findings }: ExportSource): Generator<string> {
  const collector = new TotalsCollector()
  collector.add(outcome)
  const totals = collector.totals()
  const head = { files, window: DEFAULT_WINDOW, totals: totals.map(totalsJson), conserved: isConserved(totals), findings }
  yield `${JSON.stringify(head).slice(0, -1)},\n"verdicts":[`
  yield* listed(instructionOrder(outcome), (row) => verdictRowJson(outcome, row))
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

function* entriesOf(outcome: ReconcileOutcome, kind: 'unmatched' | 'ignored'): Generator<{ row: number; reason: string }> {
  for (const row of entryOrder(outcome)) {
    const found = outcome.entryOutcome(row)
    if (found.kind !== 'matched' && found.kind === kind) yield { row, reason: found.reason }
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
