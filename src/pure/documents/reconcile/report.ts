import { DEFAULT_WINDOW } from './dates.ts'
import { AchReader } from './extract/ach-reader.ts'
import { Findings, type ReadFinding } from './extract/findings.ts'
import { InstructionReader } from './extract/instructions.ts'
import { StatementReader } from './extract/statement-reader.ts'
import { Ledger } from './ledger.ts'
import { reconcile, type Outcome, type ReconcileOptions } from './reconcile.ts'
import type { Entry, Instruction } from './records.ts'
import { ambiguousRows, defectRows, entryOrder, entryRow, instructionOrder, verdictRow } from './rows.ts'
import type { AmbiguousRow, DefectRow, EntryRow, VerdictRow } from './rows.ts'
import { StatementBook } from './statements.ts'
import { isConserved, TotalsBook, totalsRow } from './totals.ts'
import { VERDICTS, type Verdict } from './verdicts.ts'

export type DocumentKind = 'pain.001' | 'pacs.008' | 'camt.053' | 'nacha'

export interface Document {
  kind: DocumentKind
  text: string
}

export interface ReconcileReport {
  /** False when a document could not be read whole; then nothing was judged. */
  valid: boolean
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
}

/** Where records go as they are read. */
export interface Sink {
  /** Statements are read with what their entries are for. */
  readonly keep_remittance?: boolean
  instruction(instruction: Instruction): void
  entry(entry: Entry): void
}

/** What reads a file of some kind, piece by piece. */
export interface DocumentReader {
  /** False when nothing more of the file can be read. */
  write(chunk: string | Uint8Array): boolean
  end(): boolean
}

export function documentReader(kind: DocumentKind, file: number, findings: Findings, book: StatementBook, sink: Sink): DocumentReader {
  switch (kind) {
    case 'pain.001':
    case 'pacs.008':
      return new InstructionReader(kind, file, findings, (instruction) => sink.instruction(instruction))
    case 'camt.053':
      return new StatementReader(file, findings, book, (entry) => sink.entry(entry), sink.keep_remittance)
    case 'nacha':
      return new AchReader(file, findings, book, (entry) => sink.entry(entry))
  }
}

/**
 * Reconciles instructions with the statements and ACH files beside them. When a document cannot be read to its end, or an amount in it
 * cannot be read, no verdict is given at all: a part of the truth would look like the whole.
 */
export function reconcileDocuments(
  documents: readonly Document[],
  {
    require_settlement_evidence = false,
    window = DEFAULT_WINDOW,
  }: Partial<Pick<ReconcileOptions, 'require_settlement_evidence' | 'window'>> = {},
): ReconcileReport {
  const findings = new Findings()
  const book = new StatementBook()
  const ledger = new Ledger()
  const sink: Sink = {
    instruction: (instruction) => void ledger.instructions.add(instruction),
    entry: (entry) => void ledger.entries.add(entry),
  }
  for (const [file, { kind, text }] of documents.entries()) {
    const reader = documentReader(kind, file, findings, book, sink)
    if (reader.write(text)) reader.end()
  }
  const { repeated, overlaps, remarks } = book.judge()
  for (const { code, file } of remarks) findings.add(code, file, null)
  if (findings.errors > 0) return { ...nothing(), findings: findings.list, finding_count: findings.count }
  const outcome = reconcile(ledger, { require_settlement_evidence, window, repeated, overlaps })
  return { ...reportOf(outcome), findings: findings.list, finding_count: findings.count }
}

function nothing(): Omit<ReconcileReport, 'findings' | 'finding_count'> {
  const lists = { verdicts: [], unmatched: [], ignored: [], ambiguous: [], input_defects: [], totals: [] }
  return { valid: false, counts: noVerdicts(), conserved: false, ...lists }
}

function noVerdicts(): Record<Verdict, number> {
  return Object.fromEntries(VERDICTS.map((verdict) => [verdict, 0])) as Record<Verdict, number>
}

/** All that is said of an outcome, in the order of the report. */
export function reportOf(outcome: Outcome): Omit<ReconcileReport, 'findings' | 'finding_count'> {
  const verdicts = Array.from(instructionOrder(outcome), (row) => verdictRow(outcome, row))
  const counts = noVerdicts()
  for (const row of instructionOrder(outcome)) counts[outcome.judgement(row).verdict]++
  const unmatched: EntryRow[] = []
  const ignored: EntryRow[] = []
  for (const row of entryOrder(outcome)) {
    const fate = outcome.fate(row)
    if (fate.kind === 'unmatched') unmatched.push(entryRow(outcome, row, fate.reason))
    if (fate.kind === 'ignored') ignored.push(entryRow(outcome, row, fate.reason))
  }
  const totals = new TotalsBook()
  totals.add(outcome)
  return {
    valid: true,
    verdicts,
    counts,
    unmatched,
    ignored,
    ambiguous: ambiguousRows(outcome),
    input_defects: defectRows(outcome),
    totals: totals.totals().map(totalsRow),
    conserved: isConserved(totals.totals()),
  }
}
