import type { Clock, SteadyClock } from '../../ports/clock.ts'

/**
 * Interval between two reads of the store's clock. The steady counter of a machine drifts little, but does not count while a laptop
 * sleeps.
 */
const ASK_EVERY_MS = 60_000

/** The clock of the store, for what several processes have to agree on, such as the end of a lease. */
export interface StoreClock extends Clock, SteadyClock {
  stop(): void
}

/**
 * Reads the time of the store at the start and once a minute, and continues from there with the steady counter of this process: a
 * machine whose clock is set forward or back neither keeps a lease too long nor takes one from others. Errs by half the time that the
 * store takes to answer, and by the time the machine slept since. After a failed read it tries again a minute later.
 */
export async function openStoreClock(store: { now_ms(): Promise<number> }): Promise<StoreClock> {
  const measure = async (): Promise<number> => {
    const before_ms = performance.now()
    const theirs_ms = await store.now_ms()
    return theirs_ms - (before_ms + performance.now()) / 2
  }
  let offset_ms = await measure()
  const again = () =>
    measure().then(
      (measured_ms) => void (offset_ms = measured_ms),
      () => undefined,
    )
  const timer = setInterval(() => void again(), ASK_EVERY_MS)
  timer.unref()
  return {
    now_ms: () => Math.round(performance.now() + offset_ms),
    steady_ms: () => performance.now(),
    stop: () => clearInterval(timer),
  }
}
