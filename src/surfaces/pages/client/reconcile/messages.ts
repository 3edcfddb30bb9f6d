import type { EntryShare } from '../../../../pure/documents/reconcile/totals.ts'
import type { Verdict } from '../../../../pure/documents/reconcile/verdicts.ts'

/** What the page and its worker say to each other. Amounts are decimal text: the page never computes with them. */

export type Side = 'instructions' | 'statement'

/** Which rows are shown: instructions, all or of one verdict, or entries that stand for none. */
export type View = 'all' | Verdict | 'unmatched' | 'ignored'

export type SortKey = 'id' | 'verdict' | 'amount' | 'difference' | 'place' | 'reason'

/** One look at the rows. */
export interface Query {
  view: View
  /** Kept when it stands in the id, the amount, the place or the reason; case does not matter. */
  text: string
  sort: SortKey
  descending: boolean
}

export type Asked =
  | { kind: 'run'; instructions: File; statement: File; require_settlement_evidence: boolean }
  | { kind: 'query'; turn: number; query: Query }
  | { kind: 'rows'; turn: number; from: number; to: number }
  | { kind: 'export'; format: 'csv' | 'json' }

export interface VerdictShown {
  id: string | null
  verdict: Verdict
  why: string
  currency: string
  amount: string
  /** Null where it cannot be said. */
  net: string | null
  difference: string | null
  place: string
  entries: string
}

export interface EntryShown {
  entry: string
  id: string | null
  reference: string | null
  direction: 'debit' | 'credit'
  currency: string
  amount: string
  reason: string
}

export interface Tally {
  count: number
  amount: string
}

export interface CurrencyShown {
  currency: string
  /** Digits behind the point. */
  digits: number
  instructions: Tally
  verdicts: Record<Verdict, Tally>
  debits: Record<EntryShare, Tally>
  credits: Record<EntryShare, Tally>
}

/** A remark on one of the files: 0 for the instructions, 1 for the statement. */
export interface Remark {
  file: number
  line: number | null
  severity: 'error' | 'warning' | 'info'
  code: string
  message: string
  /** What stands on the line and the next ones; empty where there is no line, or no telling one. */
  excerpt: string[]
}

export interface Summary {
  counts: Record<View, number>
  totals: CurrencyShown[]
  conserved: boolean
  ambiguous: number
  repeated_ids: number
  remarks: Remark[]
  remark_count: number
  /** What the files were read as, in the words of the service. */
  kinds: [string, string]
}

export type Told =
  | { kind: 'progress'; bytes: number; total_bytes: number; records: number }
  | { kind: 'judging' }
  | { kind: 'done'; summary: Summary }
  | { kind: 'unreadable'; remarks: Remark[]; remark_count: number; kinds: [string, string] }
  | { kind: 'found'; turn: number; total: number }
  | { kind: 'rows'; turn: number; from: number; rows: VerdictShown[] | EntryShown[] }
  | { kind: 'exported'; format: 'csv' | 'json'; blob: Blob }
  | { kind: 'failed' }
