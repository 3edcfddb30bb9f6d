import { KeyIndex } from './columns.ts'
import type { Ledger } from './ledger.ts'
import { decimalText, minorUnits } from './minor-units.ts'
import type { Outcome } from './reconcile.ts'
import { EVIDENCE, type Evidence } from './records.ts'
import { shownText } from './shown-text.ts'
import { orderByText } from './text-pool.ts'
import { isFinal, warningNames, type Verdict } from './verdicts.ts'

/** What is written of a reconciliation, row by row: plain values, money as text of minor units, texts of strangers cut and cleaned. */

export interface VerdictRow {
  end_to_end_id: string | null
  source: string
  file: number
  position: number
  verdict: Verdict
  basis: string
  kind: string | null
  matched_by: string | null
  currency: string
  amount_minor: string
  net_minor: string | null
  delta_minor: string | null
  charges_minor: string
  payments: number
  evidence: Evidence | null
  final: boolean
  reason: string | null
  entries: string[]
  warnings: string[]
}

export interface EntryRow {
  /** File, entry and detail, as in `0:12.3`. */
  entry: string
  source: string
  direction: string
  currency: string
  amount_minor: string
  end_to_end_id: string | null
  reference: string | null
  reason: string
}

export interface AmbiguousRow {
  kind: string
  /** File and position, as in `0:7`. */
  instructions: string[]
  entries: string[]
}

export interface DefectRow {
  code: 'DUPLICATE_INSTRUCTION_ID'
  end_to_end_id: string
  instructions: string[]
}

/** Instructions in the order of the report: by end-to-end id as it stands, then by place. */
export function instructionOrder({ ledger }: Outcome): Int32Array {
  const { instructions, pool } = ledger
  const id = (row: number) => instructions.ids.end_to_end.get(row) || instructions.placeholder.get(row)
  return orderByText(pool, instructions.size, id, (one, other) => instructions.byPlace(one, other))
}

/** Entries by place; files are mostly read in that order. */
export function entryOrder({ ledger: { entries } }: Outcome): Int32Array {
  const order = Int32Array.from({ length: entries.size }, (_, row) => row)
  let sorted = true
  for (let row = 1; row < entries.size && sorted; row++) sorted = entries.byPlace(row - 1, row) <= 0
  return sorted ? order : order.sort((one, other) => entries.byPlace(one, other))
}

export function verdictRow(outcome: Outcome, row: number): VerdictRow {
  const { instructions, pool } = outcome.ledger
  const found = outcome.judgement(row)
  const amount_minor = instructions.amount.get(row)
  const evidence = found.evidence === null ? null : (EVIDENCE[found.evidence] ?? null)
  return {
    end_to_end_id: shownText(pool.text(instructions.ids.end_to_end.get(row) || instructions.placeholder.get(row))),
    source: instructions.sourceOf(row),
    file: instructions.file.get(row),
    position: instructions.position.get(row),
    verdict: found.verdict,
    basis: found.basis,
    kind: found.kind === 'none' ? null : found.kind,
    matched_by: found.matched_by === 'none' ? null : found.matched_by,
    currency: shownText(pool.text(instructions.currency.get(row))) ?? '',
    amount_minor: amount_minor.toString(),
    net_minor: found.net_minor?.toString() ?? null,
    delta_minor: found.net_minor === null ? null : (found.net_minor - amount_minor).toString(),
    charges_minor: found.charges_minor.toString(),
    payments: found.payments,
    evidence,
    final: isFinal(found),
    reason: shownText(found.reason),
    entries: outcome.entriesOf(row).map((entry) => entryPlace(outcome.ledger, entry)),
    warnings: warningNames(found.warnings),
  }
}

function instructionPlace({ instructions }: Ledger, row: number): string {
  return `${instructions.file.get(row)}:${instructions.position.get(row)}`
}

export function entryPlace({ entries }: Ledger, row: number): string {
  const detail = entries.detail.get(row)
  return `${entries.file.get(row)}:${entries.entry.get(row)}${detail === 0 ? '' : `.${detail}`}`
}

export function entryRow({ ledger }: Outcome, row: number, reason: string): EntryRow {
  const { entries, pool } = ledger
  const { ids } = entries
  const reference =
    ids.uetr.get(row) || ids.instruction.get(row) || ids.payment_information.get(row) || ids.message.get(row) || entries.fixed.get(row)
  return {
    entry: entryPlace(ledger, row),
    source: entries.sourceOf(row),
    direction: entries.isCredit(row) ? 'CRDT' : 'DBIT',
    currency: shownText(pool.text(entries.currency.get(row))) ?? '',
    amount_minor: entries.amount.get(row).toString(),
    end_to_end_id: shownText(pool.text(ids.end_to_end.get(row) || entries.placeholder.get(row))),
    reference: shownText(pool.text(reference || entries.trace.get(row))),
    reason,
  }
}

/** Groups with both sides, by their first instruction. */
export function ambiguousRows({ ambiguous, ledger }: Outcome): AmbiguousRow[] {
  const { instructions, entries } = ledger
  return ambiguous
    .map((group) => ({
      kind: group.kind,
      instructions: group.instructions.toSorted((one, other) => instructions.byPlace(one, other)),
      entries: group.entries.toSorted((one, other) => entries.byPlace(one, other)),
    }))
    .toSorted((one, other) => {
      const [first = -1, last = -1] = [one.instructions[0], other.instructions[0]]
      const between = first === -1 || last === -1 ? first - last : instructions.byPlace(first, last)
      return between || entries.byPlace(one.entries[0] ?? -1, other.entries[0] ?? -1) || (one.kind < other.kind ? -1 : 1)
    })
    .map((group) => ({
      kind: group.kind,
      instructions: group.instructions.map((row) => instructionPlace(ledger, row)),
      entries: group.entries.map((row) => entryPlace(ledger, row)),
    }))
}

/** End-to-end ids that several instructions of one source share: a fault of theirs, whatever the bank made of it. */
export function defectRows({ ledger }: Outcome): DefectRow[] {
  const { instructions, pool } = ledger
  const index = new KeyIndex(instructions.ids.end_to_end, instructions.size, pool.size)
  const found: { id: number; rows: number[] }[] = []
  for (let id = 1; id < pool.size; id++) {
    const first = index.first(id)
    if (first === -1 || index.next(first) === -1) continue
    const rows: number[] = []
    for (let row = first; row !== -1; row = index.next(row)) rows.push(row)
    for (const same of Map.groupBy(rows, (row) => instructions.sourceOf(row)).values()) {
      if (same.length > 1) found.push({ id, rows: same.toSorted((one, other) => instructions.byPlace(one, other)) })
    }
  }
  return found
    .toSorted((one, other) => pool.compare(one.id, other.id) || instructions.byPlace(one.rows[0] ?? -1, other.rows[0] ?? -1))
    .map(({ id, rows }) => ({
      code: 'DUPLICATE_INSTRUCTION_ID',
      end_to_end_id: shownText(pool.text(id)) ?? '',
      instructions: rows.map((row) => instructionPlace(ledger, row)),
    }))
}

/** The amount for people: `100.10` of `10010` EUR. */
export function amountText(amount_minor: string, currency: string): string {
  return decimalText(BigInt(amount_minor), minorUnits(currency))
}
