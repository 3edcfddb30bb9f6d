import { isObject } from '../../pure/is-object.ts'

/** What a registry may say of a domain (RFC 9083, June 2021), read from text that may be anything. */

/** RFC 3339, with its offset: without one the moment is not known. */
const MOMENT = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/
const EVENTS_MAX = 1_000

/**
 * The moment at which the domain was registered, in milliseconds since 1970; `no_date` when the answer names none, `unreadable` when it is no
 * answer about this domain. Of several registrations the latest counts: it is that of the present holder.
 */
export function registeredAt(text: string, domain: string): number | 'no_date' | 'unreadable' {
  const body = objectOf(text)
  if (body === null || body['objectClassName'] !== 'domain' || !isAbout(body, domain)) return 'unreadable'
  const events: unknown = body['events']
  if (!Array.isArray(events) || events.length > EVENTS_MAX) return 'no_date'
  const moments = events.map((event: unknown) =>
    isObject(event) && event['eventAction'] === 'registration' ? momentOf(event['eventDate']) : null,
  )
  const known = moments.filter((moment) => moment !== null)
  return known.length === 0 ? 'no_date' : Math.max(...known)
}

/** Some servers write names in capitals or with the final dot; a server that names another domain answers another question. */
function isAbout(body: Record<string, unknown>, domain: string): boolean {
  const name = body['ldhName']
  return typeof name === 'string' && name.toLowerCase().replace(/\.$/, '') === domain
}

function momentOf(value: unknown): number | null {
  if (typeof value !== 'string' || !MOMENT.test(value)) return null
  const moment_ms = Date.parse(value.replace(' ', 'T').toUpperCase())
  return Number.isNaN(moment_ms) ? null : moment_ms
}

function objectOf(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}
