import type { Store } from '../../ports/store.ts'
import type { Job } from './run.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Forgets the free-call counts of past days: they are of no more use, and what is not kept cannot leak. */
export function purgeJob(store: Pick<Store, 'purge_allowance'>): Job {
  return {
    name: 'purge-allowance',
    every_ms: HOUR_MS,
    // Yesterday stays for a day, since the clocks of two instances may stand on both sides of midnight.
    run: async (now_ms) => void (await store.purge_allowance(Math.floor(now_ms / DAY_MS) - 1)),
  }
}
