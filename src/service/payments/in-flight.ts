import type { SteadyClock } from '../../ports/clock.ts'
import { limits } from '../limits.ts'

/** Rows that this process or another one is working on, with a way to wait for their result. */
export interface InFlight<Key, Row> {
  /** Marks a row as being worked on by this process; the returned function removes the mark. */
  begin(key: Key): () => void
  isHere(key: Key): boolean
  /**
   * Resolves with the row as soon as it is no longer open, or with its current state when the wait has timed out; null when there is no
   * row.
   */
  waitForResult(key: Key, wait_ms: number): Promise<Row | null>
}

interface InFlightRows<Key, Row> {
  find(key: Key): Promise<Row | null>
  isOpen(row: Row): boolean
  nameOf(key: Key): string
}

/** Waits for work of this process by a promise, and for work of other processes by polling the store. */
export function createInFlight<Key, Row>({ find, isOpen, nameOf }: InFlightRows<Key, Row>, clock: SteadyClock): InFlight<Key, Row> {
  const working = new Map<string, Promise<void>>()
  return {
    begin(key) {
      const name = nameOf(key)
      const { promise, resolve } = Promise.withResolvers<void>()
      working.set(name, promise)
      return () => {
        if (working.get(name) === promise) working.delete(name)
        resolve()
      }
    },
    isHere: (key) => working.has(nameOf(key)),
    async waitForResult(key, wait_ms) {
      const until_ms = clock.steady_ms() + wait_ms
      for (;;) {
        // Read before the row, so that work that ends meanwhile is not missed.
        const here = working.get(nameOf(key))
        const row = await find(key)
        const left_ms = until_ms - clock.steady_ms()
        if (row === null || !isOpen(row) || left_ms <= 0) return row
        await Promise.race([here ?? never, pause(Math.min(left_ms, limits.settlement_poll_ms))])
      }
    },
  }
}

const never = new Promise<never>(() => undefined)

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
