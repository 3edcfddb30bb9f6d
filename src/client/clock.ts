/** The time of this machine and its way to wait: the one place where this library asks for either. */
export interface Clock {
  /** Milliseconds since 1970. */
  now_ms(): number
  /** Resolves after so many milliseconds, or at once when the signal is aborted. */
  wait(ms: number, signal: AbortSignal | null): Promise<void>
}

export const systemClock: Clock = {
  now_ms: () => Date.now(),
  wait: (ms, signal) =>
    new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      if (signal?.aborted === true) done()
      else signal?.addEventListener('abort', done)
    }),
}
