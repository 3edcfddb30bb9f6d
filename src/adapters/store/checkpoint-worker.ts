import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

/**
 * Brings what the write-ahead log of a SQLite file holds into the file itself, whenever it is told to. First what it can without holding up
 * a writer, then the little that was written meanwhile, so that the log begins anew instead of growing for as long as the load lasts.
 */

/** How long it waits for a writer to end its transaction. */
const PATIENCE_MS = 50

const database = new DatabaseSync((workerData as { path: string }).path, { timeout: PATIENCE_MS })
const passive = database.prepare('pragma wal_checkpoint(passive)')
const restart = database.prepare('pragma wal_checkpoint(restart)')

parentPort?.on('message', () => {
  passive.get()
  restart.get()
  parentPort?.postMessage('done', [])
})
