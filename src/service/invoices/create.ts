import type { Clock } from '../../ports/clock.ts'
import type { Derivation } from '../../ports/derivation.ts'
import type { InvoiceStore, NewInvoice, StoredInvoice } from '../../ports/invoices.ts'
import { canonicalText } from '../../pure/receipts/canonical.ts'
import type { ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import { FEE_POLICY, FEE_POLICY_HASH } from '../../pure/invoices/fee.ts'
import { readInvoice, type InvoiceAsked, type InvoiceContent, type InvoiceFault } from '../../pure/invoices/input.ts'
import { cartHash, invoiceId, invoiceNonces, termsText, type Cart, type InvoiceTerms } from '../../pure/invoices/terms.ts'
import { problem, type Problem } from '../problems.ts'
import { merchantFault, type ContractSignatures } from './contract-signature.ts'
import { INVOICE_RULES } from './rules.ts'

export interface CreateParts {
  store: InvoiceStore
  clock: Clock
  crypto: ReceiptCrypto
  /** Asks merchants that are contracts; null where there is no chain to ask. */
  contracts: ContractSignatures | null
  derive: Derivation
  /** 32 bytes from the system's generator as 0x-prefixed hex. */
  random(): string
  chain_id: number
  /** Lower case. */
  token: string
}

/** Who asks, where that is known; for bounds and for asking twice. */
export interface Asker {
  client: string | null
  /** Address of the client, where it is known. */
  address: string | null
  /** The /24 or /48 of the client. Null for a call, which was paid for or took a free unit. */
  network: string | null
  /** The caller's own key: the same key and content bring the same invoice. */
  request_key: string | null
  /** The merchant's signature over the content and the request key, for an invoice that is signed from the start. */
  signature: string | null
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
  const unsigned = await creationFault(parts, read.content, asker)
  if (unsigned !== null) return { kind: 'refused', problem: unsigned }
  const kept = await parts.store.keep(newInvoice(parts, read.content, asker, product), INVOICE_RULES)
  switch (kept.kind) {
    case 'created':
    case 'same':
      return kept
    case 'conflict':
      return { kind: 'refused', problem: problem('INVOICE_CONFLICT', 'This Idempotency-Key came before with other content.') }
    case 'merchant_full':
      return { kind: 'refused', problem: signedFull() }
  }
}

export function signedFull(): Problem {
  const detail = `This merchant has signed ${INVOICE_RULES.merchant_signed} open invoices, which is all that are taken.`
  return problem('INVOICE_LIMIT', detail, { retry_after_s: 3_600 })
}

/** Null for an unsigned creation, and for one that the merchant signed. */
async function creationFault(
  parts: CreateParts,
  content: InvoiceContent,
  { signature, request_key, address }: Asker,
): Promise<Problem | null> {
  if (signature === null) return null
  const detail = 'A signed creation needs an Idempotency-Key header: the merchant signs the keccak-256 of that key as `request`.'
  if (request_key === null) return problem('INPUT_SCHEMA_INVALID', detail)
  const cart = cartOf(parts, content)
  return merchantFault(
    parts,
    'create',
    { invoice_id: request_key, ...cart, cart_hash: cartHash(cart, parts.crypto) },
    signature,
    address ?? '',
  )
}

/** A signed request belongs to its merchant, wherever it comes from; any other to its client. */
function requester({ client, signature }: Asker, merchant: string): string {
  return signature === null ? (client ?? '') : `signed by ${merchant}`
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
    request_key:
      asker.request_key === null ? null : parts.derive.hmac('invoice request', `${requester(asker, merchant)}|${asker.request_key}`),
    network: asker.network === null ? null : parts.derive.hmac('invoice network', `${day}|${asker.network}`).slice(0, 32),
    issue_signature: asker.signature,
  }
}

function termsOf(parts: CreateParts, content: InvoiceContent, created_s: number, product: InvoiceTerms['product']): InvoiceTerms {
  const { random, crypto } = parts
  const cart = cartOf(parts, content)
  return {
    v: 1,
    invoice_id: invoiceId(random()),
    ...cart,
    referrer: content.referrer,
    product,
    created_s,
    expires_s: created_s + INVOICE_RULES.open_s,
    salt: random(),
    cart_hash: cartHash(cart, crypto),
    fee_policy_version: FEE_POLICY.version,
    fee_policy_hash: FEE_POLICY_HASH,
  }
}

function cartOf({ chain_id, token }: CreateParts, { amount_minor, merchant, client_name, memo }: InvoiceContent): Cart {
  return { merchant, amount_minor: String(amount_minor), memo, client_name, chain_id, token }
}
