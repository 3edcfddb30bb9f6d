import type { Payment, PaymentKey } from '../../ports/payments.ts'
import { type Authorization, normaliseSignature, recoverPayer, type SignedAuthorization } from '../../pure/payments/eip3009.ts'
import { hasClaimExpired } from '../../pure/payments/states.ts'
import { limits } from '../limits.ts'
import * as refusals from './payment-refusals.ts'
import type { PaymentResult, ResultParts, SplitAnswer } from './payment-parts.ts'
import { paymentContext } from './resends.ts'
import { type ChargedChannel, settlementOf } from './settlement.ts'

/** Returns true for a released payment and for an unsent claim that has expired. */
export function mayClaimAgain({ state, claim_until_ms }: Payment, now_ms: number): boolean {
  if (state === 'released') return true
  return (state === 'claimed' || state === 'prepared') && hasClaimExpired(claim_until_ms, now_ms, limits.claim_ms)
}

/** Returns the account whose key made the signature; null when none did, as for contract wallets. */
export function recoveredSigner({ digest, crypto }: ResultParts, authorization: SignedAuthorization): string | null {
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

export function paymentKey({ from, nonce }: Authorization): PaymentKey {
  return { payer: from, nonce }
}
