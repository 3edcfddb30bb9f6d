import type { Payment } from '../../ports/payments.ts'

/** How the settlement of one payment stands when the wait for it is over. `pending`: it may still settle; nobody can tell yet. */
export type SettleResult =
  | { kind: 'settled'; payment: Payment }
  | { kind: 'refused'; payment: Payment }
  | { kind: 'pending'; transaction: string | null }
  /** It reached nobody, and the row is released. */
  | { kind: 'unsent' }

/** Who could take a payment now: the gas wallet's address or the facilitator's origin. Not ready: nothing must be claimed. */
type Readiness = { ok: true; settler: string } | { ok: false; detail: string; retry_after_s: number }

/** Brings payments to the chain. It is given a payment only after its row says `settling`, and closes the row itself, on evidence. */
export interface Settler {
  readonly method: 'self' | 'facilitator'
  ready(payer: string): Promise<Readiness>
  /** What failed settlements of one client network may cost in a day, and what one costs; null where others pay for the gas. */
  gas_share(): { network_wei: bigint; failure_wei: bigint } | null
  /** Never rejects once the row says settling: what cannot be told is `pending`. */
  settle(payment: Payment, wait_ms: number): Promise<SettleResult>
}

/**
 * Steps between which a process may die. Each is awaited right there; a test brings a function that kills the process, the service one that
 * does nothing.
 */
export const FAULT_POINTS = ['after_claim', 'after_prepare', 'before_send', 'after_send', 'before_settled_row'] as const
export type FaultPoint = (typeof FAULT_POINTS)[number]
export type Reach = (point: FaultPoint) => Promise<void>
