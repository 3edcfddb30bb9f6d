/** The time of day; the only source of it in the service. It jumps when the clock of the machine is set. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now_ms(): number
}

/** Counts how time passes, for deadlines, pauses and how long something is remembered: no setting of a clock moves it. */
export interface SteadyClock {
  /** Milliseconds since some moment of this process. */
  steady_ms(): number
}
