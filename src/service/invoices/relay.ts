import type { Clock } from '../../ports/clock.ts'
import type { PaymentKey } from '../../ports/payments.ts'
import type { AllowanceRequest, Store } from '../../ports/store.ts'
import type { Derivation } from '../../ports/signer.ts'
import type { SignedAuthorization } from '../../pure/payments/eip3009.ts'
import { notRelayedText } from '../../pure/invoices/record.ts'
import { invoiceNonces } from '../../pure/invoices/terms.ts'
import { usdcText } from '../../pure/payments/usdc.ts'
import { providerNetwork, quotaClient, widerNetwork } from '../clients.ts'
import { INVOICE_RULES } from '../limits.ts'
import { takeEach } from '../payments/allowance.ts'
import type { X402Payment } from '../payments/payment-header.ts'
import { balanceReserved, boundToOtherRequest, type PaymentRefusal, refusalForCheck, refusedPayment } from '../payments/payment-refusals.ts'
import { decideRefused, type PaidUse, storeRestored, usedUnknown } from '../payments/restored-payments.ts'
import { identifierHolder } from '../payments/identifiers.ts'
import { claimPayment, type VerifiedPayment, verifyPayment, windowFault } from '../payments/payment-claims.ts'
import { paymentKey, pendingPayment, recoveredSigner } from '../payments/payment-results.ts'
import type { PaymentPurpose, PaymentResult, PaymentServiceParts, SplitAnswer } from '../payments/payment-parts.ts'
import { identifierTaken, replayPayment } from '../payments/payment-service.ts'
import type { Resend, ResendSecrets } from '../payments/resends.ts'
import { matchTerms, type PaymentTerms } from '../payments/terms.ts'
import { problem, type Problem } from '../problems.ts'
import type { InvoiceView } from './invoice-view.ts'
import { createSponsoring, type Sponsoring } from './sponsored.ts'
import type { InvoiceWatch } from './watch.ts'

export interface RelayParts {
  payments: PaymentServiceParts
  /** Terms of calls; invoices use only their token and network. */
  terms: PaymentTerms
  store: Pick<Store, 'take' | 'give_back' | 'used' | 'payments' | 'invoices'>
  clock: Clock
  derive: Derivation
  watch: InvoiceWatch
  /** Left out where gas costs nothing. */
  sponsoring?: Sponsoring
}

/** Sends a payer's signed transfer to the merchant of a stored invoice, at the service's expense. */
export interface InvoiceRelay {
  /** True when a gas wallet of this deployment sends transfers; facilitators are not used for invoices. */
  readonly carries: boolean
  /** Smallest amount that is sent now. */
  leastNow(): bigint
  /** Returns the amount due less pending payments, so that two simultaneous payers do not both pay the whole. */
  payableNow(view: InvoiceView): Promise<bigint>
  pay(view: InvoiceView, payment: X402Payment, sender: InvoicePayer): Promise<PaymentResult>
}

/** Sender of a payment for an invoice. */
interface InvoicePayer {
  address: string
  secrets: ResendSecrets
}

type RelayDesk = RelayParts & { sponsoring: Sponsoring }

export function createInvoiceRelay(given: RelayParts): InvoiceRelay {
  const parts: RelayDesk = { ...given, sponsoring: given.sponsoring ?? createSponsoring(given) }
  return {
    carries: parts.payments.settler.method === 'self',
    leastNow: () => parts.sponsoring.relayMinimum(),
    payableNow: (view) => payableNow(parts, view),
    pay: (view, payment, sender) => payOrReplay(parts, view, payment, sender),
  }
}

/**
 * A copy of the same request may be claimed, by this process or another, after this one has looked for it; the amount then looks pending or
 * paid. So a refusal is given only if the store has no row then.
 */
async function payOrReplay(parts: RelayDesk, view: InvoiceView, payment: X402Payment, sender: InvoicePayer): Promise<PaymentResult> {
  const end = await pay(parts, view, payment, sender)
  if (end.kind !== 'refused') return end
  const { authorization, identifier } = payment
  const resend = { ...sender.secrets, address: sender.address, client: quotaClient(sender.address), identifier }
  return (await replayPayment(parts.payments, purposeOf(view), authorization, resend)) ?? end
}

async function pay(parts: RelayDesk, view: InvoiceView, payment: X402Payment, sender: InvoicePayer): Promise<PaymentResult> {
  const { payments } = parts
  const { authorization, identifier } = payment
  const client = quotaClient(sender.address)
  const resend = { ...sender.secrets, address: sender.address, client, identifier }
  const stored = await replayPayment(payments, purposeOf(view), authorization, resend)
  if (stored !== null) return stored
  const conflict = await identifierConflict(payments, view, payment)
  if (conflict !== null) return conflict
  const verified = await verifyForInvoice(parts, view, payment, { address: sender.address, client })
  if (verified.kind === 'verified') {
    const request = { authorization, address: sender.address }
    return withBudget(parts, view, request, () => settle(parts, view, authorization, resend, verified))
  }
  const restore = (use: PaidUse) => restoreInvoice(parts, view, payment, { resend, use })
  return decideRefused(payments, { authorization, payee: view.invoice.merchant, client, restore }, verified)
}

async function verifyForInvoice(
  parts: RelayDesk,
  view: InvoiceView,
  payment: X402Payment,
  from: { address: string; client: string },
): Promise<VerifiedPayment | PaymentRefusal> {
  const { payments } = parts
  const { authorization } = payment
  const fault =
    paymentFault(parts, view, payment, await payableNow(parts, view, authorization)) ??
    (await otherInvoiceFault(parts, view, authorization))
  if (fault !== null) return refusedPayment(fault)
  const expired = windowFault(payments, authorization)
  if (expired !== null) return expired
  if (payments.settler.method !== 'self') {
    return refusedPayment(problem('NOT_CONFIGURED', 'This deployment has no gas wallet that sends payments of invoices.'))
  }
  return verifyPayment(payments, authorization, from)
}

/**
 * Rebuilds the row of a payment that the chain shows as paid to the merchant. Only a nonce of the invoice says which invoice it is for: with any
 * other, the transfer of one customer could be shown for the invoice of another.
 */
async function restoreInvoice(
  { payments, watch }: RelayParts,
  view: InvoiceView,
  { authorization }: X402Payment,
  { resend, use }: { resend: Resend; use: PaidUse },
): Promise<PaymentResult> {
  const { transaction } = use.at
  if (!invoiceNonces(view.terms).includes(authorization.nonce)) return usedUnknown(payments, paymentKey(authorization), transaction)
  const { invoice_id } = view.invoice
  const answer = splitAnswer(invoice_id, authorization.value_minor)
  const order = { authorization, resend, binding: invoiceBinding(view) }
  const restored = await storeRestored(payments, order, { use, right: 'restored', answer })
  await watch.lookInto(transaction).catch((error: unknown) => payments.onFault(error))
  return restored ?? (await replayPayment(payments, purposeOf(view), authorization, resend)) ?? boundToOtherRequest()
}

function invoiceBinding({ invoice, terms }: InvoiceView) {
  return { purpose: 'invoice', subject: invoice.invoice_id, input_hash: terms.cart_hash, price_class: 'invoice' } as const
}

/** As for calls: before verification only the payer's own signature leads to the first payment under the id. */
async function identifierConflict(
  payments: PaymentServiceParts,
  view: InvoiceView,
  { authorization, identifier }: X402Payment,
): Promise<PaymentResult | null> {
  if (identifier === null || recoveredSigner(payments, authorization) !== authorization.from) return null
  const holder = await identifierHolder(payments, paymentKey(authorization), identifier)
  return holder === null ? null : identifierTaken(payments, holder, purposeOf(view))
}

function purposeOf({ invoice }: InvoiceView): PaymentPurpose {
  return { purpose: 'invoice', subject: invoice.invoice_id, input_hash: null, countMismatch: () => Promise.resolve(true) }
}

/** `own`: a payment that is sent again is not counted as pending, since a process that died may have left its claim. */
async function payableNow({ store }: RelayParts, { invoice, standing }: InvoiceView, own?: SignedAuthorization): Promise<bigint> {
  const pending = await store.payments.under_way(invoice.invoice_id, own && { payer: own.from, nonce: own.nonce })
  return standing.due_minor > pending ? standing.due_minor - pending : 0n
}

const OVERTAKEN = 'Another payment of this invoice was faster, or its merchant voided it. Nothing was sent; read the invoice again.'

/** Returns the problem of an invoice whose whole amount is pending. */
export function fullyPendingProblem(): Problem {
  const detail = 'Payments for the whole amount due are pending. Read the invoice again in a moment.'
  return problem('INVOICE_NOT_PAYABLE', detail)
}

/**
 * Returns why the payment does not fit the invoice. An authorization with a nonce of the invoice may pay a part; any other must pay exactly
 * what is due and not pending.
 */
function paymentFault(
  { terms: { token, chain_id, network }, sponsoring }: RelayDesk,
  { invoice, terms, standing, transfer_way }: InvoiceView,
  payment: X402Payment,
  payable_minor: bigint,
): Problem | null {
  const { value_minor, nonce } = payment.authorization
  const { status, due_minor } = standing
  if (status === 'VOID' || status === 'EXPIRED')
    return problem('INVOICE_NOT_PAYABLE', `The invoice is ${status}; no payment of it is sent.`)
  if (due_minor === 0n) return problem('INVOICE_NOT_PAYABLE', 'The invoice is paid; no further payment of it is sent.')
  if (payable_minor === 0n) return fullyPendingProblem()
  const is_named = invoiceNonces(terms).includes(nonce)
  const amount_minor = is_named && value_minor <= payable_minor ? value_minor : payable_minor
  const match = matchTerms(payment, { token, chain_id, network, pay_to: invoice.merchant, amounts: new Set([amount_minor]) })
  if (!match.ok) return refusalForCheck(match).problem
  const least_minor = sponsoring.relayMinimum()
  if (value_minor >= least_minor) return null
  const too_small = `The authorization moves ${usdcText(value_minor)} USDC; payments of less than ${usdcText(least_minor)} USDC are not sent from here. Sign for at least that.`
  return problem('INVOICE_NOT_PAYABLE', payable_minor < least_minor ? notRelayedText(transfer_way, least_minor) : too_small)
}

/** On chain, a nonce of another invoice would pay that invoice. */
async function otherInvoiceFault({ store }: RelayParts, { invoice }: InvoiceView, { nonce }: SignedAuthorization): Promise<Problem | null> {
  const named = await store.invoices.find_by_nonce(nonce)
  if (named === null || named.invoice_id === invoice.invoice_id) return null
  return problem(
    'NONCE_BOUND',
    'The nonce of this authorization belongs to another invoice. Sign with payment_nonce of this invoice, or with a random nonce.',
  )
}

/** A payment, and the address of the client that sent it. */
interface RelayRequest {
  authorization: SignedAuthorization
  address: string
}

/**
 * Returns the daily budgets of gas for a client, its network and provider, the payer, the network that created the invoice, a merchant and all. Unsigned
 * invoices have separate budgets for the last two.
 */
async function relayBudgets(
  { clock, derive, store, sponsoring }: RelayDesk,
  { invoice }: InvoiceView,
  { authorization, address }: RelayRequest,
): Promise<AllowanceRequest[]> {
  const now_ms = clock.now_ms()
  const day = Math.floor(now_ms / 86_400_000)
  const known_before_s = Math.floor(now_ms / 1_000) - INVOICE_RULES.known_merchant_s
  const [origin, is_known] = await Promise.all([
    store.invoices.deposit_origin(invoice.invoice_id),
    store.payments.paid_before(authorization.from, invoice.merchant, known_before_s),
  ])
  const relayed = {
    payer: authorization.from,
    value_minor: authorization.value_minor,
    merchant: invoice.merchant,
    is_signed: invoice.issue_signature !== null,
    creator: origin?.creator ?? null,
    is_known,
  }
  const hashed = (name: string) => derive.hmac('invoice relay', `${day}|${name}`).slice(0, 32)
  return [
    { day, bucket: 'invoice-relay-client', client: hashed(quotaClient(address)), limit: INVOICE_RULES.relays_daily_client },
    { day, bucket: 'invoice-relay-network', client: hashed(`network|${widerNetwork(address)}`), limit: INVOICE_RULES.relays_daily_network },
    {
      day,
      bucket: 'invoice-relay-provider',
      client: hashed(`provider|${providerNetwork(address)}`),
      limit: INVOICE_RULES.relays_daily_provider,
    },
    ...sponsoring.relayBudgets(relayed, now_ms),
  ]
}

/** A payment and whether a transaction of the gas wallet carries it. */
interface Settled {
  sent: boolean
  result: PaymentResult
}

/** Runs `work` within the daily budgets of gas. Returns their units when nothing was sent. */
async function withBudget(
  parts: RelayDesk,
  view: InvoiceView,
  request: RelayRequest,
  work: () => Promise<Settled>,
): Promise<PaymentResult> {
  const asked = await relayBudgets(parts, view, request)
  const budgets = await takeEach(parts.store, asked)
  if (!budgets.granted) return shareUsedUp(asked[budgets.grants.length - 1]?.bucket ?? '')
  const giveBack = () => budgets.give_back().catch((error: unknown) => parts.payments.onFault(error))
  try {
    const { sent, result } = await work()
    if (!sent) await giveBack()
    return result
  } catch (error) {
    // An error ends `work` before its payment is settling, so nothing was sent.
    await giveBack()
    throw error
  }
}

/** Parties whose share of a day can be used up, by their budgets. */
const SHARES: Readonly<Record<string, string>> = {
  'invoice-relay-client': 'this client',
  'invoice-relay-network': 'the network of this client (its /24, or IPv6 /48)',
  'invoice-relay-provider': 'the network of the provider of this client (its /16, or IPv6 /32)',
  'invoice-relay-new': 'payers and merchants that are new here; a payer that has paid for a call is not',
  'invoice-relay-new-unsigned': 'payers and merchants of unsigned invoices that are new here; a payer that has paid for a call is not',
  'invoice-relay-payer': 'this payer',
  'invoice-relay-creator': 'the network that created the invoice',
  'invoice-relay-merchant': 'this merchant',
  'invoice-relay-merchant-unsigned': 'unsigned invoices of this merchant',
}

function shareUsedUp(bucket: string): PaymentResult {
  const whose = SHARES[bucket] ?? `payments of less than ${usdcText(INVOICE_RULES.sponsored_large_minor)} USDC, or for all together`
  const detail = `The number of payments that are sent from here without a fee is used up for ${whose} until 00:00 UTC. Nothing was sent; pay from a wallet.`
  return refusedPayment(problem('INVOICE_RATE_LIMITED', detail, { retry_after_s: 3_600 }))
}

async function settle(
  parts: RelayParts,
  view: InvoiceView,
  authorization: SignedAuthorization,
  resend: Resend,
  verified: Parameters<typeof claimPayment>[2],
): Promise<Settled> {
  const { payments, watch } = parts
  const { invoice_id } = view.invoice
  const claimed = await claimPayment(payments, authorization, verified, resend, invoiceBinding(view))
  switch (claimed.kind) {
    case 'over_reserved':
      return { sent: false, result: balanceReserved() }
    case 'over_due':
      return { sent: false, result: refusedPayment(problem('INVOICE_NOT_PAYABLE', OVERTAKEN)) }
    case 'identifier_taken':
      return { sent: false, result: identifierTaken(payments, claimed.payment, purposeOf(view)) }
    case 'exists': {
      // Another request with the same authorization was faster, for this invoice or for something else.
      const stored = await replayPayment(payments, purposeOf(view), authorization, resend)
      return { sent: false, result: stored ?? pendingPayment(payments, { payer: authorization.from, nonce: authorization.nonce }, null) }
    }
    case 'claimed': {
      const result = await claimed.claim.settle(splitAnswer(invoice_id, authorization.value_minor))
      // The row stays settled when this fails; the job that watches merchants finds the transfer too.
      const transaction = result.kind === 'paid' ? result.settlement.transaction : null
      if (transaction !== null) await watch.lookInto(transaction).catch((error: unknown) => payments.onFault(error))
      return { sent: await wasSent(parts, claimed.claim, claimed.fence, result), result }
    }
  }
}

/** Returns false when no transaction of the gas wallet carries the payment of this claim, and none will. */
async function wasSent(
  { store, payments }: RelayParts,
  { payer, nonce }: PaymentKey,
  fence: number,
  result: PaymentResult,
): Promise<boolean> {
  if (result.kind === 'pending') return true
  try {
    const row = await store.payments.find({ payer, nonce })
    return row !== null && row.fence === fence && row.account_nonce !== null
  } catch (error) {
    payments.onFault(error)
    return true
  }
}

/** Returns the answer that is stored, and replayed for the same authorization. */
function splitAnswer(invoice_id: string, value_minor: bigint): SplitAnswer {
  return { head: `{"invoice_id":${JSON.stringify(invoice_id)},"paid_minor":"${value_minor}","settlement":`, tail: '}' }
}
