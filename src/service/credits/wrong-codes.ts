import type { Clock } from '../../ports/clock.ts'
import type { Store } from '../../ports/store.ts'
import { clientHasher } from '../clients.ts'
import { CREDIT_RULES } from './rules.ts'

const MINUTE_MS = 60_000
const DAY_MINUTES = 1_440

/**
 * Counts the wrong codes of a client within a minute of the clock, over all instances; false beyond the bound. Counted like the free calls,
 * under a keyed hash that changes daily. What is looked up is a keyed hash too, so that how long it takes tells nothing of a code.
 */
export function createWrongCodeCounter(store: Pick<Store, 'take'>, clock: Clock, secret: Uint8Array) {
  const clientHash = clientHasher(secret)
  return async (client: string): Promise<boolean> => {
    const minutes = Math.floor(clock.now_ms() / MINUTE_MS)
    const day = Math.floor(minutes / DAY_MINUTES)
    const bucket = `credit-codes-${minutes % DAY_MINUTES}`
    const { granted } = await store.take({ day, bucket, client: clientHash(day, client), limit: CREDIT_RULES.wrong_codes_per_minute })
    return granted
  }
}
