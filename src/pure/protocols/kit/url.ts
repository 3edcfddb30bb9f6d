import type { JsonCursor } from '../json-cursor.ts'
import type { ReportFinding } from '../protocol.ts'
import { expectTypeIfPresent } from './expect.ts'

/** URLs are read by the URL Standard, and by form alone: nothing is resolved or fetched. */

const URL_CHARS = 8_192

/** Parses an absolute URL; null for relative and invalid ones, and beyond 8,192 characters. */
export function readUrl(text: string | null): URL | null {
  if (text === null || text.length > URL_CHARS || !/^[a-z][a-z0-9+.-]*:/i.test(text)) return null
  return URL.canParse(text) ? new URL(text) : null
}

/** Describes why a text is not an absolute https URL without credentials; null if it is one. */
export function describeHttpsFault(text: string): string | null {
  const url = readUrl(text)
  if (url === null) return 'is not an absolute URL'
  if (url.protocol !== 'https:') return 'is not an https URL'
  if (url.username !== '' || url.password !== '') return 'contains a user name or password'
  return null
}

const URI_FORM = /^[a-z][a-z0-9+.-]*:[^\s<>"{}|\\^`]+$/i

/** Returns what is wrong with a text as an absolute URI (RFC 3986, letters of every script allowed), in words; null when nothing is. */
export function describeUriFault(text: string): string | null {
  if (!URI_FORM.test(text)) return 'is not an absolute URL'
  return /^https?:/i.test(text) && !URL.canParse(text) ? 'is not an absolute URL' : null
}

/** Expects the text to be an absolute URI of any scheme; silent about absent and redacted values. */
export function expectUriIfPresent(report: ReportFinding, cursor: JsonCursor): void {
  if (!expectTypeIfPresent(report, cursor, 'string')) return
  const text = cursor.text()
  const fault = text === null ? null : describeUriFault(text)
  if (fault !== null) report(cursor, fault, { expected: 'an absolute URL, such as https://shop.example.com/terms' })
}

/** Expects the text to be an absolute https URL without user name; silent about absent and redacted values. */
export function expectHttpsUrl(report: ReportFinding, cursor: JsonCursor): URL | null {
  if (!cursor.present || cursor.redacted) return null
  const text = cursor.text()
  const fault = text === null ? 'is not a string' : describeHttpsFault(text)
  if (fault === null) return readUrl(text)
  report(cursor, fault, { expected: 'an absolute https URL' })
  return null
}

/** Classifies a host that is not public: localhost, an IP literal, a private or local name; null for a public name. */
export function classifyPrivateHost(url: URL): 'localhost' | 'ip_address' | 'local_name' | null {
  const host = url.hostname.toLowerCase().replace(/\.$/, '')
  if (host === 'localhost' || host.endsWith('.localhost')) return 'localhost'
  if (host.startsWith('127.') && /^[0-9.]+$/.test(host)) return 'localhost'
  if (host === '[::1]') return 'localhost'
  if (host.startsWith('[') || /^[0-9]+(?:\.[0-9]+){3}$/.test(host)) return 'ip_address'
  return /\.(?:local|internal|lan|home|corp|test|invalid|intranet)$/.test(host) || !host.includes('.') ? 'local_name' : null
}

/** The host of a URL without a leading `www.`, in lower case; null when there is none. */
export function hostOfUrl(text: string | null): string | null {
  const host = readUrl(text)?.hostname.toLowerCase().replace(/\.$/, '') ?? ''
  return host === '' ? null : host.replace(/^www\./, '')
}

/** The host that an expected payee means, given as a URL or as a domain name; null for anything else. */
export function hostOfPayee(text: string): string | null {
  return hostOfUrl(text) ?? (/^(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}$/i.test(text) ? hostOfUrl(`https://${text}`) : null)
}

/** Returns whether a host is this domain or a subdomain of it. */
export function isHostWithin(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`)
}

/** URIs and their templates, by form alone. */

/** A scheme and no characters that RFC 3986 forbids everywhere; letters beyond ASCII pass, as in IRIs. */
export function isUri(text: string): boolean {
  return text.length <= 8_192 && URI_FORM.test(text)
}
