import type { Clock, SteadyClock } from '../../src/ports/clock.ts'

/** Clocks that tell the same time, for tests that let it pass by hand. */
export function clockAt(read: () => number): Clock & SteadyClock {
  return { now_ms: read, steady_ms: read }
}
