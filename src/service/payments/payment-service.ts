import type { SteadyClock } from '../../ports/clock.ts'
import type { Payment, PaymentKey, PaymentStore } from '../../ports/payments.ts'
import { depositNonce } from '../../pure/payments/channels.ts'
import type { SignedAuthorization } from '../../pure/payments/eip3009.ts'
import { limits } from '../limits.ts'
import { identifierHolder } from './identifiers.ts'
import { createInFlight, type InFlight } from './in-flight.ts'
import { tokenSignature } from './on-chain.ts'
import { claimPayment, releaseAbandoned, type VerifiedPayment, verifyPayment, windowFault } from './payment-claims.ts'
import { type AnyPayment, offersOf, type X402Payment } from './payment-header.ts'
import type {
  AdmittedPayment,
  BoundRequest,
  PaymentPurpose,
  PaymentResult,
  PaymentService,
  PaymentServiceParts,
  ResultParts,
} from './payment-parts.ts'
import * as refusals from './payment-refusals.ts'
import type { PaymentRefusal } from './payment-refusals.ts'
import { mayClaimAgain, paymentKey, pendingPayment, recoveredSigner, resultOf } from './payment-results.ts'
import { decideRefused, mayClaimRestored, type PaidUse, restoreCall } from './restored-payments.ts'
import { paymentContext, resendAccess, type Resend, tokenHash } from './resends.ts'
import { type AcceptableTerms, matchTerms } from './terms.ts'

export function createPaymentService(parts: PaymentServiceParts): PaymentService {
  return {
    replay: async (request, payment) => (await replay(parts, request, payment)) ?? identifierConflict(parts, request, payment),
    admit: async (request, payment, acceptable) => {
      if (payment.scheme === 'exact') return admit(parts, request, payment, acceptable)
      return (await parts.channels?.admit(request, payment, acceptable)) ?? refusals.channelsNotOffered()
    },
    // A voucher is bound to nothing before its charge.
    releaseAbandoned: async (payment) =>
      payment.scheme === 'exact' ? releaseAbandoned(parts, paymentKey(payment.authorization)) : undefined,
    tokenOf: (payment) => {
      const key = keyOf(parts, payment)
      return key === null ? '' : parts.sealer.token(paymentContext(key))
    },
    fetch: async (token) => {
      const payment = await parts.store.find_by_token(tokenHash(parts, token))
      return payment === null ? null : resultOf(parts, payment)
    },
    find: (key) => parts.store.find(key),
    isUsed: (key) => parts.uses.isUsed(key),
    isSigned: (payment) => isSigned(parts, payment),
  }
}

async function replay(parts: PaymentServiceParts, request: BoundRequest, payment: AnyPayment): Promise<PaymentResult | null> {
  if (payment.scheme === 'exact') return replayCall(parts, request, payment)
  return (await parts.channels?.replay(request, payment)) ?? null
}

function keyOf(parts: PaymentServiceParts, payment: AnyPayment): PaymentKey | null {
  return payment.scheme === 'exact' ? paymentKey(payment.authorization) : (parts.channels?.keyOf(payment) ?? null)
}

function isSigned(parts: PaymentServiceParts, payment: AnyPayment): boolean {
  if (payment.scheme === 'batch-settlement') return parts.channels?.isSigned(payment) === true
  return recoveredSigner(parts, payment.authorization) === payment.authorization.from
}

/**
 * Returns the refusal of a new payment under a payment-identifier id that belongs to an earlier payment of the payer; null for every other.
 * The store is read for payments with an id only. Before verification only the payer's own signature leads to the first payment; an
 * unsigned guess of an id is verified, and refused for its signature, like any other. The store decides again with the claim.
 */
async function identifierConflict(parts: PaymentServiceParts, request: BoundRequest, payment: AnyPayment): Promise<PaymentRefusal | null> {
  const key = payment.identifier === null ? null : keyOf(parts, payment)
  if (payment.identifier === null || key === null || !isSigned(parts, payment)) return null
  const deposit = payment.scheme === 'exact' ? null : payment.deposit
  const own_deposit = payment.scheme === 'exact' || deposit === null ? null : depositNonce(payment.channel_id, deposit.salt, parts.crypto)
  const holder = await identifierHolder(parts, key, payment.identifier)
  return holder === null || holder.nonce === own_deposit ? null : identifierTaken(parts, holder, callPurpose(parts, request))
}

/** Refuses a payment whose id belongs to another one. With the same request its sender gets the address of the first answer. */
export function identifierTaken(
  { sealer }: Pick<ResultParts, 'sealer'>,
  first: Payment,
  { purpose, subject, input_hash }: Pick<PaymentPurpose, 'purpose' | 'subject' | 'input_hash'>,
): PaymentRefusal {
  const is_same = first.purpose === purpose && first.subject === subject && (input_hash === null || first.input_hash === input_hash)
  return refusals.identifierTaken(first, is_same ? sealer.token(paymentContext(first)) : null)
}

/** Tracks the payments that calls are working on. */
export function createInFlightClaims(store: Pick<PaymentStore, 'find'>, clock: SteadyClock): InFlight<PaymentKey, Payment> {
  return createInFlight({ find: (key: PaymentKey) => store.find(key), isOpen, nameOf: paymentContext }, clock)
}

/** Returns true while a request works on the payment. */
function isOpen({ state }: Payment): boolean {
  return state === 'claimed' || state === 'prepared' || state === 'settling'
}

/**
 * Returns the result of the same authorization sent before; null when it is new, or was released and may be claimed again. An authorization
 * that is bound to another purpose is refused.
 */
export async function replayPayment(
  parts: PaymentServiceParts,
  bound: PaymentPurpose,
  authorization: SignedAuthorization,
  resend: Resend,
): Promise<PaymentResult | null> {
  const key = paymentKey(authorization)
  const found = await parts.store.find(key)
  if (found === null) return null
  if (!isSignedByPayer(parts, found, authorization)) return refusals.signatureMismatch()
  const is_bound = found.asset === parts.asset && isBoundTo(found, bound, authorization)
  if (!is_bound && mayClaimRestored(parts, found, resend)) return null
  const denied = await deniedAccess(parts, found, resend)
  if (denied !== null) return denied
  if (!is_bound) {
    return (await bound.countMismatch(key)) ? refusals.boundToOtherRequest() : refusals.tooManyMismatches()
  }
  if (mayClaimAgain(found, parts.clock.now_ms())) return null
  const row = isOpen(found) ? await parts.inFlightClaims.waitForResult(key, limits.settle_wait_ms) : found
  return row === null || row.state === 'released' ? null : resultOf(parts, row)
}

function replayCall(parts: PaymentServiceParts, request: BoundRequest, payment: X402Payment): Promise<PaymentResult | null> {
  return replayPayment(parts, callPurpose(parts, request), payment.authorization, resendOf(request, payment))
}

function resendOf({ client, address, secrets }: BoundRequest, payment: X402Payment): Resend {
  return { ...secrets, address, client, identifier: payment.identifier, echoed_offer: offersOf(payment).length > 0 }
}

function callPurpose({ mismatches }: ResultParts, { tool: subject, input_hash, client }: BoundRequest): PaymentPurpose {
  return { purpose: 'call', subject, input_hash, countMismatch: (key) => mismatches.add(key, client) }
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

async function admit(
  parts: PaymentServiceParts,
  request: BoundRequest,
  payment: X402Payment,
  acceptable: AcceptableTerms,
): Promise<AdmittedPayment> {
  const { authorization } = payment
  const match = matchTerms(payment, acceptable)
  const refusal = acceptable.unavailable ?? (match.ok ? windowFault(parts, authorization) : refusals.refusalForCheck(match))
  const verified = refusal ?? (await verifyPayment(parts, authorization, request))
  if (verified.kind === 'verified') return claimCall(parts, request, payment, verified)
  const call = {
    ...request,
    payment,
    resend: resendOf(request, payment),
    amounts: acceptable.amounts,
    fits_terms: match.ok || match.code === 'PRICE_MISMATCH',
  }
  const restore = (use: PaidUse) => restoreCall(parts, call, use, () => replayCall(parts, request, payment))
  return decideRefused(parts, { authorization, payee: acceptable.pay_to.toLowerCase(), client: request.client, restore }, verified)
}

async function claimCall(
  parts: PaymentServiceParts,
  request: BoundRequest,
  payment: X402Payment,
  verified: VerifiedPayment,
): Promise<AdmittedPayment> {
  const { tool: subject, input_hash, price_class, address } = request
  const { authorization, identifier } = payment
  const purpose = { purpose: 'call', subject, input_hash, price_class } as const
  const claimed = await claimPayment(parts, authorization, verified, { address, identifier }, purpose)
  switch (claimed.kind) {
    case 'claimed':
      return { kind: 'claimed', claim: claimed.claim }
    case 'over_reserved':
      return refusals.balanceReserved()
    case 'over_due':
      throw new Error('a call was claimed as a payment of an invoice')
    case 'identifier_taken':
      return identifierTaken(parts, claimed.payment, purpose)
    case 'exists':
      // Another request with the same payment was faster.
      return (await replayCall(parts, request, payment)) ?? pendingPayment(parts, paymentKey(authorization), null)
  }
}
