import type { Store } from '../../ports/store.ts'
import { limits } from '../limits.ts'
import { HISTORY_EPOCHS, type PriceBook } from '../payments/price-book.ts'
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

/** Forgets stored answers past their time, and prices that no quote can go back to. Bindings stay: a payment buys one answer for ever. */
export function purgePaymentsJob(store: Pick<Store, 'payments'>, prices: Pick<PriceBook, 'epoch_now'>): Job {
  return {
    name: 'purge-payments',
    every_ms: HOUR_MS,
    run: async (now_ms) => void (await store.payments.purge_payments(now_ms, (await prices.epoch_now()) - 2 * HISTORY_EPOCHS)),
  }
}

/** Forgets tasks of the agent protocol past their day, and the oldest where there are too many. */
export function purgeTasksJob(store: Pick<Store, 'tasks'>): Job {
  return {
    name: 'purge-tasks',
    every_ms: HOUR_MS / 6,
    run: async (now_ms) => void (await store.tasks.purge(now_ms - limits.a2a_task_ms, limits.a2a_tasks)),
  }
}

/** Forgets stretches of blocks that no history reaches back to any more. */
export function purgeStretchesJob(store: Pick<Store, 'closed'>): Job {
  return {
    name: 'purge-stretches',
    every_ms: HOUR_MS,
    run: async (now_ms) => void (await store.closed.purge_stretches(now_ms - 4 * DAY_MS)),
  }
}
