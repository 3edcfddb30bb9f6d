import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { Store } from '../../ports/store.ts'
import { limits, TASK_LIMITS } from '../limits.ts'
import { HISTORY_EPOCHS, type PriceBook } from '../payments/price-book.ts'

/** Periodic work outside the calls. Of all instances on a store, the holder of the lease does it. */
export interface Job {
  name: string
  every_ms: number
  run(now_ms: number): Promise<void>
}

export interface RunningJobs {
  /** Which jobs this process does now, by the last look at their leases. */
  held(): ReadonlyMap<string, boolean>
  /** Starts nothing more and waits for what runs. */
  stop(): Promise<void>
}

/** A dead process is followed within the length of its lease and one look: 9 s. Work that is done by the minute or less often can wait longer. */
const LEASE_MS = 7_000
const LOOK_MS = 2_000
const SELDOM_MS = 60_000

/** Runs each job now and then every `every_ms`; a job that fails is logged and tried again next time. */
export function runJobs(jobs: readonly Job[], store: Pick<Store, 'lease'>, clock: Clock, log: Log): RunningJobs {
  const holder = crypto.randomUUID()
  const held = new Map<string, boolean>()
  const loops = jobs.map((job) => startLoop({ job, store, clock, log, holder, held }))
  /** So that the next process need not wait for the lease to run out. */
  const letGo = async ({ name }: Job) => {
    const now_ms = clock.now_ms()
    await store
      .lease(name, holder, now_ms, now_ms)
      .catch((error: unknown) => log.warn({ job: name, error: String(error) }, 'a lease was not given up'))
  }
  return {
    held: () => held,
    stop: async () => {
      await Promise.all(loops.map((stop) => stop()))
      await Promise.all(jobs.map(letGo))
    },
  }
}

interface Loop {
  job: Job
  store: Pick<Store, 'lease'>
  clock: Clock
  log: Log
  holder: string
  held: Map<string, boolean>
}

/** Tries to take the lease more often than the job runs, and renews it while the job runs. */
function startLoop({ job, store, clock, log, holder, held }: Loop): () => Promise<void> {
  const look_ms = job.every_ms < SELDOM_MS ? Math.min(LOOK_MS, job.every_ms) : job.every_ms
  const lease_ms = job.every_ms < SELDOM_MS ? Math.min(LEASE_MS, 2 * job.every_ms) : 2 * job.every_ms
  let looking: Promise<void> = Promise.resolve()
  let running: Promise<void> | null = null
  let due_ms = Number.NEGATIVE_INFINITY
  const failed = (error: unknown) => log.error({ job: job.name, error: String(error) }, 'a job failed')

  async function look(): Promise<void> {
    const now_ms = clock.now_ms()
    const fence = await store.lease(job.name, holder, now_ms, now_ms + lease_ms)
    held.set(job.name, fence !== null)
    // An instance that lost the lease runs the job immediately when it gets the lease again.
    if (fence === null) due_ms = Number.NEGATIVE_INFINITY
    if (fence === null || running !== null || performance.now() < due_ms) return
    // Timers are a little early at times; a look that comes just before the time counts.
    due_ms = performance.now() + job.every_ms - look_ms / 2
    running = job
      .run(now_ms)
      .catch(failed)
      .finally(() => (running = null))
  }

  const step = () => {
    looking = looking.then(look).catch(failed)
  }
  const timer = setInterval(step, look_ms)
  timer.unref()
  step()
  return async () => {
    clearInterval(timer)
    await looking
    await running
  }
}

const CREDITS_EVERY_MS = 60_000

/** Gives back what calls had reserved that never came to their end, and forgets answers past their time. Bindings stay. */
export function creditsJob({ credits }: Pick<Store, 'credits'>): Job {
  return {
    name: 'credits',
    every_ms: CREDITS_EVERY_MS,
    run: async (now_ms) => {
      await credits.release_abandoned(now_ms)
      await credits.purge_credits(now_ms)
    },
  }
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Days for which daily counts of calls are kept. */
const CALL_COUNT_DAYS = 400

type Purged = 'purge_allowance' | 'tasks' | 'payments' | 'stored_answers' | 'finalized_ranges' | 'call_counts'

/** Deletion of what the store no longer needs: what is not kept cannot leak. Bindings stay: a payment buys one answer for ever. */
export function purgeJobs(store: Pick<Store, Purged>, prices: Pick<PriceBook, 'epoch_now'>): Job[] {
  return [
    {
      name: 'purge-allowance',
      every_ms: HOUR_MS,
      // Yesterday's rows are kept for a day, since the clocks of two instances may be on different sides of midnight.
      run: async (now_ms) => void (await store.purge_allowance(Math.floor(now_ms / DAY_MS) - 1)),
    },
    {
      name: 'purge-tasks',
      every_ms: HOUR_MS / 6,
      // Tasks past their day, unpaid ones sooner while storage is scarce, and the oldest where there are too many.
      run: async (now_ms) => {
        const unpaid_ms = unpaidTaskMs(await store.tasks.total_bytes())
        await store.tasks.purge(now_ms - limits.a2a_task_ms, now_ms - unpaid_ms, limits.a2a_tasks)
      },
    },
    {
      name: 'purge-payments',
      every_ms: HOUR_MS,
      run: async (now_ms) => {
        await store.stored_answers.purge(now_ms - limits.answer_kept_ms)
        // Prices that no quote can go back to.
        await store.payments.purge_payments(now_ms, (await prices.epoch_now()) - 2 * HISTORY_EPOCHS)
      },
    },
    {
      name: 'purge-stretches',
      every_ms: HOUR_MS,
      // Stretches of blocks that no history reaches back to any more.
      run: async (now_ms) => void (await store.finalized_ranges.purge_stretches(now_ms - 4 * DAY_MS)),
    },
    {
      name: 'purge-call-counts',
      every_ms: DAY_MS,
      run: async (now_ms) => void (await store.call_counts.purge(Math.floor(now_ms / DAY_MS) - CALL_COUNT_DAYS)),
    },
  ]
}

/** Time in ms for which an unpaid task is kept: a day, and less when more than half of the bound is used. */
export function unpaidTaskMs(total_bytes: number, all_bytes: number = TASK_LIMITS.bytes): number {
  const free_part = Math.min(1, Math.max(0, 2 * (1 - total_bytes / all_bytes)))
  return Math.max(TASK_LIMITS.least_ms, Math.floor(limits.a2a_task_ms * free_part))
}
