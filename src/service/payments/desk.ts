import type { ClaimRequest, Payment, PaymentKey } from '../../ports/payments.ts'
import { UNSENT } from '../../pure/payments/states.ts'
import { limits } from '../limits.ts'
import { problem, type ProblemCode } from '../problems.ts'
import { claimOf, type Claim, type ClaimParts } from './claim.ts'
import { endOf, keyOf, pendingOf, recovered, replay } from './ends.ts'
import type { BoundRequest, PaymentEnd } from './ends.ts'
import { checkWindow, matchTerms, type AcceptableTerms } from './match-terms.ts'
import type { OnChainCheck, OnChainPass } from './on-chain.ts'
import type { X402Payment } from './payment.ts'
import * as refusals from './payment-refusals.ts'
import type { PaymentRefusal } from './payment-refusals.ts'
import { contextOf, resendHashes, tokenHash } from './resends.ts'
import { claimReserved, type Holdings } from './reserve.ts'

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
    replay: (request, payment) => replay(parts, request, payment),
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
  const end = await replay(parts, request, payment)
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
