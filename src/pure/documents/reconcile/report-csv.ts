import { csvQuoted, csvText } from '../csv-cell.ts'
import { amountText, type EntryRow, type VerdictRow } from './rows.ts'

/** One table for all rows: `record` tells verdicts from entries, and cells that a row does not have are empty. */
const CSV_FIELDS = [
  'record',
  'end_to_end_id',
  'verdict',
  'basis',
  'kind',
  'matched_by',
  'currency',
  'amount',
  'net',
  'delta',
  'charges',
  'payments',
  'evidence',
  'final',
  'bank_reason',
  'source',
  'file',
  'place',
  'entries',
  'warnings',
  'direction',
  'reference',
] as const

type Field = (typeof CSV_FIELDS)[number]
/** Money that we wrote ourselves; a minus before it starts no formula. */
const NUMBERS: ReadonlySet<Field> = new Set<Field>(['amount', 'net', 'delta', 'charges', 'payments'])

export function csvHead(): string {
  return `${CSV_FIELDS.join(',')}\r`
}

export function verdictCsv(row: VerdictRow, files: readonly string[]): string {
  const money = (amount_minor: string | null) => (amount_minor === null ? null : amountText(amount_minor, row.currency))
  return csvRow({
    record: 'verdict',
    end_to_end_id: row.end_to_end_id,
    verdict: row.verdict,
    basis: row.basis,
    kind: row.kind,
    matched_by: row.matched_by,
    currency: row.currency,
    amount: money(row.amount_minor),
    net: money(row.net_minor),
    delta: money(row.delta_minor),
    charges: money(row.charges_minor),
    payments: String(row.payments),
    evidence: row.evidence,
    final: String(row.final),
    bank_reason: row.reason,
    source: row.source,
    file: files[row.file] ?? null,
    place: String(row.position),
    entries: row.entries.join(' '),
    warnings: row.warnings.join(' '),
  })
}

export function entryCsv(record: 'unmatched' | 'ignored', row: EntryRow, files: readonly string[]): string {
  const [file = '', place = ''] = row.entry.split(':')
  return csvRow({
    record,
    end_to_end_id: row.end_to_end_id,
    kind: row.reason,
    currency: row.currency,
    amount: amountText(row.amount_minor, row.currency),
    source: row.source,
    file: files[Number.parseInt(file, 10)] ?? null,
    place,
    direction: row.direction,
    reference: row.reference,
  })
}

function csvRow(cells: Partial<Record<Field, string | null>>): string {
  return `${CSV_FIELDS.map((field) => (NUMBERS.has(field) ? csvQuoted : csvText)(cells[field] ?? '')).join(',')}\r`
}
