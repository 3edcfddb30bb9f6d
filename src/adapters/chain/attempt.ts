/** A timer this late means that the process was busy. */
const LATE_MS = 250

/** The time of one request to a node. */
export interface Attempt {
  /** Aborted when the time is over. */
  signal: AbortSignal
  /** Lets the timer go; whoever begins an attempt ends it. */
  end(): void
}

/**
 * Gives a request so many milliseconds. When the timer itself comes late, the node was not slow but this process busy, and the answer may
 * wait to be read: the request then gets the same time once more.
 */
export function beginAttempt(ms: number): Attempt {
  const controller = new AbortController()
  const due_ms = performance.now() + ms
  const over = () => controller.abort()
  const look = () => {
    if (performance.now() - due_ms < LATE_MS) return over()
    timer = setTimeout(over, ms)
  }
  let timer = setTimeout(look, ms)
  return { signal: controller.signal, end: () => clearTimeout(timer) }
}
