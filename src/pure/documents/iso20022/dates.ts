/** Dates and times of XML Schema: form, calendar, offset. */

const OFFSET = '(Z|[+-](?:0\\d|1[0-3]):[0-5]\\d|[+-]14:00)?'
const DATE = new RegExp(`^[ \\t\\r\\n]*(\\d{4})-(\\d\\d)-(\\d\\d)${OFFSET}[ \\t\\r\\n]*$`)
const TIME = new RegExp(`^[ \\t\\r\\n]*(\\d{4})-(\\d\\d)-(\\d\\d)T(\\d\\d):(\\d\\d):(\\d\\d)(?:\\.\\d{1,12})?${OFFSET}[ \\t\\r\\n]*$`)
const DAY_MS = 86_400_000

/** Null when it is a day of the calendar. */
export function dateFault(text: string): 'form' | 'calendar' | null {
  const [, year, month, day] = DATE.exec(text) ?? []
  if (year === undefined) return 'form'
  return dayNumber(`${year}-${month}-${day}`) === null ? 'calendar' : null
}

/** `no_offset` when all else is well. */
export function dateTimeFault(text: string): 'form' | 'calendar' | 'no_offset' | null {
  const [, year, month, day, hour = '', minute = '', second = '', offset] = TIME.exec(text) ?? []
  if (year === undefined) return 'form'
  const end_of_day = hour === '24' && minute === '00' && second === '00'
  const clock = (hour <= '23' || end_of_day) && minute <= '59' && second <= '59'
  if (!clock || dayNumber(`${year}-${month}-${day}`) === null) return 'calendar'
  return offset === undefined ? 'no_offset' : null
}

/** Days since 1970-01-01 of the date that a text begins with, as it is written, whatever its offset; null when there is no such day. */
export function dayNumber(text: string): number | null {
  const day = text.trim().slice(0, 10)
  if (!/^\d{4}-\d\d-\d\d$/.test(day)) return null
  const time = Date.parse(`${day}T00:00:00Z`)
  // Engines may roll 31 February over; the date must come back as it was.
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== day) return null
  return Math.round(time / DAY_MS)
}
