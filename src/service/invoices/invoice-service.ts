import { depositAddress, DEPOSIT_FACTORY, sweepCall } from '../../pure/contracts/deployment.ts'
import { usdcDecimal } from '../../pure/payments/usdc.ts'
import type { StoredInvoice, InvoiceStore, NewInvoice } from '../../ports/invoices.ts'
import type { Signer, Derivation } from '../../ports/signer.ts'
import {
  merchantDigest,
  type MerchantAct,
  INVOICE_ID,
  readTerms,
  cartHash,
  invoiceId,
  invoiceNonces,
  presentShopTerms,
  termsText,
  type Cart,
  type InvoiceTerms,
  FEE_POLICY,
  FEE_POLICY_HASH,
} from '../../pure/invoices/terms.ts'
import { type InvoiceAsked, INVOICE_FAULTS, readInvoice, type InvoiceContent, type InvoiceRefusal } from '../../pure/invoices/input.ts'
import { bankReference, type BankAccount } from '../../pure/invoices/links.ts'
import { PILOT_CALLS, PILOT_MINOR, invoiceRecord, transferWay, type ShownDeposit } from '../../pure/invoices/record.ts'
import type { ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import type { InvoiceState } from '../../pure/invoices/standing.ts'
import type { OutsideReads } from '../payments/allowance.ts'
import { problem, type Problem } from '../problems.ts'
import { INVOICE_RULES, limits } from '../limits.ts'
import { type InvoiceView, readBankPayment, readCreatorReport, relayMinimum, standingNow } from './invoice-view.ts'
import { isChainFault } from '../chain-fault.ts'
import { checkMerchantSignature, notFound, type SignatureParts } from './merchant-signature.ts'
import type { NewMerchantQuota } from './new-merchants.ts'
import { createMerchantRequests, type MerchantRequests } from './merchant-requests.ts'
import { absentInvoice } from './purged.ts'
import type { Sponsoring } from './sponsored.ts'
import type { InvoiceWatch } from './watch.ts'
import type { WriteBudget } from './write-budget.ts'
import { widerNetwork } from '../clients.ts'
import type { Clock } from '../../ports/clock.ts'
import { canonicalText } from '../../pure/receipts/canonical.ts'
import { readEvmAddress } from '../../pure/checks/evm-address.ts'

interface ViewParts {
  store: InvoiceStore
  clock: Clock
  /** Address of the token, lower case. */
  token: string
  site_url(): string
  /** The account of this merchant; null where none is configured. */
  bankOf(merchant: string): BankAccount | null
  /** Signed payments are carried to the chain here, and deposits forwarded. */
  carries: boolean
  /** Minimums of what the gas wallet forwards and relays; left out where gas costs nothing. */
  sponsoring?: Pick<Sponsoring, 'sweepMinimum' | 'relayMinimum'>
  /** Origin of a block explorer of the chain; null where there is none, as for a sandbox. */
  explorer_url: string | null
  /** Returns true when the chain has the factory of deposit addresses. */
  hasFactory(): Promise<boolean>
}

export interface InvoiceDeskParts extends CreateParts, ViewParts {
  crypto: ReceiptCrypto
  /** Null where there is no chain to look at. */
  watch: InvoiceWatch | null
  /** Budget of the reads for requests without a payment. */
  reads: OutsideReads
  /** Merchant of pilot invoices; null where their credit is not set up. */
  pilot_merchant: string | null
  /** The key of the receipts, which is the operator's. */
  operator_key: Pick<Signer, 'sign'>
}

export type InvoiceEnd =
  | { kind: 'made'; created: boolean; view: InvoiceView }
  | ({ kind: 'invalid' } & InvoiceRefusal)
  | { kind: 'refused'; problem: Problem }

/** Outcome of a requested change. */
export type InvoiceChange = { ok: true; view: InvoiceView } | { ok: false; problem: Problem }

/** Outcome of the submission of a transaction; `transaction_found` is null where there is no chain to read. */
type InvoiceSubmission = { ok: true; view: InvoiceView; transaction_found: boolean | null } | { ok: false; problem: Problem }

/** Operations on invoices that tools may use. */
export interface InvoiceSource {
  create(asked: InvoiceAsked): Promise<InvoiceEnd>
  /** The same for a client with this address: what it creates counts as that of its network. */
  by?(address: string): InvoiceSource
  /**
   * Invoice as the chain shows it now; when the chain fails or was not read up to its head, the last known state, marked as stale. Null for
   * an unknown id.
   */
  look(invoice_id: string): Promise<InvoiceView | null>
  /** Problem of an id without an invoice: it expired unpaid and was deleted, or there was none. */
  absent(invoice_id: string): Promise<Problem>
  /** An invoice of the deployment itself; null where its credit is not set up. */
  pilot(client_name: string | undefined): Promise<InvoiceEnd | null>
}

/** Creates, reads and changes invoices. */
export interface InvoiceService extends InvoiceSource, MerchantRequests {
  make(asked: InvoiceAsked, asker: Asker): Promise<InvoiceEnd>
  /** Invoice as stored. Null for an unknown id. */
  read(invoice_id: string): Promise<InvoiceView | null>
  /** Signs or voids an invoice with a signature of its merchant. Without one, the problem has the typed data to sign. */
  act(invoice_id: string, act: MerchantAct, signature: string | null, client: string): Promise<InvoiceChange>
  /**
   * Looks for payments in a transaction that the caller names, using only data from the chain. Counts against the client's budget of
   * outside reads.
   */
  submit(invoice_id: string, transaction: string, client: string): Promise<InvoiceSubmission>
}

export function createInvoiceService(parts: InvoiceDeskParts): InvoiceService {
  const make = async (asked: InvoiceAsked, asker: Asker, product: 'ap2_pilot' | null = null): Promise<InvoiceEnd> => {
    const made = await createInvoice(parts, asked, asker, product)
    if (made.kind === 'invalid' || made.kind === 'refused') return made
    return { kind: 'made', created: made.kind === 'created', view: await viewInvoice(parts, made.invoice) }
  }
  const find = (invoice_id: string): Promise<StoredInvoice | null> => {
    if (invoice_id === SPECIMEN_ID) return Promise.resolve(specimen(parts.chain_id, parts.token))
    return INVOICE_ID.test(invoice_id) ? parts.store.find(invoice_id) : Promise.resolve(null)
  }
  const view = (invoice: StoredInvoice | null) => (invoice === null ? Promise.resolve(null) : viewInvoice(parts, invoice))
  const source: InvoiceService = {
    make: (asked, asker) => make(asked, asker),
    create: (asked) => make(asked, NOBODY),
    by: (address) => ({ ...source, create: (asked) => make(asked, { ...NOBODY, address }) }),
    read: async (invoice_id) => view(await find(invoice_id)),
    look: async (invoice_id) => look(parts, await find(invoice_id)),
    absent: (invoice_id) => absentInvoice(parts.store, parts.token, invoice_id),
    pilot: async (client_name) => {
      if (parts.pilot_merchant === null) return null
      const memo = `AP2 merchant pilot: ${PILOT_CALLS} calls`
      const end = await make({ amount: usdcDecimal(PILOT_MINOR), merchant: parts.pilot_merchant, client_name, memo }, NOBODY, 'ap2_pilot')
      return end.kind === 'made' ? { ...end, view: await operatorSigned(parts, end.view) } : end
    },
    act: async (invoice_id, act, signature, client) => merchantAct(parts, invoice_id, await find(invoice_id), { act, signature, client }),
    submit: async (invoice_id, transaction, client) => submit(parts, invoice_id, await find(invoice_id), { transaction, client }),
    ...createMerchantRequests(parts),
  }
  return source
}

/**
 * The operator's signature of a pilot, by which a plain transfer is matched to it. It stays unsigned while as many signed invoices of the operator
 * are open as are taken: then it is paid through pay_url, as any unsigned invoice.
 */
async function operatorSigned(parts: InvoiceDeskParts, { invoice, terms }: InvoiceView): Promise<InvoiceView> {
  const signature = parts.operator_key.sign(merchantDigest('issue', terms, parts.crypto))
  await parts.store.sign(invoice.invoice_id, signature, parts.clock.now_ms(), INVOICE_RULES.merchant_signed)
  return (await after(parts, invoice)).view
}

const NOBODY: Asker = { client: null, address: null, network: null, request_key: null, signature: null }

async function look(parts: InvoiceDeskParts, invoice: StoredInvoice | null): Promise<InvoiceView | null> {
  if (invoice === null) return null
  if (invoice.invoice_id === SPECIMEN_ID) return viewInvoice(parts, invoice)
  let current = false
  try {
    current = (await parts.watch?.look(invoice.merchant)) ?? false
  } catch (error) {
    if (!isChainFault(error)) throw error
  }
  const view = await viewInvoice(parts, (await parts.store.find(invoice.invoice_id)) ?? invoice)
  return current ? view : { ...view, record: { ...view.record, stale: true } }
}

async function merchantAct(
  parts: InvoiceDeskParts,
  invoice_id: string,
  invoice: StoredInvoice | null,
  { act, signature, client }: { act: MerchantAct; signature: string | null; client: string },
): Promise<InvoiceChange> {
  // A signature that was taken before can be sent by anyone who saw it, so it draws on no merchant's budget.
  const is_new = act === 'issue' ? invoice?.issue_signature === null : invoice?.void_signature === null
  const limited = signature === null || !is_new ? parts.budget.unproved(client, invoice?.merchant ?? null, 'write') : null
  if (limited !== null) return { ok: false, problem: limited }
  if (invoice === null) return { ok: false, problem: await absentInvoice(parts.store, parts.token, invoice_id) }
  if (act === 'issue' && is_new && invoice.erased_ms !== null)
    return {
      ok: false,
      problem: problem('INVOICE_ERASED', 'The personal details of this invoice were erased, so that it cannot be signed any more.'),
    }
  const checked = await checkMerchantSignature(parts, act, readTerms(invoice.terms), signature, client)
  if (!checked.ok) return checked
  const full = is_new ? await parts.budget.proved(client, invoice.merchant, 'write') : null
  if (full !== null) return { ok: false, problem: full }
  const now_ms = parts.clock.now_ms()
  if (act === 'issue') {
    const refusal = is_new ? await signInvoice(parts, invoice, checked.signature, client) : null
    if (refusal !== null) return { ok: false, problem: refusal }
  } else if (!(await parts.store.void(invoice.invoice_id, checked.signature, now_ms))) {
    return { ok: false, problem: problem('INVOICE_NOT_VOIDABLE', 'A payment was seen or is on its way, or it is void already.') }
  }
  return after(parts, invoice)
}

/** Stores the merchant's signature within the day's budgets; null when the invoice has it. */
async function signInvoice(parts: InvoiceDeskParts, invoice: StoredInvoice, signature: string, client: string): Promise<Problem | null> {
  const unit = await parts.quota.take(invoice.merchant, client)
  if (!unit.ok) return unit.problem
  const kept = await parts.store.sign(invoice.invoice_id, signature, parts.clock.now_ms(), INVOICE_RULES.merchant_signed)
  if (kept === 'kept') return null
  await unit.give_back()
  return kept === 'full' ? signedFull() : notFound()
}

async function submit(
  parts: InvoiceDeskParts,
  invoice_id: string,
  invoice: StoredInvoice | null,
  { transaction, client }: { transaction: string; client: string },
): Promise<InvoiceSubmission> {
  if (invoice === null) return { ok: false, problem: await absentInvoice(parts.store, parts.token, invoice_id) }
  if (parts.watch === null) return { ...(await after(parts, invoice)), transaction_found: null }
  const taken = await parts.reads.take(client, 'INVOICE_RATE_LIMITED')
  if (!taken.ok) return { ok: false, problem: taken.problem }
  try {
    const transaction_found = (await parts.watch.lookInto(transaction, invoice)) !== null
    return { ...(await after(parts, invoice)), transaction_found }
  } catch (error) {
    if (!isChainFault(error)) throw error
    await taken.give_back()
    const detail = 'The chain does not answer now. The transaction will be found without being named, too.'
    return { ok: false, problem: problem('UPSTREAM_RPC_UNAVAILABLE', detail, { retry_after_s: 10 }) }
  }
}

async function after(parts: InvoiceDeskParts, invoice: StoredInvoice): Promise<{ ok: true; view: InvoiceView }> {
  return { ok: true, view: await viewInvoice(parts, (await parts.store.find(invoice.invoice_id)) ?? invoice) }
}

interface CreateParts extends SignatureParts {
  /** Budgets of merchants and clients. */
  budget: WriteBudget
  /** Daily budgets of invoices that merchants sign which were never paid. */
  quota: NewMerchantQuota
  store: InvoiceStore
  clock: Clock
  derive: Derivation
  /** 32 bytes from the system's generator as 0x-prefixed hex. */
  random(): string
  chain_id: number
  /** Lower case. */
  token: string
}

/** Identity of the requester, where it is known; for rate limits and idempotency. */
interface Asker {
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

type Created =
  | { kind: 'created' | 'same'; invoice: StoredInvoice }
  | ({ kind: 'invalid' } & InvoiceRefusal)
  | { kind: 'refused'; problem: Problem }

/** Makes an invoice, or says why there is none. Nothing reads the chain. */
async function createInvoice(
  parts: CreateParts,
  asked: InvoiceAsked,
  asker: Asker,
  product: InvoiceTerms['product'] = null,
): Promise<Created> {
  // A call, which names no network, was paid for or took a free unit.
  const is_counted = asker.network !== null && asker.signature === null
  const limited = is_counted ? parts.budget.unproved(asker.address ?? '', asked.merchant.toLowerCase(), 'write') : null
  if (limited !== null) return { kind: 'refused', problem: limited }
  const read = readInvoice(asked, { ceiling_minor: INVOICE_RULES.ceiling_minor, token: parts.token })
  if (!read.ok) return { kind: 'invalid', fault: read.fault, field: read.field, message: read.message }
  if ((await parts.store.find_by_deposit(read.content.merchant)) !== null)
    return { kind: 'invalid', fault: 'merchant_is_deposit', field: 'merchant', message: INVOICE_FAULTS.merchant_is_deposit }
  const unsigned = await creationFault(parts, read.content, asker)
  if (unsigned !== null) return { kind: 'refused', problem: unsigned }
  const unit = asker.signature === null ? null : await parts.quota.take(read.content.merchant, asker.address ?? '')
  // Without a unit, only the invoice of an earlier request with this key is returned.
  const bounds = { ...INVOICE_RULES, only_known: unit?.ok === false }
  const kept = await parts.store.keep(newInvoice(parts, read.content, asker, product), bounds)
  if (unit?.ok === true && kept.kind !== 'created') await unit.give_back()
  switch (kept.kind) {
    case 'created':
    case 'same':
      return kept
    case 'unknown':
      return { kind: 'refused', problem: unit?.ok === false ? unit.problem : signedFull() }
    case 'conflict':
      return { kind: 'refused', problem: problem('INVOICE_CONFLICT', 'This Idempotency-Key came before with other content.') }
    case 'merchant_full':
      return { kind: 'refused', problem: signedFull() }
  }
}

function signedFull(): Problem {
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
  const terms = { invoice_id: request_key, ...cart, cart_hash: cartHash(cart, parts.crypto) }
  const checked = await checkMerchantSignature(parts, 'create', terms, signature, address ?? '')
  return checked.ok ? parts.budget.proved(address ?? '', terms.merchant, 'write') : checked.problem
}

/** A signed request belongs to its merchant, wherever it comes from; any other to its client. */
function requester({ client, signature }: Asker, merchant: string): string {
  return signature === null ? (client ?? '') : `signed by ${merchant}`
}

function newInvoice(parts: CreateParts, content: InvoiceContent, asker: Asker, product: InvoiceTerms['product']): NewInvoice {
  const created_ms = parts.clock.now_ms()
  const terms = termsOf(parts, content, Math.floor(created_ms / 1_000), product)
  const { amount_minor, merchant, client_name, memo, referrer } = content
  const written = canonicalText({
    amount_minor: String(amount_minor),
    merchant,
    client_name,
    memo,
    referrer,
    product,
    // Left out when absent, so that a request of an earlier release is recognised when it is repeated.
    ...presentShopTerms(content),
    ...(content.due_days === null ? {} : { due_days: content.due_days }),
  })
  const day = Math.floor(created_ms / 86_400_000)
  return {
    invoice_id: terms.invoice_id,
    merchant,
    amount_minor,
    terms: termsText(terms),
    created_ms,
    expires_s: terms.expires_s,
    watch_until_s: terms.expires_s + INVOICE_RULES.watch_more_s,
    deposit_address: depositAddress({ invoice_id: terms.invoice_id, merchant }),
    nonces: invoiceNonces(terms, parts.crypto),
    content_hash: parts.crypto.keccak256Hex(written),
    // A digest under the secret: neither the key nor who sent it can be read off the store.
    request_key:
      asker.request_key === null ? null : parts.derive.hmac('invoice request', `${requester(asker, merchant)}|${asker.request_key}`),
    creator: creatorHash(parts, asker, day),
    network: asker.network === null ? null : parts.derive.hmac('invoice network', `${day}|${asker.network}`).slice(0, 32),
    issue_signature: asker.signature,
    bank_reference: terms.bank === null ? null : bankReference(terms.bank, terms.invoice_id),
  }
}

/** Names the network that created an invoice for 30 days, so that a share does not grow with each day on which invoices were prepared. */
function creatorHash({ derive }: CreateParts, { address }: Asker, day: number): string | null {
  if (address === null) return null
  return derive.hmac('invoice creator', `${Math.floor(day / INVOICE_RULES.creator_days)}|${widerNetwork(address)}`).slice(0, 32)
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
    expires_s: created_s + (content.due_days === null ? INVOICE_RULES.open_s : content.due_days * 86_400),
    salt: random(),
    cart_hash: cartHash(cart, crypto),
    fee_policy_version: FEE_POLICY.version,
    fee_policy_hash: FEE_POLICY_HASH,
  }
}

function cartOf({ chain_id, token }: CreateParts, content: InvoiceContent): Cart {
  const { amount_minor, merchant, client_name, memo, order_number, return_url, bank } = content
  return { merchant, amount_minor: String(amount_minor), memo, client_name, chain_id, token, order_number, return_url, bank }
}

/** States in which a payment may come any moment. */
const IS_AWAITED: ReadonlySet<string> = new Set<InvoiceState>(['ISSUED', 'PROCESSING', 'PARTIALLY_PAID'])

/** View of an invoice from the data in the store. */
async function viewInvoice(parts: ViewParts, invoice: StoredInvoice): Promise<InvoiceView> {
  const { store, clock } = parts
  const { invoice_id, merchant } = invoice
  const [payments, watch, bank_reports, deposit] = await Promise.all([
    store.payments(invoice_id),
    store.watch_of(merchant),
    store.bank_reports(invoice_id),
    depositOf(parts, invoice),
  ])
  const now_ms = clock.now_ms()
  const terms = readTerms(invoice.terms)
  const standing = standingNow(invoice, payments, Math.floor(now_ms / 1_000))
  const other_assets = standing.exceptions.includes('wrong_asset') ? await store.other_assets(invoice_id) : []
  const record = invoiceRecord({
    deposit,
    bank_reports,
    other_assets,
    terms,
    standing,
    payments,
    merchant_signed: invoice.issue_signature !== null,
    voided_s: invoice.voided_ms === null ? null : Math.floor(invoice.voided_ms / 1_000),
    updated_s: Math.floor(invoice.updated_ms / 1_000),
    erased_s: invoice.erased_ms === null ? null : Math.floor(invoice.erased_ms / 1_000),
    site_url: parts.site_url(),
    explorer_url: parts.explorer_url,
    bank: parts.bankOf(merchant),
    bank_payment: readBankPayment(invoice),
    creator_report: readCreatorReport(invoice),
    // The specimen is not watched, and it cannot be paid.
    stale: invoice_id !== SPECIMEN_ID && now_ms - Math.max(watch?.looked_ms ?? 0, invoice.created_ms) > INVOICE_RULES.stale_ms,
    carried_from_minor: relayMinimum(parts),
    max_timeout_s: limits.max_timeout_s,
  })
  // Someone reads it, such as a payer on its page: a merchant that would be looked at later is looked at in the next round.
  if (IS_AWAITED.has(standing.status) && (watch?.due_ms ?? 0) > now_ms + INVOICE_RULES.watch_every_ms) await store.wake(merchant, now_ms)
  const transfer_way = transferWay({ deposit, merchant_signed: invoice.issue_signature !== null })
  return { invoice, terms, payments, standing, transfer_way, record }
}

/** Null where the chain has no factory, and for an invoice without a deposit address. */
async function depositOf(parts: ViewParts, { invoice_id, merchant, deposit_address }: StoredInvoice): Promise<ShownDeposit | null> {
  if (deposit_address === null || !(await parts.hasFactory())) return null
  const [forwards, origin] = await Promise.all([parts.store.forwards(invoice_id), parts.store.deposit_origin(invoice_id)])
  const put_off_ms = origin?.put_off_ms ?? null
  const least_minor = parts.sponsoring?.sweepMinimum() ?? INVOICE_RULES.sweep_minimum_minor
  return {
    address: readEvmAddress(deposit_address)?.checksummed ?? deposit_address,
    factory: DEPOSIT_FACTORY.address,
    sweep_data: sweepCall(parts.token, [{ invoice_id, merchant }]),
    swept_from_minor: parts.carries ? least_minor : null,
    put_off_until_s: put_off_ms !== null && put_off_ms > parts.clock.now_ms() ? Math.floor(put_off_ms / 1_000) : null,
    forwards,
  }
}

/** Public id for examples: a void invoice, which cannot be paid. */
const SPECIMEN_ID = 'inv_000000000000'

const NO_SHOP = { order_number: null, return_url: null, bank: null }
const CREATED_S = 1_795_219_200
const NO_MERCHANT = '0x000000000000000000000000000000000000dead'

export function specimen(chain_id: number, token: string): StoredInvoice {
  const cart = {
    merchant: NO_MERCHANT,
    amount_minor: '1000000',
    memo: 'A specimen. Do not pay it.',
    client_name: null,
    chain_id,
    token,
    ...NO_SHOP,
  }
  const terms = termsText({
    v: 1,
    invoice_id: SPECIMEN_ID,
    ...cart,
    referrer: null,
    product: null,
    created_s: CREATED_S,
    expires_s: CREATED_S,
    salt: `0x${'0'.repeat(64)}`,
    cart_hash: cartHash(cart),
    fee_policy_version: FEE_POLICY.version,
    fee_policy_hash: FEE_POLICY_HASH,
  })
  const times = { created_ms: CREATED_S * 1_000, voided_ms: CREATED_S * 1_000, updated_ms: CREATED_S * 1_000, expires_s: CREATED_S }
  const signatures = { issue_signature: null, void_signature: null }
  return {
    invoice_id: SPECIMEN_ID,
    merchant: NO_MERCHANT,
    amount_minor: 1_000_000n,
    deposit_address: null,
    terms,
    ...times,
    ...signatures,
    bank_paid_ms: null,
    bank_payment: null,
    closed: true,
    marks: '',
    erased_ms: null,
  }
}
