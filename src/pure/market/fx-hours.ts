/** When foreign exchange rests: from Friday 17:00 to Sunday 18:00 in New York, which is the schedule of Chainlink's currency feeds. */

const HOUR_S = 3_600
const DAY_S = 24 * HOUR_S
const WEEK_S = 7 * DAY_S
/** 1 January 1970 was a Thursday: Friday 21:00 UTC, the earlier of its two times of the year. */
const CLOSES_S = DAY_S + 21 * HOUR_S
/** Sunday 23:00 UTC, the later of its two times. */
const OPENS_S = 3 * DAY_S + 23 * HOUR_S

/** Errs towards closed: for an hour on either side, one half of the year each. */
export function isFxClosed(at_s: number): boolean {
  const of_week_s = at_s % WEEK_S
  return of_week_s >= CLOSES_S && of_week_s < OPENS_S
}

/** Seconds of the span in which the market is closed. Times are seconds since 1970; the span must not end before it begins. */
export function closedSeconds(from_s: number, to_s: number): number {
  return closedSince1970(to_s) - closedSince1970(from_s)
}

function closedSince1970(at_s: number): number {
  const of_week_s = at_s % WEEK_S
  const this_week_s = Math.min(Math.max(of_week_s - CLOSES_S, 0), OPENS_S - CLOSES_S)
  return Math.floor(at_s / WEEK_S) * (OPENS_S - CLOSES_S) + this_week_s
}
