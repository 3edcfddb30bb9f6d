import { reconcile, type ReconcileParts, type ReconcileSummary } from '../payments/reconcile.ts'
import type { Job } from './run.ts'

const EVERY_MS = 10_000

/** Compares the payments with the chain every ten seconds; `done` is told what came of it. */
export function reconcileJob(parts: ReconcileParts, done: (summary: ReconcileSummary) => void): Job {
  return { name: 'reconcile', every_ms: EVERY_MS, run: async () => done(await reconcile(parts)) }
}
