import type { Payment, PaymentKey } from '../../ports/payments.ts'
import { StaleWriterStateError, takeOver } from './wallet-send.ts'
import {
  type BatchContract,
  type GasReadiness,
  type GasStatus,
  type CallSource,
  type WriterDeps,
  type WriterState,
  WRITER_RULES,
  type WriterRules,
  type GasBudget,
  feesFor,
  paymentKeyText,
} from './writer-rules.ts'
import type { FaultHook, Settler, SettleResult } from './settlement.ts'
import type { Chain, ChainSender } from '../../ports/chain.ts'
import type { Clock, SteadyClock } from '../../ports/clock.ts'
import type { GasWallet } from '../../ports/gas-wallet.ts'
import type { Log } from '../../ports/log.ts'
import type { Store } from '../../ports/store.ts'
import { limits } from '../limits.ts'
import { runRound } from './wallet-round.ts'
import { BATCH_ITEMS_MAX, batchGas } from '../../pure/contracts/deployment.ts'

/** Longest pause after failures in a row. */
const PAUSE_MAX_MS = 5_000

interface WalletWriter {
  readonly account: string
  /** Reports that a new payment may be waiting. */
  wake(): void
  /** Returns true when this process is the writer; may be out of date by one round. */
  isLeader(): boolean
  ready(): Promise<GasReadiness>
  /** Returns the last known gas status of the wallet. */
  gas(): GasStatus | null
  start(): void
  /** Ends after the current round, and releases the lease. */
  stop(): Promise<void>
}

function createWalletWriter(deps: WriterDeps, holder: string): WalletWriter {
  const { wallet, store, clock, log, rules } = deps
  const lease = `settlement:${wallet.account}`
  const wakeSignal = createWakeSignal()
  const budget = createGasBudget(deps)
  let state: WriterState | null = null
  let renew_ms = Number.NEGATIVE_INFINITY
  let running: Promise<void> | null = null
  const stopping = new AbortController()

  /** Runs one round and returns the milliseconds until the next. */
  async function round(): Promise<number> {
    const now_ms = clock.now_ms()
    // Renewed at half of its period, so that polling for receipts does not write to the store each time.
    if (state === null || clock.steady_ms() >= renew_ms) {
      const fence = await store.lease(lease, holder, now_ms, now_ms + rules.lease_ms)
      renew_ms = clock.steady_ms() + rules.lease_ms / 2
      if (fence === null) {
        state = null
        return rules.idle_ms
      }
      if (state?.guard.fence !== fence) state = await takeOver(deps, { lease, fence })
    }
    return runRound(deps, state, budget)
  }

  async function run(): Promise<void> {
    for (let failures = 0; !stopping.signal.aborted;) {
      let pause_ms: number
      try {
        pause_ms = await round()
        failures = 0
      } catch (error) {
        // Stale state: read everything again. Any other error comes from outside and may last.
        if (error instanceof StaleWriterStateError) state = null
        else log.warn({ wallet: wallet.account, error: String(error) }, 'a settlement round failed')
        pause_ms = Math.min(PAUSE_MAX_MS, rules.poll_ms * 2 ** Math.min(failures++, 10))
      }
      if (!stopping.signal.aborted) await wakeSignal.sleep(pause_ms, wakeThreshold(rules.batch_items, pause_ms, rules.idle_ms))
    }
    if (state !== null) await store.lease(lease, holder, clock.now_ms(), clock.now_ms())
  }

  return {
    account: wallet.account,
    wake: () => wakeSignal.notify(),
    isLeader: () => state !== null,
    ready: () => budget.check(),
    gas: () => budget.lastStatus(),
    start() {
      running ??= run().catch((error: unknown) =>
        log.error({ wallet: wallet.account, error: String(error) }, 'a settlement writer ended with an error'),
      )
    },
    async stop() {
      stopping.abort()
      for (let count = 0; count < rules.batch_items; count++) wakeSignal.notify()
      await running
    },
  }
}

/**
 * Returns the number of notifications that end a pause: one for an idle writer; a full batch for one that waits for more payments or for
 * receipts.
 */
function wakeThreshold(batch_items: number, pause_ms: number, idle_ms: number): number {
  return pause_ms >= idle_ms ? 1 : batch_items
}

/** Poll interval of the store when the writer is another process, and when it is this one, which also wakes waiting calls. */
const POLL_OTHER_PROCESS_MS = 250
const POLL_SAME_PROCESS_MS = 1_000

export interface SelfSettlerOptions {
  /** At least one; none of them the recipient of payments. */
  wallets: readonly GasWallet[]
  chain: Chain
  sender: ChainSender
  store: Pick<Store, 'lease' | 'payments'>
  /** Address of the token of payments without an asset, any case. */
  token: string
  /** Assets of the payments that the wallets settle; left out, USDC on the network of the deployment. */
  assets?: readonly (string | null)[]
  finality: WriterDeps['source']['finality']
  batch: BatchContract | null
  /** Deposits of invoices; the first wallet forwards them. */
  sweeps?: CallSource
  /** Claims and refunds of payment channels; the first wallet sends them. */
  channels?: CallSource
  clock: Clock & SteadyClock
  log: Log
  reach: FaultHook
  rules?: Partial<WriterRules>
}

export interface SelfSettler extends Settler {
  /** Returns the last known gas status of each wallet, in order. */
  gas(): readonly (GasStatus | null)[]
  /** Reports that a source may have a transaction. */
  wake?(): void
  start(): void
  stop(): Promise<void>
}

/**
 * Creates a settler with gas wallets of this service. A payer always gets the same wallet while that one can pay, so that its payments keep
 * their order; otherwise the next wallet takes over. Throws without a wallet.
 */
export function createSelfSettler(options: SelfSettlerOptions): SelfSettler {
  const waiters = createWaiters()
  const holder = crypto.randomUUID()
  const writers = options.wallets.map((wallet, index) => writerOf(options, wallet, index, holder, waiters))
  if (writers.length === 0) throw new Error('self-settlement needs a gas wallet')

  return {
    method: 'self',
    async ready(payer) {
      if (!(await options.chain.answers())) return { ok: false, detail: 'The chain does not answer.', retry_after_s: 5 }
      const first = Number(BigInt(payer) % BigInt(writers.length))
      let refusal = { ok: false as const, detail: 'There is no gas wallet.', retry_after_s: 60 }
      for (const writer of [...writers.slice(first), ...writers.slice(0, first)]) {
        const found = await writer.ready()
        if (found.ok) return { ok: true, settler: writer.account }
        refusal = found
      }
      return refusal
    },
    async settle(payment, wait_ms) {
      const writer = writers.find(({ account }) => account === payment.settler)
      writer?.wake()
      return waitForResult(options, writer, waiters, payment, wait_ms)
    },
    gas: () => writers.map((writer) => writer.gas()),
    wake: () => writers[0]?.wake(),
    gas_share() {
      const daily_wei = (options.rules?.daily_gas_wei ?? WRITER_RULES.daily_gas_wei) * BigInt(writers.length)
      const costs = writers.map((writer) => writer.gas()?.item_wei ?? 0n)
      return { network_wei: daily_wei / limits.gas_share_parts, failure_wei: costs.reduce((most, one) => (one > most ? one : most), 0n) }
    },
    start: () => writers.forEach((writer) => writer.start()),
    async stop() {
      await Promise.all(writers.map((writer) => writer.stop()))
    },
  }
}

function writerOf(options: SelfSettlerOptions, wallet: GasWallet, index: number, holder: string, waiters: Waiters): WalletWriter {
  const { chain, sender, store, finality, batch, clock, log, reach } = options
  const token = options.token.toLowerCase()
  const rules = { ...WRITER_RULES, ...options.rules }
  // Only the first deploys the batch contract; all use it once it is there.
  const deploys = index === 0
  return createWalletWriter(
    {
      wallet,
      chain,
      sender,
      store,
      source: { chain, token, assets: options.assets ?? [null], finality },
      batch,
      sweeps: index === 0 ? (options.sweeps ?? null) : null,
      channels: index === 0 ? (options.channels ?? null) : null,
      deploys,
      clock,
      log,
      reach,
      rules,
      onTransitions: waiters.wake,
    },
    holder,
  )
}

async function waitForResult(
  { store, clock }: SelfSettlerOptions,
  writer: WalletWriter | undefined,
  waiters: Waiters,
  payment: Payment,
  wait_ms: number,
): Promise<SettleResult> {
  const until_ms = clock.steady_ms() + wait_ms
  let { transaction } = payment
  for (;;) {
    const waiter = waiters.wait(payment)
    try {
      const row = await store.payments.find(payment).catch(() => null)
      transaction = row?.transaction ?? transaction
      const result = row === null ? null : finalResult(row)
      if (result !== null) return result
      const left_ms = until_ms - clock.steady_ms()
      if (left_ms <= 0) return { kind: 'pending', transaction }
      await waiter.within(Math.min(left_ms, writer?.isLeader() === true ? POLL_SAME_PROCESS_MS : POLL_OTHER_PROCESS_MS))
    } finally {
      waiter.done()
    }
  }
}

/** Returns the result of a decided row; null while it is undecided. */
function finalResult(payment: Payment): SettleResult | null {
  switch (payment.state) {
    case 'settled':
      return { kind: 'settled', payment }
    case 'refused':
    case 'lost':
      return { kind: 'refused', payment }
    case 'claimed':
    case 'prepared':
    case 'settling':
    case 'unknown':
    case 'released':
      return null
  }
}

const DAY_MS = 86_400_000
/** Period for which a positive and a negative result are cached. */
const GOOD_MS = 5_000
const BAD_MS = 2_000
/** Number of batches that the balance should pay for; below it a warning is logged while settlement continues. */
const LOW_BALANCE_BATCHES = 20n
/** Sample with the length of the raw transaction of a full batch, without zero bytes, which cost less. */
const FULL_BATCH_RAW = `0x${'ab'.repeat(15_000)}`

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

interface Waiters {
  wake(keys: readonly PaymentKey[]): void
  wait(key: PaymentKey): { within(ms: number): Promise<void>; done(): void }
}

/** Creates the list of calls of this process that wait for a row that a writer of this process will change. */
function createWaiters(): Waiters {
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
