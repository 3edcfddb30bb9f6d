import { readIso, type Span } from '../kit/dates.ts'
import type { Place } from '../place.ts'
import type { Say } from '../rule.ts'

const ISO = 'a date or time of ISO 8601, such as 2026-03-31T00:00:00Z'

/** The text here must be one of ISO 8601; nothing is said of what is absent or redacted. */
export function isoTime(say: Say, place: Place): Span | null {
  if (!place.present || place.redacted) return null
  const span = readIso(place.text())
  if (span === null) say(place, 'is no date or time of ISO 8601', { expected: ISO })
  return span
}
