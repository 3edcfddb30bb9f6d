import type { ClaimRequest, ClaimResult, Payment, PaymentKey } from '../../ports/payments.ts'
import type { Authorization, SignedAuthorization } from '../../pure/payments/eip3009.ts'
import { UNSENT_STATES } from '../../pure/payments/states.ts'
import { limits } from '../limits.ts'
import { freeIdentifier } from './identifiers.ts'
import type { OnChainPass } from './on-chain.ts'
import * as refusals from './payment-refusals.ts'
import type { PaymentRefusal } from './payment-refusals.ts'
import { paidResult, paymentKey, pendingPayment, recoveredSigner, resultOf } from './payment-results.ts'
import type { Claim, ClaimParts, PaymentResult, PaymentServiceParts, SplitAnswer } from './payment-parts.ts'
import { claimWithinBalance } from './reserved-balances.ts'
import { paymentContext, type Resend, resendHashes, tokenHash } from './resends.ts'
import type { SettleResult } from './settlement.ts'
import { checkWindow } from './terms.ts'

const WINDOW = { least_left_s: limits.payment_least_left_s, longest_s: limits.payment_longest_s, skew_s: limits.payment_skew_s }

/** Returns the refusal of an authorization that is not valid now, or not for long enough; null when it is. */
export function windowFault({ clock }: Pick<PaymentServiceParts, 'clock'>, authorization: Authorization): PaymentRefusal | null {
  const window = checkWindow(authorization, Math.floor(clock.now_ms() / 1_000), WINDOW)
  return window.ok ? null : refusals.refusalForCheck(window)
}

export interface VerifiedPayment {
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
  if (seen.ok) return { kind: 'verified', seen, settler: ready.settler }
  return { ...refusals.refusalForCheck(seen), is_counted: seen.payer_fault }
}

/** Claims a verified authorization for a purpose, if the payer's balance covers it and its other payments; the store decides. */
export async function claimPayment(
  parts: PaymentServiceParts,
  authorization: SignedAuthorization,
  { seen, settler }: Pick<VerifiedPayment, 'seen' | 'settler'>,
  { address, identifier }: Pick<Resend, 'address' | 'identifier'>,
  purpose: Pick<ClaimRequest, 'purpose' | 'subject' | 'input_hash' | 'price_class'>,
): Promise<{ kind: 'claimed'; claim: Claim; fence: number } | { kind: 'over_reserved' | 'over_due' | 'exists' } | IdentifierTaken> {
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
  const claimed = await claimIdentified(parts, request)
  if (claimed.kind === 'identifier_taken') return claimed
  if (claimed.kind !== 'claimed') return { kind: claimed.kind }
  const { fence } = claimed
  const claim = createClaim(parts, request, { fence, settler, address })
  await parts.reach('after_claim')
  return { kind: 'claimed', claim, fence }
}

type IdentifierTaken = Extract<ClaimResult, { kind: 'identifier_taken' }>

/** Claims a second time where the id of the payment belonged to one that ended without a charge. */
async function claimIdentified(parts: PaymentServiceParts, request: ClaimRequest): Promise<ClaimResult> {
  const first = await claimWithinBalance(parts, request)
  if (first.kind !== 'identifier_taken' || !(await freeIdentifier(parts, first.payment))) return first
  return claimWithinBalance(parts, request)
}

/** Releases only the state and the claim that were read, so that a claim of another process that begins meanwhile stays. */
export async function releaseAbandoned({ store, inFlightClaims, clock }: PaymentServiceParts, key: PaymentKey): Promise<void> {
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

function createClaim(parts: PaymentServiceParts, request: ClaimRequest, grant: ClaimGrant): Claim {
  const key = { payer: request.payer, nonce: request.nonce }
  const held = { key, request, grant }
  const done = parts.inFlightClaims.begin(key)
  const { purpose, subject, input_hash, value_minor, network_hash, identifier_hash, now_ms: claimed_ms } = request
  parts.uses.remember(key, { purpose, subject, input_hash, value_minor, network_hash, identifier_hash, claimed_ms })
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
  const prepared = await store
    .prepare(key, fence, { sealed, expires_ms: now_ms + limits.answer_kept_ms }, now_ms)
    .catch((error: unknown) => {
      parts.onFault(error)
      return 'unknown' as const
    })
  if (prepared === 'unknown') return unprepared(parts, held)
  if (!prepared) return overtaken(parts, key)
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

/** Releases a claim whose answer could not be stored: nothing was sent, and without its fence nothing will be. */
async function unprepared({ store, clock, onFault }: ClaimParts, { key, grant }: HeldClaim): Promise<PaymentResult> {
  await store.release(key, grant.fence, 'store_failed', clock.now_ms()).catch(onFault)
  return refusals.paymentStoreDown(false)
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
