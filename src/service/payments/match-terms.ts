/** Whether a payment is the one that was asked for, and whether it can still be settled. Both without looking at the chain. */
import type { Authorization } from '../../pure/payments/authorization.ts'
import { type AcceptedTerms, paymentFault, type PaymentFault, type X402Payment } from './payment-header.ts'
import { caip2, type PaymentPlace } from './terms.ts'

export interface AcceptableTerms extends PaymentPlace {
  /** Every price that may be paid now. */
  amounts: ReadonlySet<bigint>
}

type MismatchCode =
  | 'SCHEME_UNSUPPORTED'
  | 'NETWORK_MISMATCH'
  | 'ASSET_MISMATCH'
  | 'DOMAIN_MISMATCH'
  | 'RECIPIENT_MISMATCH'
  | 'PRICE_MISMATCH'

export type TermsMatch = { ok: true } | PaymentFault<MismatchCode>

/**
 * Compares by meaning: addresses in either case, networks by either name. The authorization decides, since only it moves money; what
 * version 2 repeats of the terms must agree with it. Order and reasons are those of the facilitator in @x402/evm 2.27.0.
 */
export function matchTerms(payment: X402Payment, acceptable: AcceptableTerms): TermsMatch {
  const { chain_id, network } = acceptable
  if (payment.network !== network && payment.network !== caip2(chain_id)) {
    return paymentFault(
      'NETWORK_MISMATCH',
      `Payments are taken on ${network} (${caip2(chain_id)}) only.`,
      'invalid_exact_evm_network_mismatch',
    )
  }
  return acceptedMismatch(payment, acceptable) ?? transferMismatch(payment, acceptable) ?? { ok: true }
}

function acceptedMismatch({ accepted }: X402Payment, { token }: AcceptableTerms): PaymentFault<MismatchCode> | null {
  if (accepted === null) return null
  if (accepted.payment_flow !== null && accepted.payment_flow !== 'authorization') {
    const detail = 'accepted.extra.paymentFlow must be authorization, or left out.'
    return paymentFault('SCHEME_UNSUPPORTED', detail, 'unsupported_payment_flow')
  }
  if (!isSame(accepted.asset, token.address)) {
    return paymentFault('ASSET_MISMATCH', `accepted.asset must be ${token.address}.`, 'invalid_payment_requirements')
  }
  return domainMismatch(accepted, token)
}

/** A wrong domain makes a signature that recovers to a stranger; said here, the client learns why. A domain left out is not wrong. */
function domainMismatch(accepted: AcceptedTerms, token: AcceptableTerms['token']): PaymentFault<'DOMAIN_MISMATCH'> | null {
  const { domain_name, domain_version } = accepted
  if (domain_name !== null && domain_name !== token.name) {
    return paymentFault('DOMAIN_MISMATCH', `accepted.extra.name must be ${token.name}.`, 'invalid_exact_evm_token_name_mismatch')
  }
  if (domain_version !== null && domain_version !== token.version) {
    return paymentFault('DOMAIN_MISMATCH', `accepted.extra.version must be ${token.version}.`, 'invalid_exact_evm_token_version_mismatch')
  }
  return null
}

function transferMismatch(payment: X402Payment, { pay_to, amounts }: AcceptableTerms): PaymentFault<MismatchCode> | null {
  const { accepted, authorization, version } = payment
  if (!isSame(authorization.to, pay_to) || (accepted !== null && !isSame(accepted.pay_to, pay_to))) {
    const place = isSame(authorization.to, pay_to) ? 'accepted.payTo' : 'payload.authorization.to'
    return paymentFault('RECIPIENT_MISMATCH', `${place} must be ${pay_to}.`, 'invalid_exact_evm_recipient_mismatch')
  }
  const reason = version === 1 ? 'invalid_exact_evm_authorization_value' : 'invalid_exact_evm_payload_authorization_value_mismatch'
  if (!amounts.has(authorization.value_minor)) {
    return paymentFault(
      'PRICE_MISMATCH',
      'payload.authorization.value is not the price, nor a quoted price that may still be paid.',
      reason,
    )
  }
  if (accepted !== null && accepted.amount_minor !== authorization.value_minor) {
    return paymentFault('PRICE_MISMATCH', 'accepted.amount and payload.authorization.value must be the same.', reason)
  }
  return null
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

/** Seconds. */
export interface WindowBounds {
  /** What must be left for settling it. */
  least_left_s: number
  /** How far ahead it may run out. */
  longest_s: number
  /** How far the clock of a client may be ahead of ours. */
  skew_s: number
}

export type WindowCheck = { ok: true } | PaymentFault<'EXPIRED' | 'NOT_YET_VALID' | 'WINDOW_TOO_LONG'>

/**
 * Whether an authorization can be settled now. The token takes it strictly between its two times, by the time of the block; a block may
 * come a little earlier than our clock says, which is left to the simulation. Skew is granted where the client's clock sets the bound too
 * high, never to one that is running out.
 */
export function checkWindow(authorization: Authorization, now_s: number, bounds: WindowBounds): WindowCheck {
  const { valid_after_s, valid_before_s } = authorization
  const now = BigInt(Math.floor(now_s))
  const skew = BigInt(bounds.skew_s)
  if (valid_before_s < now + BigInt(bounds.least_left_s) || valid_before_s <= valid_after_s + 1n) {
    const detail = `payload.authorization.validBefore must lie at least ${bounds.least_left_s} seconds ahead, and after validAfter.`
    return paymentFault('EXPIRED', detail, 'invalid_exact_evm_payload_authorization_valid_before')
  }
  if (valid_after_s > now + skew) {
    const detail = 'payload.authorization.validAfter lies in the future.'
    return paymentFault('NOT_YET_VALID', detail, 'invalid_exact_evm_payload_authorization_valid_after')
  }
  if (valid_before_s > now + BigInt(bounds.longest_s) + skew) {
    const detail = `payload.authorization.validBefore may lie at most ${bounds.longest_s} seconds ahead.`
    return paymentFault('WINDOW_TOO_LONG', detail, 'invalid_exact_evm_payload_authorization_valid_before')
  }
  return { ok: true }
}
