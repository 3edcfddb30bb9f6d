import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { Store } from '../../ports/store.ts'

/** Work that happens beside the calls: of all instances on a store, the holder of the lease does it. */
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

/** Looks for the lease more often than the job runs, and goes on renewing it while the job runs. */
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
    // Whoever loses the lease begins at once when it comes back.
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
