import type { EraseResult, PrivacyStore } from '../../ports/privacy.ts'
import type { BankPayment } from '../../pure/invoices/record-bank.ts'
import { erasedTerms, readTerms, termsText } from '../../pure/invoices/terms.ts'
import { canonicalText } from '../../pure/receipts/canonical.ts'
import { columns, count, key_type, nullable, parameter, text_type } from './columns.ts'
import { execute, readAll, readFirst, type Work } from './database.ts'
import { openInvoice } from './invoice-events.ts'
import { FIND, LOCK_INVOICE } from './invoice-statements.ts'
import { SEALING } from './sealed-rows.ts'
import { CONTEXTS, SealedStore, type SealedText } from './sealed-text.ts'
import { matched, selected, sql, statement } from './statements.ts'
import { forgetOfOwner } from './webhook-store.ts'

/** Sealing and erasure of personal details, in the SQL that both databases share. */

const invoice_key = columns({ invoice_id: key_type })
const now = parameter('now_ms', count)

/** The hash of the content gives way to a word that equals no hash, so that a repeated request does not create the erased details again. */
const ERASE_INVOICE = statement(
  'erase_invoice',
  sql`update invoice set terms = ${parameter('terms', text_type)}, bank_payment = ${parameter('bank_payment', nullable(text_type))},
      bank_reference = null, content_hash = 'erased', network = null, creator = null, client = null, held = 1, sealed = 1, erased_ms = ${now}, updated_ms = ${now}
    where ${matched(invoice_key)} returning invoice_id`,
)
const ERASE_REPORTS = statement(
  'erase_bank_reports',
  sql`update invoice_bank_report set sealed_names = '' where ${matched(invoice_key)} returning invoice_id`,
)
const FORGET_EVENTS = statement(
  'erase_webhook_deliveries',
  sql`delete from webhook_delivery where ${matched(invoice_key)} returning number`,
)

const ENDED = statement(
  'ended_invoices',
  sql`select ${selected(invoice_key)} from invoice
    where erased_ms is null and expires_s < ${parameter('before_s', count)} and updated_ms < ${parameter('before_ms', count)}
    order by expires_s limit ${parameter('limit', count)}`,
)

export class SqlPrivacyStore extends SealedStore implements PrivacyStore {
  async seal_stored(limit: number): Promise<number> {
    let sealed = 0
    for (const seal of SEALING) sealed += await this.database.atomically(() => seal(this.texts, limit), { overwrite: true })
    return sealed
  }

  erase_invoice(invoice_id: string, now_ms: number): Promise<EraseResult> {
    return this.database.atomically(() => eraseInvoice(this.texts, invoice_id, now_ms), { overwrite: true })
  }

  async ended_invoices(before_ms: number, limit: number): Promise<string[]> {
    const found = await this.database.readAll(ENDED, { before_s: Math.floor(before_ms / 1_000), before_ms, limit })
    return found.map(({ invoice_id }) => invoice_id)
  }
}

/** The lock comes first, so that no other work writes a text of the invoice meanwhile. */
function* eraseInvoice(texts: SealedText, invoice_id: string, now_ms: number): Work<EraseResult> {
  yield* execute(LOCK_INVOICE, { invoice_id })
  const row = yield* readFirst(FIND, { invoice_id })
  if (row === undefined) return { kind: 'unknown' }
  if (row.erased_ms !== null) return { kind: 'already', erased_ms: row.erased_ms, deliveries: 0, subscriptions: 0 }
  const { terms, bank_payment } = openInvoice(texts, row)
  const kept = {
    terms: texts.seal(termsText(erasedTerms(readTerms(terms))), CONTEXTS.terms(invoice_id)),
    bank_payment: texts.sealNullable(erasedPayment(bank_payment), CONTEXTS.bank_payment(invoice_id)),
  }
  yield* execute(ERASE_INVOICE, { invoice_id, ...kept, now_ms })
  yield* execute(ERASE_REPORTS, { invoice_id })
  const subscriptions = yield* forgetOfOwner(invoice_id)
  const deliveries = (yield* readAll(FORGET_EVENTS, { invoice_id })).length
  return { kind: 'erased', erased_ms: now_ms, deliveries, subscriptions }
}

/** Amount, currency, date, time of the confirmation and hash of the document stay. */
function erasedPayment(bank_payment: string | null): string | null {
  if (bank_payment === null) return null
  const read = JSON.parse(bank_payment) as BankPayment
  return canonicalText({ ...read, iban: null, reference: null, statement_id: null, entry_reference: null })
}
