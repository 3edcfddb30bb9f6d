/** Dates that a script is given for its table, as on the command line; null where one was not given. */
interface GivenDates {
  /** Day on which the publisher published the source. */
  published: string | null
  /** Day on which a person compiled the rows; for tables that no publisher publishes as a file. */
  compiled: string | null
  /** Day on which the source was fetched. */
  retrieved: string
}

interface DateBounds {
  today: string
  /** Date that the source file states, or of its last modification; null when neither is known. */
  file_date: string | null
}

export interface TableDates {
  published_at: string | null
  compiled_at: string | null
  retrieved_at: string
}

/**
 * Checks the dates of a table. A table whose publication date is taken on faith can claim to be newer than it is, so no date lies in the
 * future, and the publication is not later than the source file's own date or than the day on which it was retrieved.
 */
export function checkedDates({ published, compiled, retrieved }: GivenDates, { today, file_date }: DateBounds): TableDates {
  if (published === null && compiled === null)
    throw new Error('--published <date> is missing. For rows that a person compiled, give --compiled <date> instead.')
  for (const [name, date] of Object.entries({ published, compiled, retrieved })) {
    if (date === null) continue
    if (!isDate(date)) throw new Error(`--${name} ${date} is not a date. Expected YYYY-MM-DD, for example 2026-11-21.`)
    if (isLater(date, today)) throw new Error(`--${name} ${date} lies in the future; today is ${today}.`)
  }
  if (published !== null && isLater(published, retrieved))
    throw new Error(`--published ${published} is later than --retrieved ${retrieved}.`)
  if (published !== null && file_date !== null && isLater(published, file_date))
    throw new Error(`--published ${published} is later than the source file's own date, ${file_date}.`)
  return { published_at: published, compiled_at: compiled, retrieved_at: retrieved }
}

/** A day of the calendar, or a month where a publisher names no day. */
function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}(?:-\d{2})?$/.test(text)) return false
  const date = new Date(text)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}

/** Compared as far as both go, so that a month is not later than its own days. */
function isLater(one: string, other: string): boolean {
  const length = Math.min(one.length, other.length)
  return one.slice(0, length) > other.slice(0, length)
}
