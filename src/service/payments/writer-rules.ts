import { CHANNEL_GAS, CHANNEL_SETTLEMENT } from '../../pure/payments/channels.ts'
import { BATCH_ITEMS_MAX, batchGas, DETERMINISTIC_DEPLOYER, type Deployment } from '../../pure/contracts/deployment.ts'
import type { Chain, ChainSender, FeesNow } from '../../ports/chain.ts'
import type { Clock, SteadyClock } from '../../ports/clock.ts'
import type { GasWallet } from '../../ports/gas-wallet.ts'
import type { Log } from '../../ports/log.ts'
import type { PaymentTransition, LeaseGuard, Payment, PaymentKey, WalletSending } from '../../ports/payments.ts'
import type { Store } from '../../ports/store.ts'
import type { EvidenceSource, FaultHook } from './settlement.ts'
import { EPOCH_MS } from './price-book.ts'
import { addressWord, bytes32Word, uintWord, transferBytesCall, transferCall } from '../../pure/payments/token-calls.ts'
import { type Authorization, normaliseSignature } from '../../pure/payments/eip3009.ts'

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

const DAY_MS = 86_400_000
/** Period for which a positive and a negative result are cached. */
const GOOD_MS = 5_000
const BAD_MS = 2_000
/** Number of batches that the balance should pay for; below it a warning is logged while settlement continues. */
const LOW_BALANCE_BATCHES = 20n
/** Sample with the length of the raw transaction of a full batch, without zero bytes, which cost less. */
const FULL_BATCH_RAW = `0x${'ab'.repeat(15_000)}`

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

export function createGasBudget(deps: Pick<WriterDeps, 'wallet' | 'sender' | 'store' | 'clock' | 'log' | 'rules'>): GasBudget {
  const { wallet, sender, clock, log, rules } = deps
  const { payments } = deps.store
  let readiness: GasReadiness = { ok: true }
  let until_ms = Number.NEGATIVE_INFINITY
  let refreshing: Promise<void> | null = null
  let full_data_fee_wei = 0n
  let was_low = false
  let spare_wei = 0n
  let status: GasStatus | null = null

  async function readReadiness(): Promise<GasReadiness> {
    const now_ms = clock.now_ms()
    const [fees, balance] = await Promise.all([batchFees(sender), sender.balance_wei(wallet.address)])
    full_data_fee_wei = fees.data_fee_wei
    const batch_wei = fees.data_fee_wei + batchGas(BATCH_ITEMS_MAX) * fees.max_fee_wei
    spare_wei = balance - batch_wei
    const spent_wei = await payments.gas_spent(wallet.account, dayOf(now_ms))
    const left_today_wei = spent_wei < rules.daily_gas_wei ? rules.daily_gas_wei - spent_wei : 0n
    status = {
      wallet: wallet.account,
      balance_wei: balance,
      left_today_wei,
      comfort_wei: LOW_BALANCE_BATCHES * batch_wei,
      item_wei: batch_wei / BigInt(BATCH_ITEMS_MAX),
    }
    if (balance < batch_wei) return notReady('The gas wallet cannot pay for the next settlement.', 60)
    if (fees.max_fee_wei > rules.max_fee_wei) return notReady('Gas costs more than this service pays for it.', 30)
    if (spent_wei >= rules.daily_gas_wei) return notReady('The gas budget of the day is used up.', 600)
    const is_low = balance < LOW_BALANCE_BATCHES * batch_wei
    if (is_low && !was_low) log.warn({ wallet: wallet.account, balance_wei: balance.toString() }, 'the gas wallet runs low')
    was_low = is_low
    return { ok: true }
  }

  async function refresh(): Promise<void> {
    const before = readiness
    readiness = await readReadiness().catch((): GasReadiness => ({
      ok: false,
      detail: 'The chain or the store does not answer.',
      retry_after_s: 5,
    }))
    until_ms = clock.steady_ms() + (readiness.ok ? GOOD_MS : BAD_MS)
    if (!readiness.ok && before.ok) log.error({ wallet: wallet.account, detail: readiness.detail }, 'the gas wallet cannot settle')
    if (readiness.ok && !before.ok) log.info({ wallet: wallet.account }, 'the gas wallet can settle again')
  }

  return {
    async check() {
      if (clock.steady_ms() >= until_ms) {
        refreshing ??= refresh().finally(() => {
          refreshing = null
        })
        await refreshing
      }
      return readiness
    },
    lastStatus: () => status,
    covers: (open_wei) => open_wei <= spare_wei,
    async recordCost(execution_wei, raw_chars) {
      const data_fee_wei = (full_data_fee_wei * BigInt(raw_chars)) / BigInt(FULL_BATCH_RAW.length)
      await payments.spend_gas(wallet.account, dayOf(clock.now_ms()), execution_wei + data_fee_wei)
    },
  }
}

async function batchFees(sender: ChainSender): Promise<{ max_fee_wei: bigint; data_fee_wei: bigint }> {
  const [fees, data_fee_wei] = await Promise.all([sender.fees(), sender.data_fee_wei(FULL_BATCH_RAW)])
  return { max_fee_wei: feesFor(fees).max_fee_wei, data_fee_wei }
}

function notReady(detail: string, retry_after_s: number): GasReadiness {
  return { ok: false, detail, retry_after_s }
}

/** Returns the number of days since 1970-01-01 UTC. */
function dayOf(now_ms: number): number {
  return Math.floor(now_ms / DAY_MS)
}

/** settle(address,(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)[]) */
const SETTLE = '0xab347961'

/**
 * Fixed gas limits, so that settlement does not depend on a node's estimate. Measured on the test token: 83,200 for a first payment to a
 * recipient; the real token adds a proxy and blacklist reads. The signature check of a contract wallet comes on top.
 */
const GAS = { single: 150_000n, contract_payer: 350_000n, deploy: 1_500_000n }

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

export function deployCall(contract: BatchContract): WalletCall {
  return { kind: 'deploy', to: DETERMINISTIC_DEPLOYER, data: contract.deploy_calldata, gas: GAS.deploy }
}

/** Returns the transaction of a single payment: the `bytes` function when only the token can verify the signature. */
export function singleCall(token: string, payment: Payment): WalletCall {
  if (payment.deposit_call !== null) {
    return { kind: 'single', to: CHANNEL_SETTLEMENT, data: payment.deposit_call, gas: CHANNEL_GAS.deposit }
  }
  const signature = payment.contract_payer ? null : normaliseSignature(payment.signature)
  const authorization = authorizationOf(payment)
  if (signature === null) {
    return { kind: 'single', to: token, data: transferBytesCall(authorization, payment.signature), gas: GAS.contract_payer }
  }
  return { kind: 'single', to: token, data: transferCall(authorization, signature), gas: GAS.single }
}

/** Returns the transaction of at most BATCH_ITEMS_MAX payments, all of payers without code. */
export function batchCall(contract: BatchContract, token: string, payments: readonly Payment[]): WalletCall {
  const items = payments.map((payment) => itemWords(payment)).join('')
  const data = SETTLE + addressWord(token) + uintWord(64n) + uintWord(BigInt(payments.length)) + items
  return { kind: 'batch', to: contract.address, data, gas: batchGas(payments.length) }
}

/** Returns true when a payment can be part of a batch. */
export function isBatchable(payment: Payment): boolean {
  return !payment.contract_payer && payment.deposit_call === null && normaliseSignature(payment.signature) !== null
}

function authorizationOf(payment: Payment): Authorization {
  const { payer, to, value_minor, valid_after_s, valid_before_s, nonce } = payment
  return { from: payer, to, value_minor, valid_after_s, valid_before_s, nonce }
}

/** Encodes an item in nine words, which are the arguments of the token call. */
function itemWords(payment: Payment): string {
  const signature = normaliseSignature(payment.signature)
  if (signature === null) throw new RangeError('no signature of an account')
  const { payer, to, value_minor, valid_after_s, valid_before_s, nonce } = payment
  const terms = addressWord(payer) + addressWord(to) + uintWord(value_minor) + uintWord(valid_after_s) + uintWord(valid_before_s)
  return terms + bytes32Word(nonce) + uintWord(BigInt(signature.v)) + bytes32Word(signature.r) + bytes32Word(signature.s)
}

/** Signal that ends the sleep of one loop early. */
interface WakeSignal {
  notify(): void
  /** Resolves after `ms`, or after `notifications` calls of notify since the last sleep ended; calls between two sleeps count. */
  sleep(ms: number, notifications: number): Promise<void>
}

export function createWakeSignal(): WakeSignal {
  let notified = 0
  let wake: { notifications: number; resolve: () => void } | null = null
  return {
    notify() {
      notified++
      if (wake !== null && notified >= wake.notifications) wake.resolve()
    },
    async sleep(ms, notifications) {
      if (notified < notifications) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const timer = setTimeout(resolve, ms)
        wake = { notifications, resolve }
        await promise
        clearTimeout(timer)
        wake = null
      }
      notified = 0
    },
  }
}

export interface Waiters {
  wake(keys: readonly PaymentKey[]): void
  wait(key: PaymentKey): { within(ms: number): Promise<void>; done(): void }
}

/** Creates the list of calls of this process that wait for a row that a writer of this process will change. */
export function createWaiters(): Waiters {
  const waiting = new Map<string, Set<() => void>>()
  return {
    wake(keys) {
      for (const key of keys) for (const wake of waiting.get(paymentKeyText(key)) ?? []) wake()
    },
    wait(key) {
      const name = paymentKeyText(key)
      const { promise, resolve } = Promise.withResolvers<void>()
      const group = waiting.get(name) ?? new Set()
      waiting.set(name, group.add(resolve))
      return {
        async within(ms) {
          const timer = setTimeout(resolve, ms)
          await promise
          clearTimeout(timer)
        },
        done() {
          group.delete(resolve)
          if (group.size === 0 && waiting.get(name) === group) waiting.delete(name)
        },
      }
    },
  }
}
