import type { InvoicePayment, StoredInvoice } from '../../ports/invoices.ts'
import type { WebhookEventType } from '../../ports/webhooks.ts'
import { standingOf, type Standing } from '../../pure/invoices/standing.ts'
import { readTerms } from '../../pure/invoices/terms.ts'
import { usdcDecimal } from '../../pure/payments/usdc.ts'
import { WEBHOOK_RULES } from '../../service/limits.ts'
import { execute, readAll, readFirst, type Work } from './database.ts'
import * as sql from './invoice-statements.ts'
import { CONTEXTS, type SealedText } from './sealed-text.ts'
import { hasSubscribers, noteEvent } from './webhook-store.ts'

/** Events of invoices. Each function is part of the work that makes the change, so that change and event are stored together. */

/** A row of an invoice with its texts as they were before they were sealed. */
export function openInvoice<Row extends Pick<StoredInvoice, 'invoice_id' | 'terms' | 'bank_payment'>>(texts: SealedText, row: Row): Row {
  const { invoice_id, terms, bank_payment } = row
  return {
    ...row,
    terms: texts.open(terms, CONTEXTS.terms(invoice_id)),
    bank_payment: texts.openNullable(bank_payment, CONTEXTS.bank_payment(invoice_id)),
  }
}

interface Noted {
  type: WebhookEventType
  /** Distinguishes events of the same type about the same invoice. */
  cause: string
  payment: InvoicePayment | null
}

/** After the merchant created the invoice with its signature, or voided it. */
export function* noteMerchantAct(
  texts: SealedText,
  invoice_id: string,
  type: 'invoice.created' | 'invoice.voided',
  now_ms: number,
): Work<void> {
  yield* note(texts, invoice_id, now_ms, () => [{ type, cause: '', payment: null }])
}

/**
 * After the merchant signed an invoice that was unsigned: the subscriptions of the merchant have no event of what came before, so its present state
 * follows. The largest payments are reported one by one; `confirmed_minor` has the sum of all.
 */
export function* noteSignature(texts: SealedText, invoice_id: string, now_ms: number): Work<void> {
  yield* note(texts, invoice_id, now_ms, ({ status, confirmed_minor, settled_by }, { amount_minor }, payments) => {
    const confirmed = payments.filter((payment) => payment.confirmed)
    const largest = confirmed.toSorted((one, other) => (one.amount_minor < other.amount_minor ? 1 : -1)).slice(0, WEBHOOK_RULES.caught_up)
    const events: Noted[] = [{ type: 'invoice.created', cause: '', payment: null }]
    for (const payment of confirmed.filter((one) => largest.includes(one)))
      events.push({ type: 'payment.settled', cause: causeOf(payment), payment })
    const last = confirmed.at(-1)
    if (settled_by !== null) {
      events.push({ type: 'invoice.paid', cause: causeOf(settled_by), payment: confirmed.find((one) => one === settled_by) ?? null })
    } else if (last !== undefined && status !== 'VOID' && confirmed_minor < amount_minor) {
      events.push({ type: 'invoice.underpaid', cause: causeOf(last), payment: last })
    }
    if (status === 'VOID') events.push({ type: 'invoice.voided', cause: '', payment: null })
    if (status === 'EXPIRED') events.push({ type: 'invoice.expired', cause: '', payment: null })
    return events
  })
}

/** Names a payment in the identity of an event. */
function causeOf({ transaction, log_index }: Pick<InvoicePayment, 'transaction' | 'log_index'>): string {
  return `${transaction}:${log_index}`
}

/** After a payment was stored or its depth changed: only a confirmed payment becomes an event. */
export function* notePayment(texts: SealedText, payment: InvoicePayment, now_ms: number): Work<void> {
  if (!payment.confirmed) return
  const cause = causeOf(payment)
  yield* note(texts, payment.invoice_id, now_ms, ({ status, confirmed_minor, settled_by }, { amount_minor, bank_paid_ms }) => {
    const events: Noted[] = [{ type: 'payment.settled', cause, payment }]
    // Paid at the bank before: this payment is a second one.
    if (bank_paid_ms !== null) return events
    // Named by the payment with which the amount was reached, so that a later one does not make it paid again.
    if (settled_by !== null) events.push({ type: 'invoice.paid', cause: causeOf(settled_by), payment })
    else if (status !== 'VOID' && confirmed_minor < amount_minor) events.push({ type: 'invoice.underpaid', cause, payment })
    return events
  })
}

/** After a bank transfer closed the invoice. */
export function* noteBankPayment(texts: SealedText, invoice_id: string, bank_entry: string, now_ms: number): Work<void> {
  yield* note(texts, invoice_id, now_ms, () => [{ type: 'invoice.paid', cause: `bank:${bank_entry}`, payment: null }])
}

/** Considers the expiry of at most `limit` invoices, each once; returns how many. */
export function* noteExpired(texts: SealedText, now_ms: number, limit: number): Work<number> {
  const now_s = Math.floor(now_ms / 1_000)
  const expired = yield* readAll(sql.READ_EXPIRING, { now_s, limit })
  for (const { invoice_id } of expired) {
    yield* execute(sql.MARK_EXPIRY, { invoice_id })
    yield* note(texts, invoice_id, now_ms, ({ status }) =>
      status === 'EXPIRED' ? [{ type: 'invoice.expired', cause: '', payment: null }] : [],
    )
  }
  return expired.length
}

type EventsOf = (standing: Standing, invoice: StoredInvoice, payments: readonly InvoicePayment[]) => Noted[]

/**
 * Anyone can create an unsigned invoice in the name of a merchant and pay it, with the order number of another purchase. So the subscriptions of the
 * merchant receive events of the invoices that it signed, and those of the creator the events of the one invoice. Events of before and after the
 * signature have different identities: a receiver that ignored the unsigned one must not take the signed one for a repetition.
 */
function* note(texts: SealedText, invoice_id: string, now_ms: number, eventsOf: EventsOf): Work<void> {
  const invoice = yield* readFirst(sql.FIND, { invoice_id })
  if (invoice === undefined) return
  const { merchant, amount_minor, expires_s, voided_ms, bank_paid_ms, issue_signature } = invoice
  const owners = issue_signature === null ? [invoice_id] : [merchant, invoice_id]
  if (!(yield* hasSubscribers(owners))) return
  const opened = openInvoice(texts, invoice)
  const payments = yield* readAll(sql.READ_PAYMENTS, { invoice_id })
  const known = { amount_minor, expires_s, voided: voided_ms !== null, bank_paid: bank_paid_ms !== null, marks: [] }
  const standing = standingOf(known, payments, Math.floor(now_ms / 1_000))
  for (const { type, cause, payment } of eventsOf(standing, opened, payments)) {
    const key = issue_signature === null ? `${invoice_id}|${cause}|unsigned` : `${invoice_id}|${cause}`
    const data = dataOf(opened, standing, payment)
    yield* noteEvent(texts, { type, key, owners, at_ms: now_ms, data, invoice_id })
  }
}

function dataOf(
  { invoice_id, merchant, amount_minor, terms, bank_paid_ms, bank_payment, issue_signature }: StoredInvoice,
  standing: Standing,
  payment: InvoicePayment | null,
) {
  const merchant_signed = issue_signature !== null
  return {
    invoice_id,
    status: standing.status,
    merchant,
    merchant_signed,
    created_by: merchant_signed ? 'merchant' : 'unsigned',
    amount_minor: String(amount_minor),
    amount_usdc: usdcDecimal(amount_minor),
    order_number: readTerms(terms).order_number,
    confirmed_minor: String(standing.confirmed_minor),
    overpaid_minor: String(standing.overpaid_minor),
    due_minor: String(standing.due_minor),
    // Without a time of payment it is the report of a creator, which confirms nothing.
    bank_payment: bank_paid_ms === null || bank_payment === null ? null : (JSON.parse(bank_payment) as unknown),
    payment: payment && {
      transaction: payment.transaction,
      log_index: payment.log_index,
      payer: payment.payer,
      amount_minor: String(payment.amount_minor),
    },
  }
}
