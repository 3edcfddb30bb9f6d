/** Dates and times of RFC 3339, read without a clock. */

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
