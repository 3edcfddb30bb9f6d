import { limits } from '../../service/limits.ts'
import { StoreBusyError } from './errors.ts'

/** Gathers what arrives in one turn of the event loop, so that one commit serves it all. */

/** Something that waits for its commit. */
export interface Waiting {
  reject(reason: unknown): void
}

export function rejectAll(items: readonly Waiting[], reason: unknown): void {
  for (const item of items) item.reject(reason)
}

export class TurnBatch<Item extends Waiting> {
  readonly #write: (items: Item[]) => void | Promise<void>
  readonly #cap: number
  #waiting: Item[] = []
  #busy = false
  #idle: (() => void) | undefined

  /**
   * `write` settles every item it is given and never throws or rejects. At most `cap` items go into one call, so that new connections
   * are accepted between two of them; while one call is under way the next batch gathers.
   */
  constructor(cap: number, write: (items: Item[]) => void | Promise<void>) {
    this.#cap = cap
    this.#write = write
  }

  /** Rejects an item as busy when the queue is full. */
  push(item: Item): void {
    if (this.#waiting.length >= limits.store_waiting) return item.reject(new StoreBusyError('too much waits'))
    this.#waiting.push(item)
    if (this.#busy) return
    this.#busy = true
    setImmediate(this.#flush)
  }

  waiting(): number {
    return this.#waiting.length
  }

  /** Takes out everything that is not being written yet. */
  withdraw(): Item[] {
    const items = this.#waiting
    this.#waiting = []
    return items
  }

  /** Resolves when nothing waits any more. The caller pushes nothing from here on. */
  drained(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#busy) this.#idle = resolve
      else resolve()
    })
  }

  readonly #flush = (): void => {
    const items = this.#waiting.length <= this.#cap ? this.withdraw() : this.#waiting.splice(0, this.#cap)
    const pending = this.#write(items)
    if (pending === undefined) this.#next()
    else void pending.then(this.#next)
  }

  readonly #next = (): void => {
    if (this.#waiting.length > 0) {
      setImmediate(this.#flush)
      return
    }
    this.#busy = false
    this.#idle?.()
  }
}
