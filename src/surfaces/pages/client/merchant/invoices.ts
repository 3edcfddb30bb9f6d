import { csvQuoted, csvText } from '../../../../pure/documents/csv-cell.ts'
import { isObject, objectsIn } from '../../../../pure/is-object.ts'
import { INVOICE_STATES, type InvoiceState } from '../../../../pure/invoices/standing.ts'
import { usdc } from '../pay/record.ts'
import { textOf, type Members } from '../shapes.ts'

/** An invoice as the page for merchants shows it. */
export interface ListedInvoice {
  invoice_id: string
  status: InvoiceState
  exceptions: readonly string[]
  amount_minor: bigint
  paid_minor: bigint
  client_name: string | null
  memo: string | null
  order_number: string | null
  created_at: string
  expires_at: string
  settled_at: string | null
  tx_hash: string | null
  transaction_url: string | null
  payer: string | null
}

/** A page of the list, with the token that reads the next one. */
export interface InvoicePage {
  invoices: readonly ListedInvoice[]
  next_before: number | null
  token: string
}

/** Reads an entry of the list, or a whole record, which has the same members. Null if it is neither. */
export function readInvoice(value: Members): ListedInvoice | null {
  const status = INVOICE_STATES.find((state) => state === value['status'])
  const invoice_id = textOf(value['invoice_id'])
  const [amount_minor, paid_minor] = [minorOf(value['amount_minor']), minorOf(value['amount_paid_minor'])]
  if (status === undefined || invoice_id === null || amount_minor === null || paid_minor === null) return null
  const exceptions: unknown = value['exceptions']
  return {
    invoice_id,
    status,
    exceptions: Array.isArray(exceptions) ? exceptions.filter((one) => typeof one === 'string') : [],
    amount_minor,
    paid_minor,
    client_name: textOf(value['client_name']),
    memo: textOf(value['memo']),
    order_number: textOf(value['order_number']),
    created_at: textOf(value['created_at']) ?? '',
    expires_at: textOf(value['expires_at']) ?? '',
    settled_at: textOf(value['settled_at']),
    tx_hash: textOf(value['tx_hash']),
    transaction_url: textOf(value['transaction_url']),
    payer: payerOf(value),
  }
}

function minorOf(value: unknown): bigint | null {
  return typeof value === 'string' && /^\d{1,30}$/.test(value) ? BigInt(value) : null
}

/** A record names the payer with each payment. */
function payerOf({ payer, payments, tx_hash }: Members): string | null {
  return textOf(payer) ?? textOf(objectsIn(payments).find((one) => one['tx_hash'] === tx_hash)?.['payer'])
}

export function readPage(body: Members): InvoicePage | null {
  const { next_before } = body
  const token = textOf(body['token'])
  if (token === null || !isObject(body)) return null
  const invoices = objectsIn(body['invoices']).flatMap((one) => readInvoice(one) ?? [])
  return { invoices, next_before: typeof next_before === 'number' ? next_before : null, token }
}

/** True while a payment can still change the state. */
export function isOpen({ status }: Pick<ListedInvoice, 'status'>): boolean {
  return status !== 'SETTLED' && status !== 'VOID'
}

/** "2026-11-26 12:31 UTC" */
export function timeText(instant: string): string {
  return `${instant.slice(0, 16).replace('T', ' ')} UTC`
}

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
