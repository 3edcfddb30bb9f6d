import type { FacilitatorRequest } from '../../ports/facilitator.ts'
import type { Payment } from '../../ports/payments.ts'

/** What stands in every payment of this deployment. */
export interface FacilitatedTerms {
  chain_id: number
  /** The token: address as published, name and version of its EIP-712 domain. */
  asset: string
  name: string
  version: string
  max_timeout_s: number
  /** Where the payment was asked for. */
  resourceOf(payment: Payment): string
}

/**
 * What the payer sent and what was asked for, as x402 version 2 has them, made from the row: so a payment that came in version 1 goes out
 * in version 2, and nothing of the caller's own headers is passed on.
 */
export function facilitatorRequest(terms: FacilitatedTerms, payment: Payment): FacilitatorRequest {
  const requirements = {
    scheme: 'exact',
    network: `eip155:${terms.chain_id}`,
    asset: terms.asset,
    amount: payment.value_minor.toString(),
    payTo: payment.to,
    maxTimeoutSeconds: terms.max_timeout_s,
    extra: { name: terms.name, version: terms.version },
  }
  const authorization = {
    from: payment.payer,
    to: payment.to,
    value: payment.value_minor.toString(),
    validAfter: payment.valid_after_s.toString(),
    validBefore: payment.valid_before_s.toString(),
    nonce: payment.nonce,
  }
  return {
    x402Version: 2,
    paymentPayload: {
      x402Version: 2,
      resource: { url: terms.resourceOf(payment) },
      accepted: requirements,
      payload: { signature: payment.signature, authorization },
    },
    paymentRequirements: requirements,
  }
}
