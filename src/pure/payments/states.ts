/**
 * States of a payment, and every transition between them.
 *
 * claimed    this deployment has bound the authorization to one request; the tool may be running
 * prepared   result and signed receipt are stored; nothing was sent
 * settling   from here on the authorization may reach the chain at any moment
 * settled    AuthorizationUsed and the exact Transfer were seen in a block
 * refused    it was tried or can no longer be tried, and moved nothing; the chain is watched until the authorization has expired
 * unknown    it was sent and its result is not known; it leaves this state on chain evidence only, never by a timeout
 * lost       it was settled, a reorganisation removed the block, and the authorization expired unused
 * released   given up before anything was sent; the same request may claim it again
 */
export const PAYMENT_STATES = ['claimed', 'prepared', 'settling', 'settled', 'refused', 'unknown', 'lost', 'released'] as const
export type PaymentState = (typeof PAYMENT_STATES)[number]

const TRANSITIONS: Readonly<Record<PaymentState, readonly PaymentState[]>> = {
  claimed: ['prepared', 'released'],
  prepared: ['settling', 'released'],
  // Released only by the claim that began to settle, and only when the authorization provably reached no other party.
  settling: ['settled', 'refused', 'unknown', 'released'],
  unknown: ['settled', 'refused', 'lost'],
  settled: ['unknown'],
  // The authorization is public: another sender may execute it until it expires.
  refused: ['settled'],
  lost: [],
  released: ['claimed'],
}

/** Returns the states from which a payment may change to `to`. */
export function statesBefore(to: PaymentState): PaymentState[] {
  return PAYMENT_STATES.filter((from) => TRANSITIONS[from].includes(to))
}

/** States in which nothing was sent: the claimer may release the payment, and after the claim has expired so may any process. */
export const UNSENT_STATES: readonly PaymentState[] = ['claimed', 'prepared']

/**
 * Reasons for a refusal that the payer caused after the payment had been accepted: from chain evidence, and the codes of facilitators for
 * the same (x402, 2026). No other reason counts against a payer: delays, outages, a paused token and reorganisations happen to honest
 * payers.
 */
export const PAYER_ACTS = [
  'authorization_cancelled',
  'authorization_used_elsewhere',
  'insufficient_balance',
  'signature_withdrawn',
  'insufficient_funds',
  'invalid_exact_evm_insufficient_balance',
  'invalid_exact_evm_nonce_already_used',
] as const

/** States in which a payment may still reduce the payer's current balance. */
export const IN_FLIGHT_STATES: readonly PaymentState[] = ['claimed', 'prepared', 'settling', 'unknown']

/**
 * Returns true when a claim has expired, so that the same request may claim again. A claim that ends later than two claim periods from now
 * was written by a machine whose clock was ahead; it counts as expired too, because otherwise the payment could not be claimed until the
 * other clocks caught up. Fencing numbers keep a claimer that was declared dead from writing.
 */
export function hasClaimExpired(claim_until_ms: number, now_ms: number, claim_ms: number): boolean {
  return claim_until_ms < now_ms || claim_until_ms > now_ms + 2 * claim_ms
}
