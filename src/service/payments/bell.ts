/** Wakes one sleeper early. */
export interface Bell {
  ring(): void
  /** Resolves after so long, or as soon as it has rung so often since the last sleep ended; a ring while nobody sleeps counts. */
  sleep(ms: number, rings: number): Promise<void>
}

export function createBell(): Bell {
  let rung = 0
  let wake: { rings: number; now: () => void } | null = null
  return {
    ring() {
      rung++
      if (wake !== null && rung >= wake.rings) wake.now()
    },
    async sleep(ms, rings) {
      if (rung < rings) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const timer = setTimeout(resolve, ms)
        wake = { rings, now: resolve }
        await promise
        clearTimeout(timer)
        wake = null
      }
      rung = 0
    },
  }
}
