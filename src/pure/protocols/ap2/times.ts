import { isDate, readDateTime } from '../kit/dates.ts'
import type { Place } from '../place.ts'
import type { Say } from '../rule.ts'

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

const ISO = 'a date or time of ISO 8601, such as 2026-03-31T00:00:00Z'

/** The text here must be one of ISO 8601; nothing is said of what is absent or redacted. */
export function isoTime(say: Say, place: Place): Span | null {
  if (!place.present || place.redacted) return null
  const span = readIso(place.text())
  if (span === null) say(place, 'is no date or time of ISO 8601', { expected: ISO })
  return span
}
