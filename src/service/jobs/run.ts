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
  /** Starts nothing more and waits for what runs. */
  stop(): Promise<void>
}

/** Runs each job now and then every `every_ms`; a job that fails is logged and tried again next time. */
export function runJobs(jobs: readonly Job[], store: Pick<Store, 'lease'>, clock: Clock, log: Log): RunningJobs {
  const holder = crypto.randomUUID()
  const loops = jobs.map((job) => runJob(job, () => leased(job, store, clock, holder), log))
  /** So that the next process need not wait for the lease to run out. */
  const letGo = async ({ name }: Job) => {
    const now_ms = clock.now_ms()
    await store
      .lease(name, holder, now_ms, now_ms)
      .catch((error: unknown) => log.warn({ job: name, error: String(error) }, 'a lease was not given up'))
  }
  return {
    stop: async () => {
      await Promise.all(loops.map((stop) => stop()))
      await Promise.all(jobs.map(letGo))
    },
  }
}

async function leased(job: Job, store: Pick<Store, 'lease'>, clock: Clock, holder: string): Promise<void> {
  const now_ms = clock.now_ms()
  if ((await store.lease(job.name, holder, now_ms, now_ms + 2 * job.every_ms)) !== null) await job.run(now_ms)
}

function runJob(job: Job, once: () => Promise<void>, log: Log): () => Promise<void> {
  let running: Promise<void> = Promise.resolve()
  const step = () => {
    running = running.then(once).catch((error: unknown) => log.error({ job: job.name, error: String(error) }, 'a job failed'))
  }
  const timer = setInterval(step, job.every_ms)
  timer.unref()
  step()
  return () => {
    clearInterval(timer)
    return running
  }
}
