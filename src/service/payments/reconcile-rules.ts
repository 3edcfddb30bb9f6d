import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { Store } from '../../ports/store.ts'
import type { EvidenceSource } from './evidence.ts'

/** Bounds and times of the reconciler. */
export interface ReconcileRules {
  /** Age at which a row in state settling is looked at here too, beside its writer. */
  settling_ms: number
  /** Age at which a settled row is compared with its block: a node may be behind by seconds. */
  recheck_ms: number
  /** Age at which an open row is reported. */
  overdue_ms: number
  /** Rows of one run, and questions to the chain about rows that need more than the common one. */
  rows: number
  questions: number
}

export const RECONCILE_RULES: ReconcileRules = { settling_ms: 60_000, recheck_ms: 30_000, overdue_ms: 600_000, rows: 2_000, questions: 200 }

/** For rows of whatever age. Rows may even seem to lie in the future, written by a machine whose clock was ahead. */
export const ANY_TIME_MS = Number.MAX_SAFE_INTEGER

export interface ReconcileParts {
  store: Pick<Store, 'payments'>
  source: EvidenceSource
  clock: Clock
  log: Log
  rules?: Partial<ReconcileRules>
}
