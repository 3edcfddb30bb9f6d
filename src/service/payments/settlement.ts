import type { Payment, PaymentKey } from '../../ports/payments.ts'

/** Where and how a call was paid, as its answer says it. */
export interface Settlement {
  /** CAIP-2. */
  network: string
  transaction: string
  payer: string
  amount_minor: string
  method: 'self' | 'facilitator'
}

/** How a call was paid by a prepaid credit: nothing moved on a chain, and nobody there paid. */
export interface CreditSettlement {
  network: null
  transaction: null
  /** The zero address, as in the receipt. */
  payer: string
  amount_minor: string
  method: 'credit'
}

/** A payment whose end nobody knows yet, and where to look for it. */
export interface Pending extends PaymentKey {
  transaction: string | null
  /** Opens the answer at `/v1/answers/{token}`. */
  token: string
}

export function settlementOf(payment: Payment, chain_id: number): Settlement {
  return {
    network: `eip155:${chain_id}`,
    transaction: payment.transaction ?? '',
    payer: payment.payer,
    amount_minor: payment.value_minor.toString(),
    method: payment.method ?? 'self',
  }
}

/** What a stranger may know of a payment whose payer and nonce they name: never what was asked. */
export type PaymentStatus = 'unpaid' | 'pending' | 'settled' | 'released'

export function statusOf(payment: Payment | null): PaymentStatus {
  if (payment === null) return 'unpaid'
  switch (payment.state) {
    case 'claimed':
    case 'prepared':
    case 'settling':
    case 'unknown':
      return 'pending'
    case 'settled':
      return 'settled'
    case 'refused':
    case 'lost':
    case 'released':
      return 'released'
  }
}
