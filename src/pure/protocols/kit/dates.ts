import type { Detection } from '../protocol.ts'

/** Dates and times of RFC 3339 and ISO 8601, read without a clock. */

const DATE = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/
const DATE_TIME =
  /^([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9]|60)(?:\.[0-9]{1,18})?([Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])$/

/** Returns whether a text is `YYYY-MM-DD` and a day of the calendar. */
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
  return local_s - parseZoneOffset(zone)
}

function parseZoneOffset(zone: string): number {
  if (zone === 'Z' || zone === 'z') return 0
  const offset_s = Number(zone.slice(1, 3)) * 3_600 + Number(zone.slice(4, 6)) * 60
  return zone.startsWith('-') ? -offset_s : offset_s
}

/** Range of instants that an ISO 8601 text may mean, in Unix seconds; wider than one instant if the text has no time zone or no time. */
export interface InstantRange {
  from_s: number
  to_s: number
}

const DAY_S = 86_400
/** Zones reach from UTC-12 to UTC+14. */
const WEST_S = 12 * 3_600
const EAST_S = 14 * 3_600

const BASIC = /^([0-9]{4})([0-9]{2})([0-9]{2})(?:T([0-9]{2})([0-9]{2})([0-9]{2})?(Z|[+-][0-9]{2}:?[0-9]{2})?)?$/

/** Reads calendar dates and times of ISO 8601 in extended and basic format; null otherwise. */
export function readIso8601(text: string | null): InstantRange | null {
  if (text === null || text.length > 64) return null
  const [match, year, month, day, hour, minute, second = '00', zone = ''] = BASIC.exec(text) ?? []
  if (match === undefined) return readExtended(text)
  const date = `${year}-${month}-${day}`
  return readExtended(hour === undefined ? date : `${date}T${hour}:${minute}:${second}${zone}`)
}

function readExtended(text: string): InstantRange | null {
  if (isDate(text)) {
    const midnight_s = readDateTime(`${text}T00:00:00Z`) ?? 0
    return { from_s: midnight_s - EAST_S, to_s: midnight_s + DAY_S - 1 + WEST_S }
  }
  const full = text.replace(/^([^T]{10}T[0-9]{2}:[0-9]{2})(?![0-9:])/, '$1:00').replace(/([+-][0-9]{2})([0-9]{2})?$/, completeOffset)
  const exact_s = readDateTime(full)
  if (exact_s !== null) return { from_s: exact_s, to_s: exact_s }
  const local_s = /[0-9]$/.test(full) ? readDateTime(`${full}Z`) : null
  return local_s === null ? null : { from_s: local_s - EAST_S, to_s: local_s + WEST_S }
}

/** Completes the minutes and colon of an offset, which ISO 8601 allows to leave out and RFC 3339 does not. */
function completeOffset(whole: string, hours: string, minutes: string | undefined, offset: number): string {
  // The day of the date at the beginning looks like an offset.
  return offset < 16 ? whole : `${hours}:${minutes ?? '00'}`
}

/** A version text compared with a list of known date versions. */
type DateVersion =
  | { kind: 'known'; version: string }
  /** Later than the newest known one: checked with its rules. */
  | { kind: 'newer'; version: string }
  /** Between or before the known ones: checked with the newest that is not later, else the oldest. */
  | { kind: 'unknown'; version: string }
  | { kind: 'unparsable' }

/** Finds the rules for a `YYYY-MM-DD` version; the known versions are listed newest first. */
export function readDateVersion(text: string | null, known: readonly string[]): DateVersion {
  if (text === null || !isDate(text)) return { kind: 'unparsable' }
  if (known.includes(text)) return { kind: 'known', version: text }
  const [newest = ''] = known
  if (text > newest) return { kind: 'newer', version: newest }
  return { kind: 'unknown', version: known.find((one) => one < text) ?? known.at(-1) ?? newest }
}

/** The version part of a detection from a declared date; null if unreadable, so that the shape must decide. */
export function declaredVersion(
  text: string | null,
  known: readonly string[],
): Pick<Detection, 'version' | 'version_source' | 'declared' | 'outside'> | null {
  const read = readDateVersion(text, known)
  switch (read.kind) {
    case 'unparsable':
      return null
    case 'known':
      return { version: read.version, version_source: 'declared' }
    case 'newer':
      return { version: read.version, version_source: 'declared', declared: text ?? '', outside: 'future' }
    case 'unknown':
      return { version: read.version, version_source: 'declared', declared: text ?? '' }
  }
}

/**
 * Names such as `dev.ucp.shopping.checkout`: labels of lower-case letters, digits and underscores, at least two. `hyphens` also allows inner
 * hyphens, and digits first in labels after the first.
 */
export function isReverseDomain(text: string, { hyphens }: { hyphens: boolean }): boolean {
  if (text.length > 256) return false
  const labels = text.split('.')
  const later = hyphens ? /^[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/ : /^[a-z][a-z0-9_]{0,62}$/
  const first = hyphens ? /^[a-z](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/ : later
  return labels.length >= 2 && labels.every((label, index) => (index === 0 ? first : later).test(label))
}
