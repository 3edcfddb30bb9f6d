import type { Store } from '../../ports/store.ts'
import type { Job } from './run.ts'

const MINUTE_MS = 60_000

/** Gives back what calls had reserved that never came to their end, and forgets answers past their time. Bindings stay. */
export function creditsJob({ credits }: Pick<Store, 'credits'>): Job {
  return {
    name: 'credits',
    every_ms: MINUTE_MS,
    run: async (now_ms) => {
      await credits.release_abandoned(now_ms)
      await credits.purge_credits(now_ms)
    },
  }
}
