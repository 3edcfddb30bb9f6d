import type { BankReport } from '../../ports/invoices.ts'
import { columns, count, key_type, nullable, parameter, text_type } from './columns.ts'
import { execute, readAll, type Work } from './database.ts'
import { bank_report } from './invoice-statements.ts'
import { CONTEXTS, HASH_USES, type SealedText } from './sealed-text.ts'
import { assigned, matched, raw, selected, sql, statement } from './statements.ts'

/** Rows of bank reports, whose key is a hash of the names that a bank gave the entry, and the sealing of rows that earlier releases stored in clear. */

const names_key = columns({ statement_id: key_type, entry_reference: key_type })
const sealed_names = columns({ sealed_names: nullable(text_type) })
const statement_hash = parameter('statement_hash', key_type)
const entry_hash = parameter('entry_hash', key_type)

/** Gives a row of an earlier release its sealed names. */
export const SEAL_REPORT = statement(
  'seal_bank_report',
  sql`update invoice_bank_report set statement_id = ${statement_hash}, entry_reference = ${entry_hash}, ${assigned(sealed_names)}
    where ${matched(names_key)} and sealed_names is null returning invoice_id`,
)
const UNSEALED_REPORTS = statement(
  'unsealed_bank_reports',
  sql`select ${selected(bank_report)} from invoice_bank_report where sealed_names is null order by statement_id, entry_reference
    limit ${parameter('limit', count)}`,
  'for update',
)

type ReportRow = BankReport & { sealed_names: string | null }

/** A report as it is given, and as it is stored. */
export interface SealedReport {
  given: BankReport
  row: ReportRow
}

export function sealReport(texts: SealedText, report: BankReport): ReportRow {
  const { statement_id, entry_reference } = report
  const names = JSON.stringify([statement_id, entry_reference])
  const entry = texts.hash(names, HASH_USES.bank_entry)
  return {
    ...report,
    statement_id: texts.hash(JSON.stringify([statement_id]), HASH_USES.bank_entry),
    entry_reference: entry,
    sealed_names: texts.seal(names, CONTEXTS.bank_report(entry)),
  }
}

export function hashesOf({ statement_id, entry_reference }: Pick<BankReport, 'statement_id' | 'entry_reference'>) {
  return { statement_hash: statement_id, entry_hash: entry_reference }
}

/** Shown instead of a text that was erased. */
const ERASED_TEXT = 'erased'

/** The names of an erased row are empty. */
export function openReport(texts: SealedText, { sealed_names: sealed, ...report }: ReportRow): BankReport {
  if (sealed === null) return report
  if (sealed === '') return { ...report, statement_id: ERASED_TEXT, entry_reference: ERASED_TEXT }
  const [statement_id, entry_reference] = JSON.parse(texts.open(sealed, CONTEXTS.bank_report(report.entry_reference))) as [string, string]
  return { ...report, statement_id, entry_reference }
}

/** By date, then by the names that the bank gave. */
export function inOrderOfBooking(one: BankReport, other: BankReport): number {
  return (
    compare(one.booked_on ?? '', other.booked_on ?? '') ||
    compare(one.statement_id, other.statement_id) ||
    compare(one.entry_reference, other.entry_reference)
  )
}

function compare(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

const number = columns({ number: count })
const limit = parameter('limit', count)

const invoice_texts = columns({
  terms: text_type,
  bank_payment: nullable(text_type),
  bank_reference: nullable(key_type),
  content_hash: key_type,
})
const invoice_id = columns({ invoice_id: key_type })
const UNSEALED_INVOICES = statement(
  'unsealed_invoices',
  sql`select ${selected({ ...number, ...invoice_id, ...invoice_texts })} from invoice where sealed = 0 order by number limit ${limit}`,
  'for update',
)
const SEAL_INVOICE = statement(
  'seal_invoice',
  sql`update invoice set ${assigned(invoice_texts)}, sealed = 1 where ${matched(number)} and sealed = 0 returning number`,
)

const subscription_id = columns({ subscription_id: key_type })
const url = columns({ url: text_type })
const UNSEALED_SUBSCRIPTIONS = statement(
  'unsealed_subscriptions',
  sql`select ${selected({ ...subscription_id, ...url })} from webhook_subscription where sealed = 0 order by subscription_id limit ${limit}`,
  'for update',
)
const SEAL_SUBSCRIPTION = statement(
  'seal_subscription',
  sql`update webhook_subscription set ${assigned(url)}, sealed = 1 where ${matched(subscription_id)} and sealed = 0 returning subscription_id`,
)

const delivery_key = columns({ number: count, subscription_id: key_type, event_id: key_type })
const delivery_body = columns({ body: text_type })
const delivery_invoice = columns({ invoice_id: nullable(key_type) })
const UNSEALED_DELIVERIES = statement(
  'unsealed_deliveries',
  sql`select ${selected({ ...delivery_key, ...delivery_body })} from webhook_delivery where sealed = 0 order by number limit ${limit}`,
  'for update',
)
const SEAL_DELIVERY = statement(
  'seal_delivery',
  sql`update webhook_delivery set ${assigned({ ...delivery_body, ...delivery_invoice })}, sealed = ${raw('1')}
    where ${matched(number)} and sealed = 0 returning number`,
)

/** A separate work for each table, so that none keeps the lock for long. */
export const SEALING: readonly ((texts: SealedText, most: number) => Work<number>)[] = [
  sealInvoices,
  sealReports,
  sealSubscriptions,
  sealDeliveries,
]

function* sealInvoices(texts: SealedText, most: number): Work<number> {
  const rows = yield* readAll(UNSEALED_INVOICES, { limit: most })
  for (const row of rows) {
    yield* execute(SEAL_INVOICE, {
      number: row.number,
      // A row of an earlier release may hold a text that this release has sealed.
      terms: resealed(texts, row.terms, CONTEXTS.terms(row.invoice_id)),
      bank_payment: row.bank_payment === null ? null : resealed(texts, row.bank_payment, CONTEXTS.bank_payment(row.invoice_id)),
      bank_reference: row.bank_reference === null ? null : texts.hash(row.bank_reference, HASH_USES.bank_reference),
      content_hash: texts.hash(row.content_hash, HASH_USES.content),
    })
  }
  return rows.length
}

function resealed(texts: SealedText, stored: string, context: string): string {
  return texts.seal(texts.open(stored, context), context)
}

function* sealReports(texts: SealedText, most: number): Work<number> {
  const rows = yield* readAll(UNSEALED_REPORTS, { limit: most })
  for (const row of rows) {
    const { statement_id, entry_reference } = row
    const sealed = sealReport(texts, row)
    yield* execute(SEAL_REPORT, { ...hashesOf(sealed), statement_id, entry_reference, sealed_names: sealed.sealed_names })
  }
  return rows.length
}

function* sealSubscriptions(texts: SealedText, most: number): Work<number> {
  const rows = yield* readAll(UNSEALED_SUBSCRIPTIONS, { limit: most })
  for (const { subscription_id: id, url: stored } of rows) {
    yield* execute(SEAL_SUBSCRIPTION, { subscription_id: id, url: resealed(texts, stored, CONTEXTS.webhook_url(id)) })
  }
  return rows.length
}

function* sealDeliveries(texts: SealedText, most: number): Work<number> {
  const rows = yield* readAll(UNSEALED_DELIVERIES, { limit: most })
  for (const row of rows) {
    const context = CONTEXTS.webhook_body(row.subscription_id, row.event_id)
    const body = texts.open(row.body, context)
    yield* execute(SEAL_DELIVERY, { number: row.number, body: texts.seal(body, context), invoice_id: invoiceOf(body) })
  }
  return rows.length
}

/** Invoice that an event reports; null for another event. */
function invoiceOf(body: string): string | null {
  const { type, data } = JSON.parse(body) as { type: string; data?: { invoice_id?: unknown } }
  if (!type.startsWith('invoice.') && type !== 'payment.settled') return null
  return typeof data?.invoice_id === 'string' ? data.invoice_id : null
}
