import type { Clock } from '../../ports/clock.ts'
import type { InvoicePayment, InvoiceStore, StoredInvoice } from '../../ports/invoices.ts'
import type { Derivation } from '../../ports/signer.ts'
import type { ReadFinding } from '../../pure/documents/reconcile/records.ts'
import { instant } from '../../pure/invoices/instant.ts'
import { invoiceSummary } from '../../pure/invoices/record.ts'
import {
  documentSha256,
  INVOICE_ID,
  listDigest,
  listTypedData,
  readTerms,
  statementDigest,
  statementTypedData,
  type ListTerms,
  type StatementTerms,
} from '../../pure/invoices/terms.ts'
import { typedSigner, type TypedData } from '../../pure/payments/typed-data.ts'
import type { ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import { signRequest } from '../../pure/signing/sign-request.ts'
import { INVOICE_RULES, RAIL_LIMITS } from '../limits.ts'
import { problem, type Problem } from '../problems.ts'
import type { ContractSignatures } from './contract-signature.ts'
import { readBankPayment, readCreatorReport, standingNow } from './invoice-view.ts'
import { merchantSignRequest, notFound } from './merchant-signature.ts'
import type { WriteBudget } from './write-budget.ts'

/** Requests of a merchant for its own invoices: the list, and the confirmation of bank transfers. */

interface MerchantRequestParts {
  budget: WriteBudget
  store: Pick<InvoiceStore, 'find' | 'payments' | 'signed_by' | 'signed_by_reference' | 'close_by_bank'>
  clock: Clock
  crypto: ReceiptCrypto
  derive: Derivation
  /** Null where there is no chain to ask. */
  contracts: ContractSignatures | null
  site_url(): string
  explorer_url: string | null
}

/** Request of a merchant for its own invoices; `signature` or `token` proves that the merchant asks. */
interface ListRequest {
  merchant: string
  /** Seconds since 1970; null for the current time. */
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

type ListEnd = { ok: true; value: Record<string, unknown> } | { ok: false; problem: Problem }

export interface MerchantRequests {
  /** Lists the invoices that a merchant signed, newest first, for that merchant alone. Without a proof, the problem has the typed data to sign. */
  list(request: ListRequest): Promise<ListEnd>
  /** Closes the invoices that a bank statement shows as paid. Without a proof, the problem has the typed data to sign. */
  confirmTransfers(request: StatementRequest): Promise<ListEnd>
}

export function createMerchantRequests(parts: MerchantRequestParts): MerchantRequests {
  return {
    list: (request) => listForMerchant(parts, request),
    confirmTransfers: (request) => confirmTransfers(parts, request),
  }
}

async function listForMerchant(parts: MerchantRequestParts, request: ListRequest): Promise<ListEnd> {
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

function summaryOf({ site_url, explorer_url }: MerchantRequestParts, invoice: StoredInvoice, payments: InvoicePayment[], now_s: number) {
  const terms = readTerms(invoice.terms)
  const standing = standingNow(invoice, payments, now_s)
  const bank = { bank_payment: readBankPayment(invoice), creator_report: readCreatorReport(invoice) }
  const erased_s = invoice.erased_ms === null ? null : Math.floor(invoice.erased_ms / 1_000)
  return invoiceSummary({ terms, standing, payments, ...bank, site_url: site_url(), explorer_url, erased_s })
}

type Proof = { ok: true; token: string; expires_s: number } | { ok: false; problem: Problem }

/** Bearer token of a merchant until a time: it names the time, and is an HMAC over it and the merchant. */
function tokenFor({ derive }: MerchantRequestParts, merchant: string, expires_s: number): string {
  return `mlt_${expires_s}_${derive.hmac('invoice list', `${merchant}|${expires_s}`)}`
}

function tokenProof(parts: MerchantRequestParts, merchant: string, request: ListRequest, now_s: number): Proof {
  const { keccak256Hex } = parts.crypto
  const token = request.token ?? ''
  const expires_s = Number(token.split('_')[1])
  // Compares hashes, so that the time of the comparison says nothing about the token.
  const is_token = keccak256Hex(token) === keccak256Hex(tokenFor(parts, merchant, expires_s))
  if (is_token && now_s <= expires_s) return { ok: true, token, expires_s }
  return unproved(parts, listAct(listTerms(parts, merchant, now_s)), 'token has expired or is of another merchant. Sign again.')
}

async function signedProof(parts: MerchantRequestParts, merchant: string, request: ListRequest, now_s: number): Promise<Proof> {
  const terms = listTerms(parts, merchant, request.issued_at ?? now_s)
  const refusal = await signatureProblem(parts, listAct(terms), request, now_s, () => listAct(listTerms(parts, merchant, now_s)))
  if (refusal !== null) return { ok: false, problem: refusal }
  const expires_s = terms.issued_at + INVOICE_RULES.list_token_s
  return { ok: true, token: tokenFor(parts, merchant, expires_s), expires_s }
}

function listTerms({ site_url }: MerchantRequestParts, merchant: string, issued_at: number): ListTerms {
  return { service: site_url(), merchant, issued_at }
}

/** Request that its merchant signs with a time. */
interface DatedAct {
  kind: 'invoice-list' | 'invoice-statement'
  merchant: string
  issued_at: number
  typed_data: TypedData
  digest(crypto: ReceiptCrypto): Uint8Array
}

function listAct(terms: ListTerms): DatedAct {
  const { merchant, issued_at } = terms
  return { kind: 'invoice-list', merchant, issued_at, typed_data: listTypedData(terms), digest: (crypto) => listDigest(terms, crypto) }
}

function statementAct(terms: StatementTerms): DatedAct {
  const { merchant, issued_at } = terms
  const digest = (crypto: ReceiptCrypto) => statementDigest(terms, crypto)
  return { kind: 'invoice-statement', merchant, issued_at, typed_data: statementTypedData(terms), digest }
}

/** Null when the merchant signed the act, as an account or a contract wallet, within the permitted time. `renewed` is the act to sign now. */
async function signatureProblem(
  parts: MerchantRequestParts,
  act: DatedAct,
  { signature, client }: { signature: string | null; client: string },
  now_s: number,
  renewed: () => DatedAct,
): Promise<Problem | null> {
  if (signature === null)
    return unproved(parts, act, 'Sign sign.typed_data with the wallet of the merchant and send it again as sign.submit says.').problem
  const age_s = now_s - act.issued_at
  if (Math.abs(age_s) > INVOICE_RULES.list_signed_s) {
    const detail = `issued_at is ${age_s} s before the time of this service; expected within ${INVOICE_RULES.list_signed_s} s. Sign it again.`
    return unproved(parts, renewed(), detail).problem
  }
  const digest = act.digest(parts.crypto)
  if (typedSigner(digest, signature, parts.crypto) === act.merchant) return null
  const wrong = unproved(parts, act, 'signature was not made by the merchant over sign.typed_data.').problem
  if (parts.contracts === null) return wrong
  return parts.contracts.refusal({ wallet: act.merchant, digest, signature, client, wrong, rate_code: 'INVOICE_RATE_LIMITED' })
}

function unproved({ site_url }: MerchantRequestParts, { kind, merchant, issued_at, typed_data }: DatedAct, detail: string) {
  const sign = signRequest({
    kind,
    origin: site_url(),
    signer: merchant,
    signable: { method: 'eth_signTypedData_v4', typed_data },
    values: { issued_at: String(issued_at) },
  })
  return { ok: false as const, problem: problem('INVOICE_SIGNATURE_INVALID', detail, { extra: { sign } }) }
}

/** Statement by which a merchant confirms transfers of the invoices that it signed. */
interface StatementRequest {
  /** camt.053 or camt.054. */
  document: string
  /** The merchant, or, in a request of earlier releases, an invoice: the problem then says what its merchant signs. */
  by: { merchant: string; /** Seconds since 1970; null for the current time. */ issued_at: number | null } | { invoice_id: string }
  signature: string | null
  /** Address of the client. */
  client: string
}

async function confirmTransfers(parts: MerchantRequestParts, { document, by, signature, client }: StatementRequest): Promise<ListEnd> {
  const now_ms = parts.clock.now_ms()
  const now_s = Math.floor(now_ms / 1_000)
  const document_sha256 = documentSha256(document)
  const actOf = (merchant: string, issued_at: number) => statementAct({ service: parts.site_url(), merchant, document_sha256, issued_at })
  const named = 'merchant' in by ? by.merchant.toLowerCase() : null
  const limited =
    signature === null || named === null ? parts.budget.unproved(client, named, 'statement') : parts.budget.checking(client, named)
  if (limited !== null) return { ok: false, problem: limited }
  if ('invoice_id' in by) return { ok: false, problem: await creatorProblem(parts, by.invoice_id) }
  const merchant = by.merchant.toLowerCase()
  const act = actOf(merchant, by.issued_at ?? now_s)
  const refusal = await signatureProblem(parts, act, { signature, client }, now_s, () => actOf(merchant, now_s))
  if (refusal !== null) {
    if (signature !== null && refusal.code === 'INVOICE_SIGNATURE_INVALID') parts.budget.wrong(client, merchant)
    return { ok: false, problem: refusal }
  }
  const full = await parts.budget.proved(client, merchant, 'statement')
  if (full !== null) return { ok: false, problem: full }
  const { confirmByStatement } = await import('./bank-confirmation.ts')
  const { RailFull } = await import('./bank-rail.ts')
  const find = (reference: string) => parts.store.signed_by_reference(merchant, reference)
  try {
    const end = await confirmByStatement(parts.store, { document, document_sha256, now_ms, find })
    return end.ok ? { ok: true, value: { document_sha256, ...end.report } } : { ok: false, problem: unreadable(end.findings) }
  } catch (error) {
    if (error instanceof RailFull) return { ok: false, problem: problem('INPUT_SCHEMA_INVALID', error.message) }
    throw error
  }
}

function unreadable(findings: readonly ReadFinding[]): Problem {
  const errors = findings.slice(0, RAIL_LIMITS.upload_shown).map(({ code, line, message }) => ({
    pointer: '/document',
    code: code.toLowerCase(),
    message: line === null ? message : `Line ${line}: ${message}`,
  }))
  const detail = `The document cannot be read as a camt.053 or camt.054; nothing was changed. ${errors[0]?.message ?? ''}`.trimEnd()
  return problem('INPUT_SCHEMA_INVALID', detail, { errors })
}

/**
 * Refuses a statement of the creator of an invoice: anyone can create an invoice in the name of a merchant and invent a statement. For an unsigned
 * invoice the problem has what its merchant signs.
 */
async function creatorProblem(parts: MerchantRequestParts, invoice_id: string): Promise<Problem> {
  const invoice = INVOICE_ID.test(invoice_id) ? await parts.store.find(invoice_id) : null
  if (invoice === null) return notFound()
  const is_signed = invoice.issue_signature !== null
  const found = is_signed ? 'a request without its merchant' : 'an invoice that its merchant has not signed'
  const next = is_signed
    ? 'Send `merchant` in place of `invoice_id`, then sign the statement with the wallet of the merchant.'
    : 'Have the merchant sign the invoice with `sign`; then send the statement again with `merchant` in place of `invoice_id`.'
  const message = `Found ${found}; expected \`merchant\` and its signature over the statement, for an invoice that it has signed. ${next}`
  const errors = [{ pointer: '/invoice_id', code: is_signed ? 'merchant_missing' : 'invoice_not_signed', message }]
  const extra = is_signed ? {} : { sign: merchantSignRequest(parts, 'issue', readTerms(invoice.terms)) }
  return problem('INVOICE_SIGNATURE_INVALID', `Only the merchant confirms a bank transfer; nothing was changed. ${next}`, { errors, extra })
}
