import type { Payment, PaymentKey } from '../../ports/payments.ts'
import type { SignedAuthorization } from '../../pure/payments/eip3009.ts'
import { limits } from '../limits.ts'
import type { ProblemCode } from '../problems.ts'
import type { EchoedOffer } from './extensions.ts'
import { ON_CHAIN_REFUSALS, tokenSignature } from './on-chain.ts'
import { offersOf, type X402Payment } from './payment-header.ts'
import type { AdmittedPayment, Claim, PaymentResult, PaymentServiceParts, SplitAnswer } from './payment-parts.ts'
import * as refusals from './payment-refusals.ts'
import type { PaymentRefusal } from './payment-refusals.ts'
import { mayClaimAgain, paidResult, paymentKey, pendingPayment, recoveredSigner } from './payment-results.ts'
import { hasIdentifier, hasNetwork, hasToken, paymentContext, type Resend, resendHashes, tokenHash } from './resends.ts'
import type { FoundUse } from './settlement.ts'
import { mcpResource } from './terms.ts'

/**
 * Payments without a row, decided by the chain. A store that fails over may lose its newest rows while the transfers stay. Then nothing may
 * call a payment uncharged that the chain shows as paid, and its payer gets the answer: the row is rebuilt from the payer's own request.
 * Decision 0048.
 */

/** Use of an authorization that paid the recipient of the terms. */
export type PaidUse = Extract<FoundUse, { kind: 'paid' }>

/** A refused payment, and what is done where the chain shows it as paid. */
interface RefusedPayment<Restored> {
  authorization: SignedAuthorization
  /** Recipient of the terms, lower case. */
  payee: string
  client: string
  restore(use: PaidUse): Promise<Restored>
}

/** Refusals of a verification that did not reach the chain. */
const UNREAD: ReadonlySet<ProblemCode> = new Set(['UPSTREAM_RPC_UNAVAILABLE', 'VERIFICATION_BUSY', 'RATE_LIMITED'])

/** Refusals of a payment that names other terms than ours, under which it was never taken here. */
const NEVER_OURS: ReadonlySet<ProblemCode> = new Set([
  'NETWORK_MISMATCH',
  'ASSET_MISMATCH',
  'DOMAIN_MISMATCH',
  'RECIPIENT_MISMATCH',
  'SCHEME_UNSUPPORTED',
])

/** Returns what is true of a payment without a row that was refused: the refusal itself where the authorization is unused, or moved nothing to the recipient. */
export async function decideRefused<Restored extends { kind: string }>(
  parts: PaymentServiceParts,
  refused: RefusedPayment<Restored>,
  refusal: PaymentRefusal,
): Promise<Restored | PaymentRefusal> {
  const { authorization, payee, client } = refused
  if (refusal.is_unused === true || authorization.to !== payee || NEVER_OURS.has(refusal.problem.code)) return refusal
  const key = paymentKey(authorization)
  const use = UNREAD.has(refusal.problem.code) ? { kind: 'unread' as const } : await parts.uses.find(authorization, client)
  if (use.kind === 'unused') {
    // Otherwise payments that are refused without verification would use up its budget.
    const is_own_fault = refusal.problem.code !== 'SETTLEMENT_UNAVAILABLE' || refusal.names_other === true
    if (refusal.is_counted !== true && is_own_fault) parts.uses.countRefused(client)
    return refusal
  }
  if (use.kind === 'unread') {
    if (refusals.acceptsNewPayment(refusal.problem) || refusal.names_other === true) return refusals.useUnread()
    return parts.uses.remembered(key) === null ? refusal : { ...refusal, problem: { ...refusal.problem, charged: 'unknown' } }
  }
  const end = await decideUsed(parts, refused, refusal, use)
  if (end.kind === 'refused') parts.uses.countRefused(client)
  return end
}

async function decideUsed<Restored>(
  parts: PaymentServiceParts,
  { authorization, restore }: RefusedPayment<Restored>,
  refusal: PaymentRefusal,
  use: FoundUse,
): Promise<Restored | PaymentRefusal> {
  if (use.kind === 'paid') return restore(use)
  if (use.kind === 'undecided') return usedUnknown(parts, paymentKey(authorization), null)
  return refusals.isPaymentProblem(refusal.problem) ? refusals.refusalForCheck(ON_CHAIN_REFUSALS.used) : refusal
}

export function usedUnknown({ signIn }: Pick<PaymentServiceParts, 'signIn'>, key: PaymentKey, transaction: string | null): PaymentRefusal {
  return refusals.usedUnknown(key, transaction, signIn.challenge(key))
}

/** Proofs that the payment is the sender's own, from the weakest to the strongest; the reason of the restored row says which. */
const RIGHTS = ['restored_by_time', 'restored_by_offer', 'restored'] as const
type Right = (typeof RIGHTS)[number]

function rankOf(reason: string | null): number {
  return RIGHTS.findIndex((right) => right === reason)
}

/**
 * Returns true for a resend that may have a better right to a restored payment than the request that it was restored for: it is then decided
 * as one without a row.
 */
export function mayClaimRestored({ uses }: Pick<PaymentServiceParts, 'uses'>, found: Payment, resend: Resend): boolean {
  const rank = found.state === 'settled' ? rankOf(found.reason) : -1
  if (rank < 0 || rank === RIGHTS.length - 1) return false
  const shows_presence = resend.answer_token !== null || resend.sign_in !== null || uses.remembered(found) !== null
  return shows_presence || (rank === 0 && resend.echoed_offer === true)
}

/** The call of a payment that the chain shows as paid. */
interface PaidCall {
  tool: string
  input_hash: string
  price_class: string
  payment: X402Payment
  resend: Resend
  /** Prices that are payable now. */
  amounts: ReadonlySet<bigint>
  /** The terms that the payment repeats are those of this deployment. */
  fits_terms: boolean
}

/** Admits the call again under the payment that was settled, if its sender has a right to the answer and the transfer is a price of the call. */
export async function restoreCall(
  parts: PaymentServiceParts,
  call: PaidCall,
  use: PaidUse,
  replay: () => Promise<PaymentResult | null>,
): Promise<AdmittedPayment> {
  const { authorization } = call.payment
  const key = paymentKey(authorization)
  const unknown = () => usedUnknown(parts, key, use.at.transaction)
  const known = parts.uses.remembered(key)
  const offers = offersInTime(parts, call, use)
  const is_price = [...call.amounts, ...offers.map((offer) => offer.amount_minor), known?.value_minor].includes(authorization.value_minor)
  if (!call.fits_terms || !is_price) return unknown()
  const right = await rightOf(parts, call, use, offers.length > 0)
  if (right === null) return unknown()
  if (known !== null && (known.subject !== call.tool || known.input_hash !== call.input_hash)) return boundElsewhere(parts, key, call)
  const row = await parts.store.find(key)
  if (row !== null && !mayReplace(parts, row, right)) return (await replay()) ?? refusals.boundToOtherRequest()
  if (right !== 'restored' && !(await parts.uses.takeUnproven(call.resend.address))) return unknown()
  return { kind: 'claimed', claim: restoredClaim(parts, call, use, right, replay) }
}

async function boundElsewhere({ mismatches }: PaymentServiceParts, key: PaymentKey, { resend }: PaidCall): Promise<PaymentRefusal> {
  return (await mismatches.add(key, resend.client)) ? refusals.boundToOtherRequest() : refusals.tooManyMismatches()
}

function mayReplace({ clock }: PaymentServiceParts, row: Payment, right: Right): boolean {
  const rank = row.state === 'settled' ? rankOf(row.reason) : -1
  return mayClaimAgain(row, clock.now_ms()) || (rank >= 0 && rank < rankOf(right))
}

/** Offers for this tool that were signed shortly before the transfer: only who asked for terms at that time has one. */
function offersInTime({ uses }: PaymentServiceParts, { tool, payment }: PaidCall, { paid_s }: PaidUse): EchoedOffer[] {
  return uses.offers(offersOf(payment)).filter(({ resource, issued_s }) => {
    const is_tool = resource === mcpResource(tool) || resource.endsWith(`/v1/tools/${tool}/call`)
    return is_tool && issued_s <= paid_s + limits.payment_skew_s && issued_s >= paid_s - OFFER_TO_TRANSFER_S
  })
}

/** An offer is payable for a while, and its payment then waits for a block. */
const OFFER_TO_TRANSFER_S = 2 * limits.max_timeout_s + limits.settle_wait_ms / 1_000

/**
 * Returns how the sender shows that the payment is its own. A token, the network or the id of a claim that this process remembers, and a
 * sign-in prove it. Where the claim is forgotten, an echoed offer and the time after the transfer speak for the sender: both need the payer's
 * key to have signed what is sent, and neither outlives a better proof.
 */
async function rightOf(parts: PaymentServiceParts, { payment, resend }: PaidCall, use: PaidUse, has_offer: boolean): Promise<Right | null> {
  const { authorization } = payment
  const key = paymentKey(authorization)
  const { answer_token, sign_in, identifier, address } = resend
  if (answer_token !== null && hasToken(parts, key, answer_token)) return 'restored'
  const known = parts.uses.remembered(key)
  const now_ms = parts.clock.now_ms()
  if (known !== null && now_ms < known.claimed_ms + limits.answer_kept_ms && hasNetwork(parts.sealer, { ...key, ...known }, address))
    return 'restored'
  if (known !== null && identifier !== null && hasIdentifier(parts.sealer, { ...key, ...known }, identifier)) return 'restored'
  if (sign_in !== null && (await parts.signIn.accepts(key, sign_in))) return 'restored'
  if (known !== null || recoveredSigner(parts, authorization) !== authorization.from) return null
  if (has_offer) return 'restored_by_offer'
  return now_ms < use.paid_s * 1_000 + limits.restore_unproven_ms ? 'restored_by_time' : null
}

function restoredClaim(
  parts: PaymentServiceParts,
  call: PaidCall,
  use: PaidUse,
  right: Right,
  replay: () => Promise<PaymentResult | null>,
): Claim {
  const key = paymentKey(call.payment.authorization)
  return {
    ...key,
    amount_minor: call.payment.authorization.value_minor,
    settle: async (answer) => {
      const { tool: subject, input_hash, price_class, resend } = call
      const order = {
        authorization: call.payment.authorization,
        resend,
        binding: { purpose: 'call', subject, input_hash, price_class },
      } as const
      return (await storeRestored(parts, order, { use, right, answer })) ?? (await replay()) ?? refusals.boundToOtherRequest()
    },
    release: () => Promise.resolve(),
  }
}

/** Authorization and request to which a restored payment is bound. */
interface RestoredOrder {
  authorization: SignedAuthorization
  resend: Pick<Resend, 'address' | 'identifier'>
  binding: Pick<Payment, 'purpose' | 'subject' | 'input_hash' | 'price_class'>
}

/** Writes row and answer of a payment that the chain shows as paid, in one write. Null where another request was faster. */
export async function storeRestored(
  parts: PaymentServiceParts,
  { authorization, resend, binding }: RestoredOrder,
  { use, right, answer }: { use: PaidUse; right: Right; answer: SplitAnswer },
): Promise<PaymentResult | null> {
  const { store, sealer, clock, settler, asset } = parts
  const key = paymentKey(authorization)
  const now_ms = clock.now_ms()
  const { to, value_minor, valid_after_s, valid_before_s } = authorization
  const settled_ms = Math.min(use.paid_s * 1_000, now_ms)
  const row = {
    ...key,
    ...binding,
    asset,
    to,
    value_minor,
    valid_after_s,
    valid_before_s,
    signature: tokenSignature(authorization),
    ...resendHashes(sealer, key, resend.address, resend.identifier),
    contract_payer: false,
    claim_until_ms: now_ms,
    token_hash: tokenHash(parts, sealer.token(paymentContext(key))),
    method: settler.method,
    settler: 'restored',
    ...use.at,
    created_ms: settled_ms,
    settled_ms,
    reason: right,
  }
  const sealed = sealer.seal(`${answer.head}\n${answer.tail}`, paymentContext(key))
  const stored = { sealed, expires_ms: now_ms + limits.answer_kept_ms }
  try {
    const restored = await store.restore({ ...row, answer: stored, replaces: RIGHTS.slice(0, rankOf(right)), now_ms })
    return restored ? paidResult(parts, { ...row, updated_ms: now_ms, cumulative_minor: null }, answer) : null
  } catch (error) {
    // The row may be there although the store did not answer; the same payment again finds it, or restores it.
    parts.onFault(error)
    return pendingPayment(parts, key, use.at.transaction)
  }
}
