import { INVOICE_RULES } from '../../service/limits.ts'

/**
 * `sealed`: encrypted under the secret of the deployment. `keyed_hash`: a hash that takes that secret. `hash`: a hash of anything else. `chain`: on a
 * public chain, or signed to be put there. `published`: the service publishes it itself. `own`: made by the service, such as times, counts, states and ids.
 * `clear`: a text or an identifier that a caller chose.
 */
export type StoredForm = 'sealed' | 'keyed_hash' | 'hash' | 'chain' | 'published' | 'own' | 'clear'

export interface StoredColumns {
  form: StoredForm
  names: readonly string[]
  /** For `clear` and `published` also the reason why it is not sealed. */
  holds: string
  /** Left out if the same as that of the table, as `erase`. */
  kept?: string
  erase?: string
}

export interface StoredTable {
  holds: string
  kept: string
  erase: string
  columns: readonly StoredColumns[]
}

const DAY_MS = 86_400_000
export const days = (ms: number) => (ms === DAY_MS ? '1 day' : `${ms / DAY_MS} days`)

export const EVER = 'for good'
export const NOTHING = 'nothing personal'
export const BY_AGE = 'by itself'
export const LEDGER = 'kept: the ledger proves with it what was paid; names no person'
export const ERASE = '`assay invoice erase`'
export const RETENTION = `until ${INVOICE_RULES.retention_days} days after the invoice ended (ASSAY_INVOICE_RETENTION_DAYS)`

export const own = (...names: string[]): StoredColumns => ({ form: 'own', names, holds: 'times, counts, states and ids of the service' })
export const chain = (holds: string, ...names: string[]): StoredColumns => ({ form: 'chain', names, holds })
export const keyed = (holds: string, ...names: string[]): StoredColumns => ({ form: 'keyed_hash', names, holds })
export const hashed = (holds: string, ...names: string[]): StoredColumns => ({ form: 'hash', names, holds })
export const sealed = (holds: string, ...names: string[]): StoredColumns => ({ form: 'sealed', names, holds })
