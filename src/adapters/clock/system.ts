import type { Clock } from '../../ports/clock.ts'

/** The machine's clock: the only place that asks it for the time. */
export const systemClock: Clock = { now_ms: () => Date.now() }
