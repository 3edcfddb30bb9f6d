/** When a breaker opens, and for how long. */
export interface BreakerRules {
  /** So many failures within the window open it. */
  readonly failures: number
  readonly window_ms: number
  /** For so long at first; doubled with each failed probe, up to the longest. */
  readonly open_ms: number
  readonly open_max_ms: number
}

/** Leave to ask once. `probe`: it is out of service, and this one question decides whether it comes back. */
export interface Ticket {
  probe: boolean
}

/**
 * Keeps a failing server from being asked. When its time out of service is over a single question is let through; the others wait for what
 * becomes of it. Whoever takes a ticket reports what became of it.
 */
export class Breaker {
  readonly #rules: BreakerRules
  readonly #clock: { steady_ms(): number }
  #failures: number[] = []
  /** Times in a row that it was opened; 0 while in service. */
  #opened = 0
  #open_until_ms = 0
  #probing = false

  constructor(rules: BreakerRules, clock: { steady_ms(): number }) {
    this.#rules = rules
    this.#clock = clock
  }

  /** Whether no ticket would be given now. */
  isOpen(): boolean {
    return this.#opened > 0 && (this.#probing || this.#clock.steady_ms() < this.#open_until_ms)
  }

  /** Null while it is open. */
  take(): Ticket | null {
    if (this.#opened === 0) return { probe: false }
    if (this.isOpen()) return null
    this.#probing = true
    return { probe: true }
  }

  succeeded(ticket: Ticket): void {
    // A question that was asked before the server failed proves nothing about it now.
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

  /** The question was not asked, was cut off by the asker, or its answer says nothing about the server: as if no ticket had been taken. */
  dropped(ticket: Ticket): void {
    if (ticket.probe) this.#probing = false
  }

  /** The server asked to be left alone for so long. */
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
