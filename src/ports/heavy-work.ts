/** Work that may take long, run outside the event loop so that calls of other clients do not wait for it. */

/**
 * The `code` of the error of work that gave no result. `WORK_REFUSED`: the queue is full. `WORK_CLIENT_BUSY`: too many jobs of this
 * client are queued. `WORK_TIMED_OUT`: it exceeded the time or memory of one call and was ended. `WORK_CLIENT_PAUSED`: too many jobs of
 * this client were ended recently. Anything else that the work throws is passed on as a plain error.
 */
export type HeavyFaultCode = 'WORK_REFUSED' | 'WORK_CLIENT_BUSY' | 'WORK_CLIENT_PAUSED' | 'WORK_TIMED_OUT'

export interface HeavyFault extends Error {
  readonly code: HeavyFaultCode
}

/** Client that a job is done for. */
export interface HeavyClient {
  /** Network of the client (`widerNetwork`). Of one network one job runs at a time, and clients take turns. */
  client: string
  /** The payment of the call is claimed: the job starts before all jobs of free calls. */
  paid: boolean
}

/** A long body to be read in a thread; `kind` names the reader, and the rest is what it needs. The bytes are gone from this thread. */
export interface HeavyRead {
  readonly kind: string
  readonly bytes: Uint8Array
  readonly [more: string]: unknown
}

export interface HeavyWork {
  /** Runs the tool of this family and id on an input that its schema has let through, or on one that `read` packed. */
  run(family: string, tool: string, input: Record<string, unknown> | Uint8Array, by: HeavyClient): Promise<Record<string, unknown>>
  /** Reads a long body. What comes back is what the reader of this kind gives. */
  read(body: HeavyRead, by: HeavyClient): Promise<Record<string, unknown>>
  /** Work that has not begun yet. */
  waiting(): number
  /** Later work runs in threads that start with the data of now; work that runs ends with the data it began with. */
  renew(): void
  /** Ends all work; what waits is rejected. */
  stop(): Promise<void>
}
