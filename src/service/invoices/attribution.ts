import type { ChainLog, TransactionReceipt } from '../../ports/chain.ts'
import type { InvoicePayment, InvoiceStore, StoredInvoice } from '../../ports/invoices.ts'
import type { PaymentStore } from '../../ports/payments.ts'
import { isConfirmed } from '../../pure/invoices/standing.ts'
import { decodeAuthorizationUsed, decodeTransfer } from '../../pure/payments/token-calls.ts'
import { INVOICE_RULES } from '../limits.ts'
import { standingNow } from './invoice-view.ts'

/** A transfer to a merchant or to a deposit address, with the authorization that moved it. */
export interface SeenTransfer {
  transaction: string
  log_index: number
  payer: string
  recipient: string
  amount_minor: bigint
  block_number: number
  block_hash: string
  block_time_s: number
  /** Null when no authorization moved it. */
  nonce: string | null
}

/** Heights of the head and of the newest final block; null when no final block is known. */
export interface Depth {
  head: bigint
  final: bigint | null
}

export interface AttributeParts {
  store: InvoiceStore
  payments: Pick<PaymentStore, 'find'>
}

/**
 * Decodes the transfer in a log of the token; null for every other log. Its authorization is the log just before it, by the same payer: one
 * transaction may use several authorizations, and each belongs to one transfer.
 */
export function transferIn(log: ChainLog, receipt: TransactionReceipt, block_time_s: number): SeenTransfer | null {
  const moved = decodeTransfer(log)
  if (moved === null || moved.value_minor === 0n || !receipt.succeeded) return null
  const before = receipt.logs.find((one) => one.log_index === log.log_index - 1 && one.address === log.address)
  const used = before === undefined ? null : decodeAuthorizationUsed(before)
  return {
    transaction: receipt.transaction_hash,
    log_index: log.log_index,
    payer: moved.from,
    recipient: moved.to,
    amount_minor: moved.value_minor,
    block_number: Number(receipt.block_number),
    block_hash: receipt.block_hash,
    block_time_s,
    nonce: used !== null && used.payer === moved.from ? used.nonce : null,
  }
}

/**
 * Attributes a transfer to the invoice that it pays and stores the payment. Returns the invoice's id when this call stored it, otherwise null. An
 * authorization whose nonce belongs to no invoice was signed for something else, and never counts as a plain transfer.
 */
export async function attributeTransfer(parts: AttributeParts, seen: SeenTransfer, depth: Depth, now_ms: number): Promise<string | null> {
  const found = await matchOf(parts, seen, now_ms)
  if (found === null) return null
  const payment = paymentOf(seen, found.invoice.invoice_id, found.by, depth)
  return (await parts.store.attribute(payment, now_ms)) ? payment.invoice_id : null
}

interface Match {
  invoice: StoredInvoice
  by: InvoicePayment['matched_by']
}

/** A deposit address belongs to one invoice, however the transfer was made. What it sends to the merchant was counted when it arrived. */
async function matchOf(parts: AttributeParts, seen: SeenTransfer, now_ms: number): Promise<Match | null> {
  const deposit = await parts.store.find_by_deposit(seen.recipient)
  if (deposit !== null) return (await isCounted(parts, deposit, seen)) ? { invoice: deposit, by: 'deposit' } : null
  if ((await parts.store.find_by_deposit(seen.payer)) !== null) return null
  return seen.nonce === null ? plainMatch(parts, seen, now_ms) : namedMatch(parts, seen, seen.nonce)
}

/** Bounds the rows that tiny transfers to one address can fill: after the first ones only larger amounts count. All are forwarded. */
async function isCounted({ store }: AttributeParts, { invoice_id, amount_minor }: StoredInvoice, seen: SeenTransfer): Promise<boolean> {
  if (seen.amount_minor * INVOICE_RULES.small_deposit_parts >= amount_minor) return true
  return (await store.payments(invoice_id)).length < INVOICE_RULES.small_deposits
}

/**
 * Finds the invoice of an authorization: its nonce is derived from the invoice, or the authorization was claimed for the invoice in this service,
 * since x402 clients choose their own nonces. A claimed authorization pays only what it was claimed for: one that paid a call never pays an
 * invoice too, even when its payer chose the nonce of an invoice.
 */
async function namedMatch({ store, payments }: AttributeParts, seen: SeenTransfer, nonce: string): Promise<Match | null> {
  const [named, row] = await Promise.all([store.find_by_nonce(nonce), payments.find({ payer: seen.payer, nonce })])
  const claimed = row === null || row.state === 'released' ? null : row
  if (claimed?.purpose === 'call') return null
  const invoice = claimed === null || claimed.subject === named?.invoice_id ? named : await store.find(claimed.subject)
  if (invoice === null || invoice.merchant !== seen.recipient) return null
  return { invoice, by: invoice.invoice_id === named?.invoice_id ? 'eip3009' : 'x402' }
}

/**
 * Finds the one invoice, signed by the merchant, whose due amount just before this transfer was equal to it. When several invoices match, the
 * intended one is unknown: none is paid, and each keeps the mark `ambiguous` even when it is paid later.
 */
async function plainMatch({ store }: AttributeParts, seen: SeenTransfer, now_ms: number): Promise<Match | null> {
  const all = await store.plain_candidates(seen.recipient, seen.block_time_s, INVOICE_RULES.candidates)
  const fitting: StoredInvoice[] = []
  for (const invoice of all) if (await wasDue(store, invoice, seen)) fitting.push(invoice)
  const [only, other] = fitting
  if (only === undefined) return null
  if (other === undefined && all.length < INVOICE_RULES.candidates) return { invoice: only, by: 'transfer' }
  for (const invoice of fitting) await store.add_mark(invoice.invoice_id, 'ambiguous', now_ms)
  return null
}

/** Returns true when exactly this amount was due of the invoice just before this log. */
async function wasDue(store: InvoiceStore, invoice: StoredInvoice, seen: SeenTransfer): Promise<boolean> {
  const { amount_minor, created_ms, voided_ms } = invoice
  const at_ms = (seen.block_time_s + INVOICE_RULES.skew_s) * 1_000
  if (amount_minor < seen.amount_minor || created_ms > at_ms || (voided_ms !== null && voided_ms < seen.block_time_s * 1_000)) return false
  const earlier = (await store.payments(invoice.invoice_id)).filter(
    (one) => one.block_number < seen.block_number || (one.block_number === seen.block_number && one.log_index < seen.log_index),
  )
  // A transfer from before the bank payment was confirmed is a payment of this invoice, the second one.
  const bank_paid_ms = (invoice.bank_paid_ms ?? 0) < seen.block_time_s * 1_000 ? invoice.bank_paid_ms : null
  return standingNow({ ...invoice, bank_paid_ms }, earlier, seen.block_time_s).due_minor === seen.amount_minor
}

function paymentOf(
  seen: SeenTransfer,
  invoice_id: string,
  matched_by: InvoicePayment['matched_by'],
  { head, final }: Depth,
): InvoicePayment {
  const { recipient: _, ...rest } = seen
  const block = BigInt(seen.block_number)
  return {
    ...rest,
    invoice_id,
    matched_by,
    confirmed: isConfirmed(seen.amount_minor, block, head, final),
    final: final !== null && block <= final,
  }
}

/** Stores whether each invoice is settled: the limits on open invoices count the others. */
export async function updateClosed(store: InvoiceStore, invoice_ids: Iterable<string>, now_s: number): Promise<void> {
  for (const invoice_id of new Set(invoice_ids)) {
    const invoice = await store.find(invoice_id)
    if (invoice === null || invoice.voided_ms !== null) continue
    const { status } = standingNow(invoice, await store.payments(invoice_id), now_s)
    await store.set_closed(invoice_id, status === 'SETTLED')
  }
}
