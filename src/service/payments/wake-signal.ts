/** Signal that ends the sleep of one loop early. */
interface WakeSignal {
  notify(): void
  /** Resolves after `ms`, or after `notifications` calls of notify since the last sleep ended; calls between two sleeps count. */
  sleep(ms: number, notifications: number): Promise<void>
}

export function createWakeSignal(): WakeSignal {
  let notified = 0
  let wake: { notifications: number; resolve: () => void } | null = null
  return {
    notify() {
      notified++
      if (wake !== null && notified >= wake.notifications) wake.resolve()
    },
    async sleep(ms, notifications) {
      if (notified < notifications) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const timer = setTimeout(resolve, ms)
        wake = { notifications, resolve }
        await promise
        clearTimeout(timer)
        wake = null
      }
      notified = 0
    },
  }
}
