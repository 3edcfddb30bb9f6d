import type { Clock } from '../../ports/clock.ts'
import type { Derivation } from '../../ports/derivation.ts'
import type { InvoiceStore, NewInvoice, StoredInvoice } from '../../ports/invoices.ts'
import { canonicalText } from '../../pure/receipts/canonical.ts'
import type { ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import { FEE_POLICY, FEE_POLICY_HASH } from '../../pure/invoices/fee.ts'
import { readInvoice, type InvoiceAsked, type InvoiceContent, type InvoiceFault } from '../../pure/invoices/input.ts'
import { cartHash, invoiceId, invoiceNonces, termsText, type InvoiceTerms } from '../../pure/invoices/terms.ts'
import { problem, type Problem } from '../problems.ts'
import { INVOICE_RULES } from './rules.ts'

export interface CreateParts {
  store: InvoiceStore
  clock: Clock
  crypto: Pick<ReceiptCrypto, 'keccak256Hex'>
  derive: Derivation
  /** 32 bytes from the system's generator as 0x-prefixed hex. */
  random(): string
  chain_id: number
  /** Lower case. */
  token: string
}

/** Who asks, where that is known; for bounds and for asking twice. */
export interface Asker {
  /** The network of the client. */
  client: string | null
  /** The caller's own key: the same key and content bring the same invoice. */
  request_key: string | null
}

export type Created =
  | { kind: 'created' | 'same'; invoice: StoredInvoice }
  | { kind: 'invalid'; fault: InvoiceFault; field: string }
  | { kind: 'refused'; problem: Problem }

/** Makes an invoice, or says why there is none. Nothing reads the chain. */
export async function createInvoice(
  parts: CreateParts,
  asked: InvoiceAsked,
  asker: Asker,
  product: InvoiceTerms['product'] = null,
): Promise<Created> {
  const read = readInvoice(asked, { ceiling_minor: INVOICE_RULES.ceiling_minor, token: parts.token })
  if (!read.ok) return { kind: 'invalid', fault: read.fault, field: read.field }
  const kept = await parts.store.keep(newInvoice(parts, read.content, asker, product), INVOICE_RULES)
  switch (kept.kind) {
    case 'created':
    case 'same':
      return kept
    case 'conflict':
      return { kind: 'refused', problem: problem('INVOICE_CONFLICT', 'This Idempotency-Key came before with other content.') }
    case 'merchant_full':
      return { kind: 'refused', problem: full('merchant', INVOICE_RULES.merchant_unsigned) }
    case 'client_full':
      return { kind: 'refused', problem: full('client', INVOICE_RULES.client_open) }
  }
}

function full(whose: 'merchant' | 'client', most: number): Problem {
  return problem('INVOICE_LIMIT', `This ${whose} has ${most} open invoices that no merchant signed, which is all that are taken.`, {
    retry_after_s: 3_600,
  })
}

function newInvoice(parts: CreateParts, content: InvoiceContent, asker: Asker, product: InvoiceTerms['product']): NewInvoice {
  const created_ms = parts.clock.now_ms()
  const terms = termsOf(parts, content, Math.floor(created_ms / 1_000), product)
  const { amount_minor, merchant, client_name, memo, referrer } = content
  const written = canonicalText({ amount_minor: String(amount_minor), merchant, client_name, memo, referrer, product })
  const day = Math.floor(created_ms / 86_400_000)
  return {
    invoice_id: terms.invoice_id,
    merchant,
    amount_minor,
    terms: termsText(terms),
    created_ms,
    expires_s: terms.expires_s,
    watch_until_s: terms.expires_s + INVOICE_RULES.watch_more_s,
    nonces: invoiceNonces(terms, parts.crypto),
    content_hash: parts.crypto.keccak256Hex(written),
    // A digest under the secret: neither the key nor who sent it can be read off the store.
    request_key: asker.request_key === null ? null : parts.derive.hmac('invoice request', `${asker.client ?? ''}|${asker.request_key}`),
    client: asker.client === null ? null : parts.derive.hmac('invoice client', `${day}|${asker.client}`).slice(0, 32),
  }
}

function termsOf(
  { random, crypto, chain_id, token }: CreateParts,
  { amount_minor, merchant, client_name, memo, referrer }: InvoiceContent,
  created_s: number,
  product: InvoiceTerms['product'],
): InvoiceTerms {
  const cart = { merchant, amount_minor: String(amount_minor), memo, client_name, chain_id, token }
  return {
    v: 1,
    invoice_id: invoiceId(random()),
    ...cart,
    referrer,
    product,
    created_s,
    expires_s: created_s + INVOICE_RULES.open_s,
    salt: random(),
    cart_hash: cartHash(cart, crypto),
    fee_policy_version: FEE_POLICY.version,
    fee_policy_hash: FEE_POLICY_HASH,
  }
}
