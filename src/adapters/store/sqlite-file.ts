import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { StoreBusyError, StoreError, StoreRefusedError, StoreUnavailableError } from './errors.ts'
import { CREATE_MIGRATION_TABLE, pendingSteps, READ_SCHEMA, SQLITE_DIALECT } from './migrations.ts'

/** The SQLite file itself: making it, bringing it up to date, waiting for its lock, and what its errors mean. */

/**
 * Pause between two tries to get a lock. SQLite's own waiting (busy_timeout) stays off: it would stop the event loop, and it asks so
 * seldom that of two busy processes one starves for a third of a second (measured; 70 ms this way).
 */
const BUSY_PAUSE_MS = 1

/** Primary result codes of https://www.sqlite.org/rescode.html. */
const SQLITE_BUSY = 5
const SQLITE_CANNOT_HOLD: ReadonlySet<number | undefined> = new Set([18, 19, 20])

/** Only its owner may read the file: it holds who called how often, if only as keyed hashes. SQLite gives its side files the same mode. */
export function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  try {
    // Exclusive, because closing any descriptor of an existing file would drop the locks of this process's other connections to it.
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

/** Pages of the write-ahead log at which a commit makes a checkpoint itself: a thread does it long before, unless that is gone. */
const CHECKPOINT_PAGES = 16_384
const CHECKPOINT_PAGES_ALONE = 1_000

/**
 * Page cache of a connection. With SQLite's default of 2 MB a busy service reads back pages that it has just written, because the hashes
 * that index its rows are spread over the file.
 */
const CACHE_KIB = 16_384

/** No thread makes checkpoints any more. */
export function checkpointAlone(database: DatabaseSync, why: string): void {
  process.emitWarning(`Checkpoints of the store are made by its commits from now on: ${why}`)
  database.exec(`pragma wal_autocheckpoint = ${CHECKPOINT_PAGES_ALONE}`)
}

export function prepareFile(database: DatabaseSync): void {
  const mode = database.prepare('pragma journal_mode = wal').get()?.['journal_mode']
  if (mode !== 'wal') throw new StoreUnavailableError('The SQLite file cannot keep a write-ahead log where it lies; use a local disk.')
  database.exec('pragma synchronous = full')
  database.exec(`pragma cache_size = -${CACHE_KIB}`)
  database.exec(`pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
  database.exec('begin immediate')
  try {
    database.exec(CREATE_MIGRATION_TABLE)
    const found = READ_SCHEMA.read(database.prepare(READ_SCHEMA.text).get() ?? {}).number
    // Rows that a migration deletes are overwritten in the file.
    database.exec('pragma secure_delete = on')
    for (const step of pendingSteps(found, SQLITE_DIALECT)) database.exec(step)
    database.exec('commit')
    database.exec('pragma secure_delete = off')
  } catch (error) {
    if (database.isTransaction) database.exec('rollback')
    throw error
  }
}

/** Does the work now, or while another connection has the lock again and again, at most `attempts` times. */
export async function patiently<Outcome>(attempts: number, work: () => Outcome): Promise<Outcome> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error) || attempt >= attempts) throw error
    }
    await setTimeout(BUSY_PAUSE_MS)
  }
}

export function isBusy(error: unknown): boolean {
  return resultCode(error) === SQLITE_BUSY
}

function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error && 'errcode' in error && typeof error.errcode === 'number')) return undefined
  return error.errcode & 0xff
}

/** The fault of one statement: the value's own, where SQLite says so. */
export function fault(error: unknown): StoreError {
  return SQLITE_CANNOT_HOLD.has(resultCode(error)) ? new StoreRefusedError('The store cannot hold this value.', error) : outage(error)
}

export function outage(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  if (isBusy(error)) return new StoreBusyError(error)
  const reason = resultCode(error) ?? 'no result code'
  return new StoreUnavailableError(`The SQLite store could not be read or written${sqliteWords(error)} (${reason}).`, error)
}

/** SQLite's text for the result code, such as a full disk; it contains nothing of the statement. */
function sqliteWords(error: unknown): string {
  return error instanceof Error && 'errstr' in error && typeof error.errstr === 'string' ? `: ${error.errstr}` : ''
}
