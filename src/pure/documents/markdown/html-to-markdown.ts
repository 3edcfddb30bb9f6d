import { cutText } from '../../cut-text.ts'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { webAddress } from './addresses.ts'
import { MARKDOWN_BOUNDS } from './bounds.ts'
import type { Link } from './inline.ts'
import type { Dropped } from './nodes.ts'
import { readDocument } from './reader.ts'
import { writeDocument, type Heading } from './writer.ts'

export interface MarkdownDocument {
  markdown: string
  /** keccak-256 of the UTF-8 bytes of the Markdown: 0x and 64 lower-case hex digits. */
  markdown_hash: string
  title: string | null
  /** In the order of the document; at most a thousand, texts cut at a thousand characters. */
  headings: Heading[]
  headings_total: number
  links: Link[]
  links_total: number
  /** Words of the visible text: what white space parts and holds a letter or a digit. */
  word_count: number
  dropped: Dropped
  /** Lists, items and quotes that were too deep and gave up their structure. */
  flattened: number
  /** The Markdown ends early, at the end of a block. */
  truncated: boolean
}

/**
 * HTML as CommonMark 0.31 with the tables and deletions of GFM, for readers that are not browsers. Never throws; time and memory grow
 * linearly with the text, also for hostile nesting.
 *
 * Elements nest by the HTML Living Standard (read 2026-10) without its rarest repairs. Headings, links, lists, quotes, tables, code and
 * emphasis are kept; text is escaped so that a CommonMark reader gives back the same text. Scripts, styles, pictures, frames and comments
 * are left out, and so is what an element's own attributes hide; style sheets are not read, so what they hide stays. Tables that hold
 * headings, code or tables, or have one column, are taken as layout: their cells become blocks; a line break in any other is written `<br>`,
 * and code that a cell cannot hold (`\|` in it) as text. Where Markdown cannot show an emphasis, the
 * text stays without it.
 *
 * `base_url`, if it is http(s), resolves relative addresses until the document names a base of its own. The result is text of strangers.
 */
export function htmlToMarkdown(html: string, base_url: string | null = null): MarkdownDocument {
  const read = readDocument(html.toWellFormed(), base_url === null ? null : webAddress(base_url))
  const { markdown, headings, links, word_count, flattened, truncated } = writeDocument(read.steps)
  return {
    markdown,
    markdown_hash: `0x${bytesToHex(keccak_256(utf8ToBytes(markdown)))}`,
    title: read.title === null ? null : shown(read.title),
    headings: headings.slice(0, MARKDOWN_BOUNDS.listed).map(({ level, text }) => ({ level, text: shown(text) })),
    headings_total: headings.length,
    links: links.slice(0, MARKDOWN_BOUNDS.listed).map(({ text, href }) => ({ text: shown(text), href })),
    links_total: links.length,
    word_count,
    dropped: read.dropped,
    flattened,
    truncated,
  }
}

function shown(text: string): string {
  return cutText(text.replace(/\s+/g, ' ').trim(), MARKDOWN_BOUNDS.listed_chars, '')
}
