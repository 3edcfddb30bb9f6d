import { Breaker } from '../../pure/breaker.ts'
import { limits } from '../../service/limits.ts'
import { StoreUnavailableError } from './errors.ts'

/** Circuit breaker of a database server: while the server cannot be reached, operations are rejected immediately. */
export class StoreBreaker {
  readonly #breaker = new Breaker(limits.store_breaker, { steady_ms: () => performance.now() })
  readonly #probe: () => Promise<void>
  readonly #waiting = new Set<(reason: StoreUnavailableError) => void>()
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  /** `probe` resolves when the server answers on a new connection. It is called by a timer while the breaker is open, never twice at a time. */
  constructor(probe: () => Promise<void>) {
    this.#probe = probe
  }

  isOpen(): boolean {
    return !this.#breaker.isClosed()
  }

  /** Throws a StoreUnavailableError while the breaker is open; nothing was sent then. */
  assertClosed(): void {
    if (this.isOpen()) throw unreachable()
  }

  /** The server could not be reached, or did not answer in time. An error that the server reports is not such a failure. */
  failed(): void {
    if (this.isOpen()) return
    this.#breaker.failed({ probe: false })
    if (!this.isOpen()) return
    for (const reject of this.#waiting) reject(unreachable())
    this.#waiting.clear()
    this.#probeLater()
  }

  /** Waits for something that precedes the first statement, such as a connection; rejects as soon as the breaker opens. */
  waitFor<Value>(begin: (settle: { resolve(value: Value): boolean; reject(reason: unknown): void }) => void): Promise<Value> {
    return new Promise((resolve, reject) => {
      this.assertClosed()
      this.#waiting.add(reject)
      begin({
        // False when the caller was rejected meanwhile, so that the value must be released.
        resolve: (value) => {
          const waited = this.#waiting.delete(reject)
          if (waited) resolve(value)
          return waited
        },
        reject: (reason) => {
          this.#waiting.delete(reject)
          reject(reason)
        },
      })
    })
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  #probeLater(): void {
    if (this.#stopped) return
    this.#timer = setTimeout(() => void this.#probeNow(), limits.store_breaker.open_ms)
    this.#timer.unref()
  }

  async #probeNow(): Promise<void> {
    const ticket = this.#breaker.take()
    if (ticket === null) return this.#probeLater()
    try {
      await this.#probe()
      this.#breaker.succeeded(ticket)
    } catch {
      // Expected while the server is down; the reason is in the errors of the operations.
      this.#breaker.failed(ticket)
      this.#probeLater()
    }
  }
}

function unreachable(): StoreUnavailableError {
  return new StoreUnavailableError('The PostgreSQL store could not be reached a moment ago; it is tried again within seconds.')
}
