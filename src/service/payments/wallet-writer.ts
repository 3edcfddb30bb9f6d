/**
 * The one writer of a gas wallet. Whoever holds the lease `settlement:<wallet>` signs with that wallet, over all processes on the store; its
 * fencing number stands in every write. Nothing that decides is in memory: what a writer knows it reads from the store when it gets the
 * lease, and throws away when it is out of step.
 */
import type { Sending } from '../../ports/payments.ts'
import { createBell } from './bell.ts'
import { createGasBudget, type GasBudget, type GasFinding, type GasSeen } from './gas-budget.ts'
import { checkBatch, sendWaiting } from './wallet-gather.ts'
import { ANY_TIME_MS } from './reconcile-rules.ts'
import { REORGANISED } from './wallet-outcome.ts'
import { broadcast } from './wallet-send.ts'
import { track } from './wallet-track.ts'
import { OutOfStepError, type OpenSending, type WriterDeps, type WriterState } from './writer-rules.ts'

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
