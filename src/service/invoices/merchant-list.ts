import type { InvoicePayment, InvoiceStore, StoredInvoice } from '../../ports/invoices.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Derivation } from '../../ports/signer.ts'
import { invoiceSummary } from '../../pure/invoices/record.ts'
import { listDigest, listTypedData, readTerms, type ListTerms } from '../../pure/invoices/terms.ts'
import { typedSigner } from '../../pure/payments/typed-data.ts'
import type { ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import { signRequest } from '../../pure/signing/sign-request.ts'
import { INVOICE_RULES } from '../limits.ts'
import { problem, type Problem } from '../problems.ts'
import type { ContractSignatures } from './contract-signature.ts'
import { standingNow } from './invoice-view.ts'

interface ListParts {
  store: Pick<InvoiceStore, 'payments' | 'signed_by'>
  clock: Clock
  crypto: ReceiptCrypto
  derive: Derivation
  /** Null where there is no chain to ask. */
  contracts: ContractSignatures | null
  site_url(): string
  explorer_url: string | null
}

/** Request of a merchant for its own invoices; `signature` or `token` proves that the merchant asks. */
export interface ListRequest {
  merchant: string
  /** Seconds since 1970; null for now. */
  issued_at: number | null
  signature: string | null
  /** From an earlier answer, in place of a signature. */
  token: string | null
  /** Lists invoices before this number; null for the newest. */
  before: number | null
  limit: number
  /** Address of the client, whose budget pays for questions to contract wallets. */
  client: string
}

export type ListEnd = { ok: true; value: Record<string, unknown> } | { ok: false; problem: Problem }

/** Lists the invoices that a merchant signed, newest first, for that merchant alone. Without a proof, the problem has the typed data to sign. */
export async function listForMerchant(parts: ListParts, request: ListRequest): Promise<ListEnd> {
  const merchant = request.merchant.toLowerCase()
  const now_s = Math.floor(parts.clock.now_ms() / 1_000)
  const proof = request.token === null ? await signedProof(parts, merchant, request, now_s) : tokenProof(parts, merchant, request, now_s)
  if (!proof.ok) return proof
  const { before, limit } = request
  const page = await parts.store.signed_by(merchant, before ?? Number.MAX_SAFE_INTEGER, limit)
  const invoices = await Promise.all(
    page.map(async ({ invoice }) => summaryOf(parts, invoice, await parts.store.payments(invoice.invoice_id), now_s)),
  )
  const value = {
    merchant,
    invoices,
    next_before: page.length < limit ? null : (page.at(-1)?.number ?? null),
    token: proof.token,
    token_expires_at: instant(proof.expires_s),
  }
  return { ok: true, value }
}

function summaryOf({ site_url, explorer_url }: ListParts, invoice: StoredInvoice, payments: InvoicePayment[], now_s: number) {
  const terms = readTerms(invoice.terms)
  const standing = standingNow(invoice, payments, now_s)
  return invoiceSummary({ terms, standing, payments, site_url: site_url(), explorer_url })
}

type Proof = { ok: true; token: string; expires_s: number } | { ok: false; problem: Problem }

/** Bearer token of a merchant until a time: it names the time, and is an HMAC over it and the merchant. */
function tokenFor({ derive }: ListParts, merchant: string, expires_s: number): string {
  return `mlt_${expires_s}_${derive.hmac('invoice list', `${merchant}|${expires_s}`)}`
}

function tokenProof(parts: ListParts, merchant: string, request: ListRequest, now_s: number): Proof {
  const { keccak256Hex } = parts.crypto
  const token = request.token ?? ''
  const expires_s = Number(token.split('_')[1])
  // Compares hashes, so that the time of the comparison says nothing about the token.
  const is_token = keccak256Hex(token) === keccak256Hex(tokenFor(parts, merchant, expires_s))
  if (is_token && now_s <= expires_s) return { ok: true, token, expires_s }
  return unproved(parts, listTerms(parts, merchant, now_s), 'token has expired or is of another merchant. Sign again.')
}

async function signedProof(parts: ListParts, merchant: string, request: ListRequest, now_s: number): Promise<Proof> {
  const { signature, client } = request
  const terms = listTerms(parts, merchant, request.issued_at ?? now_s)
  if (signature === null) {
    return unproved(parts, terms, 'Sign sign.typed_data with the wallet of the merchant and send it again as sign.submit says.')
  }
  const age_s = now_s - terms.issued_at
  if (Math.abs(age_s) > INVOICE_RULES.list_signed_s) {
    const detail = `issued_at is ${age_s} s before the time of this service; expected within ${INVOICE_RULES.list_signed_s} s. Sign it again.`
    return unproved(parts, listTerms(parts, merchant, now_s), detail)
  }
  const digest = listDigest(terms, parts.crypto)
  if (typedSigner(digest, signature, parts.crypto) !== merchant) {
    const wrong = unproved(parts, terms, 'signature was not made by the merchant over sign.typed_data.')
    if (parts.contracts === null) return wrong
    const asked = { wallet: merchant, digest, signature, client, wrong: wrong.problem, rate_code: 'INVOICE_RATE_LIMITED' as const }
    const refusal = await parts.contracts.refusal(asked)
    if (refusal !== null) return { ok: false, problem: refusal }
  }
  const expires_s = terms.issued_at + INVOICE_RULES.list_token_s
  return { ok: true, token: tokenFor(parts, merchant, expires_s), expires_s }
}

function listTerms({ site_url }: ListParts, merchant: string, issued_at: number): ListTerms {
  return { service: site_url(), merchant, issued_at }
}

function unproved({ site_url }: ListParts, terms: ListTerms, detail: string) {
  const sign = signRequest({
    kind: 'invoice-list',
    origin: site_url(),
    signer: terms.merchant,
    signable: { method: 'eth_signTypedData_v4', typed_data: listTypedData(terms) },
    values: { issued_at: String(terms.issued_at) },
  })
  return { ok: false as const, problem: problem('INVOICE_SIGNATURE_INVALID', detail, { extra: { sign } }) }
}

function instant(time_s: number): string {
  return new Date(time_s * 1_000).toISOString().replace('.000Z', 'Z')
}
