import type { Sealer } from '../../ports/signer.ts'
import type { Store } from '../../ports/store.ts'
import { limits } from '../../service/limits.ts'
import { StoreUnavailableError } from './errors.ts'

interface StoreOptions {
  /** Takes that one commit serves. */
  batch_items?: number
  /** SQLite: how often the write lock is asked for, about once a millisecond, before the waiting takes are rejected. */
  busy_attempts?: number
  /** Seals texts of callers under the secret of the deployment. Without it they can be neither written nor read. */
  sealer?: Sealer
}

const BUSY_ATTEMPTS = 4_000
const ONE_HOST =
  'A postgres:// URL names one host and one port. For several servers, name a proxy that follows the primary (docs/operating/store.md).'

/**
 * Opens the store at `target`, a `postgres://` URL or the path of an SQLite file, and brings its schema up to date. Safe when several
 * processes start simultaneously. Rejects with a StoreFault: unreachable, busy, or written by a newer version. No message contains the
 * target.
 */
export async function openStore(target: string, options: StoreOptions = {}): Promise<Store> {
  const batch_items = options.batch_items ?? limits.store_batch
  const sealer = options.sealer ?? null
  if (/^postgres(?:ql)?:\/\//.test(target)) {
    if (hostsOf(target).includes(',')) throw new StoreUnavailableError(ONE_HOST)
    const { openPostgres } = await import('./postgres.ts')
    return openPostgres(target, batch_items, sealer)
  }
  if (target === '' || target.startsWith(':') || /^[a-z][a-z0-9+.-]+:/i.test(target)) {
    throw new StoreUnavailableError('A store is the path of an SQLite file or a postgres:// URL.')
  }
  const { openSqlite } = await import('./sqlite.ts')
  return openSqlite(target, { batch_items, busy_attempts: options.busy_attempts ?? BUSY_ATTEMPTS, sealer })
}

function hostsOf(url: string): string {
  const [authority = ''] = url.slice(url.indexOf('//') + 2).split(/[/?#]/, 1)
  return authority.slice(authority.lastIndexOf('@') + 1)
}
