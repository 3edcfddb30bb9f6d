import type { SteadyClock } from '../../ports/clock.ts'
import { rdapLimits } from './limits.ts'

interface State {
  failures: number
  open_until_ms: number
}

/** Keeps registries that fail from being asked again at once; each has its own state, by host. */
export class Breakers {
  readonly #clock: SteadyClock
  readonly #states = new Map<string, State>()

  constructor(clock: SteadyClock) {
    this.#clock = clock
  }

  isOpen(host: string): boolean {
    return (this.#states.get(host)?.open_until_ms ?? 0) > this.#clock.steady_ms()
  }

  succeeded(host: string): void {
    this.#states.delete(host)
  }

  /** After the time one question is let through; when that fails too, the registry is left alone again. */
  failed(host: string): void {
    const failures = (this.#states.get(host)?.failures ?? 0) + 1
    const open = failures >= rdapLimits.breaker_failures
    if (this.#states.size >= rdapLimits.breakers) this.#states.clear()
    this.#states.set(host, { failures, open_until_ms: open ? this.#clock.steady_ms() + rdapLimits.breaker_open_ms : 0 })
  }
}
