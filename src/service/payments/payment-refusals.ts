import { assetNetwork } from '../../pure/networks.ts'
import type { Payment, PaymentKey } from '../../ports/payments.ts'
import { CHANNEL_ERRORS, type ChannelError, type ChannelState } from '../../pure/payments/channels.ts'
import { limits } from '../limits.ts'
import { problem, PROBLEMS, type Problem, type ProblemCode } from '../problems.ts'
import { mayStillExecute, type Pending } from './settlement.ts'
import type { SignInChallenge } from './resends.ts'

/** A payment that bought no answer, with the error code of the x402 facilitators where they have one. */
export interface PaymentRefusal {
  kind: 'refused'
  problem: Problem
  x402_reason: string | null
  /** Set when a settlement was tried and failed. */
  payer?: string
  /** Network of the payment in CAIP-2, where it is not that of the deployment. */
  network?: string
  /** The chain showed the authorization as unused a moment ago. */
  is_unused?: boolean
  /** The failure was counted against the client. */
  is_counted?: boolean
  /** It proposes another payment, which is right only where this one is known as unused. */
  names_other?: boolean
  /** State of a payment channel from which the client signs the next voucher. */
  channel?: ChannelCorrection
  /** Challenge of sign-in-with-x for the extensions of the terms: with its proof the payer gets more. */
  sign_in?: SignInChallenge
}

/** State of a payment channel in a corrective 402. */
export interface ChannelCorrection extends ChannelState {
  channel_id: string
  /** Null for a sender that may not see it. */
  charged_minor: bigint | null
  /** Of the last voucher; empty without one, and for a sender that may not see it. */
  signature: string
}

export function refusedPayment(found: Problem, x402_reason: string | null = null): PaymentRefusal {
  return { kind: 'refused', problem: found, x402_reason }
}

/** A check of a payment that failed. */
interface FailedCheck {
  code: ProblemCode
  detail: string
  x402_reason: string | null
  retry_after_s?: number
  is_unused?: boolean
}

/** Returns the refusal for a failed check; `invalid_reason` has the x402 code. */
export function refusalForCheck({ code, detail, x402_reason, retry_after_s, is_unused }: FailedCheck): PaymentRefusal {
  const retry = retry_after_s === undefined ? {} : { retry_after_s }
  const extra = x402_reason === null ? {} : { extra: { invalid_reason: x402_reason } }
  const refusal = refusedPayment(problem(code, detail, { ...retry, ...extra }), x402_reason)
  return is_unused === undefined ? refusal : { ...refusal, is_unused }
}

/** As a deployment without the scheme refuses every scheme that it does not know. */
export function channelsNotOffered(): PaymentRefusal {
  return refusalForCheck({ code: 'SCHEME_UNSUPPORTED', detail: 'accepted.scheme must be exact.', x402_reason: 'unsupported_scheme' })
}

const CHANNEL_DETAILS: Readonly<Record<ChannelError, readonly [code: ProblemCode, detail: string]>> = {
  scheme: ['SCHEME_UNSUPPORTED', 'accepted.scheme must be a scheme of the terms.'],
  network: ['NETWORK_MISMATCH', 'accepted.network must be the network of the terms.'],
  payload_type: ['SCHEME_UNSUPPORTED', 'payload.type must be voucher or deposit; a refund is requested at GET /v1/channels/refund.'],
  channel_id: ['CHANNEL_INVALID', 'payload.voucher.channelId is not the id of payload.channelConfig on this network.'],
  receiver: ['CHANNEL_INVALID', 'payload.channelConfig.receiver must be payTo of the terms.'],
  receiver_authorizer: ['CHANNEL_INVALID', 'payload.channelConfig.receiverAuthorizer must be extra.receiverAuthorizer of the terms.'],
  token: ['ASSET_MISMATCH', 'payload.channelConfig.token must be the asset of the terms.'],
  withdraw_delay: ['CHANNEL_INVALID', 'payload.channelConfig.withdrawDelay must be extra.withdrawDelay of the terms.'],
  voucher_signature: [
    'BAD_SIGNATURE',
    'payload.voucher.signature must be a 65-byte signature of payload.channelConfig.payerAuthorizer, an account with a key.',
  ],
  channel_not_found: ['CHANNEL_INVALID', 'The channel has no balance on the chain. Send a deposit with the voucher.'],
  cumulative_mismatch: [
    'CHANNEL_MISMATCH',
    'payload.voucher.maxClaimableAmount must be what was charged before plus the price; see accepts.',
  ],
  exceeds_balance: [
    'CHANNEL_INVALID',
    'The balance of the channel does not cover payload.voucher.maxClaimableAmount. Send a deposit with it.',
  ],
  below_claimed: ['CHANNEL_MISMATCH', 'payload.voucher.maxClaimableAmount was claimed before; see accepts.'],
  busy: [
    'CHANNEL_BUSY',
    'The channel has a refund on its way, or too many waiting calls. Nothing was charged; send the same payment again.',
  ],
  state_unavailable: [
    'UPSTREAM_RPC_UNAVAILABLE',
    'The state of the channel cannot be read from the chain now. Send the same payment again.',
  ],
  authorization_required: ['SCHEME_UNSUPPORTED', 'payload.deposit.authorization must be an erc3009Authorization.'],
  valid_before: ['EXPIRED', 'validBefore of the deposit must leave time to send it, and lie within one hour.'],
  valid_after: ['NOT_YET_VALID', 'validAfter of the deposit is in the future.'],
  receive_signature: ['BAD_SIGNATURE', 'The signature of the deposit does not recover to payload.channelConfig.payer.'],
  insufficient_balance: ['INSUFFICIENT_FUNDS', 'The token balance of the payer is less than the deposit.'],
  deposit_below_min: ['CHANNEL_INVALID', 'payload.deposit.amount is too small for the gas that a deposit costs; see extra.minDeposit.'],
  deposit_simulation: ['SIMULATION_FAILED', 'The contract of the channels rejected the simulated deposit.'],
  deposit_failed: ['SETTLEMENT_FAILED', 'The deposit was sent and moved nothing. Sign a new one to try again.'],
  refund_payload: ['SCHEME_UNSUPPORTED', 'This address takes refunds only: payload.type must be refund.'],
  refund_no_balance: ['CHANNEL_INVALID', 'Nothing is left in the channel to refund.'],
  refund_amount: ['MALFORMED_PAYMENT', 'payload.amount must be a positive whole number of minor units.'],
}

/** Refusal with the code of the scheme. With `channel`, the terms carry the state from which the next voucher is signed. */
export function channelRefusal(error: ChannelError, channel: ChannelCorrection | null = null): PaymentRefusal {
  const [code, detail] = CHANNEL_DETAILS[error]
  const retry = error === 'state_unavailable' ? { retry_after_s: limits.settlement_retry_s } : {}
  const refusal = refusalForCheck({ code, detail, x402_reason: CHANNEL_ERRORS[error], ...retry })
  return channel === null ? refusal : { ...refusal, channel }
}

/** Adds to a correction without the last voucher how its sender can get it. */
export function withoutVoucher(refusal: PaymentRefusal, sign_in: SignInChallenge): PaymentRefusal {
  const detail =
    'payload.voucher.maxClaimableAmount is not the next total of this channel. A voucher can be read from the chain, so the last voucher, and the answer of one that ' +
    `was charged before, are for the client network of the last charge. From elsewhere send the same request again ${PRESENCE_SECRETS}`
  return { ...refusal, problem: { ...refusal.problem, detail }, sign_in }
}

const PRESENCE_SECRETS =
  'with the answer token of the last charge in X-ANSWER-TOKEN, with its payment-identifier id, or with a SIGN-IN-WITH-X header in which ' +
  'the payer, or payerAuthorizer, signs the challenge in the extensions of the terms.'

/** Refuses a refund whose sender has not shown that it is the payer: the voucher of a refund can be read from the chain. */
export function refundNeedsPresence(sign_in: SignInChallenge): PaymentRefusal {
  const detail = `A refund is for the client network of the last charge of this channel, or of its deposit before the first charge. From elsewhere send it again ${PRESENCE_SECRETS}`
  const x402_reason = CHANNEL_ERRORS.refund_payload
  return { ...refusalForCheck({ code: 'CHANNEL_PRESENCE', detail, x402_reason }), sign_in }
}

/** A deposit that took longer than its call has no answer: that comes with the charge of its voucher. */
export function depositArrived(): PaymentRefusal {
  const detail = 'The deposit is in the channel, and nothing was charged. Send the call again with the same payment.'
  return refusedPayment(problem('CHANNEL_BUSY', detail))
}

export function tooManyDeposits(): PaymentRefusal {
  const detail =
    'The daily number of deposits and refunds of this payer or network is used up. Pay with the scheme exact, or try again tomorrow (UTC).'
  return refusedPayment(problem('RATE_LIMITED', detail, { retry_after_s: 3_600 }))
}

export function severalPaymentsRefusal(): PaymentRefusal {
  return refusedPayment(problem('PAYMENT_CONFLICT', 'Send either one payment, in one header or one _meta key, or one credit.'))
}

export function paymentsNotConfigured(): PaymentRefusal {
  const detail = 'This deployment takes no payments. The payment was not used; send the call without it.'
  return refusedPayment(problem('SETTLEMENT_NOT_CONFIGURED', detail))
}

export function boundToOtherRequest(): PaymentRefusal {
  const detail = 'This payment was first sent with another tool or input. Sign a new payment for this request. Nothing more was charged.'
  return refusedPayment(problem('NONCE_BOUND', detail))
}

export function tooManyMismatches(): PaymentRefusal {
  const detail = `Your client sent this payment more than ${limits.mismatches_per_hour} times with other requests or wrong secrets. Wait an hour.`
  return refusedPayment(problem('RATE_LIMITED', detail, { retry_after_s: 3_600 }))
}

export function signatureMismatch(): PaymentRefusal {
  const detail = 'The signature differs from the one first sent with this payment and does not recover to the payer.'
  return refusalForCheck({ code: 'BAD_SIGNATURE', detail, x402_reason: 'invalid_exact_evm_signature' })
}

export function settlementUnavailable(detail: string, retry_after_s: number = limits.settlement_retry_s): PaymentRefusal {
  return refusedPayment(problem('SETTLEMENT_UNAVAILABLE', detail, { retry_after_s }))
}

/** Refusal of a payment on a network that left the terms because of its gas, for the reason in `detail`. */
export function gasTooDear({ detail }: { detail: string }): PaymentRefusal {
  const advice = 'Nothing was charged. Pay on another network of the terms, or send the same payment again later.'
  return { ...settlementUnavailable(`${detail} ${advice}`, GAS_RETRY_S), names_other: true }
}

/** Refusal of a payment in EURC while there is no rate. */
export function rateMissing(): PaymentRefusal {
  const detail = 'There is no rate of EURC now. Pay in USDC, or send the same payment again later.'
  return { ...settlementUnavailable(detail), names_other: true }
}

/** Seconds after which gas can be cheap enough again. */
const GAS_RETRY_S = 60

export function balanceReserved(): PaymentRefusal {
  const detail = 'The balance of this payer does not cover this payment in addition to those already pending.'
  return refusalForCheck({ code: 'INSUFFICIENT_FUNDS', detail, x402_reason: 'invalid_exact_evm_insufficient_balance' })
}

/** `charged` is `unknown` where only the store could say whether the same payment was settled before. */
export function paymentStoreDown(charged: false | 'unknown'): PaymentRefusal {
  const detail = `The store does not answer. Send the same payment again in ${limits.store_retry_s} s.`
  return refusedPayment(problem('STORE_UNAVAILABLE', detail, { charged, retry_after_s: limits.store_retry_s }))
}

export function claimExpired(): PaymentRefusal {
  const detail = `The call took longer than the ${limits.claim_ms / 1_000} s for which a payment is claimed. Nothing was charged; send the same request again.`
  return refusedPayment(problem('INTERNAL_ERROR', detail))
}

/**
 * Returns the refusal for a transfer that moved nothing. While anyone who has seen the authorization may still execute it, the payer must not
 * sign another one: both could pay.
 */
export function settlementFailed(payment: Payment, now_s: number): PaymentRefusal {
  const reason = payment.reason ?? 'invalid_exact_evm_transaction_failed'
  const isLive = mayStillExecute(payment, now_s)
  const valid_before = Number(payment.valid_before_s)
  const next = isLive
    ? `Its authorization is valid until ${new Date(valid_before * 1_000).toISOString().replace('.000Z', 'Z')}: do not sign another before then; this one may still be executed. See status_url for its status.`
    : 'Sign a new authorization to try again.'
  const status_url = `/v1/payments/${payment.payer}/${payment.nonce}`
  const found = problem('SETTLEMENT_FAILED', `${failureText(payment)} ${next}`, {
    charged: isLive ? 'unknown' : false,
    extra: { reason, transaction: payment.transaction, ...(isLive && { valid_before, status_url }) },
  })
  const network = assetNetwork(payment.asset)
  return {
    ...refusedPayment(found, 'invalid_exact_evm_transaction_failed'),
    payer: payment.payer,
    ...(network === null ? {} : { network }),
  }
}

function failureText({ reason, transaction }: Payment): string {
  if (reason === 'facilitator_unreachable') return 'The transfer was never sent.'
  if (reason === 'out_of_time' && transaction === null) return 'Too little time was left for the transfer, and it was never sent.'
  if (reason === 'out_of_time' || reason === 'expired_unused')
    return 'The authorization ran out before a block included the transfer. Nothing was moved.'
  return 'The transfer was tried and moved nothing.'
}

export function answerExpired(payment: Payment): PaymentRefusal {
  const detail = `This payment was settled${payment.transaction === null ? '' : ` in ${payment.transaction}`} and answered. The stored answer was deleted after a day.`
  return refusedPayment(problem('ANSWER_EXPIRED', detail, { charged: true, extra: { transaction: payment.transaction } }))
}

/** Returns the one refusal for every resend without a right to the answer. It reveals nothing of the tool or the input of the payment. */
export function alreadyUsed({ payer, nonce, state }: Payment, sign_in: SignInChallenge): PaymentRefusal {
  const detail =
    'This payment was already used. Its header can be rebuilt from the chain, so it no longer opens the answer from another network, or after a day. ' +
    'Resend the first request with its answer token in X-ANSWER-TOKEN, with the payment-identifier id that it was first sent with, or with a ' +
    'SIGN-IN-WITH-X header in which the payer signs the challenge under extensions. Do not sign another payment for the same call.'
  const extra = { status_url: `/v1/payments/${payer}/${nonce}`, extensions: { 'sign-in-with-x': sign_in } }
  return refusedPayment(problem('PAYMENT_ALREADY_USED', detail, { charged: state === 'settled' ? true : 'unknown', extra }))
}

/**
 * Returns the refusal of an authorization that is used on the chain while the store has no row of it, from a sender without a right to its
 * answer, or as long as its transfer is not found.
 */
export function usedUnknown({ payer, nonce }: PaymentKey, transaction: string | null, sign_in: SignInChallenge): PaymentRefusal {
  const found =
    transaction === null
      ? 'This authorization is used on chain, and its transfer was not found yet: it is not known whether it paid for a call here. '
      : `This authorization was used in ${transaction}, and the payment behind it is no longer in the store. `
  const detail =
    `${found}Do not sign another payment for the same call. Send the first request again unchanged, from the network that sent it first; or with its ` +
    'answer token in X-ANSWER-TOKEN, or with a SIGN-IN-WITH-X header in which the payer signs the challenge under extensions.'
  const extra = { status_url: `/v1/payments/${payer}/${nonce}`, transaction, extensions: { 'sign-in-with-x': sign_in } }
  return refusedPayment(problem('PAYMENT_ALREADY_USED', detail, { charged: 'unknown', extra }))
}

/** Returns the refusal of a payment that does not fit now, while it cannot be read from the chain whether it was used before. */
export function useUnread(): PaymentRefusal {
  const detail =
    'It cannot be read from the chain now whether this authorization was used before. Do not sign another one; send the same payment again.'
  return refusedPayment(problem('UPSTREAM_RPC_UNAVAILABLE', detail, { charged: 'unknown', retry_after_s: limits.settlement_retry_s }))
}

/**
 * Returns the refusal of a payment under a payment-identifier id that belongs to another payment of the payer. `token` opens the answer of
 * that payment, for the same request only.
 */
export function identifierTaken(first: Pick<Payment, 'payer' | 'nonce' | 'state' | 'transaction'>, token: string | null): PaymentRefusal {
  const { payer, nonce, state, transaction } = first
  const is_paid = state === 'settled'
  const next =
    token === null
      ? 'That payment is for another request: use another id for this one. status_url shows its state.'
      : `${is_paid ? 'Its answer is' : 'It is not decided yet; then its answer is'} at answer_url. Do not sign another payment for the same request.`
  const detail = `The payment-identifier id belongs to an earlier payment of this payer. This payment was not used, and nothing is charged for it. ${next}`
  const first_payment = { payer, nonce, charged: is_paid ? true : 'unknown', transaction }
  const answer = token === null ? {} : { answer_url: `/v1/answers/${token}` }
  return refusedPayment(
    problem('PAYMENT_ALREADY_USED', detail, { extra: { status_url: `/v1/payments/${payer}/${nonce}`, ...answer, first_payment } }),
  )
}

/** Returns the 202 of a payment that was sent: a second signature could pay twice. */
export function pendingProblem({ payer, nonce, transaction, token }: Pending): Problem {
  const detail =
    'The payment was sent and is not confirmed yet. Do not sign another one: send this request again unchanged, or follow status_url.'
  return problem('PAYMENT_PENDING', detail, {
    charged: 'unknown',
    retry_after_s: 2,
    extra: { transaction, status_url: `/v1/payments/${payer}/${nonce}`, answer_url: `/v1/answers/${token}` },
  })
}

/** Returns true for a problem of a payment, answered with 402. */
export function isPaymentProblem({ code }: Problem): boolean {
  return PROBLEMS[code].status === 402
}

/** Returns true when another payment would help, so that the answer includes terms. It would not while this one may still be executed. */
export function acceptsNewPayment(found: Problem): boolean {
  return isPaymentProblem(found) && found.charged === false
}
