/** Number of calls of one UTC day with the same tool and outcome. */
export interface CallCount {
  /** Days since 1970-01-01 UTC. */
  day: number
  /** Tool id; `unknown` for requests that were refused before their tool was found. */
  tool: string
  /** `answered`, `paid` or a problem code. */
  outcome: string
  calls: number
}

/** Daily counts of calls, of all processes on the store. They name no caller and no input. */
export interface CallCountStore {
  /** Adds these to the stored counts, all of them or none. */
  add(counts: readonly CallCount[]): Promise<void>
  /** Counts of this day and later, oldest day first. */
  since(day: number): Promise<CallCount[]>
  /** Deletes counts of days before this one; returns how many rows went. */
  purge(before_day: number): Promise<number>
}
