import type { ChainLog, TransactionReceipt } from '../../ports/chain.ts'
import type { AttributedBy, InvoicePayment, InvoiceStore, StoredInvoice } from '../../ports/invoices.ts'
import type { PaymentStore } from '../../ports/payments.ts'
import { decodeAuthorizationUsed, decodeTransfer } from '../../pure/payments/token-calls.ts'
import { isConfirmed } from '../../pure/invoices/standing.ts'
import { INVOICE_RULES } from './rules.ts'
import { standingNow } from './view.ts'

/** A transfer to a merchant, with the authorization that moved it. */
export interface SeenTransfer {
  transaction: string
  log_index: number
  payer: string
  merchant: string
  amount_minor: bigint
  block_number: number
  block_hash: string
  block_time_s: number
  /** Null when no authorization moved it. */
  nonce: string | null
}

/** Heights that say how deep a block is. */
export interface Depth {
  head: bigint
  final: bigint | null
}

export interface AttributeParts {
  store: InvoiceStore
  payments: Pick<PaymentStore, 'find'>
}

/**
 * The transfer in a log of the token; null for every other log. The authorization is the log just before it, by the same payer: one transaction
 * may use several, and a transfer of one must not stand for another.
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
    merchant: moved.to,
    amount_minor: moved.value_minor,
    block_number: Number(receipt.block_number),
    block_hash: receipt.block_hash,
    block_time_s,
    nonce: used !== null && used.payer === moved.from ? used.nonce : null,
  }
}

/**
 * Attributes a transfer to the invoice that it pays, if it pays one, and keeps that. Returns the id when this call did. An authorization whose
 * nonce no invoice has was signed for something else, and is never taken for a plain transfer.
 */
export async function attributeTransfer(parts: AttributeParts, seen: SeenTransfer, depth: Depth, now_ms: number): Promise<string | null> {
  const found = seen.nonce === null ? await plainMatch(parts, seen, now_ms) : await namedMatch(parts, seen, seen.nonce)
  if (found === null) return null
  const payment = paymentOf(seen, found.invoice.invoice_id, found.by, depth)
  return (await parts.store.attribute(payment, now_ms)) ? payment.invoice_id : null
}

interface Match {
  invoice: StoredInvoice
  by: AttributedBy
}

/**
 * The nonce is derived from the invoice, or the authorization was claimed for it here, as x402 clients choose their own nonces. What was claimed
 * for something pays that and nothing else: a call that was answered is not an invoice's payment too, whatever nonce its payer chose.
 */
async function namedMatch({ store, payments }: AttributeParts, seen: SeenTransfer, nonce: string): Promise<Match | null> {
  const [named, row] = await Promise.all([store.find_by_nonce(nonce), payments.find({ payer: seen.payer, nonce })])
  const claimed = row === null || row.state === 'released' ? null : row
  if (claimed?.purpose === 'call') return null
  const invoice = claimed === null || claimed.subject === named?.invoice_id ? named : await store.find(claimed.subject)
  if (invoice === null || invoice.merchant !== seen.merchant) return null
  return { invoice, by: invoice.invoice_id === named?.invoice_id ? 'eip3009' : 'x402' }
}

/**
 * The one invoice, signed by the merchant, of which exactly this was due at that place of the chain. Several of one amount: nobody can tell which
 * was meant, so none is paid and each is marked, however they are paid later.
 */
async function plainMatch({ store }: AttributeParts, seen: SeenTransfer, now_ms: number): Promise<Match | null> {
  const all = await store.plain_candidates(seen.merchant, seen.block_time_s, INVOICE_RULES.candidates)
  const fitting: StoredInvoice[] = []
  for (const invoice of all) if (await wasDue(store, invoice, seen)) fitting.push(invoice)
  const [only, other] = fitting
  if (only === undefined) return null
  if (other === undefined && all.length < INVOICE_RULES.candidates) return { invoice: only, by: 'transfer' }
  for (const invoice of fitting) await store.add_mark(invoice.invoice_id, 'ambiguous', now_ms)
  return null
}

/** Whether exactly this amount was due of the invoice just before this log. */
async function wasDue(store: InvoiceStore, invoice: StoredInvoice, seen: SeenTransfer): Promise<boolean> {
  const { amount_minor, created_ms, voided_ms } = invoice
  const at_ms = (seen.block_time_s + INVOICE_RULES.skew_s) * 1_000
  if (amount_minor < seen.amount_minor || created_ms > at_ms || (voided_ms !== null && voided_ms < seen.block_time_s * 1_000)) return false
  const earlier = (await store.payments(invoice.invoice_id)).filter(
    (one) => one.block_number < seen.block_number || (one.block_number === seen.block_number && one.log_index < seen.log_index),
  )
  return standingNow(invoice, earlier, seen.block_time_s).due_minor === seen.amount_minor
}

function paymentOf(seen: SeenTransfer, invoice_id: string, matched_by: AttributedBy, { head, final }: Depth): InvoicePayment {
  const { merchant: _, ...rest } = seen
  const block = BigInt(seen.block_number)
  return {
    ...rest,
    invoice_id,
    matched_by,
    confirmed: isConfirmed(seen.amount_minor, block, head, final),
    final: final !== null && block <= final,
  }
}

/** Keeps whether anything can still be expected, which the bounds on open invoices count. */
export async function closeOrOpen(store: InvoiceStore, invoice_ids: Iterable<string>, now_s: number): Promise<void> {
  for (const invoice_id of new Set(invoice_ids)) {
    const invoice = await store.find(invoice_id)
    if (invoice === null || invoice.voided_ms !== null) continue
    const { status } = standingNow(invoice, await store.payments(invoice_id), now_s)
    await store.set_closed(invoice_id, status === 'SETTLED')
  }
}
