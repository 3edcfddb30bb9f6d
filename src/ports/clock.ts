/** The time of day. Nothing else in the service asks the machine for it. It jumps when somebody sets the machine's clock. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now_ms(): number
}

/** Counts how time passes, for deadlines, pauses and how long something is remembered: no setting of a clock moves it. */
export interface SteadyClock {
  /** Milliseconds since some moment of this process. */
  steady_ms(): number
}
