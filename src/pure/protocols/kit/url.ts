import type { JsonCursor } from '../json-cursor.ts'
import type { ReportFinding } from '../protocol.ts'
import { expectTypeIfPresent } from './expect.ts'

/**
 * URLs are read by form alone: nothing is resolved or fetched. Every member that is a URL has the characters of RFC 3986; the parser of the
 * URL Standard alone would remove spaces and line ends, and escape what remains, as no other reader does.
 */

const URL_CHARS = 8_192

/** A scheme, and then neither spaces, control or invisible characters, nor what RFC 3986 forbids, among it the braces of templates. */
const URI_FORM = /^[a-z][a-z0-9+.-]*:[^\s<>"{}|\\^`\p{Cc}\p{Cf}\p{Cs}]+$/iu
/** A percent sign without two digits, and a second fragment. */
const BROKEN = /%(?![0-9a-f]{2})|#[^#]*#/i
/** Square brackets are around an IP address only (RFC 3986, 3.2.2). */
const IP_LITERAL = /^([a-z][a-z0-9+.-]*:\/\/(?:[^/?#[\]@]*@)?)\[[0-9a-f:.%]{2,64}\]/i

/** Letters of every script pass, as in IRIs (RFC 3987). */
function hasUriForm(text: string): boolean {
  if (text.length > URL_CHARS || !URI_FORM.test(text) || BROKEN.test(text)) return false
  return !/[[\]]/.test(text.replace(IP_LITERAL, '$1'))
}

/** Parses an absolute URL; null for relative and invalid ones, and beyond 8,192 characters. */
export function readUrl(text: string | null): URL | null {
  return text !== null && hasUriForm(text) && URL.canParse(text) ? new URL(text) : null
}

/** Describes why a text is not an absolute https URL without credentials; null if it is one. */
export function describeHttpsFault(text: string): string | null {
  const url = readUrl(text)
  if (url === null) return 'is not an absolute URL'
  if (url.protocol !== 'https:') return 'is not an https URL'
  if (url.username !== '' || url.password !== '') return 'contains a user name or password'
  return null
}

/** Returns what is wrong with a text as an absolute URI (RFC 3986, letters of every script allowed), in words; null when nothing is. */
export function describeUriFault(text: string): string | null {
  if (!hasUriForm(text)) return 'is not an absolute URL'
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

/** An absolute URI of any scheme, by its characters. */
export function isUri(text: string): boolean {
  return hasUriForm(text)
}
