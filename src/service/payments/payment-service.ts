import type { SteadyClock } from '../../ports/clock.ts'
import type { ClaimRequest, Payment, PaymentKey, PaymentStore } from '../../ports/payments.ts'
import { hasClaimExpired, UNSENT_STATES } from '../../pure/payments/states.ts'
import { normaliseSignature, recoverPayer, type Authorization, type SignedAuthorization } from '../../pure/payments/eip3009.ts'
import type { ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import { limits } from '../limits.ts'
import { createInFlight, type InFlight } from './in-flight.ts'
import { type OnChainCheck, type OnChainPass, tokenSignature } from './on-chain.ts'
import type { AnyPayment, ChannelPayment, X402Payment } from './payment-header.ts'
import * as refusals from './payment-refusals.ts'
import type { PaymentRefusal } from './payment-refusals.ts'
import { resendAccess, paymentContext, type Resend, resendHashes, type ResendParts, type ResendSecrets, tokenHash } from './resends.ts'
import { claimWithinBalance, type PayerBalances, type PayerStatus } from './reserved-balances.ts'
import {
  type ChargedChannel,
  type CreditSettlement,
  type Pending,
  type FaultHook,
  type PaidSettlement,
  settlementOf,
  type Settler,
  type SettleResult,
} from './settlement.ts'
import { type AcceptableTerms, checkWindow, matchTerms } from './terms.ts'

/** Takes payments: binds them to a request, settles them and replays stored answers. The store, not this process, guarantees each promise. */
export interface PaymentService {
  /** Returns the result of the same payment sent before; null when it may be admitted. */
  replay(request: BoundRequest, payment: AnyPayment): Promise<PaymentResult | null>
  /** Verifies the payment, cheapest checks first, then claims it. */
  admit(request: BoundRequest, payment: AnyPayment, acceptable: AcceptableTerms): Promise<AdmittedPayment>
  /** Releases an unsent claim of a process that has ended. A claim of this process stays. */
  releaseAbandoned(payment: AnyPayment): Promise<void>
  /** Returns the answer token of a payment, for parts that hold the payer's own request. */
  tokenOf(payment: AnyPayment): string
  /** Returns the result of the payment that an answer token names. */
  fetch(token: string): Promise<PaymentResult | null>
  find(key: PaymentKey): Promise<Payment | null>
  /** Returns true when the signature recovers to the payer; never for a contract wallet. */
  isSigned(payment: AnyPayment): boolean
}

/** Takes the vouchers of payment channels (scheme batch-settlement). A voucher is claimed by no row before it is charged. */
export interface ChannelService {
  replay(request: BoundRequest, payment: ChannelPayment): Promise<PaymentResult | null>
  admit(request: BoundRequest, payment: ChannelPayment, acceptable: AcceptableTerms): Promise<AdmittedPayment>
  /** Key of the payment row that the charge of the voucher writes. */
  keyOf(payment: ChannelPayment): PaymentKey
  isSigned(payment: ChannelPayment): boolean
}

/** Result of a payment for its payer. `text` is the whole body of the answer. */
export type PaymentResult =
  | { kind: 'paid'; text: string; settlement: PaidSettlement | CreditSettlement }
  | { kind: 'pending'; pending: Pending }
  | PaymentRefusal

export type AdmittedPayment = { kind: 'claimed'; claim: Claim } | PaymentResult

/** The request that a payment is bound to. */
export interface BoundRequest {
  tool: string
  price_class: string
  input_hash: string
  /** Client under which resends with another input are counted. */
  client: string
  address: string
  secrets: ResendSecrets
}

/** A payment that this process has bound to one request. The tool may run; nothing is sent before `settle`. */
export interface Claim extends PaymentKey {
  /** Price in minor units of USDC; what is paid, but for another token. */
  readonly amount_minor: bigint
  /** Token other than USDC, and its amount. */
  readonly token?: { asset: string; amount_minor: bigint }
  /** Stores the answer, settles, and returns the answer with its settlement. */
  settle(answer: SplitAnswer): Promise<PaymentResult>
  /** Releases the payment before anything was sent. */
  release(reason: string): Promise<void>
}

/** Text of an answer before and after the place of its settlement, which is known last. */
export interface SplitAnswer {
  head: string
  tail: string
}

/** Parts that turn a payment row into a result. */
interface ResultParts extends ResendParts {
  store: PaymentStore
  inFlightClaims: InFlight<PaymentKey, Payment>
  /** Network of the deployment, on which payments without an asset are. */
  chain_id: number
  /** Token that these parts take, as in the row of a payment. */
  asset: string | null
  digest(authorization: Authorization): Uint8Array
  crypto: Pick<ReceiptCrypto, 'recover' | 'keccak256Hex'>
}

/** Parts that settle a claim. */
interface ClaimParts extends ResultParts {
  settler: Settler
  payerStatus: PayerStatus
  /** Reports an unexpected error that does not prevent an answer. */
  onFault(error: unknown): void
  reach: FaultHook
}

export interface PaymentServiceParts extends ClaimParts {
  onChain: OnChainCheck
  payerBalances: PayerBalances
  /** Absent where the scheme batch-settlement is not offered. */
  channels?: ChannelService | null
}

export function createPaymentService(parts: PaymentServiceParts): PaymentService {
  return {
    replay: async (request, payment) => {
      if (payment.scheme === 'exact') return replayCall(parts, request, payment)
      return (await parts.channels?.replay(request, payment)) ?? null
    },
    admit: async (request, payment, acceptable) => {
      if (payment.scheme === 'exact') return admit(parts, request, payment, acceptable)
      return (await parts.channels?.admit(request, payment, acceptable)) ?? refusals.channelsNotOffered()
    },
    // A voucher is bound to nothing before its charge.
    releaseAbandoned: async (payment) =>
      payment.scheme === 'exact' ? releaseAbandoned(parts, paymentKey(payment.authorization)) : undefined,
    tokenOf: (payment) => {
      const key = payment.scheme === 'exact' ? paymentKey(payment.authorization) : parts.channels?.keyOf(payment)
      return key === undefined ? '' : parts.sealer.token(paymentContext(key))
    },
    fetch: async (token) => {
      const payment = await parts.store.find_by_token(tokenHash(parts, token))
      return payment === null ? null : resultOf(parts, payment)
    },
    find: (key) => parts.store.find(key),
    isSigned: (payment) => {
      if (payment.scheme === 'batch-settlement') return parts.channels?.isSigned(payment) === true
      return recoveredSigner(parts, payment.authorization) === payment.authorization.from
    },
  }
}

/** Tracks the payments that calls are working on. */
export function createInFlightClaims(store: Pick<PaymentStore, 'find'>, clock: SteadyClock): InFlight<PaymentKey, Payment> {
  return createInFlight({ find: (key: PaymentKey) => store.find(key), isOpen, nameOf: paymentContext }, clock)
}

/** Returns true while a request works on the payment. */
function isOpen({ state }: Payment): boolean {
  return state === 'claimed' || state === 'prepared' || state === 'settling'
}

/** Purpose that a payment is bound to: a call or an invoice. */
export interface PaymentPurpose {
  purpose: Payment['purpose']
  subject: string
  /** Null where the subject alone identifies the request. */
  input_hash: string | null
  /** Counts a resend for another purpose; false when there were too many. */
  countMismatch(key: PaymentKey): Promise<boolean>
}

/**
 * Returns the result of the same authorization sent before; null when it is new, or was released and may be claimed again. An authorization
 * that is bound to another purpose is refused.
 */
export async function replayPayment(
  parts: ResultParts,
  bound: PaymentPurpose,
  authorization: SignedAuthorization,
  resend: Resend,
): Promise<PaymentResult | null> {
  const key = paymentKey(authorization)
  const found = await parts.store.find(key)
  if (found === null) return null
  if (!isSignedByPayer(parts, found, authorization)) return refusals.signatureMismatch()
  const denied = await deniedAccess(parts, found, resend)
  if (denied !== null) return denied
  if (found.asset !== parts.asset || !isBoundTo(found, bound, authorization)) {
    return (await bound.countMismatch(key)) ? refusals.boundToOtherRequest() : refusals.tooManyMismatches()
  }
  if (mayClaimAgain(found, parts.clock.now_ms())) return null
  const row = isOpen(found) ? await parts.inFlightClaims.waitForResult(key, limits.settle_wait_ms) : found
  return row === null || row.state === 'released' ? null : resultOf(parts, row)
}

function replayCall(parts: ResultParts, request: BoundRequest, { authorization, identifier }: X402Payment): Promise<PaymentResult | null> {
  const { tool: subject, input_hash, client, address, secrets } = request
  const countMismatch = (key: PaymentKey) => parts.mismatches.add(key, client)
  const bound: PaymentPurpose = { purpose: 'call', subject, input_hash, countMismatch }
  return replayPayment(parts, bound, authorization, { ...secrets, address, client, identifier })
}

/** Returns true for a released payment and for an unsent claim that has expired. */
export function mayClaimAgain({ state, claim_until_ms }: Payment, now_ms: number): boolean {
  if (state === 'released') return true
  return (state === 'claimed' || state === 'prepared') && hasClaimExpired(claim_until_ms, now_ms, limits.claim_ms)
}

/** Returns true when the authorization may have left this deployment, so that others can know it. */
function isExposed({ state }: Payment): boolean {
  return state !== 'claimed' && state !== 'prepared' && state !== 'released'
}

/**
 * Returns the refusal of a resend without a right to the answer; null for one that has it. The refusal depends on the state of the payment,
 * which is public, and never on the tool or the input of the resend.
 */
async function deniedAccess(parts: ResultParts, found: Payment, resend: Resend): Promise<PaymentResult | null> {
  if (!isExposed(found)) return null
  const access = await resendAccess(parts, found, resend)
  if (access === 'granted') return null
  if (access === 'limited') return refusals.tooManyMismatches()
  if (found.state === 'refused' || found.state === 'lost') return resultOf(parts, found)
  return refusals.alreadyUsed(found, parts.signIn.challenge(found))
}

/** Accepts the signature of the stored row, in the form that the token takes, or one that recovers to the payer. */
function isSignedByPayer(parts: ResultParts, found: Payment, authorization: SignedAuthorization): boolean {
  return found.signature === tokenSignature(authorization) || recoveredSigner(parts, authorization) === authorization.from
}

/** A payer may sign two authorizations with one nonce; only the first is bound. */
function isBoundTo(found: Payment, { purpose, subject, input_hash }: PaymentPurpose, authorization: SignedAuthorization): boolean {
  return (
    found.purpose === purpose &&
    found.subject === subject &&
    (input_hash === null || found.input_hash === input_hash) &&
    found.to === authorization.to &&
    found.value_minor === authorization.value_minor &&
    found.valid_after_s === authorization.valid_after_s &&
    found.valid_before_s === authorization.valid_before_s
  )
}

/** Returns the account whose key made the signature; null when none did, as for contract wallets. */
function recoveredSigner({ digest, crypto }: ResultParts, authorization: SignedAuthorization): string | null {
  const signature = normaliseSignature(authorization.signature)
  return signature === null ? null : recoverPayer(digest(authorization), signature, crypto.recover)
}

/** Returns the result of a row that can no longer be claimed. */
export async function resultOf(parts: ResultParts, payment: Payment): Promise<PaymentResult> {
  switch (payment.state) {
    case 'settled':
      return payment.purpose === 'deposit' ? refusals.depositArrived() : storedAnswer(parts, payment)
    case 'refused':
    case 'lost':
    case 'released':
      return refusals.settlementFailed(payment, Math.floor(parts.clock.now_ms() / 1_000))
    case 'claimed':
    case 'prepared':
    case 'settling':
    case 'unknown':
      return pendingPayment(parts, payment, payment.transaction)
  }
}

async function storedAnswer(parts: ResultParts, payment: Payment): Promise<PaymentResult> {
  const stored = await parts.store.answer(payment)
  const text =
    stored === null || stored.expires_ms <= parts.clock.now_ms() ? null : parts.sealer.open(stored.sealed, paymentContext(payment))
  if (text === null) return refusals.answerExpired(payment)
  const [head = '', tail = ''] = text.split('\n')
  return paidResult(parts, payment, { head, tail })
}

export type PaidRow = Parameters<typeof settlementOf>[0] & Pick<Payment, 'purpose' | 'subject' | 'settled_ms' | 'updated_ms'> & VoucherRow
type VoucherRow = Pick<Payment, 'settler' | 'cumulative_minor'>

export function paidResult(
  { chain_id }: Pick<ResultParts, 'chain_id'>,
  payment: PaidRow,
  { head, tail }: SplitAnswer,
  charged: Pick<ChargedChannel, 'state' | 'deposit'> = { state: null, deposit: null },
): PaymentResult {
  const settlement = settlementOf(payment, chain_id)
  const settled_s = Math.floor((payment.settled_ms ?? payment.updated_ms) / 1_000)
  const sold = payment.purpose === 'call' ? { tool: payment.subject, settled_s } : null
  const { settler, cumulative_minor, value_minor: charged_minor } = payment
  const channel =
    settler === null || cumulative_minor === null ? {} : { channel: { channel_id: settler, charged_minor, cumulative_minor, ...charged } }
  return { kind: 'paid', text: head + JSON.stringify(settlement) + tail, settlement: { ...settlement, sold, ...channel } }
}

export function pendingPayment(parts: ResultParts, { payer, nonce }: PaymentKey, transaction: string | null): PaymentResult {
  return { kind: 'pending', pending: { payer, nonce, transaction, token: parts.sealer.token(paymentContext({ payer, nonce })) } }
}

function paymentKey({ from, nonce }: Authorization): PaymentKey {
  return { payer: from, nonce }
}

async function admit(
  parts: PaymentServiceParts,
  request: BoundRequest,
  payment: X402Payment,
  acceptable: AcceptableTerms,
): Promise<AdmittedPayment> {
  const { authorization, identifier } = payment
  const { tool: subject, input_hash, price_class, address, client } = request
  const match = matchTerms(payment, acceptable)
  if (!match.ok) return refusals.refusalForCheck(match)
  const expired = windowFault(parts, authorization)
  if (expired !== null) return expired
  const verified = await verifyPayment(parts, authorization, { address, client })
  if (verified.kind === 'refused') return verified
  const purpose = { purpose: 'call', subject, input_hash, price_class } as const
  const claimed = await claimPayment(parts, authorization, verified, { address, identifier }, purpose)
  switch (claimed.kind) {
    case 'claimed':
      return { kind: 'claimed', claim: claimed.claim }
    case 'over_reserved':
      return refusals.balanceReserved()
    case 'over_due':
      throw new Error('a call was claimed as a payment of an invoice')
    case 'exists':
      // Another request with the same payment was faster.
      return (await replayCall(parts, request, payment)) ?? pendingPayment(parts, paymentKey(authorization), null)
  }
}

const WINDOW = { least_left_s: limits.payment_least_left_s, longest_s: limits.payment_longest_s, skew_s: limits.payment_skew_s }

/** Returns the refusal of an authorization that is not valid now, or not for long enough; null when it is. */
export function windowFault({ clock }: Pick<PaymentServiceParts, 'clock'>, authorization: Authorization): PaymentRefusal | null {
  const window = checkWindow(authorization, Math.floor(clock.now_ms() / 1_000), WINDOW)
  return window.ok ? null : refusals.refusalForCheck(window)
}

interface VerifiedPayment {
  kind: 'verified'
  seen: OnChainPass
  /** Gas wallet or facilitator that was ready. */
  settler: string
}

/** Checks the payer's record, a settler that is ready, and the transfer itself by simulation on the chain. */
export async function verifyPayment(
  parts: PaymentServiceParts,
  authorization: SignedAuthorization,
  { address, client }: { address: string; client: string },
): Promise<VerifiedPayment | PaymentRefusal> {
  const shut_out = await parts.payerStatus.refusal(authorization.from, address)
  if (shut_out !== null) return shut_out
  const ready = await parts.settler.ready(authorization.from)
  if (!ready.ok) return refusals.settlementUnavailable(ready.detail, ready.retry_after_s)
  const seen = await parts.onChain(authorization, recoveredSigner(parts, authorization), client)
  return seen.ok ? { kind: 'verified', seen, settler: ready.settler } : refusals.refusalForCheck(seen)
}

/** Claims a verified authorization for a purpose, if the payer's balance covers it and its other payments; the store decides. */
export async function claimPayment(
  parts: PaymentServiceParts,
  authorization: SignedAuthorization,
  { seen, settler }: Pick<VerifiedPayment, 'seen' | 'settler'>,
  { address, identifier }: Pick<Resend, 'address' | 'identifier'>,
  purpose: Pick<ClaimRequest, 'purpose' | 'subject' | 'input_hash' | 'price_class'>,
): Promise<{ kind: 'claimed'; claim: Claim; fence: number } | { kind: 'over_reserved' | 'over_due' | 'exists' }> {
  const now_ms = parts.clock.now_ms()
  const key = paymentKey(authorization)
  const { to, value_minor, valid_after_s, valid_before_s } = authorization
  const request: ClaimRequest = {
    ...key,
    ...purpose,
    asset: parts.asset,
    to,
    value_minor,
    valid_after_s,
    valid_before_s,
    signature: seen.signature,
    ...resendHashes(parts.sealer, key, address, identifier),
    contract_payer: seen.contract_payer,
    balance_minor: seen.balance_minor,
    now_ms,
    claim_until_ms: now_ms + limits.claim_ms,
    token_hash: tokenHash(parts, parts.sealer.token(paymentContext(key))),
  }
  const claimed = await claimWithinBalance(parts, request)
  if (claimed.kind !== 'claimed') return { kind: claimed.kind }
  const { fence } = claimed
  const claim = createClaim(parts, request, { fence, settler, address })
  await parts.reach('after_claim')
  return { kind: 'claimed', claim, fence }
}

/** Releases only the state and the claim that were read, so that a claim of another process that begins meanwhile stays. */
async function releaseAbandoned({ store, inFlightClaims, clock }: PaymentServiceParts, key: PaymentKey): Promise<void> {
  if (inFlightClaims.isHere(key)) return
  const found = await store.find(key)
  const isUnsent = found !== null && found.purpose === 'call' && UNSENT_STATES.includes(found.state)
  if (isUnsent) await store.release(key, found.fence, 'abandoned', clock.now_ms())
}

/** A claim that the store has granted. */
interface ClaimGrant {
  readonly fence: number
  /** Gas wallet or facilitator that was ready. */
  readonly settler: string
  /** Address of the client. */
  readonly address: string
}

interface HeldClaim {
  readonly key: PaymentKey
  readonly request: ClaimRequest
  readonly grant: ClaimGrant
}

function createClaim(parts: ClaimParts, request: ClaimRequest, grant: ClaimGrant): Claim {
  const key = { payer: request.payer, nonce: request.nonce }
  const held = { key, request, grant }
  const done = parts.inFlightClaims.begin(key)
  return {
    ...key,
    amount_minor: request.value_minor,
    settle: (answer) => settleClaim(parts, held, answer).finally(done),
    release: async (reason) => {
      await parts.store.release(key, grant.fence, reason, parts.clock.now_ms()).finally(done)
    },
  }
}

async function settleClaim(parts: ClaimParts, held: HeldClaim, answer: SplitAnswer): Promise<PaymentResult> {
  const { store, clock, settler, sealer } = parts
  const { key } = held
  const { fence } = held.grant
  const sealed = sealer.seal(`${answer.head}\n${answer.tail}`, paymentContext(key))
  const now_ms = clock.now_ms()
  if (!(await store.prepare(key, fence, { sealed, expires_ms: now_ms + limits.answer_kept_ms }, now_ms))) return overtaken(parts, key)
  await parts.reach('after_prepare')
  const by = { method: settler.method, settler: held.grant.settler }
  const begun = await store.begin_settling(key, fence, by, clock.now_ms()).catch((error: unknown) => {
    parts.onFault(error)
    return 'unknown' as const
  })
  // The row may say settling although the store did not answer; then the settler or the reconciler settles it.
  if (begun === 'unknown') return pendingPayment(parts, key, null)
  if (!begun) return overtaken(parts, key)
  return settledResult(
    parts,
    held,
    answer,
    await settler.settle(settlingRow(held.request, fence, by, clock.now_ms()), limits.settle_wait_ms),
  )
}

async function settledResult(parts: ClaimParts, held: HeldClaim, answer: SplitAnswer, result: SettleResult): Promise<PaymentResult> {
  switch (result.kind) {
    case 'settled':
      return paidResult(parts, result.payment, answer)
    case 'refused':
      await parts.payerStatus.failed(result.payment, held.grant.address).catch((error: unknown) => parts.onFault(error))
      return refusals.settlementFailed(result.payment, Math.floor(parts.clock.now_ms() / 1_000))
    case 'pending':
      return pendingPayment(parts, held.key, result.transaction)
    case 'unsent':
      return refusals.settlementUnavailable('No facilitator could be reached, and nothing was sent. Send the same payment again.')
  }
}

/** Returns the result of a claim that expired and passed to another request, or was released. */
async function overtaken(parts: ClaimParts, key: PaymentKey): Promise<PaymentResult> {
  const row = await parts.store.find(key)
  return row === null || row.state === 'released' ? refusals.claimExpired() : resultOf(parts, row)
}

/** Returns the row as `begin_settling` left it, without reading it again. */
export function settlingRow(
  request: ClaimRequest,
  fence: number,
  by: { method: 'self' | 'facilitator'; settler: string },
  now_ms: number,
): Payment {
  const { balance_minor: _, now_ms: created_ms, token_hash: __, ...claimed } = request
  return {
    ...claimed,
    ...by,
    state: 'settling',
    fence,
    created_ms,
    updated_ms: now_ms,
    account_nonce: null,
    transaction: null,
    block_number: null,
    block_hash: null,
    settled_ms: null,
    final: false,
    reason: null,
    deposit_call: null,
    cumulative_minor: null,
  }
}
