import { DEFAULT_WINDOW } from './values.ts'
import { ReadFindings, type ReadFinding } from './records.ts'
import { StatementBook } from './statement-book.ts'
import {
  detectKind,
  DOCUMENT_SIDES,
  formatName,
  headText,
  resolveDocuments,
  type DocumentKind,
  type DocumentSide,
  type GivenDocument,
} from './document-kinds.ts'
import { documentReader, type RecordSink } from './document-reader.ts'
import type { CsvColumns } from './statements/csv.ts'
import { Ledger } from './ledger.ts'
import { reconcileLedger, type ReconcileOptions } from './reconcile.ts'
import { TotalsCollector, isConserved, totalsJson, type ReconcileOutcome } from './outcome.ts'
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
  verdictRow,
} from './report-rows.ts'
import { areAllSettled, countConcerns, summarySentence, type PaymentConcerns } from './summary.ts'
import { VERDICTS, type Verdict } from './verdicts.ts'

export interface PaymentDocument {
  /** Format that is expected; another one is read as what it is. */
  kind: DocumentKind
  text: string
}

export interface ReconcileReport {
  /** False if a document could not be read completely; then there are no verdicts. */
  valid: boolean
  /** Every payment is settled and final. */
  all_settled: boolean
  summary: string
  concerns: PaymentConcerns | null
  verdicts: VerdictRow[]
  counts: Record<Verdict, number>
  unmatched: EntryRow[]
  ignored: EntryRow[]
  ambiguous: AmbiguousRow[]
  input_defects: DefectRow[]
  totals: Record<string, unknown>[]
  conserved: boolean
  findings: ReadFinding[]
  finding_count: number
  /** Format of each document. */
  formats: string[]
}

/**
 * Reconciles instructions with statements and ACH files. If a document or an amount in it cannot be read, no verdict is given: a partial
 * result would look complete.
 */
export function reconcileDocuments(
  documents: readonly PaymentDocument[],
  {
    require_settlement_evidence = false,
    window = DEFAULT_WINDOW,
    csv_columns,
  }: Partial<Pick<ReconcileOptions, 'require_settlement_evidence' | 'window'>> & { csv_columns?: CsvColumns } = {},
): ReconcileReport {
  const findings = new ReadFindings()
  const book = new StatementBook()
  const ledger = new Ledger()
  const sink: RecordSink = {
    keep_remittance: true,
    ...(csv_columns !== undefined && { csv_columns }),
    instruction: (instruction) => void ledger.instructions.add(instruction),
    entry: (entry) => ledger.addEntry(entry),
  }
  const heads = documents.map(({ text }) => headText(text))
  const given = documents.map(({ kind }, file) => ({ side: sideOfKind(kind), head: heads[file] ?? '', otherwise: kind }))
  const plan = planDocuments(given, findings)
  for (const { file, kind } of plan) {
    const reader = documentReader(kind, file, findings, book, sink)
    if (reader.write(documents[file]?.text ?? '')) reader.end()
  }
  requireBothSides(plan, findings)
  const { repeated, overlaps, remarks } = book.findRepeats()
  for (const { code, file } of remarks) findings.add(code, file, null)
  const formats = heads.map((head) => formatName(head) ?? detectKind(head) ?? 'a format that is not recognized')
  if (findings.errors > 0) return { ...emptyReport(), findings: findings.list, finding_count: findings.count, formats }
  const coverage = book.coverage(repeated)
  const outcome = reconcileLedger(ledger, {
    require_settlement_evidence,
    window,
    repeated,
    overlaps,
    coverage,
    ...book.rejected(),
  })
  findings.addIncomplete(coverage.remarks())
  return { ...buildReport(outcome), findings: findings.list, finding_count: findings.count, formats }
}

/** A file to read. */
export interface PlannedDocument {
  file: number
  kind: DocumentKind
}

/** Order in which files are read: statements and status messages first, so that only ids that an entry has need to be stored. */
export function planDocuments(given: readonly GivenDocument[], findings: ReadFindings): PlannedDocument[] {
  const plan = resolveDocuments(given).map(({ kind, swapped }, file) => {
    if (swapped) findings.add('SIDE_SWAPPED', file, null, kind)
    return { file, kind }
  })
  const orders = plan.filter(({ kind }) => DOCUMENT_SIDES[kind] === 'instructions')
  return [...plan.filter((one) => !orders.includes(one)), ...orders]
}

/** Adds an error if all files are of one side. */
export function requireBothSides(plan: readonly PlannedDocument[], findings: ReadFindings): void {
  for (const side of ['instructions', 'statement'] as const)
    if (!plan.some(({ kind }) => DOCUMENT_SIDES[kind] === side)) findings.add('SIDE_MISSING', 0, null, `no ${side} file`)
}

/** Some file names payments by their message or block. */
export function hasStatusMessage(plan: readonly PlannedDocument[]): boolean {
  return plan.some(({ kind }) => DOCUMENT_SIDES[kind] === 'status')
}

/** Status messages count on both sides. */
function sideOfKind(kind: DocumentKind): DocumentSide {
  const side = DOCUMENT_SIDES[kind]
  return side === 'status' ? 'statement' : side
}

function emptyReport(): Omit<ReconcileReport, 'findings' | 'finding_count' | 'formats'> {
  const lists = { verdicts: [], unmatched: [], ignored: [], ambiguous: [], input_defects: [], totals: [] }
  const summary = 'An input could not be read completely, so nothing was checked; see findings.'
  return { valid: false, all_settled: false, summary, concerns: null, counts: zeroCounts(), conserved: false, ...lists }
}

function zeroCounts(): Record<Verdict, number> {
  return Object.fromEntries(VERDICTS.map((verdict) => [verdict, 0])) as Record<Verdict, number>
}

/** Builds the report of an outcome. */
export function buildReport(outcome: ReconcileOutcome): Omit<ReconcileReport, 'findings' | 'finding_count' | 'formats'> {
  const verdicts = Array.from(instructionOrder(outcome), (row) => verdictRow(outcome, row))
  const counts = zeroCounts()
  for (const row of instructionOrder(outcome)) counts[outcome.verdictOf(row).verdict]++
  const unmatched: EntryRow[] = []
  const ignored: EntryRow[] = []
  for (const row of entryOrder(outcome)) {
    const fate = outcome.entryOutcome(row)
    if (fate.kind === 'unmatched') unmatched.push(entryRow(outcome, row, fate.reason))
    if (fate.kind === 'ignored') ignored.push(entryRow(outcome, row, fate.reason))
  }
  const totals = new TotalsCollector()
  totals.add(outcome)
  const concerns = countConcerns(outcome)
  return {
    valid: true,
    all_settled: areAllSettled(concerns),
    summary: summarySentence(outcome, unmatched.length),
    concerns,
    verdicts,
    counts,
    unmatched,
    ignored,
    ambiguous: ambiguousRows(outcome),
    input_defects: defectRows(outcome),
    totals: totals.totals().map(totalsJson),
    conserved: isConserved(totals.totals()),
  }
}
