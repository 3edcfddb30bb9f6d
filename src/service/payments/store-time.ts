import type { Clock } from '../../ports/clock.ts'

/** How long the difference between two clocks is taken for unchanged. */
const TRUSTED_MS = 60_000

/** The time by the clock of the store, which all instances share. */
export interface StoreTime {
  /** Milliseconds since 1970. Rejects when the difference to the own clock is to be measured and the store does not answer. */
  now_ms(): Promise<number>
}

/**
 * The store's time, told by the own clock and the measured difference between the two. The difference is measured at first use, and again
 * when a minute has passed or the own clock was set back; errs by half the time that the store takes to answer.
 */
export function createStoreTime(store: { now_ms(): Promise<number> }, clock: Clock): StoreTime {
  let measured: { offset_ms: number; at_ms: number } | null = null
  let measuring: Promise<void> | null = null
  const measure = async (): Promise<void> => {
    const before_ms = clock.now_ms()
    const theirs_ms = await store.now_ms()
    const after_ms = clock.now_ms()
    measured = { offset_ms: Math.round(theirs_ms - (before_ms + after_ms) / 2), at_ms: after_ms }
  }
  const fresh = (): number | null => {
    if (measured === null) return null
    const now_ms = clock.now_ms()
    const age_ms = now_ms - measured.at_ms
    return age_ms >= 0 && age_ms < TRUSTED_MS ? now_ms + measured.offset_ms : null
  }
  return {
    async now_ms() {
      const known_ms = fresh()
      if (known_ms !== null) return known_ms
      measuring ??= measure().finally(() => (measuring = null))
      await measuring
      return clock.now_ms() + (measured?.offset_ms ?? 0)
    },
  }
}
