import { BATCH_ITEMS_MAX } from '../../pure/contracts/batch-settler.ts'
import type { Chain, ChainSender } from '../../ports/chain.ts'
import type { Clock, SteadyClock } from '../../ports/clock.ts'
import type { GasWallet } from '../../ports/gas-wallet.ts'
import type { Log } from '../../ports/log.ts'
import type { Closing, LeaseGuard, Payment, PaymentKey, Sending } from '../../ports/payments.ts'
import type { Store } from '../../ports/store.ts'
import type { BatchContract } from './batch-contract.ts'
import type { EvidenceSource } from './evidence.ts'
import { EPOCH_MS } from './price-book.ts'
import type { Reach } from './settler.ts'

/** Bounds and times of the one writer of a gas wallet. */
export interface WriterRules {
  /** How long the oldest waiting payment waits for others to share its transaction; at most a second. */
  gather_ms: number
  /** How often receipts are looked for while a transaction is open, and rows of other instances when none is. */
  poll_ms: number
  idle_ms: number
  lease_ms: number
  batch_items: number
  /** Transactions of one wallet on their way; nodes hold no more than 16 of one account for sure. */
  open_max: number
  /** Of those, for payments that settle alone, so that they never keep batches out. */
  open_singles_max: number
  /** Life that an authorization must have left when it is sent. */
  life_s: number
  rebroadcast_ms: number
  /** Age of an attempt at which it is replaced, and how often before the slot is freed by a transfer of nothing. */
  bump_after_ms: number
  bumps_max: number
  /** Age of a sending whose account nonce is used up without a receipt of ours, or that waits behind a gap. */
  slot_lost_ms: number
  gap_ms: number
  /** Age of a sending without a receipt at which its payments are called unknown. */
  unknown_ms: number
  /** What a wallet may spend in a UTC day, and pay for a unit of gas. */
  daily_gas_wei: bigint
  max_fee_wei: bigint
}

export const WRITER_RULES: WriterRules = {
  gather_ms: 250,
  poll_ms: 200,
  idle_ms: 1_000,
  lease_ms: 8_000,
  batch_items: BATCH_ITEMS_MAX,
  open_max: 16,
  open_singles_max: 12,
  life_s: 6,
  rebroadcast_ms: 4_000,
  bump_after_ms: 12_000,
  bumps_max: 3,
  slot_lost_ms: 30_000,
  gap_ms: 8_000,
  unknown_ms: 120_000,
  // In a sandbox as much as a wallet is given there; a live deployment sets its own.
  daily_gas_wei: 10_000_000_000_000_000_000n,
  max_fee_wei: 100_000_000_000n,
}

export interface WriterDeps {
  wallet: GasWallet
  chain: Chain
  sender: ChainSender
  store: Pick<Store, 'lease' | 'payments'>
  source: EvidenceSource
  /** Null: every payment settles alone. */
  batch: BatchContract | null
  /** Whether this writer deploys the batch contract where it is missing. */
  deploys: boolean
  clock: Clock & SteadyClock
  log: Log
  reach: Reach
  rules: WriterRules
  /** Told of payments whose row has been closed here. */
  closed(keys: readonly PaymentKey[]): void
}

/** A stored transaction that is not done, with what this process knows of it. */
export interface OpenSending {
  sending: Sending
  payments: Payment[]
  /** When its newest bytes were last given to a node; never durable, since doing it again harms nothing. */
  broadcast_ms: number
  /** Its payments have been called unknown. */
  overdue: boolean
}

/** What a writer knows while it holds the lease; thrown away with it. */
export interface WriterState {
  guard: LeaseGuard
  /** By account nonce. */
  open: OpenSending[]
  /** Null: to be asked. */
  next_nonce: number | null
  /** Payments that a batch did not carry through, by key; they go alone. */
  alone: Set<string>
  batch_there: boolean
  batch_checked_ms: number
  deploys: number
  /** When reorganised payments were last looked for. */
  looked_back_ms: number
}

/** The lease went to another, or the store knows more than this process: everything is read anew. */
export class OutOfStepError extends Error {
  override name = 'OutOfStepError'
}

/** A write without an answer may have been done: then only the store knows of it, and everything is read anew as after a refusal. */
export async function orOutOfStep(write: Promise<boolean>, words: string): Promise<void> {
  const taken = await write.catch((error: unknown) => {
    throw new OutOfStepError(words, { cause: error })
  })
  if (!taken) throw new OutOfStepError(words)
}

export function keyText({ payer, nonce }: PaymentKey): string {
  return `${payer}:${nonce}`
}

/**
 * Closes rows under the lease and tells who waits for them; returns how many moved. Rows that were closed before stay as they are, and
 * without the lease all do.
 */
export async function closeRows(deps: WriterDeps, guard: LeaseGuard, closings: readonly Closing[]): Promise<number> {
  if (closings.length === 0) return 0
  const now_ms = deps.clock.now_ms()
  const moved = await deps.store.payments.close_payments(closings, Math.floor(now_ms / EPOCH_MS), now_ms, guard)
  deps.closed(closings)
  return moved.filter(Boolean).length
}
