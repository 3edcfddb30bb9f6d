import type { InvoicePayment, StoredInvoice } from '../../ports/invoices.ts'
import type { WebhookEventType } from '../../ports/webhooks.ts'
import { readTerms } from '../../pure/invoices/terms.ts'
import { standingOf, type Standing } from '../../pure/invoices/standing.ts'
import { execute, readAll, readFirst, type Work } from './database.ts'
import * as sql from './invoice-statements.ts'
import { hasSubscribers, noteEvent } from './webhook-store.ts'

/** Events of invoices. Each function is part of the work that makes the change, so that change and event are stored together. */

interface Noted {
  type: WebhookEventType
  /** Distinguishes events of the same type about the same invoice. */
  cause: string
  payment: InvoicePayment | null
}

/** After the merchant signed or voided the invoice. */
export function* noteMerchantAct(invoice_id: string, type: 'invoice.created' | 'invoice.voided', now_ms: number): Work<void> {
  yield* note(invoice_id, now_ms, () => [{ type, cause: '', payment: null }])
}

/** After a payment was stored or its depth changed: only a confirmed payment becomes an event. */
export function* notePayment(payment: InvoicePayment, now_ms: number): Work<void> {
  if (!payment.confirmed) return
  const { transaction, log_index } = payment
  const cause = `${transaction}:${log_index}`
  yield* note(payment.invoice_id, now_ms, ({ status, confirmed_minor, settled_by }, { amount_minor, bank_paid_ms }) => {
    const events: Noted[] = [{ type: 'payment.settled', cause, payment }]
    // Paid at the bank before: this payment is a second one.
    if (bank_paid_ms !== null) return events
    // Named by the payment with which the amount was reached, so that a later one does not make it paid again.
    if (settled_by !== null) events.push({ type: 'invoice.paid', cause: `${settled_by.transaction}:${settled_by.log_index}`, payment })
    else if (status !== 'VOID' && confirmed_minor < amount_minor) events.push({ type: 'invoice.underpaid', cause, payment })
    return events
  })
}

/** After a bank transfer closed the invoice. */
export function* noteBankPayment(invoice_id: string, bank_entry: string, now_ms: number): Work<void> {
  yield* note(invoice_id, now_ms, () => [{ type: 'invoice.paid', cause: `bank:${bank_entry}`, payment: null }])
}

/** Considers the expiry of at most `limit` invoices, each once; returns how many. */
export function* noteExpired(now_ms: number, limit: number): Work<number> {
  const now_s = Math.floor(now_ms / 1_000)
  const expired = yield* readAll(sql.READ_EXPIRING, { now_s, limit })
  for (const { invoice_id } of expired) {
    yield* execute(sql.MARK_EXPIRY, { invoice_id })
    yield* note(invoice_id, now_ms, ({ status }) => (status === 'EXPIRED' ? [{ type: 'invoice.expired', cause: '', payment: null }] : []))
  }
  return expired.length
}

function* note(invoice_id: string, now_ms: number, eventsOf: (standing: Standing, invoice: StoredInvoice) => Noted[]): Work<void> {
  const invoice = yield* readFirst(sql.FIND, { invoice_id })
  if (invoice === undefined) return
  const owners = [invoice.merchant, invoice_id]
  if (!(yield* hasSubscribers(owners))) return
  const payments = yield* readAll(sql.READ_PAYMENTS, { invoice_id })
  const { amount_minor, expires_s, voided_ms, bank_paid_ms, issue_signature, void_signature } = invoice
  const known = { amount_minor, expires_s, voided: voided_ms !== null, bank_paid: bank_paid_ms !== null, marks: [] }
  const standing = standingOf(known, payments, Math.floor(now_ms / 1_000))
  for (const { type, cause, payment } of eventsOf(standing, invoice)) {
    // Anyone can create an unsigned invoice in the name of a merchant, who receives its events once it signed or was paid.
    const merchant_knows = issue_signature !== null || void_signature !== null || payment !== null
    yield* noteEvent({
      type,
      key: `${invoice_id}|${cause}`,
      owners: merchant_knows ? owners : [invoice_id],
      at_ms: now_ms,
      data: dataOf(invoice, standing, payment),
    })
  }
}

function dataOf(
  { invoice_id, merchant, amount_minor, terms, bank_payment }: StoredInvoice,
  standing: Standing,
  payment: InvoicePayment | null,
) {
  return {
    invoice_id,
    status: standing.status,
    merchant,
    amount_minor: String(amount_minor),
    order_number: readTerms(terms).order_number,
    confirmed_minor: String(standing.confirmed_minor),
    due_minor: String(standing.due_minor),
    bank_payment: bank_payment === null ? null : (JSON.parse(bank_payment) as unknown),
    payment: payment && {
      transaction: payment.transaction,
      log_index: payment.log_index,
      payer: payment.payer,
      amount_minor: String(payment.amount_minor),
    },
  }
}
