import type { SteadyClock } from '../../ports/clock.ts'
import { chainLimits } from './limits.ts'

/** Leave to ask an endpoint once. `probe`: it is out of service, and this one question decides whether it comes back. */
export interface Ticket {
  probe: boolean
}

/**
 * Keeps a failing endpoint from being asked: three failures in ten seconds take it out for 5 s, doubled with each failed probe up to a
 * minute. When the time is over a single question is let through; the others wait for what becomes of it.
 */
export class Breaker {
  readonly #clock: SteadyClock
  #failures: number[] = []
  /** Times in a row that it was opened; 0 while in service. */
  #opened = 0
  #open_until_ms = 0
  #probing = false

  constructor(clock: SteadyClock) {
    this.#clock = clock
  }

  /** Null while the endpoint is out of service. Whoever takes a ticket reports what became of it. */
  take(): Ticket | null {
    if (this.#opened === 0) return { probe: false }
    if (this.#probing || this.#clock.steady_ms() < this.#open_until_ms) return null
    this.#probing = true
    return { probe: true }
  }

  succeeded(ticket: Ticket): void {
    // A question that was asked before the endpoint failed proves nothing about it now.
    if (!ticket.probe) return
    this.#probing = false
    this.#opened = 0
    this.#failures = []
  }

  failed(ticket: Ticket): void {
    const now_ms = this.#clock.steady_ms()
    if (ticket.probe) {
      this.#probing = false
      this.#open(now_ms)
      return
    }
    if (this.#opened > 0) return
    this.#failures = [...this.#failures.filter((at_ms) => now_ms - at_ms < chainLimits.breaker_window_ms), now_ms]
    if (this.#failures.length >= chainLimits.breaker_failures) this.#open(now_ms)
  }

  /** The question was not asked, or cut off by the asker: as if no ticket had been taken. */
  dropped(ticket: Ticket): void {
    if (ticket.probe) this.#probing = false
  }

  #open(now_ms: number): void {
    const { breaker_open_ms, breaker_open_max_ms } = chainLimits
    this.#open_until_ms = now_ms + Math.min(breaker_open_ms * 2 ** this.#opened, breaker_open_max_ms)
    this.#opened += 1
    this.#failures = []
  }
}
