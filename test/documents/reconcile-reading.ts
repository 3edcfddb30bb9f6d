import assert from 'node:assert/strict'
import { Findings } from '../../src/pure/documents/reconcile/extract/findings.ts'
import type { Entry, Instruction } from '../../src/pure/documents/reconcile/records.ts'
import { documentReader, type DocumentKind } from '../../src/pure/documents/reconcile/report.ts'
import { StatementBook } from '../../src/pure/documents/reconcile/statements.ts'

/** All that is read of one file, given in pieces. */
export function read(kind: DocumentKind, ...chunks: string[]) {
  const findings = new Findings()
  const book = new StatementBook()
  const instructions: Instruction[] = []
  const entries: Entry[] = []
  const sink = { instruction: (one: Instruction) => void instructions.push(one), entry: (one: Entry) => void entries.push(one) }
  const reader = documentReader(kind, 0, findings, book, sink)
  if (chunks.every((chunk) => reader.write(chunk))) reader.end()
  return { instructions, entries, codes: findings.list.map(({ code }) => code), errors: findings.errors, remarks: book.judge().remarks }
}

export const only = <Row>(rows: readonly Row[]): Row => {
  const [row] = rows
  assert.ok(row !== undefined && rows.length === 1, `${rows.length} records instead of one`)
  return row
}
