import { isDatasetId } from './datasets.ts'
import type { FeedCollector, FeedDefinition, FeedDocument } from './definition.ts'
import { collectOfac } from './list-xml.ts'
import { TABLE_FEEDS } from './table-feeds.ts'

/** Feeds: documents of publishers, read as a stream of elements, and the snapshots that are made of them. */

export const FEEDS = {
  ofac_sdn: {
    url: 'https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/SDN_ENHANCED.XML',
    file: 'SDN_ENHANCED.XML',
    format: 'xml',
    datasets: ['ofac_addresses'],
    root: 'sanctionsData',
    elements: ['entity'],
    // The file of 2026 has about 120 MB.
    bytes_max: 400_000_000,
    optional: false,
    collect: collectOfac,
  },
  ...TABLE_FEEDS,
} as const satisfies Record<string, FeedDefinition>

/** Steps by which an operator brings a table up to date. */
export function refreshAdvice(id: string): string {
  if (Object.values(FEEDS).some(({ datasets }: FeedDefinition) => datasets.includes(id)))
    return 'Run "assay data refresh", or import a copy of the document of its publisher with "assay data import FILE"; ASSAY_DATA_FEEDS=on keeps it fresh.'
  if (id === 'prohibited_jurisdictions')
    return 'Review it against the programmes of OFAC and import it with the date of the review, "assay data import FILE": docs/going-live.md, Review of the jurisdictions.'
  return isDatasetId(id) ? 'Import a newer snapshot with "assay data import FILE", or install a newer release.' : 'Install a newer release.'
}

export type FeedName = keyof typeof FEEDS

export const FEED_NAMES = Object.keys(FEEDS) as FeedName[]

/** Reads a document in pieces of any size. */
export interface DocumentParser {
  /** Reads the next piece; a text says why the document is refused. */
  push(text: string): string | null
  /** Text before the first element. `ok: false`: the document is incomplete. */
  finish(): { ok: true; head: string } | { ok: false; reason: string }
}

/** `element_chars` bounds the memory: no element, nothing between two, and no document that is read as a whole may be longer. */
export function parseDocument(document: FeedDocument, element_chars: number, collector: FeedCollector): DocumentParser {
  return document.format === 'xml' ? parseXml(document, element_chars, collector) : parseWhole(document, element_chars, collector)
}

function parseWhole({ format, file }: FeedDocument, element_chars: number, collector: FeedCollector): DocumentParser {
  let whole = ''
  return {
    push(text) {
      whole += text
      return whole.length > element_chars ? `The document has more than ${element_chars} characters.` : null
    },
    finish() {
      if (format === 'json' && !isJson(whole))
        return { ok: false, reason: 'The document is not JSON: it is truncated or another document.' }
      collector.element(whole, file)
      return { ok: true, head: '' }
    },
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function parseXml({ elements, root, file }: FeedDocument, element_chars: number, collector: FeedCollector): DocumentParser {
  const opening = new RegExp(`<(${elements.join('|')})(?=[\\s>])`, 'g')
  let rest = ''
  let head: string | null = null

  return {
    push(text) {
      rest += text
      let read = 0
      for (;;) {
        opening.lastIndex = read
        const start = opening.exec(rest)
        if (start === null) break
        const close = `</${start[1]}>`
        const end = rest.indexOf(close, start.index)
        if (end === -1) break
        if (head === null) {
          head = rest.slice(0, start.index)
          if (!new RegExp(`<${root}[\\s>]`).test(head)) return `The document does not begin with <${root}>: it is another document.`
        }
        collector.element(rest.slice(start.index, end + close.length), file)
        read = end + close.length
      }
      rest = rest.slice(read)
      return rest.length > element_chars ? `More than ${element_chars} characters belong to no complete <${elements[0]}>.` : null
    },
    finish() {
      if (head === null) return { ok: false, reason: `The document has no <${elements[0]}>.` }
      if (!new RegExp(`</${root}>\\s*$`).test(rest))
        return { ok: false, reason: `The document does not end with </${root}>: it is truncated.` }
      return { ok: true, head }
    },
  }
}
