import type { Clock } from '../../ports/clock.ts'
import type { PaymentKey } from '../../ports/payments.ts'
import type { AllowanceRequest, Store } from '../../ports/store.ts'
import { clientHasher } from '../clients.ts'
import { limits } from '../limits.ts'

const HOUR_MS = 3_600_000
const HOURS = 24

/** Counts of wrong inputs and wrong secrets that a client sent with one payment, by the hour, over all instances, under a keyed hash. */
export interface Mismatches {
  /** Counts one; false beyond the bound of the hour. */
  add(key: PaymentKey, client: string): Promise<boolean>
  exhausted(key: PaymentKey, client: string): Promise<boolean>
}

export function createMismatches(store: Pick<Store, 'take' | 'used'>, clock: Clock, secret: Uint8Array): Mismatches {
  const clientHash = clientHasher(secret)
  const requestFor = ({ payer, nonce }: PaymentKey, client: string): AllowanceRequest => {
    const hours = Math.floor(clock.now_ms() / HOUR_MS)
    const day = Math.floor(hours / HOURS)
    const limit = limits.mismatches_per_hour
    return { day, bucket: `mismatch-${hours % HOURS}`, client: `${clientHash(day, client)}:${payer}:${nonce}`, limit }
  }
  return {
    add: async (key, client) => (await store.take(requestFor(key, client))).granted,
    exhausted: async (key, client) => (await store.used(requestFor(key, client))) >= limits.mismatches_per_hour,
  }
}
