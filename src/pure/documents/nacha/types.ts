import type { NachaCode, NachaSeverity } from './rules.ts'

/** One observation on a file. `line` counts from 1; in a file without line ends it is the number of the record. */
export interface NachaFinding {
  code: NachaCode
  severity: NachaSeverity
  line: number
  field: string
  /** Columns, from 1, as in `30-39`. */
  positions: string | null
  /** What stood there: at most 64 characters, without control characters. */
  found: string | null
  expected: string | null
  message: string
}

export type NachaKind = 'forward' | 'return' | 'noc'
export type NachaDirection = 'credit' | 'debit'

/** An identifier inside an ANSI X12 segment of payment information: `TRN*1*id`, `RMR*IV*id`, `REF*PO*id`. */
export interface NachaReference {
  segment: 'TRN' | 'RMR' | 'REF'
  qualifier: string
  id: string
}

/**
 * One entry with what its addenda say. Texts are trimmed at both ends, never inside. A forward entry is an instruction, not evidence
 * of settlement: `settlement_julian` is filled by the ACH operator alone. Engines may keep the whole piece that was written alive for as
 * long as one of these texts is kept: write in pieces, and keep what is needed.
 */
export interface NachaEntry {
  line: number
  batch_line: number
  batch_number: string
  service_class: string
  company_id: string
  company_name: string
  description: string
  sec: string
  kind: NachaKind
  /** What the account of the receiver gets; of a return or notice, what the original was. Null when the code does not tell. */
  direction: NachaDirection | null
  transaction_code: string
  /** Cents; null when the field is not a number. */
  amount_minor: bigint | null
  prenote: boolean
  trace: string
  individual_id: string
  name: string
  /** Nine digits: the receiving institution with its check digit. */
  rdfi: string
  /** Eight digits. */
  odfi: string
  account: string
  /** YYYY-MM-DD. */
  effective_date: string | null
  /** Day of the year, 001-366, when an operator has filled it in. */
  settlement_julian: string | null
  /** Payment information of addenda 05 and 17, each trimmed at its right end. */
  payment_infos: string[]
  references: NachaReference[]
  /** R01-R85; of several addenda 99 the last one. */
  return_code: string | null
  return_kind: 'return' | 'dishonored' | 'contested' | null
  /** C01-C14, C61-C69. */
  change_code: string | null
  corrected_data: string | null
  original_trace: string | null
  original_rdfi: string | null
}

export interface NachaFileHeader {
  immediate_destination: string
  immediate_origin: string
  /** YYYY-MM-DD. */
  creation_date: string | null
  /** HHMM. */
  creation_time: string | null
  modifier: string
  destination_name: string
  origin_name: string
}

/** What was counted and summed from the entries themselves, not read from control records. */
interface NachaTotals {
  records: number
  batches: number
  entries: number
  addenda: number
  forward: number
  returns: number
  notices: number
  prenotes: number
  credit_minor: bigint
  debit_minor: bigint
  /** The sum of the eight-digit receiving institutions, its last ten digits. */
  entry_hash: string
}

export interface NachaReport {
  /** No finding of severity error. */
  valid: boolean
  /** In order of lines; at most `max_findings`. */
  findings: NachaFinding[]
  /** All findings by code, also those that were cut. */
  counts: Partial<Record<NachaCode, number>>
  findings_cut: boolean
  file: NachaFileHeader | null
  totals: NachaTotals
  /** Whether every trace number was compared with all before it. */
  traces_complete: boolean
}

export interface NachaOptions {
  /** Called once for each entry inside a batch, in the order of the file, as soon as its addenda are read. */
  onEntry?: (entry: NachaEntry) => void
  /** How many findings are kept; 200 unless told. */
  max_findings?: number
  /** How many trace numbers are remembered; a million unless told. */
  max_traces?: number
}

/** A reader that is fed a file in pieces of any size. */
export interface NachaReader {
  write(text: string): void
  end(): NachaReport
}
