/** The time of day. Nothing else in the service asks the machine for it. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now_ms(): number
}
