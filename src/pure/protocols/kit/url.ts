import type { Place } from '../place.ts'
import type { Say } from '../rule.ts'
import { optional } from './expect.ts'

/** URLs are read by the URL Standard, and by form alone: nothing is resolved or fetched. */

const URL_CHARS = 8_192

/** The URL of a text with a scheme of its own; null for relative ones, broken ones, and ones beyond 8,192 characters. */
export function readUrl(text: string | null): URL | null {
  if (text === null || text.length > URL_CHARS || !/^[a-z][a-z0-9+.-]*:/i.test(text)) return null
  return URL.canParse(text) ? new URL(text) : null
}

/** What is wrong with a text as an absolute https URL, in words; null when nothing is. */
export function httpsFault(text: string): string | null {
  const url = readUrl(text)
  if (url === null) return 'is not an absolute URL'
  if (url.protocol !== 'https:') return 'is not an https URL'
  if (url.username !== '' || url.password !== '') return 'carries a user name or password'
  return null
}

const URI_FORM = /^[a-z][a-z0-9+.-]*:[^\s<>"{}|\\^`]+$/i

/** Returns what is wrong with a text as an absolute URI (RFC 3986, letters of every script allowed), in words; null when nothing is. */
export function uriFault(text: string): string | null {
  if (!URI_FORM.test(text)) return 'is not an absolute URL'
  return /^https?:/i.test(text) && !URL.canParse(text) ? 'is not an absolute URL' : null
}

/** The text here must be an absolute URI of any scheme; nothing is said of what is absent or redacted. */
export function optionalUri(say: Say, place: Place): void {
  if (!optional(say, place, 'string')) return
  const text = place.text()
  const fault = text === null ? null : uriFault(text)
  if (fault !== null) say(place, fault, { expected: 'an absolute URL, such as https://shop.example.com/terms' })
}

/** The text here must be an absolute https URL without user name; nothing is said of what is absent or redacted. */
export function httpsUrl(say: Say, place: Place): URL | null {
  if (!place.present || place.redacted) return null
  const text = place.text()
  const fault = text === null ? 'is not a text' : httpsFault(text)
  if (fault === null) return readUrl(text)
  say(place, fault, { expected: 'an absolute https URL' })
  return null
}

/** What keeps strangers from reaching a host: localhost, an IP literal, a private or local name; null for a public name. */
export function privateHost(url: URL): 'localhost' | 'ip_address' | 'local_name' | null {
  const host = url.hostname.toLowerCase().replace(/\.$/, '')
  if (host === 'localhost' || host.endsWith('.localhost')) return 'localhost'
  if (host.startsWith('127.') && /^[0-9.]+$/.test(host)) return 'localhost'
  if (host === '[::1]') return 'localhost'
  if (host.startsWith('[') || /^[0-9]+(?:\.[0-9]+){3}$/.test(host)) return 'ip_address'
  return /\.(?:local|internal|lan|home|corp|test|invalid|intranet)$/.test(host) || !host.includes('.') ? 'local_name' : null
}

/** The host of a URL without a leading `www.`, in lower case; null when there is none. */
export function hostOf(text: string | null): string | null {
  const host = readUrl(text)?.hostname.toLowerCase().replace(/\.$/, '') ?? ''
  return host === '' ? null : host.replace(/^www\./, '')
}

/** Whether a host is a domain or lies below it. */
export function isWithin(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`)
}
