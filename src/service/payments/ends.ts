import { claimRanOut } from '../../pure/payments/claims.ts'
import { normaliseSignature, recoverPayer } from '../../pure/payments/eip3009.ts'
import type { Authorization, SignedAuthorization } from '../../pure/payments/authorization.ts'
import type { ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import type { Payment, PaymentKey, PaymentStore } from '../../ports/payments.ts'
import { limits } from '../limits.ts'
import { isOpen, type Closings } from './closings.ts'
import * as refusals from './payment-refusals.ts'
import type { PaymentRefusal } from './payment-refusals.ts'
import type { X402Payment } from './payment.ts'
import { accessOf, contextOf, isExposed, type Resend, type ResendParts, type ResendSecrets } from './resends.ts'
import { tokenSignature } from './on-chain-reads.ts'
import { settlementOf, type CreditSettlement, type Pending, type Settlement } from './settlement.ts'

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
export interface EndParts extends ResendParts {
  store: PaymentStore
  closings: Closings
  chain_id: number
  digest(authorization: Authorization): Uint8Array
  crypto: Pick<ReceiptCrypto, 'recover' | 'keccak256Hex'>
}

/** What became of the same payment before; null when it is new here, or was released and may be claimed again. */
export async function replay(parts: EndParts, request: BoundRequest, payment: X402Payment): Promise<PaymentEnd | null> {
  const { authorization, identifier } = payment
  const key = keyOf(authorization)
  const found = await parts.store.find(key)
  if (found === null) return null
  if (!isSigned(parts, found, authorization)) return { kind: 'refused', ...refusals.otherSignature() }
  const denied = await deniedEnd(parts, found, { ...request.secrets, address: request.address, client: request.client, identifier })
  if (denied !== null) return denied
  if (!isBound(found, request, authorization)) {
    const within = await parts.mismatches.add(key, request.client)
    return { kind: 'refused', ...(within ? refusals.boundElsewhere() : refusals.tooManyMismatches()) }
  }
  if (mayClaimAgain(found, parts.clock.now_ms())) return null
  const closed = isOpen(found) ? await parts.closings.closed(key, limits.settle_wait_ms) : found
  return closed === null || closed.state === 'released' ? null : endOf(parts, closed)
}

/** Released, or still with a claimer whose time is over. */
export function mayClaimAgain({ state, claim_until_ms }: Payment, now_ms: number): boolean {
  if (state === 'released') return true
  return (state === 'claimed' || state === 'prepared') && claimRanOut(claim_until_ms, now_ms, limits.claim_ms)
}

/**
 * The end for a resend that has no right to the answer; null for one that has. It depends on the payment, whose state anyone may look up,
 * and never on the tool or the input that came with it.
 */
export async function deniedEnd(parts: EndParts, found: Payment, resend: Resend): Promise<PaymentEnd | null> {
  if (!isExposed(found)) return null
  const access = await accessOf(parts, found, resend)
  if (access === 'granted') return null
  if (access === 'limited') return { kind: 'refused', ...refusals.tooManyMismatches() }
  if (found.state === 'refused' || found.state === 'lost') return endOf(parts, found)
  return { kind: 'refused', ...refusals.alreadyUsed(found, parts.signIn.challenge(found)) }
}

/** Whether a resend proves to come from the payer: by the signature that the row keeps, in the form the token was given, or by one that recovers. */
export function isSigned(parts: EndParts, found: Payment, authorization: SignedAuthorization): boolean {
  return found.signature === tokenSignature(authorization) || recovered(parts, authorization) === authorization.from
}

/** The same authorization for the same request. A payer may sign two with one nonce; only the first is bound. */
function isBound(found: Payment, request: BoundRequest, authorization: SignedAuthorization): boolean {
  return (
    found.purpose === 'call' &&
    found.subject === request.tool &&
    found.input_hash === request.input_hash &&
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
export async function endOf(parts: EndParts, payment: Payment): Promise<PaymentEnd> {
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
export function paid({ chain_id }: EndParts, payment: Payment, { head, tail }: AnswerParts): PaymentEnd {
  const settlement = settlementOf(payment, chain_id)
  return { kind: 'paid', text: head + JSON.stringify(settlement) + tail, settlement }
}

export function pendingOf(parts: EndParts, { payer, nonce }: PaymentKey, transaction: string | null): Pending {
  return { payer, nonce, transaction, token: parts.sealer.token(contextOf({ payer, nonce })) }
}

export function keyOf({ from, nonce }: Authorization): PaymentKey {
  return { payer: from, nonce }
}
