/**
 * The states of a payment and every move between them, once.
 *
 * claimed    this deployment has bound the authorization to one request; the tool may be running
 * prepared   result and signed receipt are stored; nothing was sent
 * settling   from here on the authorization may reach the chain at any moment
 * settled    AuthorizationUsed and the exact Transfer were seen in a block
 * refused    it was tried, or can no longer be, and moved nothing; the chain is watched until it has run out
 * unknown    it was sent and nobody can tell yet; closed on evidence only, never by waiting
 * lost       was settled, a reorganisation took the block away, and the authorization has run out unused
 * released   given up before anything was sent; the same request may claim it again
 */
export const PAYMENT_STATES = ['claimed', 'prepared', 'settling', 'settled', 'refused', 'unknown', 'lost', 'released'] as const
export type PaymentState = (typeof PAYMENT_STATES)[number]

const MOVES: Readonly<Record<PaymentState, readonly PaymentState[]>> = {
  claimed: ['prepared', 'released'],
  prepared: ['settling', 'released'],
  // Back from here only by the claim that began it, and only when the authorization provably reached nobody.
  settling: ['settled', 'refused', 'unknown', 'released'],
  unknown: ['settled', 'refused', 'lost'],
  settled: ['unknown'],
  // Its authorization is public: a stranger may send it yet, until it runs out.
  refused: ['settled'],
  lost: [],
  released: ['claimed'],
}

/** The states from which a payment may come to `to`. */
export function statesBefore(to: PaymentState): PaymentState[] {
  return PAYMENT_STATES.filter((from) => MOVES[from].includes(to))
}

/** Payments of which nothing was sent: whoever claimed them may give them up, and when its time is over so may anybody. */
export const UNSENT: readonly PaymentState[] = ['claimed', 'prepared']

/**
 * Reasons for a refusal that the payer brought about after the payment had been accepted: by the chain's evidence, and by the codes of facilitators
 * for the same (x402, 2026). No other reason is held against a payer: delays, outages, a paused token and reorganisations happen to honest ones.
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

/** Payments that may still take from the payer's balance what it holds now. */
export const IN_FLIGHT: readonly PaymentState[] = ['claimed', 'prepared', 'settling', 'unknown']
