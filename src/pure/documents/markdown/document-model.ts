/** Document between reader and writer: a flat list of steps, so that deep nesting costs no stack. */

export interface TableNode {
  kind: 'table'
  /** A table that contains headings, code or tables, or has one column, is layout: its cells are written as blocks. */
  layout: boolean
}

export type FormatNode = { kind: 'strong' | 'em' | 'del' | 'code' } | { kind: 'link'; href: string }

export type DocumentNode =
  | { kind: 'block' }
  | { kind: 'list'; ordered: boolean; start: number }
  | { kind: 'item'; value: number | null }
  | { kind: 'quote' }
  | { kind: 'heading'; level: number }
  | { kind: 'pre'; language: string }
  | TableNode
  | { kind: 'row'; table: TableNode; head: boolean }
  | { kind: 'cell'; table: TableNode; head: boolean; colspan: number; rowspan: number }
  | FormatNode

/** Block nodes open and close like brackets; a format may close while later ones are open. */
export type DocumentStep =
  | { step: 'open' | 'close'; node: DocumentNode }
  /** `apart`: text that follows must not be appended to this one. */
  | { step: 'text'; text: string; apart?: true }
  | { step: 'break' }
  | { step: 'rule' }
  /** Checkbox or radio button. */
  | { step: 'box'; ticked: boolean }
  /** `src` is null if the address is unsafe. */
  | { step: 'image'; alt: string; src: string | null }

/** Counts of what was left out. */
export interface DroppedCounts {
  scripts: number
  styles: number
  /** Other elements with their content: images, frames, templates, players. */
  embedded: number
  /** Elements hidden by their own attributes, each with its content. */
  hidden: number
  /** Unsafe addresses of links and images; their texts stay. */
  unsafe_links: number
  comments: number
  /** Control characters, direction overrides and tag characters. */
  invisible_characters: number
}

/** Limits of one conversion. Content beyond a limit is left out and counted; the input is never rejected. */
export const MARKDOWN_BOUNDS = {
  /** UTF-16 units of Markdown; the output ends at the end of a block. */
  output_chars: 4_000_000,
  /** Nesting of lists, items and quotes; deeper ones are flattened to their text. */
  depth: 256,
  /** UTF-16 units of one attribute; a longer address is not a link. */
  attribute_chars: 4_096,
  /** Columns of a table; further cells are joined to the last column. */
  columns: 100,
  /** Entries of each list in the answer, and characters of each text in them. */
  listed: 1_000,
  listed_chars: 1_000,
} as const

/** Returns the absolute http(s) address, or null if it is not one. */
export function httpAddress(address: string, base?: string): string | null {
  try {
    const { protocol, href } = new URL(address, base)
    return protocol === 'http:' || protocol === 'https:' ? href : null
  } catch {
    return null
  }
}

/** Schemes allowed for links and for images. */
const SCHEMES = { link: new Set(['http', 'https', 'mailto', 'tel']), image: new Set(['http', 'https']) } as const

/** Invisible characters, which URL readers skip in different ways. */
const INVISIBLE_CHARACTER = /[\p{C}\p{Z}]/gu
const CHARACTER_REFERENCE = /&#?[a-z0-9]+;/i
/** Addresses that need no encoding (most do not). */
const PLAIN_ADDRESS = /^[!#-;=?-Z_a-z~]*$/
const ENCODED_CHARACTER = /["<>[\\\]^`{|}\p{C}\p{Z}]/gu
/** Scheme and host; an IPv6 host has square brackets. */
const HOST = /^(?:[a-z]+:)?\/\/[\w.:[\]@-]*(?=[/?#]|$)/i

/**
 * Returns an address that is safe in a Markdown link, percent-encoded where needed; null if it is unsafe.
 *
 * The scheme is read as the most lenient reader would: after removing all control, format and space characters, up to the first slash,
 * question mark or hash. Allowed are http, https, mailto and tel (for images http and https), relative addresses and fragments. An address
 * that starts with a character reference is rejected, because Markdown readers decode it once more. Rejects when in doubt: a colon in the
 * first segment of a relative address ends a scheme, as in the URL standard.
 *
 * Relative addresses are resolved against `base`, an http(s) address, if there is one; fragments stay as they are.
 */
export function safeAddress(raw: string, base: string | null, use: keyof typeof SCHEMES): string | null {
  if (raw.length > MARKDOWN_BOUNDS.attribute_chars) return null
  const address = PLAIN_ADDRESS.test(raw) ? raw : raw.replace(/[\t\n\r]/g, '').trim()
  const beginning = address.replace(INVISIBLE_CHARACTER, '').split(/[/?#]/, 1)[0] ?? ''
  const colon = beginning.indexOf(':')
  if (CHARACTER_REFERENCE.test(beginning) || (colon >= 0 && !SCHEMES[use].has(beginning.slice(0, colon).toLowerCase()))) return null
  if (base === null || colon >= 0 || address.startsWith('#')) return percentEncode(address)
  const resolved = httpAddress(address, base)
  return resolved === null ? null : percentEncode(resolved)
}

function percentEncode(address: string): string {
  if (PLAIN_ADDRESS.test(address)) return address
  const host = HOST.exec(address)?.[0] ?? ''
  return host + address.slice(host.length).replace(ENCODED_CHARACTER, (character) => encodeURIComponent(character.toWellFormed()))
}
