import type { SteadyClock } from '../../ports/clock.ts'
import type { ClaimRequest, Payment, PaymentKey, PaymentStore } from '../../ports/payments.ts'
import { limits } from '../limits.ts'
import { claimRanOut } from '../../pure/payments/claims.ts'
import { normaliseSignature, recoverPayer } from '../../pure/payments/eip3009.ts'
import type { Authorization, SignedAuthorization } from '../../pure/payments/authorization.ts'
import type { ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import * as refusals from './payment-refusals.ts'
import type { PaymentRefusal } from './payment-refusals.ts'
import type { X402Payment } from './payment-header.ts'
import { accessOf, contextOf, isExposed, type Resend, resendHashes, type ResendParts, type ResendSecrets, tokenHash } from './resends.ts'
import { type OnChainCheck, type OnChainPass, tokenSignature } from './on-chain.ts'
import { type CreditSettlement, type Pending, type Settlement, settlementOf } from './settlement.ts'
import type { Reach, Settler, SettleResult } from './settler.ts'
import type { Standing } from './standing.ts'
import { UNSENT } from '../../pure/payments/states.ts'
import { problem, type ProblemCode } from '../problems.ts'
import { type AcceptableTerms, checkWindow, matchTerms } from './match-terms.ts'
import { claimReserved, type Holdings } from './reserve.ts'

/** Waits for payments that another request, perhaps of another process, is working on. */
interface Closings {
  /** Says that this process works on the payment; the function says that it is done. */
  begin(key: PaymentKey): () => void
  /** Whether this process works on the payment. */
  isHere(key: PaymentKey): boolean
  /** The payment as soon as it is settled, refused or released, or as it stands when the wait is over. Null when it is not there. */
  closed(key: PaymentKey, wait_ms: number): Promise<Payment | null>
}

export function createClosings(store: Pick<PaymentStore, 'find'>, clock: SteadyClock): Closings {
  const working = new Map<string, Promise<void>>()
  return {
    begin(key) {
      const name = nameOf(key)
      const { promise, resolve } = Promise.withResolvers<void>()
      working.set(name, promise)
      return () => {
        if (working.get(name) === promise) working.delete(name)
        resolve()
      }
    },
    isHere: (key) => working.has(nameOf(key)),
    async closed(key, wait_ms) {
      const until_ms = clock.steady_ms() + wait_ms
      for (;;) {
        const payment = await store.find(key)
        const left_ms = until_ms - clock.steady_ms()
        if (payment === null || !isOpen(payment) || left_ms <= 0) return payment
        await Promise.race([working.get(nameOf(key)) ?? never, pause(Math.min(left_ms, limits.settlement_poll_ms))])
      }
    },
  }
}

const never = new Promise<never>(() => undefined)

function nameOf({ payer, nonce }: PaymentKey): string {
  return `${payer}:${nonce}`
}

/** Somebody works on it. */
function isOpen({ state }: Payment): boolean {
  return state === 'claimed' || state === 'prepared' || state === 'settling'
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** One request as a payment is bound to it. */
export interface BoundRequest {
  tool: string
  price_class: string
  input_hash: string
  /** Client under which resends with another input are counted. */
  client: string
  address: string
  secrets: ResendSecrets
}

/** How a payment ended, for the one who sent it. */
export type PaymentEnd =
  | { kind: 'paid'; text: string; settlement: Settlement | CreditSettlement }
  | { kind: 'pending'; pending: Pending }
  | ({ kind: 'refused' } & PaymentRefusal)

/** The text of an answer around the place of its settlement, which is known last. */
export interface AnswerParts {
  head: string
  tail: string
}

/** What it takes to say how a payment stands. */
interface EndParts extends ResendParts {
  store: PaymentStore
  closings: Closings
  chain_id: number
  digest(authorization: Authorization): Uint8Array
  crypto: Pick<ReceiptCrypto, 'recover' | 'keccak256Hex'>
}

/** The purpose for which a payment was sent. */
export interface BoundTo {
  purpose: Payment['purpose']
  subject: string
  /** Null where the subject says it all. */
  input_hash: string | null
  /** Takes note of a resend for something else; false when there were too many. */
  countMismatch(key: PaymentKey): Promise<boolean>
}

/**
 * What became of the same authorization before, for a call or an invoice; null when it is new here, or was released and may be claimed again.
 * What is bound to something else is never used a second time.
 */
export async function replay(
  parts: EndParts,
  bound: BoundTo,
  authorization: SignedAuthorization,
  resend: Resend,
): Promise<PaymentEnd | null> {
  const key = keyOf(authorization)
  const found = await parts.store.find(key)
  if (found === null) return null
  if (!isSigned(parts, found, authorization)) return { kind: 'refused', ...refusals.otherSignature() }
  const denied = await deniedEnd(parts, found, resend)
  if (denied !== null) return denied
  if (!isBound(found, bound, authorization)) {
    const within = await bound.countMismatch(key)
    return { kind: 'refused', ...(within ? refusals.boundElsewhere() : refusals.tooManyMismatches()) }
  }
  if (mayClaimAgain(found, parts.clock.now_ms())) return null
  const closed = isOpen(found) ? await parts.closings.closed(key, limits.settle_wait_ms) : found
  return closed === null || closed.state === 'released' ? null : endOf(parts, closed)
}

function replayCall(parts: EndParts, request: BoundRequest, { authorization, identifier }: X402Payment): Promise<PaymentEnd | null> {
  const { tool: subject, input_hash, client, address, secrets } = request
  const countMismatch = (key: PaymentKey) => parts.mismatches.add(key, client)
  return replay(parts, { purpose: 'call', subject, input_hash, countMismatch }, authorization, { ...secrets, address, client, identifier })
}

/** Released, or still with a claimer whose time is over. */
function mayClaimAgain({ state, claim_until_ms }: Payment, now_ms: number): boolean {
  if (state === 'released') return true
  return (state === 'claimed' || state === 'prepared') && claimRanOut(claim_until_ms, now_ms, limits.claim_ms)
}

/**
 * The end for a resend that has no right to the answer; null for one that has. It depends on the payment, whose state anyone may look up,
 * and never on the tool or the input that came with it.
 */
async function deniedEnd(parts: EndParts, found: Payment, resend: Resend): Promise<PaymentEnd | null> {
  if (!isExposed(found)) return null
  const access = await accessOf(parts, found, resend)
  if (access === 'granted') return null
  if (access === 'limited') return { kind: 'refused', ...refusals.tooManyMismatches() }
  if (found.state === 'refused' || found.state === 'lost') return endOf(parts, found)
  return { kind: 'refused', ...refusals.alreadyUsed(found, parts.signIn.challenge(found)) }
}

/** Whether a resend proves to come from the payer: by the signature that the row keeps, in the form the token was given, or by one that recovers. */
function isSigned(parts: EndParts, found: Payment, authorization: SignedAuthorization): boolean {
  return found.signature === tokenSignature(authorization) || recovered(parts, authorization) === authorization.from
}

/** The same authorization for the same request. A payer may sign two with one nonce; only the first is bound. */
function isBound(found: Payment, { purpose, subject, input_hash }: BoundTo, authorization: SignedAuthorization): boolean {
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

/** The account whose key made the signature; null when none did, as with contract wallets. */
export function recovered({ digest, crypto }: EndParts, authorization: SignedAuthorization): string | null {
  const signature = normaliseSignature(authorization.signature)
  return signature === null ? null : recoverPayer(digest(authorization), signature, crypto.recover)
}

/** What the row says to the one who pays with it. Rows that may still be claimed never come here. */
async function endOf(parts: EndParts, payment: Payment): Promise<PaymentEnd> {
  switch (payment.state) {
    case 'settled':
      return storedAnswer(parts, payment)
    case 'refused':
    case 'lost':
    case 'released':
      return { kind: 'refused', ...refusals.settlementFailed(payment, Math.floor(parts.clock.now_ms() / 1_000)) }
    case 'claimed':
    case 'prepared':
    case 'settling':
    case 'unknown':
      return { kind: 'pending', pending: pendingOf(parts, payment, payment.transaction) }
  }
}

async function storedAnswer(parts: EndParts, payment: Payment): Promise<PaymentEnd> {
  const stored = await parts.store.answer(payment)
  const text = stored === null || stored.expires_ms <= parts.clock.now_ms() ? null : parts.sealer.open(stored.sealed, contextOf(payment))
  if (text === null) return { kind: 'refused', ...refusals.answerExpired(payment) }
  const [head = '', tail = ''] = text.split('\n')
  return paid(parts, payment, { head, tail })
}

/** The body with its settlement in place. */
function paid({ chain_id }: EndParts, payment: Payment, { head, tail }: AnswerParts): PaymentEnd {
  const settlement = settlementOf(payment, chain_id)
  return { kind: 'paid', text: head + JSON.stringify(settlement) + tail, settlement }
}

export function pendingOf(parts: EndParts, { payer, nonce }: PaymentKey, transaction: string | null): Pending {
  return { payer, nonce, transaction, token: parts.sealer.token(contextOf({ payer, nonce })) }
}

export function keyOf({ from, nonce }: Authorization): PaymentKey {
  return { payer: from, nonce }
}

/** A payment that this process has bound to one request. The tool may run; nothing is sent before `settle`. */
export interface Claim extends PaymentKey {
  readonly amount_minor: bigint
  /** Stores the answer, settles, and hands the answer out. `text` goes around the place of the settlement. */
  settle(text: AnswerParts): Promise<PaymentEnd>
  /** Gives up before anything was sent. */
  release(reason: string): Promise<void>
}

/** What it takes to bring a claim to its end. */
interface ClaimParts extends EndParts {
  settler: Settler
  standing: Standing
  /** Told of accidents that end in an answer all the same. */
  onFault(error: unknown): void
  reach: Reach
}

interface Held {
  readonly key: PaymentKey
  readonly request: ClaimRequest
  readonly grant: ClaimGrant
}

/** How a claim was granted, and to whom. */
interface ClaimGrant {
  readonly fence: number
  /** The gas wallet or the facilitator that said it was ready. */
  readonly settler: string
  /** Address of the client. */
  readonly address: string
}

/** The claim that the store has just granted. */
export function claimOf(parts: ClaimParts, request: ClaimRequest, grant: ClaimGrant): Claim {
  const key = { payer: request.payer, nonce: request.nonce }
  const held = { key, request, grant }
  const done = parts.closings.begin(key)
  return {
    ...key,
    amount_minor: request.value_minor,
    settle: (text) => settleClaim(parts, held, text).finally(done),
    release: async (reason) => {
      await parts.store.release(key, grant.fence, reason, parts.clock.now_ms()).finally(done)
    },
  }
}

async function settleClaim(parts: ClaimParts, held: Held, text: AnswerParts): Promise<PaymentEnd> {
  const { store, clock, settler, sealer } = parts
  const { key } = held
  const { fence } = held.grant
  const sealed = sealer.seal(`${text.head}\n${text.tail}`, contextOf(key))
  const now_ms = clock.now_ms()
  if (!(await store.prepare(key, fence, { sealed, expires_ms: now_ms + limits.answer_kept_ms }, now_ms))) return overtaken(parts, held.key)
  await parts.reach('after_prepare')
  const by = { method: settler.method, settler: held.grant.settler }
  let moved: boolean
  try {
    moved = await store.begin_settling(key, fence, by, clock.now_ms())
  } catch (error) {
    parts.onFault(error)
    // The row may say settling although the store did not answer; whoever settles such rows may send it now.
    return { kind: 'pending', pending: pendingOf(parts, held.key, null) }
  }
  if (!moved) return overtaken(parts, held.key)
  return resultEnd(parts, held, text, await settler.settle(settlingRow(held, by, clock.now_ms()), limits.settle_wait_ms))
}

async function resultEnd(parts: ClaimParts, held: Held, text: AnswerParts, result: SettleResult): Promise<PaymentEnd> {
  switch (result.kind) {
    case 'settled':
      return paid(parts, result.payment, text)
    case 'refused':
      await parts.standing.failed(result.payment, held.grant.address).catch((error: unknown) => parts.onFault(error))
      return { kind: 'refused', ...refusals.settlementFailed(result.payment, Math.floor(parts.clock.now_ms() / 1_000)) }
    case 'pending':
      return { kind: 'pending', pending: pendingOf(parts, held.key, result.transaction) }
    case 'unsent':
      return {
        kind: 'refused',
        ...refusals.unavailable('No facilitator could be reached, and nothing was sent. Send the same payment again.'),
      }
  }
}

/** The claim ran out and somebody else has the payment, or it was released: what the row says now. */
async function overtaken(parts: ClaimParts, key: PaymentKey): Promise<PaymentEnd> {
  const row = await parts.store.find(key)
  if (row === null || row.state === 'released') {
    return { kind: 'refused', ...refusals.tookTooLong() }
  }
  return endOf(parts, row)
}

/** The row as `begin_settling` left it, without reading it again. */
function settlingRow(
  { request, grant: { fence } }: Held,
  by: { method: 'self' | 'facilitator'; settler: string },
  now_ms: number,
): Payment {
  const { balance_minor: _, now_ms: created_ms, token_hash: __, ...asked } = request
  return {
    ...asked,
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
  }
}

type Admitted = { kind: 'claimed'; claim: Claim } | PaymentEnd

/** Where payments are taken: bound to a request, settled, answered again. Every promise here is kept by the store, not by this process. */
export interface PaymentDesk {
  /** What became of the same payment before; null when it is new here and may be admitted. */
  replay(request: BoundRequest, payment: X402Payment): Promise<PaymentEnd | null>
  /** Verifies from cheap to costly, then claims. */
  admit(request: BoundRequest, payment: X402Payment, acceptable: AcceptableTerms): Promise<Admitted>
  /** Releases a payment that was claimed and not sent by a process that has ended. What this process works on stays claimed. */
  releaseEnded(payment: X402Payment): Promise<void>
  /** Answer token of a payment, for parts that hold the payer's own request. */
  tokenOf(payment: X402Payment): string
  /** The payment behind a token of an earlier answer. */
  fetch(token: string): Promise<PaymentEnd | null>
  find(key: PaymentKey): Promise<Payment | null>
  /** Whether the signature of the payment recovers to its payer; never so for a contract wallet. */
  isSigned(payment: X402Payment): boolean
}

export interface DeskParts extends ClaimParts {
  onChain: OnChainCheck
  holdings: Holdings
}

export function createPaymentDesk(parts: DeskParts): PaymentDesk {
  return {
    replay: (request, payment) => replayCall(parts, request, payment),
    admit: (request, payment, acceptable) => admit(parts, request, payment, acceptable),
    releaseEnded: (payment) => releaseEnded(parts, keyOf(payment.authorization)),
    tokenOf: ({ authorization }) => parts.sealer.token(contextOf(keyOf(authorization))),
    fetch: async (token) => {
      const payment = await parts.store.find_by_token(tokenHash(parts, token))
      return payment === null ? null : endOf(parts, payment)
    },
    find: (key) => parts.store.find(key),
    isSigned: ({ authorization }) => recovered(parts, authorization) === authorization.from,
  }
}

async function admit(parts: DeskParts, request: BoundRequest, payment: X402Payment, acceptable: AcceptableTerms): Promise<Admitted> {
  const { authorization } = payment
  const fits = matchTerms(payment, acceptable)
  if (!fits.ok) return refused(fits)
  const now_ms = parts.clock.now_ms()
  const window = checkWindow(authorization, Math.floor(now_ms / 1_000), WINDOW)
  if (!window.ok) return refused(window)
  const standing = await parts.standing.refusal(authorization.from, request.address)
  if (standing !== null) return { kind: 'refused', ...standing }
  const ready = await parts.settler.ready(authorization.from)
  if (!ready.ok) return { kind: 'refused', ...refusals.unavailable(ready.detail, ready.retry_after_s) }
  const seen = await parts.onChain(authorization, recovered(parts, authorization), request.client)
  if (!seen.ok) return refused(seen)
  return claimPayment(parts, request, payment, seen, ready.settler)
}

/** The write names the state and the claim that it saw, so that a claim of another process that begins meanwhile stays. */
async function releaseEnded({ store, closings, clock }: DeskParts, key: PaymentKey): Promise<void> {
  if (closings.isHere(key)) return
  const found = await store.find(key)
  const isUnsent = found !== null && found.purpose === 'call' && UNSENT.includes(found.state)
  if (isUnsent) await store.release(key, found.fence, 'abandoned', clock.now_ms())
}

const WINDOW = { least_left_s: limits.payment_least_left_s, longest_s: limits.payment_longest_s, skew_s: limits.payment_skew_s }

async function claimPayment(
  parts: DeskParts,
  request: BoundRequest,
  payment: X402Payment,
  seen: OnChainPass,
  settler: string,
): Promise<Admitted> {
  const { authorization, identifier } = payment
  const now_ms = parts.clock.now_ms()
  const key = keyOf(authorization)
  const asked: ClaimRequest = {
    ...key,
    purpose: 'call',
    subject: request.tool,
    input_hash: request.input_hash,
    to: authorization.to,
    value_minor: authorization.value_minor,
    valid_after_s: authorization.valid_after_s,
    valid_before_s: authorization.valid_before_s,
    signature: seen.signature,
    ...resendHashes(parts.sealer, key, request.address, identifier),
    contract_payer: seen.contract_payer,
    price_class: request.price_class,
    balance_minor: seen.balance_minor,
    now_ms,
    claim_until_ms: now_ms + limits.claim_ms,
    token_hash: tokenHash(parts, parts.sealer.token(contextOf(key))),
  }
  const result = await claimReserved(parts, asked)
  if (result.kind === 'claimed') {
    const claim = claimOf(parts, asked, { fence: result.fence, settler, address: request.address })
    await parts.reach('after_claim')
    return { kind: 'claimed', claim }
  }
  if (result.kind === 'over_reserved') return { kind: 'refused', ...refusals.overReserved() }
  if (result.kind === 'over_due') throw new Error('a call was claimed as a payment of an invoice')
  // Another request with the same payment was faster.
  const end = await replayCall(parts, request, payment)
  return end ?? { kind: 'pending', pending: pendingOf(parts, key, null) }
}

/** A refusal with all that the caller is to know of it: the word of x402, and when another try may pass. */
export function refused({ code, detail, x402_reason, retry_after_s }: RefusedWord): { kind: 'refused' } & PaymentRefusal {
  const retry = retry_after_s === undefined ? {} : { retry_after_s }
  const extra = x402_reason === null ? {} : { extra: { invalid_reason: x402_reason } }
  return { kind: 'refused', problem: problem(code, detail, { ...retry, ...extra }), x402_reason }
}

interface RefusedWord {
  code: ProblemCode
  detail: string
  x402_reason: string | null
  retry_after_s?: number
}
