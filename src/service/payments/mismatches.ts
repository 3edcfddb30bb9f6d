import type { Clock } from '../../ports/clock.ts'
import type { PaymentKey } from '../../ports/payments.ts'
import type { Store } from '../../ports/store.ts'
import { clientHasher } from '../clients.ts'
import { limits } from '../limits.ts'

const HOUR_MS = 3_600_000
const HOURS = 24

/**
 * Counts the times that a client sent a payment with another request than the one it is bound to: whoever knows a payment could otherwise
 * try inputs until one fits. False beyond the bound of an hour. Counted like the free calls, over all instances, under a keyed hash.
 */
export function createMismatchCounter(store: Pick<Store, 'take'>, clock: Clock, secret: Uint8Array) {
  const clientHash = clientHasher(secret)
  return async ({ payer, nonce }: PaymentKey, client: string): Promise<boolean> => {
    const hours = Math.floor(clock.now_ms() / HOUR_MS)
    const day = Math.floor(hours / HOURS)
    const bucket = `mismatch-${hours % HOURS}`
    const { granted } = await store.take({
      day,
      bucket,
      client: `${clientHash(day, client)}:${payer}:${nonce}`,
      limit: limits.mismatches_per_hour,
    })
    return granted
  }
}
