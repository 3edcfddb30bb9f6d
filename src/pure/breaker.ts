/** Limits of a circuit breaker. */
export interface BreakerRules {
  /** Number of failures within the window that open it. */
  readonly failures: number
  readonly window_ms: number
  /** First open time; doubled with each failed probe, up to the maximum. */
  readonly open_ms: number
  readonly open_max_ms: number
}

/** Permission for one request. `probe`: the breaker is half open, and this request decides if it closes. */
export interface Ticket {
  probe: boolean
}

/**
 * Circuit breaker: stops requests to a failing server. After its open time one probe is let through; other requests are refused until its
 * result. The holder of a ticket must report the result.
 */
export class Breaker {
  readonly #rules: BreakerRules
  readonly #clock: { steady_ms(): number }
  #failures: number[] = []
  /** Consecutive openings; 0 while closed. */
  #opened = 0
  #open_until_ms = 0
  #probing = false

  constructor(rules: BreakerRules, clock: { steady_ms(): number }) {
    this.#rules = rules
    this.#clock = clock
  }

  /** True if `take` would return null. */
  isOpen(): boolean {
    return this.#opened > 0 && (this.#probing || this.#clock.steady_ms() < this.#open_until_ms)
  }

  /** False from the opening until a probe succeeds, also while the next request would be the probe. */
  isClosed(): boolean {
    return this.#opened === 0
  }

  /** Returns a ticket; null while the breaker is open. */
  take(): Ticket | null {
    if (this.#opened === 0) return { probe: false }
    if (this.isOpen()) return null
    this.#probing = true
    return { probe: true }
  }

  succeeded(ticket: Ticket): void {
    // A request that started before the failure proves nothing about the server now.
    if (!ticket.probe) return
    this.#probing = false
    this.#opened = 0
    this.#failures = []
  }

  failed(ticket: Ticket): void {
    const now_ms = this.#clock.steady_ms()
    if (ticket.probe) return this.#open(now_ms)
    if (this.#opened > 0) return
    this.#failures = [...this.#failures.filter((at_ms) => now_ms - at_ms < this.#rules.window_ms), now_ms]
    if (this.#failures.length >= this.#rules.failures) this.#open(now_ms)
  }

  /** The request was not sent, was cancelled, or its answer does not show the state of the server: as if no ticket had been taken. */
  dropped(ticket: Ticket): void {
    if (ticket.probe) this.#probing = false
  }

  /** The server asked for a pause (Retry-After). */
  paused(ticket: Ticket, pause_ms: number): void {
    this.dropped(ticket)
    this.#opened = Math.max(1, this.#opened)
    this.#open_until_ms = Math.max(this.#open_until_ms, this.#clock.steady_ms() + pause_ms)
  }

  #open(now_ms: number): void {
    this.#probing = false
    this.#open_until_ms = now_ms + Math.min(this.#rules.open_ms * 2 ** this.#opened, this.#rules.open_max_ms)
    this.#opened += 1
    this.#failures = []
  }
}
