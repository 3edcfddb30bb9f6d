import type { SteadyClock } from '../../ports/clock.ts'
import type { InsuranceStore, UnderwriterRow } from '../../ports/insurance.ts'
import { limits } from '../limits.ts'

/**
 * The store with its list of entries kept in memory for a few seconds, and until this process writes to it. The list is the same array while
 * nothing changed, so that what is derived from it can be kept with it. A write by another process is seen when the time is over.
 */
export function cachedDirectory(store: InsuranceStore, clock: SteadyClock): InsuranceStore {
  let known: { rows: Promise<UnderwriterRow[]>; read_ms: number } | null = null
  const forget = () => (known = null)
  return {
    underwriters(now_s) {
      const age_ms = known === null ? Infinity : clock.steady_ms() - known.read_ms
      if (known !== null && age_ms >= 0 && age_ms < limits.directory_cache_ms) return known.rows
      const read = { rows: store.underwriters(now_s), read_ms: clock.steady_ms() }
      known = read
      read.rows.catch(() => {
        if (known === read) forget()
      })
      return read.rows
    },
    register: (row, networks, bounds, now_s) => store.register(row, networks, bounds, now_s).finally(forget),
    remove: (address, now_s) => store.remove(address, now_s).finally(forget),
    underwriter: (address) => store.underwriter(address),
    bind: (policy) => store.bind(policy),
    policy: (policy_id) => store.policy(policy_id),
    countersign: (policy_id, signature) => store.countersign(policy_id, signature),
  }
}
