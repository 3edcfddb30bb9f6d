import type { FacilitatorRequest } from '../../ports/facilitator.ts'
import type { Payment } from '../../ports/payments.ts'
import { normaliseSignature } from '../../pure/payments/eip3009.ts'

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
      payload: { signature: plainSignature(payment), authorization },
    },
    paymentRequirements: requirements,
  }
}

/** r, s and v of 27 or 28, the one form of an account's signature that all facilitators read; what a contract wallet made stays as it is. */
function plainSignature({ signature, contract_payer }: Payment): string {
  const account = contract_payer ? null : normaliseSignature(signature)
  return account === null ? signature : `${account.r}${account.s.slice(2)}${account.v.toString(16)}`
}
