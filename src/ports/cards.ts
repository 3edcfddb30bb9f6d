/** Card payments for credits, as far as this service sees them: a page of the card processor to send the buyer to, and signed notices. */

export interface CheckoutAsked {
  /** Whole US dollars. */
  pack_usd: number
  /** keccak-256 of the secret that the buyer's browser holds; travels with the payment, and comes back in its notice. */
  claim_hash: string
  /** Address to which the buyer returns; `{CHECKOUT_SESSION_ID}` in it is replaced. */
  success_url: string
  cancel_url: string
}

/** Content of a webhook event. Amounts are minor units of USDC, at parity with the dollar. */
export type CardEvent =
  | { kind: 'paid'; event_id: string; session_id: string; payment_ref: string; claim_hash: string; amount_minor: bigint }
  | {
      kind: 'reversed'
      event_id: string
      payment_ref: string
      /** The charge, or the dispute. */
      reference: string
      /** Refunded so far, or disputed. */
      amount_minor: bigint
      standing: 'open' | 'won' | 'lost'
    }
  /** An event that does not affect credits. */
  | { kind: 'other' }

/** Part of a notice that was refused, with what was found and expected. `pointer` is a JSON pointer into the body, or empty for the header. */
export interface CardNoticeFault {
  pointer: string
  code: 'signature' | 'time' | 'mode' | 'amount'
  message: string
}

type CardNotice = { ok: true; event: CardEvent } | { ok: false; fault: CardNoticeFault }

/** Address of the processor, when it differs from its public one. */
export interface CardServer {
  host: string
  port: number
  protocol: 'http' | 'https'
}

export interface Cards {
  /** The address of the page where the buyer pays. The same question gives the same page. Rejects when the processor does not answer. */
  checkout(asked: CheckoutAsked): Promise<string>
  /** Reads the raw bytes of a notice, once its signature is verified and its time is within the tolerance, past and future. */
  read(raw: Uint8Array, signature: string | null, now_ms: number): CardNotice
}
