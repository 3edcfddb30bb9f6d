/** A payment as a caller brought it, in one form for both generations of x402. */
import type { SignedAuthorization } from '../../pure/payments/authorization.ts'

/** The entry of our terms that a client of version 2 says it accepted. Addresses as they came. */
export interface AcceptedTerms {
  network: string
  amount_minor: bigint
  asset: string
  pay_to: string
  /** Null where the client named none. */
  domain_name: string | null
  domain_version: string | null
  payment_flow: string | null
}

export interface X402Payment {
  version: 1 | 2
  scheme: 'exact'
  /** As the client named it: CAIP-2, or a name of version 1. */
  network: string
  /** Null in version 1, which does not repeat the terms. */
  accepted: AcceptedTerms | null
  authorization: SignedAuthorization
  /** What the client says it pays for. A claim: the signature does not cover it. */
  resource_url: string | null
  /** Id of the x402 extension payment-identifier, which never reaches the chain; null without one. */
  identifier: string | null
}

/** A payment that is not taken. `x402_reason` is the code that official facilitators give for it; `detail` never quotes the caller. */
export interface PaymentFault<Code extends string> {
  ok: false
  code: Code
  detail: string
  x402_reason: string
}

export function paymentFault<Code extends string>(code: Code, detail: string, x402_reason: string): PaymentFault<Code> {
  return { ok: false, code, detail, x402_reason }
}
