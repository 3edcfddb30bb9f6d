import type { SteadyClock } from '../../ports/clock.ts'
import { priceLimits } from './limits.ts'

/** Keeps a source that fails from being asked again at once. After the time one question is let through. */
export class Breaker {
  readonly #clock: SteadyClock
  #failures = 0
  #open_until_ms = 0

  constructor(clock: SteadyClock) {
    this.#clock = clock
  }

  isOpen(): boolean {
    return this.#open_until_ms > this.#clock.steady_ms()
  }

  succeeded(): void {
    this.#failures = 0
    this.#open_until_ms = 0
  }

  failed(): void {
    this.#failures++
    if (this.#failures >= priceLimits.breaker_failures) this.#open_until_ms = this.#clock.steady_ms() + priceLimits.breaker_open_ms
  }

  /** It asked to be left alone. */
  limited(): void {
    this.#open_until_ms = this.#clock.steady_ms() + priceLimits.limited_open_ms
  }
}
