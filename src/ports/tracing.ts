/** A call that is traced. Attributes are words and numbers of ours: never inputs, payers or addresses. */
export interface TracedCall {
  /** A part of the call that is over. */
  phase(name: string, duration_ms: number): void
  /** Outcome of the span; given once. */
  ended(attributes: Readonly<Record<string, string>>, failed: boolean): void
}

/** Sends spans of calls to the operator's collector. Never changes an answer. */
export interface Tracing {
  /** Runs a call inside a span; `traceparent` is the header of W3C Trace Context (2021-11-23), null or broken for none. */
  call<Outcome>(traceparent: string | null, work: (traced: TracedCall) => Promise<Outcome>): Promise<Outcome>
  /**
   * The same object, whose methods, and those of its nested objects, become spans of the current call; outside calls they are not
   * traced.
   */
  around<Target extends object>(name: string, target: Target): Target
}
