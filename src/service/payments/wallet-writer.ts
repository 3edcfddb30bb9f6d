import { DETERMINISTIC_DEPLOYER } from '../../pure/contracts/deployment.ts'
import type { PaymentTransition, Payment, WalletSending } from '../../ports/payments.ts'
import {
  StaleWriterStateError,
  broadcast,
  transitionFor,
  hasTimeToSettle,
  pickPaymentKey,
  REORGANISED,
  sendNew,
  trackSendings,
} from './wallet-send.ts'
import {
  isBatchable,
  batchCall,
  type BatchContract,
  type WalletCall,
  deployCall,
  singleCall,
  createGasBudget,
  createWaiters,
  createWakeSignal,
  type GasBudget,
  type GasReadiness,
  type GasStatus,
  applyTransitions,
  paymentKeyText,
  type OpenSending,
  type CallSource,
  type Waiters,
  type WriterDeps,
  type WriterState,
  WRITER_RULES,
  type WriterRules,
} from './writer-rules.ts'
import {
  chainEvidence,
  inStatesOf,
  tokenOf,
  usedStates,
  type Finality,
  type FaultHook,
  type Settler,
  type SettleResult,
} from './settlement.ts'
import { ANY_TIME_MS } from './reconcile.ts'
import type { Chain, ChainSender } from '../../ports/chain.ts'
import type { Clock, SteadyClock } from '../../ports/clock.ts'
import type { GasWallet } from '../../ports/gas-wallet.ts'
import type { Log } from '../../ports/log.ts'
import type { Store } from '../../ports/store.ts'
import { INVOICE_RULES, limits } from '../limits.ts'

/** Interval between checks for a missing batch contract. */
const BATCH_CHECK_MS = 10_000
/** Maximum number of deployments under one lease: after two without effect a third would have none either. */
const DEPLOYS_MAX = 2
/** Number of batches of rows that are read to fill the next batch. */
const LOOK_AHEAD_BATCHES = 4

/**
 * Sends waiting payments, oldest first: payers without code in batches, each other payment in a separate transaction. Returns the
 * milliseconds until the next round. Sends nothing while the wallet cannot pay or has its maximum of open transactions. Rejects as the
 * chain does.
 */
async function sendWaiting(deps: WriterDeps, state: WriterState, budget: GasBudget): Promise<number> {
  const { rules, clock, store, wallet } = deps
  const resting_ms = () => (state.open.length > 0 ? rules.poll_ms : rules.idle_ms)
  for (;;) {
    if (state.open.length >= rules.open_max) return rules.poll_ms
    const waiting = await store.payments.waiting(wallet.account, LOOK_AHEAD_BATCHES * rules.batch_items)
    const [oldest] = waiting
    if (oldest === undefined) return resting_ms()
    const left_ms = gatheringLeft(oldest, rules.gather_ms, clock.now_ms())
    if (left_ms > 0 && waiting.length < rules.batch_items) return Math.min(left_ms, resting_ms())
    if (!(await budget.check()).ok) return rules.idle_ms
    if (state.open.length > 0 && !budget.covers(costOf(state))) return rules.poll_ms
    const groups = groupPayments(deps, state, waiting)
    // No progress: the token gave no clear answer, or the lease is lost. An immediate retry would not help.
    if (groups.length === 0 || (await sendGroups(deps, state, groups)) === 0) return rules.poll_ms
  }
}

/**
 * Returns the milliseconds that the oldest payment still waits for others. A row dated in the future was written by a machine whose clock
 * is ahead; it does not wait.
 */
function gatheringLeft({ updated_ms }: Payment, gather_ms: number, now_ms: number): number {
  return updated_ms - now_ms > gather_ms ? 0 : updated_ms + gather_ms - now_ms
}

/** Returns the maximum cost of the open transactions. */
function costOf({ open }: WriterState): bigint {
  return open.reduce((sum, { sending }) => sum + sending.gas * (sending.attempts.at(-1)?.max_fee_wei ?? 0n), 0n)
}

/** Groups payments that share a transaction: one full or partial batch, and as many single payments as may be open. */
function groupPayments({ batch, rules }: WriterDeps, state: WriterState, waiting: readonly Payment[]): Payment[][] {
  const isShared = (payment: Payment) =>
    batch !== null && state.batch_there && isBatchable(payment) && !state.settle_alone.has(paymentKeyText(payment))
  // A batch moves one token: that of the oldest payment.
  const batchable = waiting.filter(isShared)
  const shared = batchable.filter(({ asset }) => asset === batchable[0]?.asset).slice(0, rules.batch_items)
  const singles = waiting.filter((payment) => !isShared(payment))
  const open_singles = state.open.filter(({ sending }) => sending.kind !== 'batch').length
  const slots = Math.min(rules.open_singles_max - open_singles, rules.open_max - state.open.length - (shared.length > 0 ? 1 : 0))
  return [...(shared.length > 0 ? [shared] : []), ...singles.slice(0, Math.max(0, slots)).map((payment) => [payment])]
}

/** Returns how many payments were sent or decided. */
async function sendGroups(deps: WriterDeps, state: WriterState, groups: Payment[][]): Promise<number> {
  const { sendable, decided } = await findSendable(deps, state, groups.flat())
  if (sendable.size === 0) return decided
  const fees = await deps.sender.fees()
  if (state.open.length === 0) state.next_nonce = null
  for (const group of groups) {
    const payments = group.filter((payment) => sendable.has(payment))
    if (payments.length > 0) await sendNew(deps, state, callFor(deps, state, payments), payments, fees)
  }
  return sendable.size + decided
}

function callFor({ batch, source }: WriterDeps, state: WriterState, payments: Payment[]): WalletCall {
  const [only] = payments
  if (only !== undefined && payments.length === 1) return singleCall(tokenOf(source, only), only)
  if (only === undefined || batch === null || !state.batch_there) throw new Error('there is no batch contract')
  return batchCall(batch, tokenOf(source, only), payments)
}

/** Selects payments that are unused at the newest block and valid for long enough. The others get a transition, on evidence. */
async function findSendable(
  deps: WriterDeps,
  state: WriterState,
  payments: Payment[],
): Promise<{ sendable: Set<Payment>; decided: number }> {
  const used = await usedStates(deps.source, payments)
  const transitions: PaymentTransition[] = []
  const sendable = new Set<Payment>()
  for (const [index, payment] of payments.entries()) {
    const is_used = used[index] ?? null
    if (is_used === true) transitions.push(transitionFor(payment, await chainEvidence(deps.source, payment, true)))
    else if (is_used === false && hasTimeToSettle(deps, payment)) sendable.add(payment)
    else if (is_used === false) transitions.push({ ...pickPaymentKey(payment), to: 'refused', reason: 'out_of_time', transaction: null })
  }
  return { sendable, decided: await applyTransitions(deps, state.guard, transitions) }
}

/**
 * Checks for the batch contract, and deploys it once where the deterministic deployer exists. Until then each payment settles in a separate
 * transaction.
 */
async function checkBatch(deps: WriterDeps, state: WriterState): Promise<void> {
  const { batch, clock, chain, deploys } = deps
  const steady_ms = clock.steady_ms()
  const deploying = state.open.some(({ sending }) => sending.kind === 'deploy')
  if (batch === null || state.batch_there || deploying || steady_ms - state.batch_checked_ms < BATCH_CHECK_MS) return
  state.batch_checked_ms = steady_ms
  const [there, deployer] = await chain.read([
    { kind: 'code', address: batch.address },
    { kind: 'code', address: DETERMINISTIC_DEPLOYER },
  ])
  state.batch_there = there?.ok === true && there.data !== '0x'
  const can = deploys && state.deploys < DEPLOYS_MAX && deployer?.ok === true && deployer.data !== '0x'
  if (!state.batch_there && can) await deploy(deps, state, batch)
}

async function deploy(deps: WriterDeps, state: WriterState, batch: BatchContract): Promise<void> {
  deps.log.info({ address: batch.address }, 'deploying the batch contract')
  state.deploys++
  await sendNew(deps, state, deployCall(batch), [], await deps.sender.fees())
}

interface CallsOfKind {
  kind: WalletSending['kind']
  source: CallSource | null
  isWithinBudget(): boolean
}

/** Sends the next transaction of a source, one at a time of each kind. */
async function sendFrom(
  deps: WriterDeps,
  state: WriterState,
  budget: GasBudget,
  { kind, source, isWithinBudget }: CallsOfKind,
): Promise<void> {
  const { rules, sender } = deps
  if (source === null || state.open.length >= rules.open_max || state.open.some(({ sending }) => sending.kind === kind)) return
  const isAffordable = async () => {
    const { ok } = await budget.check()
    return ok && budget.covers(costOf(state)) && isWithinBudget()
  }
  const call = await source.next(isAffordable)
  if (call === null) return
  const fees = await sender.fees()
  if (state.open.length === 0) state.next_nonce = null
  await sendNew(deps, state, call, [], fees)
}

/** Interval between checks for payments that a reorganisation removed, and maximum number of rows of one check. */
const REORG_CHECK_MS = 5_000
const REORG_CHECK_ROWS = 500
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
    return work(deps, state, budget)
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

async function work(deps: WriterDeps, state: WriterState, budget: GasBudget): Promise<number> {
  await reopenReorganised(deps, state)
  await trackSendings(deps, state, budget)
  if (!state.batch_there && (await budget.check()).ok) await checkBatch(deps, state)
  const pause_ms = await sendWaiting(deps, state, budget)
  // Deposits of invoices are forwarded while enough of the day's gas budget is left for payments; a claim brings in more than it costs.
  const isWithinBudget = () => (budget.lastStatus()?.left_today_wei ?? 0n) * INVOICE_RULES.sweep_gas_parts >= deps.rules.daily_gas_wei
  await sendFrom(deps, state, budget, { kind: 'sweep', source: deps.sweeps, isWithinBudget })
  await sendFrom(deps, state, budget, { kind: 'channel', source: deps.channels, isWithinBudget: () => true })
  return pause_ms
}

/** Reads the open transactions and sends all of them again: the previous writer may have died between storing and sending. */
async function takeOver(deps: WriterDeps, guard: WriterState['guard']): Promise<WriterState> {
  const state: WriterState = {
    guard,
    open: [],
    next_nonce: null,
    settle_alone: new Set(),
    batch_there: false,
    batch_checked_ms: Number.NEGATIVE_INFINITY,
    deploys: 0,
    reorg_checked_ms: Number.NEGATIVE_INFINITY,
  }
  const sendings = await deps.store.payments.open_sendings(deps.wallet.account)
  state.open = await Promise.all(sendings.map((sending) => loadSending(deps, sending)))
  for (const open of state.open) await broadcast(deps, state, open)
  return state
}

async function loadSending({ store }: WriterDeps, sending: WalletSending): Promise<OpenSending> {
  const payments = await store.payments.carried_by(sending.wallet, sending.account_nonce)
  return { sending, payments, broadcast_ms: Number.NEGATIVE_INFINITY, overdue: false }
}

/** Reopens the transactions of payments whose block a reorganisation removed, so that their bytes are sent again. */
async function reopenReorganised({ wallet, store, source, clock, log }: WriterDeps, state: WriterState): Promise<void> {
  const steady_ms = clock.steady_ms()
  if (steady_ms - state.reorg_checked_ms < REORG_CHECK_MS) return
  state.reorg_checked_ms = steady_ms
  const options = { final: null, updated_before_ms: ANY_TIME_MS, limit: REORG_CHECK_ROWS }
  const unknown = await inStatesOf(store, source, ['unknown'], options)
  const gone = unknown.filter(({ settler, reason }) => settler === wallet.account && reason === REORGANISED)
  const open = new Set(state.open.map(({ sending }) => sending.account_nonce))
  const nonces = new Set(gone.map(({ account_nonce }) => account_nonce).filter((nonce) => nonce !== null && !open.has(nonce)))
  let reopened = 0
  for (const nonce of nonces) {
    if (nonce !== null && (await store.payments.reopen_sending(wallet.account, nonce, state.guard))) reopened++
  }
  if (reopened === 0) return
  log.warn({ wallet: wallet.account, transactions: reopened }, 'transactions of a block that is gone are sent again')
  throw new StaleWriterStateError('finished transactions are open again')
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
  finality: Finality
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
