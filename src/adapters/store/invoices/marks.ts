import { text } from '../rows.ts'
import type { Work } from '../work.ts'
import { READ_MARKS, WRITE_MARKS } from './sql-invoices.ts'

/** Adds a word to what the payments of an invoice do not show, once. */
export function* addMark(invoice_id: string, mark: string, now_ms: number): Work<null> {
  const [row] = yield { statement: READ_MARKS, values: [invoice_id] }
  if (row === undefined) return null
  const marks = new Set(text(row, 'marks').split(',').filter(Boolean))
  if (marks.has(mark)) return null
  yield { statement: WRITE_MARKS, values: [invoice_id, [...marks.add(mark)].toSorted().join(','), now_ms] }
  return null
}
