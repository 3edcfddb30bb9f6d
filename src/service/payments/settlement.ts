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

/** Reasons for a refusal after which nothing can execute the authorization any more, or before which nobody else had it. */
const OVER: ReadonlySet<string | null> = new Set([
  'authorization_cancelled',
  'authorization_used_elsewhere',
  'authorization_used_before',
  'authorization_expired',
  'expired_unused',
  'facilitator_unreachable',
])

/** By how much the clocks of chain and service may differ, and how long a transfer that was mined in time may stay unseen. */
const UNSEEN_S = 120n

/**
 * Whether a refused payment may still be executed: its authorization stood in public calldata, or a facilitator has it, and it is neither used
 * up nor out of time. Then nobody can say yet whether the payer is charged.
 */
export function mayStillExecute({ state, reason, final, transaction, valid_before_s }: Payment, now_s: number): boolean {
  if (state !== 'refused' || final || OVER.has(reason)) return false
  if (reason === 'out_of_time' && transaction === null) return false
  return BigInt(now_s) < valid_before_s + UNSEEN_S
}

/** What a stranger may know of a payment whose payer and nonce they name: never what was asked. */
export type PaymentStatus = 'unpaid' | 'pending' | 'settled' | 'released'

export function statusOf(payment: Payment | null, now_s: number): PaymentStatus {
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
      return mayStillExecute(payment, now_s) ? 'pending' : 'released'
    case 'lost':
    case 'released':
      return 'released'
  }
}
