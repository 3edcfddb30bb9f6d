/** Work that may take long, done beside the event loop, so that nobody else's call waits on it. */

/**
 * The `code` of the error with which work ends that gave no result. `WORK_REFUSED`: too much waits already. `WORK_TIMED_OUT`: it took longer
 * than one call may, or more memory, and was ended. Anything else that the work throws is passed on as a plain error.
 */
export type HeavyFaultCode = 'WORK_REFUSED' | 'WORK_TIMED_OUT'

export interface HeavyFault extends Error {
  readonly code: HeavyFaultCode
}

export interface HeavyWork {
  /** Runs the tool of this family and id on an input that its schema has let through. */
  run(family: string, tool: string, input: Record<string, unknown>): Promise<Record<string, unknown>>
  /** Work that has not begun yet. */
  waiting(): number
  /** Ends all work; what waits is rejected. */
  stop(): Promise<void>
}
