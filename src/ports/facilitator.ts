/** A party that settles x402 payments for others, over HTTP. What it says is a claim, never evidence. */

/** `paymentPayload` and `paymentRequirements` of the x402 facilitator interface, version 2. */
export interface FacilitatorRequest {
  x402Version: 2
  paymentPayload: Record<string, unknown>
  paymentRequirements: Record<string, unknown>
}

/**
 * `refused`: it says that nothing was sent and nothing will be. `unsure`: it timed out, broke off or answered what leaves it open; the
 * authorization may be on its way. `unreachable`: the request provably never reached it, so another one may be asked.
 */
export type FacilitatorAnswer =
  | { kind: 'settled'; transaction: string }
  | { kind: 'refused'; reason: string }
  | { kind: 'unsure'; reason: string; transaction: string | null }
  | { kind: 'unreachable'; reason: string }

export interface Facilitator {
  /** Origin of the facilitator, for logs and documents. */
  readonly url: string
  /** True when it offers to settle `exact` payments on this network now; cached for a moment. */
  supports(network: string): Promise<boolean>
  settle(request: FacilitatorRequest): Promise<FacilitatorAnswer>
}
