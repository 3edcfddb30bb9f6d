import { BATCH_ITEMS_MAX, type Deployment } from '../../pure/contracts/deployment.ts'
import type { Chain, ChainSender, FeesNow } from '../../ports/chain.ts'
import type { Clock, SteadyClock } from '../../ports/clock.ts'
import type { GasWallet } from '../../ports/gas-wallet.ts'
import type { Log } from '../../ports/log.ts'
import type { PaymentTransition, LeaseGuard, Payment, PaymentKey, WalletSending } from '../../ports/payments.ts'
import type { Store } from '../../ports/store.ts'
import type { EvidenceSource, FaultHook } from './settlement.ts'
import { EPOCH_MS } from './price-book.ts'

/** Limits and periods of the writer of a gas wallet. */
export interface WriterRules {
  /** Maximum time that the oldest waiting payment waits for others to share its transaction; at most a second. */
  gather_ms: number
  /** Poll interval for receipts while a transaction is open, and for rows of other instances when none is. */
  poll_ms: number
  idle_ms: number
  lease_ms: number
  batch_items: number
  /** Maximum number of open transactions of a wallet; nodes guarantee to queue no more than 16 of one account. */
  open_max: number
  /** Maximum number of them for payments that settle alone, so that these never block batches. */
  open_singles_max: number
  /** Minimum remaining validity of an authorization when it is sent. */
  life_s: number
  rebroadcast_ms: number
  /** Age at which an attempt is replaced, and number of replacements before a transfer of nothing uses up the account nonce. */
  bump_after_ms: number
  bumps_max: number
  /** Age of a sending whose account nonce is used up without a known receipt, or that waits behind a nonce gap. */
  slot_lost_ms: number
  gap_ms: number
  /** Age of a sending without a receipt at which its payments become unknown. */
  unknown_ms: number
  /** Maximum gas spending of a wallet in a UTC day, and maximum fee for a unit of gas. */
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
  // Default for a sandbox: as much as a wallet is funded with there. A live deployment sets its own value.
  daily_gas_wei: 10_000_000_000_000_000_000n,
  max_fee_wei: 100_000_000_000n,
}

export interface WriterDeps {
  wallet: GasWallet
  chain: Chain
  sender: ChainSender
  store: Pick<Store, 'lease' | 'payments'>
  source: EvidenceSource
  /** Null: every payment settles in a separate transaction. */
  batch: BatchContract | null
  /** Deposits of invoices that this writer forwards; null for none. */
  sweeps: CallSource | null
  /** Claims and refunds of payment channels that this writer sends; null for none. */
  channels: CallSource | null
  /** This writer deploys the batch contract where it is missing. */
  deploys: boolean
  clock: Clock & SteadyClock
  log: Log
  reach: FaultHook
  rules: WriterRules
  /** Called with the payments whose rows this writer has changed. */
  onTransitions(keys: readonly PaymentKey[]): void
}

/** Stored transaction that is not finished, with the state of this process. */
export interface OpenSending {
  sending: WalletSending
  payments: Payment[]
  /** Time at which its newest bytes were last sent to a node; not stored, since sending them again is harmless. */
  broadcast_ms: number
  /** Its payments have become unknown. */
  overdue: boolean
}

/** State of a writer while it has the lease; discarded with the lease. */
export interface WriterState {
  guard: LeaseGuard
  /** Sorted by account nonce. */
  open: OpenSending[]
  /** Null: has to be read. */
  next_nonce: number | null
  /** Keys of payments that failed in a batch; they settle in separate transactions. */
  settle_alone: Set<string>
  batch_there: boolean
  batch_checked_ms: number
  deploys: number
  /** Time of the last check for reorganised payments. */
  reorg_checked_ms: number
}

export function paymentKeyText({ payer, nonce }: PaymentKey): string {
  return `${payer}:${nonce}`
}

/**
 * Applies transitions under the lease, wakes the calls that wait for them, and returns how many rows changed. Rows in another state stay as
 * they are, and without the lease all do.
 */
export async function applyTransitions(deps: WriterDeps, guard: LeaseGuard, transitions: readonly PaymentTransition[]): Promise<number> {
  if (transitions.length === 0) return 0
  const now_ms = deps.clock.now_ms()
  const moved = await deps.store.payments.apply_transitions(transitions, Math.floor(now_ms / EPOCH_MS), now_ms, guard)
  deps.onTransitions(transitions)
  return moved.filter(Boolean).length
}

export type GasReadiness = { ok: true } | { ok: false; detail: string; retry_after_s: number }

/** Gas status of a wallet, in wei. */
export interface GasStatus {
  /** Account of the wallet: its address, with the network in CAIP-10 for a further network. */
  wallet: string
  balance_wei: bigint
  left_today_wei: bigint
  /** Balance below which an operator should add funds. */
  comfort_wei: bigint
  /** Maximum cost of one settlement, successful or not. */
  item_wei: bigint
}

/** Gas budget of a wallet: balance, daily limit and fee limit. */
export interface GasBudget {
  /** Checks that the wallet can pay for the next batch; cached for seconds. Never rejects. */
  check(): Promise<GasReadiness>
  /**
   * Returns true when the last known balance pays for one more batch in addition to the maximum cost of open transactions; otherwise nodes
   * would refuse it.
   */
  covers(open_wei: bigint): boolean
  /** Returns balance and remaining daily budget as last read; null before the first read. */
  lastStatus(): GasStatus | null
  /** Records the cost of a transaction: gas from its receipt, data fee by its length. */
  recordCost(execution_wei: bigint, raw_chars: number): Promise<void>
}

/** Returns the fee limits of a transaction: twice the base fee, so that it is still accepted after five full blocks in a row. */
export function feesFor({ base_fee_wei, priority_fee_wei }: FeesNow): { max_fee_wei: bigint; priority_fee_wei: bigint } {
  return { max_fee_wei: 2n * base_fee_wei + priority_fee_wei, priority_fee_wei }
}

export type BatchContract = Pick<Deployment, 'address' | 'deploy_calldata'>

/** Call that a gas wallet sends. */
export interface WalletCall {
  kind: WalletSending['kind']
  to: string
  data: string
  gas: bigint
}

/** Source of transactions that carry no payments, such as those that forward deposits. */
export interface CallSource {
  /** Returns the next transaction; null when nothing is to be sent now. `isAffordable` is asked only when something is. */
  next(isAffordable: () => Promise<boolean>): Promise<WalletCall | null>
}
