import type { SteadyClock } from '../../ports/clock.ts'
import { Breaker, type Ticket } from '../../pure/breaker.ts'
import { EndpointFault } from './errors.ts'
import { chainLimits } from './limits.ts'

/**
 * What an endpoint is asked for. `payments`: what the service asks of its own accord, of its own token. `facts`: what callers ask, of
 * contracts, accounts and blocks that they choose.
 */
export type Use = 'payments' | 'facts'

/** How one endpoint fares in one use. Each use has its own, so that nothing a caller chooses to ask for can keep payments from an endpoint. */
export class Lane {
  readonly breaker: Breaker
  readonly #clock: SteadyClock
  #free_at_ms = 0
  #last_fault: unknown = null

  constructor(clock: SteadyClock) {
    this.breaker = new Breaker(chainLimits.breaker, clock)
    this.#clock = clock
  }

  /** Milliseconds for which the endpoint asked to be left alone. */
  pause_ms(): number {
    return Math.max(0, this.#free_at_ms - this.#clock.steady_ms())
  }

  /** Takes note of how a question ended that did not succeed. */
  failed(ticket: Ticket, error: unknown): void {
    const kind = error instanceof EndpointFault ? error.kind : 'unfit'
    switch (kind) {
      case 'broken':
        // Those who waited for the same answer bring the same fault: it is one.
        if (error === this.#last_fault) return this.breaker.dropped(ticket)
        this.#last_fault = error
        return this.breaker.failed(ticket)
      case 'limited':
        this.#free_at_ms = this.#clock.steady_ms() + (error instanceof EndpointFault ? error.pause_ms : 0)
        return this.breaker.dropped(ticket)
      case 'long':
      case 'slow':
      case 'unfit':
        return this.breaker.dropped(ticket)
    }
  }
}
