import { DETERMINISTIC_DEPLOYER } from '../../pure/contracts/batch-settler.ts'
import type { Closing, Payment, Sending } from '../../ports/payments.ts'
import { batchable, batchCall, type BatchContract, type Call, deployCall, singleCall } from './batch-contract.ts'
import { evidenceOf, usedStates } from './evidence.ts'
import { createGasBudget, type GasBudget, type GasFinding, type GasSeen } from './gas-budget.ts'
import { broadcast, closingOf, hasLife, keyOf, REORGANISED, sendNew, track } from './wallet-send.ts'
import { closeRows, keyText, type OpenSending, OutOfStepError, type WriterDeps, type WriterState } from './writer-rules.ts'
import { ANY_TIME_MS } from './reconcile.ts'

/** Wakes one sleeper early. */
interface Bell {
  ring(): void
  /** Resolves after so long, or as soon as it has rung so often since the last sleep ended; a ring while nobody sleeps counts. */
  sleep(ms: number, rings: number): Promise<void>
}

export function createBell(): Bell {
  let rung = 0
  let wake: { rings: number; now: () => void } | null = null
  return {
    ring() {
      rung++
      if (wake !== null && rung >= wake.rings) wake.now()
    },
    async sleep(ms, rings) {
      if (rung < rings) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const timer = setTimeout(resolve, ms)
        wake = { rings, now: resolve }
        await promise
        clearTimeout(timer)
        wake = null
      }
      rung = 0
    },
  }
}

/** How often a missing batch contract is looked for. */
const BATCH_CHECK_MS = 10_000
/** Deployments that are tried under one lease: where two did nothing, the third would not either. */
const DEPLOYS_MAX = 2
/** Rows that are looked through for the next batch, in batches. */
const LOOK_AHEAD = 4

/**
 * Sends what waits, oldest first: batches of payers without code, and each other payment alone. Returns when to look again, in
 * milliseconds; nothing more is sent while the wallet cannot pay or has all its slots open. Rejects as the chain does.
 */
async function sendWaiting(deps: WriterDeps, state: WriterState, budget: GasBudget): Promise<number> {
  const { rules, clock, store, wallet } = deps
  const resting_ms = () => (state.open.length > 0 ? rules.poll_ms : rules.idle_ms)
  for (;;) {
    if (state.open.length >= rules.open_max) return rules.poll_ms
    const waiting = await store.payments.waiting(wallet.address, LOOK_AHEAD * rules.batch_items)
    const [oldest] = waiting
    if (oldest === undefined) return resting_ms()
    const left_ms = gatheringLeft(oldest, rules.gather_ms, clock.now_ms())
    if (left_ms > 0 && waiting.length < rules.batch_items) return Math.min(left_ms, resting_ms())
    if (!(await budget.check()).ok) return rules.idle_ms
    if (state.open.length > 0 && !budget.covers(costOf(state))) return rules.poll_ms
    const groups = groupsOf(deps, state, waiting)
    // Nothing moved: the token gave no clear answer, or the lease is gone. Neither gets better at once.
    if (groups.length === 0 || (await sendGroups(deps, state, groups)) === 0) return rules.poll_ms
  }
}

/** Milliseconds that the oldest still waits for others. A row from the future was written by a machine whose clock is ahead; it waits no hour. */
function gatheringLeft({ updated_ms }: Payment, gather_ms: number, now_ms: number): number {
  return updated_ms - now_ms > gather_ms ? 0 : updated_ms + gather_ms - now_ms
}

/** What the open transactions may cost at most. */
function costOf({ open }: WriterState): bigint {
  return open.reduce((sum, { sending }) => sum + sending.gas * (sending.attempts.at(-1)?.max_fee_wei ?? 0n), 0n)
}

/** Payments that share a transaction: one full or partial batch, and as many singles as have a slot. */
function groupsOf({ batch, rules }: WriterDeps, state: WriterState, waiting: readonly Payment[]): Payment[][] {
  const together = (payment: Payment) => batch !== null && state.batch_there && batchable(payment) && !state.alone.has(keyText(payment))
  const shared = waiting.filter(together).slice(0, rules.batch_items)
  const singles = waiting.filter((payment) => !together(payment))
  const open_singles = state.open.filter(({ sending }) => sending.kind !== 'batch').length
  const slots = Math.min(rules.open_singles_max - open_singles, rules.open_max - state.open.length - (shared.length > 0 ? 1 : 0))
  return [...(shared.length > 0 ? [shared] : []), ...singles.slice(0, Math.max(0, slots)).map((payment) => [payment])]
}

/** How many payments were sent or closed. */
async function sendGroups(deps: WriterDeps, state: WriterState, groups: Payment[][]): Promise<number> {
  const { good, closed } = await stillGood(deps, state, groups.flat())
  if (good.size === 0) return closed
  const fees = await deps.sender.fees()
  if (state.open.length === 0) state.next_nonce = null
  for (const group of groups) {
    const payments = group.filter((payment) => good.has(payment))
    if (payments.length > 0) await sendNew(deps, state, callFor(deps, state, payments), payments, fees)
  }
  return good.size + closed
}

function callFor({ batch, source }: WriterDeps, state: WriterState, payments: Payment[]): Call {
  const [only] = payments
  if (only !== undefined && payments.length === 1) return singleCall(source.token, only)
  if (batch === null || !state.batch_there) throw new Error('there is no batch contract')
  return batchCall(batch, source.token, payments)
}

/** Those that are unused at the newest block and have life left. The others are closed, on evidence. */
async function stillGood(deps: WriterDeps, state: WriterState, payments: Payment[]): Promise<{ good: Set<Payment>; closed: number }> {
  const used = await usedStates(deps.source, payments)
  const closings: Closing[] = []
  const good = new Set<Payment>()
  for (const [index, payment] of payments.entries()) {
    const now = used[index] ?? null
    if (now === true) closings.push(closingOf(payment, await evidenceOf(deps.source, payment, true)))
    else if (now === false && hasLife(deps, payment)) good.add(payment)
    else if (now === false) closings.push({ ...keyOf(payment), to: 'refused', reason: 'out_of_time', transaction: null })
  }
  return { good, closed: await closeRows(deps, state.guard, closings) }
}

/** Learns whether the batch contract is there, and deploys it once where the deterministic deployer is. Until then payments settle singly. */
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

/**
 * The one writer of a gas wallet. Whoever holds the lease `settlement:<wallet>` signs with that wallet, over all processes on the store; its
 * fencing number stands in every write. Nothing that decides is in memory: what a writer knows it reads from the store when it gets the
 * lease, and throws away when it is out of step.
 */

/** How often payments that a reorganisation took away are looked for, and how many at a time. */
const LOOK_BACK_MS = 5_000
const LOOK_BACK_ROWS = 500
/** Longest pause after failures in a row. */
const PAUSE_MAX_MS = 5_000

export interface WalletWriter {
  readonly address: string
  /** Something new may wait. */
  nudge(): void
  /** Whether this process is the writer now; errs by the length of a round. */
  leads(): boolean
  ready(): Promise<GasFinding>
  /** What its wallet was last seen to hold. */
  gas(): GasSeen | null
  start(): void
  /** Ends after the round that runs, and gives the lease up. */
  stop(): Promise<void>
}

export function createWalletWriter(deps: WriterDeps, holder: string): WalletWriter {
  const { wallet, store, clock, log, rules } = deps
  const lease = `settlement:${wallet.address}`
  const bell = createBell()
  const budget = createGasBudget(deps)
  let state: WriterState | null = null
  let renew_ms = Number.NEGATIVE_INFINITY
  let running: Promise<void> | null = null
  const stopping = new AbortController()

  /** Milliseconds until the next round. */
  async function round(): Promise<number> {
    const now_ms = clock.now_ms()
    // Renewed at half its time, so that a store is not written to each time that a receipt is looked for.
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
        // Out of step: read everything anew at once. Anything else is the world's fault, and may last.
        if (error instanceof OutOfStepError) state = null
        else log.warn({ wallet: wallet.address, error: String(error) }, 'a settlement round failed')
        pause_ms = Math.min(PAUSE_MAX_MS, rules.poll_ms * 2 ** Math.min(failures++, 10))
      }
      if (!stopping.signal.aborted) await bell.sleep(pause_ms, ringsFor(rules.batch_items, pause_ms, rules.idle_ms))
    }
    if (state !== null) await store.lease(lease, holder, clock.now_ms(), clock.now_ms())
  }

  return {
    address: wallet.address,
    nudge: () => bell.ring(),
    leads: () => state !== null,
    ready: () => budget.check(),
    gas: () => budget.seen(),
    start() {
      running ??= run().catch((error: unknown) =>
        log.error({ wallet: wallet.address, error: String(error) }, 'a settlement writer ended badly'),
      )
    },
    async stop() {
      stopping.abort()
      for (let rings = 0; rings < rules.batch_items; rings++) bell.ring()
      await running
    },
  }
}

/** An idle writer wakes at the first payment; one that gathers, or waits for receipts, when a batch is full. */
function ringsFor(batch_items: number, pause_ms: number, idle_ms: number): number {
  return pause_ms >= idle_ms ? 1 : batch_items
}

async function work(deps: WriterDeps, state: WriterState, budget: GasBudget): Promise<number> {
  await lookBack(deps, state)
  await track(deps, state, budget)
  if (!state.batch_there && (await budget.check()).ok) await checkBatch(deps, state)
  return sendWaiting(deps, state, budget)
}

/** Reads what is open, and gives all of it to a node again: the writer before may have died between storing and sending. */
async function takeOver(deps: WriterDeps, guard: WriterState['guard']): Promise<WriterState> {
  const state: WriterState = {
    guard,
    open: [],
    next_nonce: null,
    alone: new Set(),
    batch_there: false,
    batch_checked_ms: Number.NEGATIVE_INFINITY,
    deploys: 0,
    looked_back_ms: Number.NEGATIVE_INFINITY,
  }
  const sendings = await deps.store.payments.open_sendings(deps.wallet.address)
  state.open = await Promise.all(sendings.map((sending) => opened(deps, sending)))
  for (const open of state.open) await broadcast(deps, state, open)
  return state
}

async function opened({ store }: WriterDeps, sending: Sending): Promise<OpenSending> {
  const payments = await store.payments.carried_by(sending.wallet, sending.account_nonce)
  return { sending, payments, broadcast_ms: Number.NEGATIVE_INFINITY, overdue: false }
}

/** Opens the transactions of payments whose block is gone, so that their bytes are sent again. */
async function lookBack({ wallet, store, clock, log }: WriterDeps, state: WriterState): Promise<void> {
  const steady_ms = clock.steady_ms()
  if (steady_ms - state.looked_back_ms < LOOK_BACK_MS) return
  state.looked_back_ms = steady_ms
  const unknown = await store.payments.in_states(['unknown'], { final: null, updated_before_ms: ANY_TIME_MS, limit: LOOK_BACK_ROWS })
  const gone = unknown.filter(({ settler, reason }) => settler === wallet.address && reason === REORGANISED)
  const open = new Set(state.open.map(({ sending }) => sending.account_nonce))
  const nonces = new Set(gone.map(({ account_nonce }) => account_nonce).filter((nonce) => nonce !== null && !open.has(nonce)))
  let reopened = 0
  for (const nonce of nonces) {
    if (nonce !== null && (await store.payments.reopen_sending(wallet.address, nonce, state.guard))) reopened++
  }
  if (reopened === 0) return
  log.warn({ wallet: wallet.address, transactions: reopened }, 'transactions of a block that is gone are sent again')
  throw new OutOfStepError('finished transactions are open again')
}
