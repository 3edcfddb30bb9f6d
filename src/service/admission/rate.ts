import type { SteadyClock } from '../../ports/clock.ts'
import { quotaClient } from '../clients.ts'
import { limits } from '../limits.ts'

const MINUTE_MS = 60_000

/** Whether a client may go on; if not, when to come back. */
export type Admitted = { ok: true } | { ok: false; retry_after_s: number }

/**
 * Counts what each client sends within a minute of the clock. It guards this process against work that is free, so it is kept in this
 * process; addresses leave memory when their minute is over. Errs towards letting a client in when more are met than are kept.
 */
export function createRateGuard(clock: SteadyClock, per_minute: number): (address: string) => Admitted {
  const counts = new Map<string, number>()
  let minute = -1
  return (address) => {
    const now_ms = clock.steady_ms()
    const current = Math.floor(now_ms / MINUTE_MS)
    if (current !== minute) counts.clear()
    minute = current
    const client = quotaClient(address)
    const count = (counts.get(client) ?? 0) + 1
    if (count > per_minute) return { ok: false, retry_after_s: Math.ceil(((minute + 1) * MINUTE_MS - now_ms) / 1_000) }
    const [oldest] = counts.size >= limits.preflight_clients && !counts.has(client) ? counts.keys() : []
    if (oldest !== undefined) counts.delete(oldest)
    counts.set(client, count)
    return { ok: true }
  }
}
