import type { Snapshot } from './definition.ts'
import { ofacAddresses, type OfacRow } from './ofac-addresses.ts'
import { addressesOfEntity, mergeAddresses, publishedAt } from './ofac-xml.ts'

/** Feeds: documents of publishers, read as a stream of elements, and the snapshots that are made of them. */

export interface FeedDefinition {
  /** Address at the publisher. */
  url: string
  /** File name of a copy in a mirror. */
  file: string
  /** Datasets that the document fills. */
  datasets: readonly string[]
  /** Name of the root element, without which the document is incomplete. */
  root: string
  /** Names of the elements that are rows. */
  elements: readonly string[]
  /** Maximum size of the document in bytes. */
  bytes_max: number
  /** Starts a new collection of rows. */
  collect(): FeedCollector
}

interface FeedCollector {
  /** Reads one whole element with its tags. */
  element(xml: string): void
  /** Snapshots of what was read; a text says why there are none. `head` is what comes before the first element. */
  finish(head: string, retrieved_at: string): { dataset: string; snapshot: Snapshot }[] | string
}

export const FEEDS = {
  ofac_sdn: {
    url: 'https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/SDN_ENHANCED.XML',
    file: 'SDN_ENHANCED.XML',
    datasets: ['ofac_addresses'],
    root: 'sanctionsData',
    elements: ['entity'],
    // The file of 2026 has about 120 MB.
    bytes_max: 400_000_000,
    collect: collectOfac,
  },
} as const satisfies Record<string, FeedDefinition>

export type FeedName = keyof typeof FEEDS

export const FEED_NAMES = Object.keys(FEEDS) as FeedName[]

function collectOfac(): FeedCollector {
  const addresses: OfacRow[] = []
  return {
    element: (xml) => void addresses.push(...addressesOfEntity(xml)),
    finish(head, retrieved_at) {
      const published_at = publishedAt(head)
      if (published_at === null) return 'The document does not state its date; expected <dataAsOf>YYYY-MM-DD… before the first entity.'
      const rows = mergeAddresses(addresses)
      const snapshot = {
        schema: ofacAddresses.schema,
        source: 'US Treasury, OFAC Sanctions List Service: SDN_ENHANCED.XML',
        source_version: `SDN list as of ${published_at}`,
        published_at,
        retrieved_at,
        count: rows.length,
        rows,
      }
      return [{ dataset: ofacAddresses.id, snapshot }]
    },
  }
}

/** Reads a document in pieces of any size. */
export interface FeedParser {
  /** Reads the next piece; a text says why the document is refused. */
  push(text: string): string | null
  finish(retrieved_at: string): { dataset: string; snapshot: Snapshot }[] | string
}

/** `element_chars` bounds the memory: no element, and nothing between two, may be longer. */
export function parseFeed(definition: FeedDefinition, element_chars: number): FeedParser {
  const { elements, root } = definition
  const opening = new RegExp(`<(${elements.join('|')})(?=[\\s>])`, 'g')
  const collector = definition.collect()
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
        collector.element(rest.slice(start.index, end + close.length))
        read = end + close.length
      }
      rest = rest.slice(read)
      return rest.length > element_chars ? `More than ${element_chars} characters belong to no complete <${elements[0]}>.` : null
    },
    finish(retrieved_at) {
      if (head === null) return `The document has no <${elements[0]}>.`
      if (!new RegExp(`</${root}>\\s*$`).test(rest)) return `The document does not end with </${root}>: it is truncated.`
      return collector.finish(head, retrieved_at)
    },
  }
}
