/** A call that is traced. Attributes are words and numbers of ours: never inputs, payers or addresses. */
export interface TracedCall {
  /** A part of the call that is over. */
  phase(name: string, duration_ms: number): void
  /** What became of it; told once. */
  ended(attributes: Readonly<Record<string, string>>, failed: boolean): void
}

/** Tells a collector of the operator where the time of calls goes. Nothing of it changes an answer. */
export interface Tracing {
  /** Runs a call inside a span; `traceparent` is the header of W3C Trace Context (2021-11-23), null or broken for none. */
  call<Outcome>(traceparent: string | null, work: (traced: TracedCall) => Promise<Outcome>): Promise<Outcome>
  /** The same object, whose methods, and those of the objects in it, are spans of the call that uses them; beside calls they are not traced. */
  around<Target extends object>(name: string, target: Target): Target
}
