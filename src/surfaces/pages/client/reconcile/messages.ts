import type { EntryShare } from '../../../../pure/documents/reconcile/outcome.ts'
import type { DocumentKind } from '../../../../pure/documents/reconcile/reconcile-documents.ts'
import type { Verdict } from '../../../../pure/documents/reconcile/verdicts.ts'

/** Messages between the page and its worker. Amounts are decimal text: the page does not compute with them. */

export const FILE_SIDES = ['instructions', 'statement'] as const
export type FileSide = (typeof FILE_SIDES)[number]

/** Payments, all or of one verdict, or entries that match no payment. */
export type RowFilter = 'all' | Verdict | 'unmatched' | 'ignored'

export type RowOrder = 'id' | 'verdict' | 'amount' | 'difference' | 'reason' | 'date' | 'place'

export interface RowQuery {
  filter: RowFilter
  /** Searched in all cells, ignoring case. */
  text: string
  /** Empty for all. */
  currency: string
  /** ISO dates, inclusive; empty for no limit. */
  from: string
  to: string
  order: RowOrder
  descending: boolean
}

/** Rows are sent in blocks of this size. */
export const ROW_BLOCK = 100

export type ExportFormat = 'xlsx' | 'csv' | 'json'

/** Reference table that the service uses now. `text` is null for the table of its release, which the page has. */
export interface CurrentTable {
  sha256: string
  text: string | null
}

export type WorkerRequest =
  | { kind: 'run'; files: Record<FileSide, File>; require_settlement_evidence: boolean; currencies: CurrentTable | null }
  | { kind: 'query'; query: RowQuery }
  | { kind: 'rows'; from: number; to: number }
  | { kind: 'detail'; at: number }
  | { kind: 'export'; format: ExportFormat }

/** Reply to each kind of request. */
export interface WorkerReplies {
  run: RunResult
  /** Number of rows found and the first block. */
  query: { total: number; rows: ReportCells[] }
  rows: ReportCells[]
  detail: RowDetail
  export: Blob
}

export type WorkerMessage =
  | { kind: 'progress'; progress: ReadProgress }
  | { kind: 'reply'; id: number; value: WorkerReplies[keyof WorkerReplies] }
  | { kind: 'failed' }

export type ReadProgress = { step: 'reading'; bytes: number; total_bytes: number; records: number } | { step: 'matching' }

export type RunResult = { kind: 'done'; summary: ReconcileSummary } | ({ kind: 'unreadable' } & FileRemarks)

export interface PaymentCells {
  id: string | null
  verdict: Verdict
  why: string
  currency: string
  amount: string
  /** Null if it cannot be determined. */
  net: string | null
  difference: string | null
  date: string | null
  /** Account of the creditor. */
  account: string | null
  place: string
}

export interface EntryCells {
  entry: string
  id: string | null
  reference: string | null
  direction: 'debit' | 'credit'
  currency: string
  amount: string
  date: string | null
  /** Account of the counterparty. */
  account: string | null
  reason: string
}

export type ReportCells = PaymentCells | EntryCells

/** All facts of one row, and the entries that were matched to it. */
export interface RowDetail {
  title: string
  facts: [label: string, value: string][]
  entries: EntryCells[]
}

export interface AmountTally {
  count: number
  amount: string
}

export interface CurrencySums {
  currency: string
  /** Decimal places. */
  digits: number
  instructions: AmountTally
  verdicts: Record<Verdict, AmountTally>
  debits: Record<EntryShare, AmountTally>
  credits: Record<EntryShare, AmountTally>
}

/** Finding in a file: 0 for the payments, 1 for the statement. */
export interface FileRemark {
  file: number
  line: number | null
  severity: 'error' | 'warning' | 'info'
  code: string
  message: string
  /** Text of the line and the next ones; empty without a line or if it is too long to show. */
  excerpt: string[]
}

export interface FileRemarks {
  remarks: FileRemark[]
  /** Number of all findings; `remarks` has the first ones. */
  remark_count: number
}

export interface ReconcileSummary extends FileRemarks {
  counts: Record<RowFilter, number>
  totals: CurrencySums[]
  conserved: boolean
  ambiguous: number
  repeated_ids: number
  /** Formats of the files. */
  kinds: [string, string]
  /** Table of currencies: date and short hash. `of_service`: the one that the service uses now; else that of the release. */
  currencies: { date: string; of_service: boolean }
}

/** Bytes from which the kind of a file is recognized. */
const HEAD_BYTES = 65_536
const ACH_START = /^(?:\u00EF\u00BB\u00BF)?101/

/** Recognizes pacs.008 by its name and an ACH file by its first record, 101; for other files the reader of pain.001 or camt.053 reports the fault. */
export async function documentKind(side: FileSide, file: File): Promise<DocumentKind> {
  const head = await headOf(file)
  if (side === 'statement') return ACH_START.test(head) ? 'nacha' : 'camt.053'
  return head.includes('pacs.008.') && !head.includes('pain.001.') ? 'pacs.008' : 'pain.001'
}

/** Recognizes by its first bytes whether a file has payments or a statement; null if unclear. */
export async function sideOf(file: File): Promise<FileSide | null> {
  const head = await headOf(file)
  if (/pain\.001\.|pacs\.008\.|<(?:\w+:)?(?:CstmrCdtTrfInitn|FIToFICstmrCdtTrf)\b/.test(head)) return 'instructions'
  return /camt\.05[234]\.|<(?:\w+:)?BkToCstmrStmt\b/.test(head) || ACH_START.test(head) ? 'statement' : null
}

async function headOf(file: File): Promise<string> {
  return new TextDecoder('latin1').decode(await file.slice(0, HEAD_BYTES).arrayBuffer())
}
