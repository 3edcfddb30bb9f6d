import type { PrivacyStore } from '../../ports/privacy.ts'
import type { Job } from './jobs.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Rows of a table that one transaction seals, which takes a few milliseconds, and transactions of one run. */
const SEAL_ROWS = 50
const SEAL_STEPS = 200
/** Invoices whose details one run erases. */
const ERASE_MOST = 1_000

/** Sealing of what earlier releases stored in clear, and erasure of the personal details of invoices that ended so many days ago. */
export function privacyJobs(store: PrivacyStore, retention_days: number): Job[] {
  return [
    { name: 'seal-texts', every_ms: MINUTE_MS, run: sealing(store) },
    {
      name: 'erase-invoices',
      every_ms: HOUR_MS / 6,
      run: async (now_ms) => {
        for (const id of await store.ended_invoices(now_ms - retention_days * DAY_MS, ERASE_MOST)) await store.erase_invoice(id, now_ms)
      },
    },
  ]
}

/** Steps until nothing is left. Then a look once an hour is sufficient: an instance of an earlier release may still write. */
function sealing(store: PrivacyStore): (now_ms: number) => Promise<void> {
  let next_ms = 0
  return async (now_ms) => {
    if (now_ms < next_ms) return
    for (let step = 0; step < SEAL_STEPS; step++) {
      if ((await store.seal_stored(SEAL_ROWS)) > 0) continue
      next_ms = now_ms + HOUR_MS
      return
    }
  }
}
