/** Dates and times of RFC 3339 and ISO 8601, read without a clock. */

const DATE = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/
const DATE_TIME =
  /^([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9]|60)(?:\.[0-9]{1,18})?([Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])$/

/** Whether a text is `YYYY-MM-DD` and a day of the calendar. */
export function isDate(text: string): boolean {
  const match = DATE.exec(text)
  if (match === null) return false
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])]
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)
}

function daysIn(year: number, month: number): number {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31
}

/** Unix seconds of a date-time with an offset (RFC 3339, 5.6); fractions are dropped. Null for everything else. */
export function readDateTime(text: string | null): number | null {
  const match = text === null || text.length > 64 ? null : DATE_TIME.exec(text)
  if (match === null || !isDate(match[1] ?? '')) return null
  const [, date = '', hours = '', minutes = '', seconds = '', zone = ''] = match
  const day_s = Date.parse(`${date}T00:00:00Z`) / 1_000
  const local_s = day_s + Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)
  return local_s - offsetOf(zone)
}

function offsetOf(zone: string): number {
  if (zone === 'Z' || zone === 'z') return 0
  const offset_s = Number(zone.slice(1, 3)) * 3_600 + Number(zone.slice(4, 6)) * 60
  return zone.startsWith('-') ? -offset_s : offset_s
}

/** Instants that a text of ISO 8601 may mean, as Unix seconds: several where it says no zone, or no time. */
export interface Span {
  from_s: number
  to_s: number
}

const DAY_S = 86_400
/** Zones reach from UTC-12 to UTC+14. */
const WEST_S = 12 * 3_600
const EAST_S = 14 * 3_600

const BASIC = /^([0-9]{4})([0-9]{2})([0-9]{2})(?:T([0-9]{2})([0-9]{2})([0-9]{2})?(Z|[+-][0-9]{2}:?[0-9]{2})?)?$/

/** Calendar dates and times of ISO 8601 in the extended and the basic format; null for everything else. */
export function readIso(text: string | null): Span | null {
  if (text === null || text.length > 64) return null
  const [match, year, month, day, hour, minute, second = '00', zone = ''] = BASIC.exec(text) ?? []
  if (match === undefined) return readExtended(text)
  const date = `${year}-${month}-${day}`
  return readExtended(hour === undefined ? date : `${date}T${hour}:${minute}:${second}${zone}`)
}

function readExtended(text: string): Span | null {
  if (isDate(text)) {
    const midnight_s = readDateTime(`${text}T00:00:00Z`) ?? 0
    return { from_s: midnight_s - EAST_S, to_s: midnight_s + DAY_S - 1 + WEST_S }
  }
  const full = text.replace(/^([^T]{10}T[0-9]{2}:[0-9]{2})(?![0-9:])/, '$1:00').replace(/([+-][0-9]{2})([0-9]{2})?$/, withMinutes)
  const exact_s = readDateTime(full)
  if (exact_s !== null) return { from_s: exact_s, to_s: exact_s }
  const local_s = /[0-9]$/.test(full) ? readDateTime(`${full}Z`) : null
  return local_s === null ? null : { from_s: local_s - EAST_S, to_s: local_s + WEST_S }
}

/** ISO 8601 lets the minutes of an offset go, and its colon; RFC 3339 does not. */
function withMinutes(whole: string, hours: string, minutes: string | undefined, offset: number): string {
  // At the beginning stands a date, whose day looks like an offset.
  return offset < 16 ? whole : `${hours}:${minutes ?? '00'}`
}
