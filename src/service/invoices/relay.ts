import type { Clock } from '../../ports/clock.ts'
import type { ClaimRequest, PaymentKey } from '../../ports/payments.ts'
import type { AllowanceRequest, Store } from '../../ports/store.ts'
import type { Derivation } from '../../ports/derivation.ts'
import type { SignedAuthorization } from '../../pure/payments/authorization.ts'
import { notCarried, usdcText } from '../../pure/invoices/record.ts'
import { invoiceNonces } from '../../pure/invoices/terms.ts'
import { quotaClient, widerNetwork } from '../clients.ts'
import { limits } from '../limits.ts'
import { problem, type Problem } from '../problems.ts'
import { takeEach } from '../payments/budgets.ts'
import {
  type AnswerParts,
  type BoundTo,
  claimOf,
  type DeskParts,
  keyOf,
  type PaymentEnd,
  pendingOf,
  recovered,
  refused as refusedWord,
  replay,
} from '../payments/desk.ts'
import { contextOf, resendHashes, tokenHash, type Resend, type ResendSecrets } from '../payments/resends.ts'
import { checkWindow, matchTerms } from '../payments/match-terms.ts'
import type { OnChainPass } from '../payments/on-chain.ts'
import type { X402Payment } from '../payments/payment-header.ts'
import * as refusals from '../payments/payment-refusals.ts'
import { claimReserved } from '../payments/reserve.ts'
import type { PaymentPlace } from '../payments/terms.ts'
import { INVOICE_RULES } from './rules.ts'
import type { InvoiceView } from './view.ts'
import type { InvoiceWatch } from './watch.ts'

export interface RelayParts {
  desk: DeskParts
  /** Whom calls pay; of it only the token and the network hold here. */
  place: PaymentPlace
  store: Pick<Store, 'take' | 'give_back' | 'payments' | 'invoices'>
  clock: Clock
  derive: Derivation
  watch: InvoiceWatch
}

/** Carries a payer's signed transfer to the chain, at the service's own expense, to the merchant of the stored invoice and nobody else. */
export interface InvoiceRelay {
  /** A gas wallet of its own carries payments; a facilitator is given none. */
  readonly carries: boolean
  /** What is due and nobody is paying yet: more than that is taken from nobody, so that two who pay at once do not both pay the whole. */
  room(view: InvoiceView): Promise<bigint>
  pay(view: InvoiceView, payment: X402Payment, sender: InvoicePayer): Promise<PaymentEnd>
}

/** Sender of a payment for an invoice. */
interface InvoicePayer {
  address: string
  secrets: ResendSecrets
}

export function createInvoiceRelay(parts: RelayParts): InvoiceRelay {
  return {
    carries: parts.desk.settler.method === 'self',
    room: (view) => room(parts, view),
    pay: (view, payment, sender) => pay(parts, view, payment, sender),
  }
}

async function pay(parts: RelayParts, view: InvoiceView, payment: X402Payment, sender: InvoicePayer): Promise<PaymentEnd> {
  const { authorization, identifier } = payment
  const client = quotaClient(sender.address)
  const resend = { ...sender.secrets, address: sender.address, client, identifier }
  const before = await replay(parts.desk, boundTo(view), authorization, resend)
  if (before !== null) return before
  const unfit = fault(parts, view, payment, await room(parts, view)) ?? (await namesAnother(parts, view, authorization))
  if (unfit !== null) return refused(unfit)
  const window = checkWindow(authorization, Math.floor(parts.clock.now_ms() / 1_000), WINDOW)
  if (!window.ok) return refusedWord(window)
  const { settler, onChain } = parts.desk
  if (settler.method !== 'self') return refused(problem('NOT_CONFIGURED', 'This deployment has no gas wallet that carries payments.'))
  const standing = await parts.desk.standing.refusal(authorization.from, sender.address)
  if (standing !== null) return { kind: 'refused', ...standing }
  const ready = await settler.ready(authorization.from)
  if (!ready.ok) return { kind: 'refused', ...refusals.unavailable(ready.detail, ready.retry_after_s) }
  const seen = await onChain(authorization, recovered(parts.desk, authorization), client)
  if (!seen.ok) return refusedWord(seen)
  return withBudget(parts, view, sender.address, () => settle(parts, view, authorization, resend, seen, ready.settler))
}

const WINDOW = { least_left_s: limits.payment_least_left_s, longest_s: limits.payment_longest_s, skew_s: limits.payment_skew_s }

function boundTo({ invoice }: InvoiceView): BoundTo {
  return { purpose: 'invoice', subject: invoice.invoice_id, input_hash: null, countMismatch: () => Promise.resolve(true) }
}

async function room({ store }: RelayParts, { invoice, standing }: InvoiceView): Promise<bigint> {
  const under_way = await store.payments.under_way(invoice.invoice_id)
  return standing.due_minor > under_way ? standing.due_minor - under_way : 0n
}

const OVERTAKEN = 'Another payment of this invoice was faster, or its merchant voided it. Nothing was sent; read the invoice again.'

/** Why nothing more is taken now. */
export function beingPaid(): Problem {
  const detail = 'Payments of all that is due are on their way, and nothing more is taken meanwhile. Read the invoice again in a moment.'
  return problem('INVOICE_NOT_PAYABLE', detail)
}

/** An authorization that names the invoice may pay a part; one with a nonce of its own must pay exactly what is due and not under way. */
function fault({ place }: RelayParts, { invoice, terms, standing }: InvoiceView, payment: X402Payment, room_minor: bigint): Problem | null {
  const { value_minor, nonce } = payment.authorization
  const { status, due_minor } = standing
  if (status === 'VOID' || status === 'EXPIRED' || due_minor === 0n) {
    return problem(
      'INVOICE_NOT_PAYABLE',
      `The invoice is ${status === 'VOID' || status === 'EXPIRED' ? status : 'paid'}; nothing more is carried to the chain.`,
    )
  }
  if (room_minor === 0n) return beingPaid()
  const named = invoiceNonces(terms).includes(nonce)
  const fits = named && value_minor <= room_minor ? value_minor : room_minor
  const match = matchTerms(payment, { ...place, pay_to: invoice.merchant, amounts: new Set([fits]) })
  if (!match.ok) return problem(match.code, match.detail, { extra: { invalid_reason: match.x402_reason } })
  if (value_minor >= INVOICE_RULES.relay_minimum_minor) return null
  const least_minor = INVOICE_RULES.relay_minimum_minor
  const part = `Less than ${usdcText(least_minor)} USDC is not carried to the chain here; sign for that much at least.`
  return problem('INVOICE_NOT_PAYABLE', room_minor < least_minor ? notCarried(invoice.issue_signature !== null, least_minor) : part)
}

/** The chain would show it as a payment of that other invoice. */
async function namesAnother({ store }: RelayParts, { invoice }: InvoiceView, { nonce }: SignedAuthorization): Promise<Problem | null> {
  const named = await store.invoices.find_by_nonce(nonce)
  if (named === null || named.invoice_id === invoice.invoice_id) return null
  return problem(
    'NONCE_BOUND',
    'The nonce of this authorization names another invoice. Sign with one that names this invoice, or with a random one.',
  )
}

/**
 * Daily budgets of the operator's gas: for a client, its network, a merchant and all. Payments of unsigned invoices have budgets of their own for the
 * last two, so that they use up nothing of signed ones.
 */
function relayBudgets({ clock, derive }: RelayParts, { invoice }: InvoiceView, address: string): AllowanceRequest[] {
  const day = Math.floor(clock.now_ms() / 86_400_000)
  const hashed = (name: string) => derive.hmac('invoice relay', `${day}|${name}`).slice(0, 32)
  const unsigned = invoice.issue_signature === null ? '-unsigned' : ''
  return [
    { day, bucket: 'invoice-relay-client', client: hashed(quotaClient(address)), limit: INVOICE_RULES.relays_daily_client },
    { day, bucket: 'invoice-relay-network', client: hashed(`network|${widerNetwork(address)}`), limit: INVOICE_RULES.relays_daily_network },
    { day, bucket: `invoice-relay-merchant${unsigned}`, client: invoice.merchant, limit: INVOICE_RULES.relays_daily_merchant },
    { day, bucket: `invoice-relay${unsigned}`, client: 'all', limit: INVOICE_RULES.relays_daily },
  ]
}

/** Runs `work` within the daily budgets, which bound the operator's gas. Returns the units when no transaction was sent. */
async function withBudget(
  parts: RelayParts,
  view: InvoiceView,
  address: string,
  work: () => Promise<{ sent: boolean; end: PaymentEnd }>,
): Promise<PaymentEnd> {
  const budgets = await takeEach(parts.store, relayBudgets(parts, view, address))
  if (!budgets.granted) {
    const detail =
      'The payments that are carried to the chain in a day are used up for this client, this merchant or all. Pay from a wallet.'
    return refused(problem('INVOICE_RATE_LIMITED', detail, { retry_after_s: 3_600 }))
  }
  let sent = false
  try {
    const done = await work()
    sent = done.sent
    return done.end
  } finally {
    // An error ends `work` before its payment says `settling`, so nothing was sent either.
    if (!sent) await budgets.give_back().catch((error: unknown) => parts.desk.onFault(error))
  }
}

/** Returns false when no transaction of the gas wallet carries the payment of this claim, and none will. */
async function wasSent({ store, desk }: RelayParts, key: PaymentKey, fence: number, end: PaymentEnd): Promise<boolean> {
  if (end.kind === 'pending') return true
  try {
    const row = await store.payments.find(key)
    return row !== null && row.fence === fence && row.account_nonce !== null
  } catch (error) {
    desk.onFault(error)
    return true
  }
}

async function settle(
  parts: RelayParts,
  view: InvoiceView,
  authorization: SignedAuthorization,
  resend: Resend,
  seen: OnChainPass,
  settler: string,
): Promise<{ sent: boolean; end: PaymentEnd }> {
  const { desk, watch, clock } = parts
  const { invoice, terms } = view
  const now_ms = clock.now_ms()
  const key = keyOf(authorization)
  const asked: ClaimRequest = {
    ...key,
    purpose: 'invoice',
    subject: invoice.invoice_id,
    input_hash: terms.cart_hash,
    to: invoice.merchant,
    value_minor: authorization.value_minor,
    valid_after_s: authorization.valid_after_s,
    valid_before_s: authorization.valid_before_s,
    signature: seen.signature,
    ...resendHashes(desk.sealer, key, resend.address, resend.identifier),
    contract_payer: seen.contract_payer,
    price_class: 'invoice',
    balance_minor: seen.balance_minor,
    now_ms,
    claim_until_ms: now_ms + limits.claim_ms,
    token_hash: tokenHash(desk, desk.sealer.token(contextOf(key))),
  }
  const claimed = await claimReserved(desk, asked)
  if (claimed.kind === 'over_reserved') return { sent: false, end: { kind: 'refused', ...refusals.overReserved() } }
  if (claimed.kind === 'over_due') return { sent: false, end: refused(problem('INVOICE_NOT_PAYABLE', OVERTAKEN)) }
  if (claimed.kind === 'exists') {
    // Another request with the same authorization was faster: for this invoice, or for something else.
    const end = await replay(parts.desk, boundTo(view), authorization, resend)
    return { sent: false, end: end ?? { kind: 'pending', pending: pendingOf(desk, key, null) } }
  }
  const claim = claimOf(desk, asked, { fence: claimed.fence, settler, address: resend.address })
  await desk.reach('after_claim')
  const end = await claim.settle(answerText(invoice.invoice_id, authorization.value_minor))
  // The row is settled whatever becomes of this look; the job that watches merchants finds the transfer too.
  const transaction = end.kind === 'paid' ? end.settlement.transaction : null
  if (transaction !== null) await watch.lookInto(transaction).catch((error: unknown) => desk.onFault(error))
  return { sent: await wasSent(parts, key, claimed.fence, end), end }
}

/** Kept, and given out again for the same authorization. */
function answerText(invoice_id: string, value_minor: bigint): AnswerParts {
  return { head: `{"invoice_id":${JSON.stringify(invoice_id)},"paid_minor":"${value_minor}","settlement":`, tail: '}' }
}

function refused(found: Problem): PaymentEnd {
  return { kind: 'refused', problem: found, x402_reason: null }
}
