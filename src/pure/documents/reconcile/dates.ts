import type { Ledger } from './ledger.ts'

/**
 * Days as numbers, counted from 1970-01-01, so that they compare and subtract. Days are those that a file names: time zones play no part,
 * and a window of days is wide enough for one more or less.
 */

const DAY_MS = 86_400_000
const DAY = /^\s*(19[7-9][0-9]|[2-9][0-9]{3})-([0-9]{2})-([0-9]{2})(?![0-9])/

/** The day that an ISO 8601 date or date with time begins with; null for anything else, and for days that no calendar has. */
export function dayNumber(text: string | null): number | null {
  const found = text === null ? null : DAY.exec(text)
  if (found === null) return null
  const [year, month, day] = found.slice(1).map(Number) as [number, number, number]
  const time_ms = Date.UTC(year, month - 1, day)
  const real = new Date(time_ms)
  return real.getUTCMonth() === month - 1 && real.getUTCDate() === day && time_ms > 0 ? time_ms / DAY_MS : null
}

/** How many days before and after the day of an instruction an entry may be booked and still be about it. */
export interface DateWindow {
  days_before: number
  days_after: number
}

/** Banks book a few days early where a day of execution falls on a holiday, and a return or a late payment within a quarter. */
export const DEFAULT_WINDOW: DateWindow = { days_before: 10, days_after: 90 }
/** The widest window: ten years, which is as good as none. */
export const MAX_WINDOW_DAYS = 3_650

/** The window in words, for every answer. */
export function windowSentence({ days_before, days_after }: DateWindow): string {
  return `An entry counts for a payment when it was booked from ${days_before} days before to ${days_after} days after the payment was due.`
}

/**
 * Whether the entry was booked in the window around the day of the instruction: requested execution (pain.001) or interbank settlement
 * (pacs.008). Where one of the days is not known, only ids and accounts decide.
 */
export function dateFits({ instructions, entries }: Ledger, instruction: number, entry: number, window: DateWindow): boolean {
  return dayFits(instructions.day.get(instruction), instructions.day.get(instruction), entries.day.get(entry), window)
}

/** The same for instructions of several days, from the first to the last: the day fits all of them. 0 is no day. */
export function dayFits(first: number, last: number, booked: number, { days_before, days_after }: DateWindow): boolean {
  if (first === 0 || last === 0 || booked === 0) return true
  return booked >= last - days_before && booked <= first + days_after
}
