import assert from 'node:assert/strict'
import { ReadFindings, type BankEntry, type PaymentInstruction, StatementBook } from '../../src/pure/documents/reconcile/records.ts'
import { documentReader, type DocumentKind } from '../../src/pure/documents/reconcile/reconcile-documents.ts'

/** All that is read of one file, given in pieces. */
export function read(kind: DocumentKind, ...chunks: string[]) {
  const findings = new ReadFindings()
  const book = new StatementBook()
  const instructions: PaymentInstruction[] = []
  const entries: BankEntry[] = []
  const sink = { instruction: (one: PaymentInstruction) => void instructions.push(one), entry: (one: BankEntry) => void entries.push(one) }
  const reader = documentReader(kind, 0, findings, book, sink)
  if (chunks.every((chunk) => reader.write(chunk))) reader.end()
  return {
    instructions,
    entries,
    codes: findings.list.map(({ code }) => code),
    errors: findings.errors,
    remarks: book.findRepeats().remarks,
  }
}

export const only = <Row>(rows: readonly Row[]): Row => {
  const [row] = rows
  assert.ok(row !== undefined && rows.length === 1, `${rows.length} records instead of one`)
  return row
}
