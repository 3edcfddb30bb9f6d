import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { ReceiptsLogStore } from '../../ports/receipts-log.ts'
import { LOG_RULES } from './rules.ts'

/** Takes the receipts of this process to the log. */
export interface LogQueue {
  /** Never waits and never fails: a call must not hang on the log. */
  add(digest: string, signature: string): void
  /** Receipts that are not written down yet. */
  waiting(): number
  /** Receipts that could not be kept since the start. */
  dropped(): number
  /** Writes down what is gathered. */
  stop(): Promise<void>
}

/** The log entry of a receipt in hex; null for what is none. */
type EntryOf = (digest: string, signature: string) => string | null

/**
 * Receipts gather in memory and are written down together, often and few at a time, so that no call waits behind a crowd of them. What a process that dies had gathered is not in the log until the
 * holder of the receipt hands it in: the receipt itself is good without.
 */
export function createLogQueue(store: Pick<ReceiptsLogStore, 'queue'>, clock: Clock, log: Log, entryOf: EntryOf): LogQueue {
  let gathered: string[] = []
  let dropped = 0
  let writing: Promise<void> = Promise.resolve()
  const flush = async () => {
    if (gathered.length === 0) return
    const taken = gathered
    gathered = []
    try {
      await store.queue(taken, clock.now_ms())
    } catch (error) {
      // They come again with the next ones, as far as there is room.
      const room = Math.max(0, LOG_RULES.gathered - gathered.length)
      gathered = [...taken.slice(0, room), ...gathered]
      dropped += Math.max(0, taken.length - room)
      log.warn({ error: String(error), waiting: gathered.length, dropped }, 'receipts could not be queued for the log')
    }
  }
  const step = () => (writing = writing.then(flush))
  const timer = setInterval(() => void step(), LOG_RULES.flush_every_ms)
  timer.unref()
  return {
    add(digest, signature) {
      const entry = entryOf(digest, signature)
      if (entry === null) return
      if (gathered.length < LOG_RULES.gathered) gathered.push(entry)
      else dropped++
    },
    waiting: () => gathered.length,
    dropped: () => dropped,
    stop: async () => {
      clearInterval(timer)
      await step()
    },
  }
}
