import type { Clock, SteadyClock } from '../../ports/clock.ts'

/** The clocks of the machine: the only place that asks it for the time of day. */
export const systemClock: Clock & SteadyClock = { now_ms: () => Date.now(), steady_ms: () => performance.now() }
