import type { Payment } from '../../ports/payments.ts'
import { limits } from '../limits.ts'
import { problem, PROBLEMS, type Problem, type ProblemCode } from '../problems.ts'
import { mayStillExecute, type Pending } from './settlement.ts'
import type { SignInChallenge } from './sign-in.ts'

/** Why a payment did not buy an answer, each in our own words, with the word of the x402 facilitators where they have one. */
export interface PaymentRefusal {
  problem: Problem
  x402_reason: string | null
  /** Whose settlement failed; absent where none was tried. */
  payer?: string
}

function plain(found: Problem): PaymentRefusal {
  return { problem: found, x402_reason: null }
}

/** A fault of the payment, with the word of the facilitators for it. */
export function payers(code: ProblemCode, detail: string, x402_reason: string): PaymentRefusal {
  return { problem: problem(code, detail, { extra: { invalid_reason: x402_reason } }), x402_reason }
}

export function twoPayments(): PaymentRefusal {
  return plain(problem('PAYMENT_CONFLICT', 'Send one payment, in one header or one _meta key, or a credit.'))
}

export function notConfigured(): PaymentRefusal {
  return plain(problem('SETTLEMENT_NOT_CONFIGURED', 'The payment was left untouched. Send the call without it.'))
}

export function boundElsewhere(): PaymentRefusal {
  return plain(problem('NONCE_BOUND', 'This payment was first sent with another tool or input. Nothing more was charged.'))
}

export function tooManyMismatches(): PaymentRefusal {
  const detail = 'This payment came too often with requests that it is not bound to. Wait an hour.'
  return plain(problem('RATE_LIMITED', detail, { retry_after_s: 3_600 }))
}

export function otherSignature(): PaymentRefusal {
  const detail = 'The signature is neither the one that this payment first came with nor one that recovers to the payer.'
  return payers('BAD_SIGNATURE', detail, 'invalid_exact_evm_signature')
}

export function shutOut(): PaymentRefusal {
  const detail =
    `${limits.payer_acts} payments of this payer were accepted within a day and then cancelled, or the money was spent elsewhere. ` +
    'Try again tomorrow, or pay from another address.'
  return plain(problem('PAYER_SHUT_OUT', detail, { retry_after_s: limits.payer_acts_ms / 1_000 }))
}

export function networkShutOut(retry_after_s: number): PaymentRefusal {
  const detail =
    'Payments from your network were cancelled, or the money was spent elsewhere, after they had been accepted, until they had cost its share of ' +
    "the day's gas. Try again tomorrow (UTC), or pay from another network."
  return plain(problem('PAYER_SHUT_OUT', detail, { retry_after_s }))
}

export function unavailable(detail: string, retry_after_s: number = limits.settlement_retry_s): PaymentRefusal {
  return plain(problem('SETTLEMENT_UNAVAILABLE', detail, { retry_after_s }))
}

export function overReserved(): PaymentRefusal {
  const detail = 'Other payments of this payer are on their way, and the balance does not cover this one too.'
  return payers('INSUFFICIENT_FUNDS', detail, 'invalid_exact_evm_insufficient_balance')
}

/** `unknown` where only the store could tell whether the same payment was settled before. */
export function storeDown(charged: false | 'unknown'): PaymentRefusal {
  return plain(problem('STORE_UNAVAILABLE', 'Send the same payment again shortly.', { charged, retry_after_s: limits.store_retry_s }))
}

export function tookTooLong(): PaymentRefusal {
  return plain(problem('INTERNAL_ERROR', 'The call took longer than a claim is held. Nothing was charged; send it again as it is.'))
}

/**
 * The transfer moved nothing. While the authorization may still be executed, by whoever has seen it, nobody can tell whether it will: another
 * signature could pay twice.
 */
export function settlementFailed(payment: Payment, now_s: number): PaymentRefusal {
  const reason = payment.reason ?? 'invalid_exact_evm_transaction_failed'
  const isLive = mayStillExecute(payment, now_s)
  const valid_before = Number(payment.valid_before_s)
  const next = isLive
    ? `Its authorization is valid until ${new Date(valid_before * 1_000).toISOString().replace('.000Z', 'Z')}: do not sign another before then; this one may still be executed. The status is at status_url.`
    : 'Sign a new authorization to try again.'
  const status_url = `/v1/payments/${payment.payer}/${payment.nonce}`
  return {
    problem: problem('SETTLEMENT_FAILED', `${whatBecameOf(payment)} ${next}`, {
      charged: isLive ? 'unknown' : false,
      extra: { reason, transaction: payment.transaction, ...(isLive && { valid_before, status_url }) },
    }),
    x402_reason: 'invalid_exact_evm_transaction_failed',
    payer: payment.payer,
  }
}

function whatBecameOf({ reason, transaction }: Payment): string {
  if (reason === 'facilitator_unreachable') return 'The transfer was never sent.'
  if (reason === 'out_of_time' && transaction === null) return 'Too little time was left for the transfer, and it was never sent.'
  if (reason === 'out_of_time' || reason === 'expired_unused')
    return 'Its time ran out before a block took the transfer up. Nothing was moved.'
  return 'The transfer was tried and moved nothing.'
}

export function answerExpired(payment: Payment): PaymentRefusal {
  const detail = `This payment was settled${payment.transaction === null ? '' : ` in ${payment.transaction}`} and answered; the answer was kept for a day.`
  return plain(problem('ANSWER_EXPIRED', detail, { charged: true, extra: { transaction: payment.transaction } }))
}

/**
 * One refusal for every resend that only knows what the chain shows: it says nothing of the tool or the input, and nothing of whether they
 * were the right ones.
 */
export function alreadyUsed({ payer, nonce, state }: Payment, sign_in: SignInChallenge): PaymentRefusal {
  const detail =
    'This payment was already used. Its header can be rebuilt from the chain, so it no longer opens the answer from another network, or after a day. ' +
    'Resend the first request with its answer token in X-ANSWER-TOKEN, with the payment-identifier id that it was first sent with, or with a ' +
    'SIGN-IN-WITH-X header in which the payer signs the challenge under extensions. Do not sign another payment for the same call.'
  const extra = { status_url: `/v1/payments/${payer}/${nonce}`, extensions: { 'sign-in-with-x': sign_in } }
  return plain(problem('PAYMENT_ALREADY_USED', detail, { charged: state === 'settled' ? true : 'unknown', extra }))
}

/** Not a refusal: the payment is on its way, and a second signature could pay twice. `api_url` is where the status can be asked. */
export function pendingProblem(pending: Pending): Problem {
  const { payer, nonce, transaction, token } = pending
  const detail =
    'The payment was sent and is not confirmed yet. Do not sign another one: send this request again as it is, or ask at status_url.'
  return problem('PAYMENT_PENDING', detail, {
    charged: 'unknown',
    retry_after_s: 2,
    extra: { transaction, status_url: `/v1/payments/${payer}/${nonce}`, answer_url: `/v1/answers/${token}` },
  })
}

/** Whether the refusal is one of a payment, which says what x402 has for it. */
export function asksForPayment({ code }: Problem): boolean {
  return PROBLEMS[code].status === 402
}

/** Whether another payment would help: then the terms go with the refusal. One that may still be executed must not be followed by another. */
export function takesAnother(found: Problem): boolean {
  return asksForPayment(found) && found.charged === false
}
