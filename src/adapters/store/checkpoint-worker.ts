import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

/**
 * Moves the write-ahead log of a SQLite file into the file, on each message. First a passive checkpoint, which does not block writers;
 * then a restart of the log for the little that was written meanwhile, so that the log does not grow for as long as the load lasts.
 */

/** Timeout for a writer to end its transaction. */
const PATIENCE_MS = 50

const database = new DatabaseSync((workerData as { path: string }).path, { timeout: PATIENCE_MS })
const passive = database.prepare('pragma wal_checkpoint(passive)')
const restart = database.prepare('pragma wal_checkpoint(restart)')

parentPort?.on('message', () => {
  passive.get()
  restart.get()
  parentPort?.postMessage('done', [])
})
