import { MARKDOWN_BOUNDS } from './bounds.ts'

/** Schemes that a link may have, and an image. */
const SCHEMES = { link: new Set(['http', 'https', 'mailto', 'tel']), image: new Set(['http', 'https']) } as const

/** Neither seen nor part of an address; readers of addresses differ in which of them they skip. */
const UNSEEN = /[\p{C}\p{Z}]/gu
const REFERENCE = /&#?[a-z0-9]+;/i
/** Most addresses: nothing in them needs a change. */
const PLAIN = /^[!#-;=?-Z_a-z~]*$/
const UNFIT = /["<>[\\\]^`{|}\p{C}\p{Z}]/gu
/** Scheme and host, where brackets may stand around an address of IPv6. */
const HOST = /^(?:[a-z]+:)?\/\/[\w.:[\]@-]*(?=[/?#]|$)/i

/**
 * An address fit to stand in a link, percent-encoded where Markdown or an eye would stumble; null when it is not fit.
 *
 * The scheme is looked for as the most lenient reader would: after removal of every control, format and space character, up to the first
 * slash, question mark or hash. Only http, https, mailto and tel pass (http and https for images), relative addresses, and fragments. A
 * beginning with a character reference is refused, since Markdown readers decode it once more. Errs towards refusing: a relative address
 * with a colon in its first segment is taken for a scheme, as the URL standard does too.
 *
 * Relative addresses are resolved against `base`, an http(s) address, where there is one; fragments stay as they are.
 */
export function fitAddress(raw: string, base: string | null, use: keyof typeof SCHEMES): string | null {
  if (raw.length > MARKDOWN_BOUNDS.attribute_chars) return null
  const address = PLAIN.test(raw) ? raw : raw.replace(/[\t\n\r]/g, '').trim()
  const beginning = address.replace(UNSEEN, '').split(/[/?#]/, 1)[0] ?? ''
  const colon = beginning.indexOf(':')
  if (REFERENCE.test(beginning) || (colon >= 0 && !SCHEMES[use].has(beginning.slice(0, colon).toLowerCase()))) return null
  if (base === null || colon >= 0 || address.startsWith('#')) return encoded(address)
  const resolved = webAddress(address, base)
  return resolved === null ? null : encoded(resolved)
}

/** The whole http(s) address that this one means; null when it means none. */
export function webAddress(address: string, base?: string): string | null {
  try {
    const { protocol, href } = new URL(address, base)
    return protocol === 'http:' || protocol === 'https:' ? href : null
  } catch {
    return null
  }
}

function encoded(address: string): string {
  if (PLAIN.test(address)) return address
  const host = HOST.exec(address)?.[0] ?? ''
  return host + address.slice(host.length).replace(UNFIT, (character) => encodeURIComponent(character.toWellFormed()))
}

/** The address as the destination of a link. Parentheses are escaped unless they are balanced and not nested. */
export function destination(address: string): string {
  if (!/[()&]/.test(address)) return address
  const plain = /^[^()]*(?:\([^()]*\)[^()]*)*$/.test(address)
  const guarded = plain ? address : address.replace(/[()]/g, String.raw`\$&`)
  return guarded.replace(/&(?=#?[a-zA-Z0-9]+;)/g, String.raw`\&`)
}
