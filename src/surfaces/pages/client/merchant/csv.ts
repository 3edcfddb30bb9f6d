import { csvQuoted, csvText } from '../../../../pure/documents/csv-cell.ts'
import { usdc } from '../pay/record.ts'
import type { ListedInvoice } from './invoices.ts'

const COLUMNS = [
  'invoice_id',
  'status',
  'exceptions',
  'amount_usdc',
  'paid_usdc',
  'order_number',
  'client_name',
  'memo',
  'created_at',
  'expires_at',
  'settled_at',
  'transaction',
  'payer',
  'payment_page',
]

/** The list as CSV (RFC 4180). Texts that a spreadsheet would run as a formula are led by an apostrophe. */
export function invoicesCsv(invoices: readonly ListedInvoice[], page_url: (invoice_id: string) => string): string {
  const lines = invoices.map((one) => {
    const texts = [one.order_number, one.client_name, one.memo].map((text) => csvText(text ?? ''))
    const times = [one.created_at, one.expires_at, one.settled_at ?? '', one.tx_hash ?? '', one.payer ?? '', page_url(one.invoice_id)]
    const head = [one.invoice_id, one.status, one.exceptions.join(' '), usdc(one.amount_minor), usdc(one.paid_minor)]
    return [...head.map(csvQuoted), ...texts, ...times.map(csvQuoted)].join(',')
  })
  return `${[COLUMNS.join(','), ...lines].join('\r\n')}\r\n`
}
