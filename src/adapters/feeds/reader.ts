import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { IncomingHttpHeaders } from 'node:http'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import type { FeedCollector, FeedDefinition, FeedDocument } from '../../pure/datasets/definition.ts'
import { FEEDS, parseDocument, type DocumentParser, type FeedName } from '../../pure/datasets/feeds.ts'
import { isObject } from '../../pure/is-object.ts'
import type { FeedReader, FeedResult } from '../../ports/datasets.ts'
import { datasetLimits } from '../../service/limits.ts'

/** Reads feeds from the publishers' servers, from a server with copies, or from a folder with copies. */

/** Response to a GET that cannot be steered to private addresses; null if it was. */
type OpenUrl = (
  url: string,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>>,
) => Promise<(Readable & { statusCode?: number | undefined; headers: IncomingHttpHeaders }) | null>

/** Size and time limits; a test passes small ones. */
interface FeedBounds {
  read_ms: number
  bytes_max?: number
}

interface FeedReaderOptions {
  /** Folder or http(s) URL with copies of the documents; empty: the publishers' servers. */
  mirror: string
  open: OpenUrl
  bounds?: FeedBounds
}

export function createFeedReader({ mirror, open, bounds = datasetLimits }: FeedReaderOptions): FeedReader {
  const isUrl = /^https?:\/\//.test(mirror)
  const openDocument = (document: FeedDocument, optional: boolean, etag: string | null): Promise<Opened> => {
    if (mirror !== '' && !isUrl) return openCopy(document, join(mirror, document.file), optional, etag)
    const url = isUrl ? new URL(document.file, mirror.endsWith('/') ? mirror : `${mirror}/`).href : document.url
    if (url === null) {
      const reason = `The publisher has no open address for ${document.file}; put it into a mirror.`
      return Promise.resolve({ kind: 'absent', reason })
    }
    return openUrl(document, { url, optional, etag, open, read_ms: bounds.read_ms, bytes_max: bounds.bytes_max ?? document.bytes_max })
  }
  return {
    async read(name, etag, today) {
      const feed: FeedDefinition = FEEDS[name as FeedName]
      try {
        return await readAll(feed, etag, today, (document, tag) => openDocument(document, feed.optional, tag), bounds.bytes_max ?? null)
      } catch (error) {
        return failed(error instanceof Error ? error.message : 'unknown reason')
      }
    },
  }
}

type Opened = Exclude<FeedResult, { kind: 'read' }> | { kind: 'open'; stream: Readable; tag: string | null }

/** Between the tags of the documents of one feed; no entity tag contains it. */
const TAG_SEPARATOR = '\n'

/**
 * Reads every document of a feed. If only some have changed, the others are read again: a snapshot is made of all of them.
 */
async function readAll(
  feed: FeedDefinition,
  etag: string | null,
  today: string,
  openDocument: (document: FeedDocument, etag: string | null) => Promise<Opened>,
  bytes_max: number | null,
): Promise<FeedResult> {
  const documents: readonly FeedDocument[] = [feed, ...(feed.more ?? [])]
  const known = etag?.split(TAG_SEPARATOR) ?? []
  const collector = feed.collect()
  const heads: string[] = []
  const tags: (string | null)[] = []
  let unchanged = 0
  for (const [index, document] of documents.entries()) {
    const opened = await openDocument(document, known[index] ?? null)
    if (opened.kind === 'failed' || opened.kind === 'absent') return opened
    if (opened.kind === 'unchanged') {
      unchanged++
      if (unchanged < index + 1) return readAll(feed, null, today, openDocument, bytes_max)
      continue
    }
    if (unchanged > 0) {
      opened.stream.destroy()
      return readAll(feed, null, today, openDocument, bytes_max)
    }
    const head = await readDocument(document, opened.stream, collector, bytes_max ?? document.bytes_max)
    if (!head.ok) return failed(head.reason)
    heads.push(head.head)
    tags.push(opened.tag)
  }
  if (unchanged === documents.length) return { kind: 'unchanged' }
  const found = collector.finish(heads[0] ?? '', today, heads)
  if (typeof found === 'string') return failed(found)
  const tag = tags.includes(null) ? null : tags.join(TAG_SEPARATOR)
  return { kind: 'read', etag: tag, snapshots: found.map(({ dataset, snapshot }) => ({ dataset, text: JSON.stringify(snapshot) })) }
}

function failed(reason: string): Extract<FeedResult, { kind: 'failed' }> {
  return { kind: 'failed', reason }
}

/** The size and the time of the last change take the place of an entity tag. */
async function openCopy({ file }: FeedDocument, path: string, optional: boolean, etag: string | null): Promise<Opened> {
  const found = await stat(path).catch((error: unknown) => error)
  if (optional && isObject(found) && found['code'] === 'ENOENT') return { kind: 'absent', reason: `The mirror has no ${file}.` }
  const { size, mtimeMs } = await stat(path)
  const tag = `file:${size}:${mtimeMs}`
  return tag === etag ? { kind: 'unchanged' } : { kind: 'open', stream: createReadStream(path), tag }
}

interface UrlRequest {
  url: string
  optional: boolean
  etag: string | null
  open: OpenUrl
  read_ms: number
  bytes_max: number
}

const TYPES: Readonly<Record<FeedDocument['format'], { name: string; type: RegExp }>> = {
  xml: { name: 'XML', type: /^(?:application|text)\/xml\b|^application\/(?:octet-stream|[a-z0-9.-]+\+xml)\b/i },
  // Files of a source repository are served as plain text.
  json: { name: 'JSON', type: /^application\/(?:json|octet-stream|[a-z0-9.-]+\+json)\b|^text\/plain\b/i },
  text: { name: 'plain text', type: /^text\/plain\b|^application\/octet-stream\b/i },
}
const ETAG_CHARS_MAX = 200

async function openUrl({ file, format }: FeedDocument, { url, optional, etag, open, read_ms, bytes_max }: UrlRequest): Promise<Opened> {
  const signal = AbortSignal.timeout(read_ms)
  const response = await open(url, signal, etag === null ? {} : { 'if-none-match': etag })
  if (response === null)
    return failed('The server is not on the public internet, or it redirects too often or to an address that may not be read.')
  const { statusCode, headers } = response
  const type = headers['content-type'] ?? 'no type'
  const end = (result: Opened): Opened => {
    response.destroy()
    return result
  }
  if (statusCode === 304 && etag !== null) return end({ kind: 'unchanged' })
  if (statusCode === 404 && optional) return end({ kind: 'absent', reason: `The server has no ${file} (404).` })
  if (statusCode !== 200) return end(failed(`The server answers ${statusCode ?? 'without a status'}; expected 200.`))
  if (!TYPES[format].type.test(type))
    return end(failed(`The document is of the type ${type.slice(0, 100)}; expected ${TYPES[format].name}.`))
  if (Number(headers['content-length'] ?? 0) > bytes_max) return end(failed(tooLong(bytes_max)))
  const tag = headers.etag !== undefined && headers.etag.length <= ETAG_CHARS_MAX ? headers.etag : null
  return { kind: 'open', stream: response, tag }
}

/** Reads a copy of a feed's document from a path; further documents of the feed are in the same folder under their own names. Never rejects. */
export async function readFeedFile(name: FeedName, path: string, today: string): Promise<FeedResult> {
  const feed: FeedDefinition = FEEDS[name]
  const pathOf = (document: FeedDocument) => (document.file === feed.file ? path : join(dirname(path), document.file))
  return readAll(feed, null, today, (document) => openCopy(document, pathOf(document), false, null), null).catch((error: unknown) =>
    failed(error instanceof Error ? error.message : 'unknown reason'),
  )
}

function tooLong(bytes_max: number): string {
  return `The document has more than ${bytes_max} bytes.`
}

/** Reads piece by piece, so that no large document is in memory as a whole and other work continues between two pieces. */
async function readDocument(
  document: FeedDocument,
  stream: Readable,
  collector: FeedCollector,
  bytes_max: number,
): Promise<ReturnType<DocumentParser['finish']>> {
  const decoder = new TextDecoder(document.encoding ?? 'utf-8', { fatal: true })
  const parser = parseDocument(document, datasetLimits.element_chars, collector)
  let bytes = 0
  for await (const piece of stream as AsyncIterable<Uint8Array>) {
    bytes += piece.length
    if (bytes > bytes_max) return { ok: false, reason: tooLong(bytes_max) }
    const fault = parser.push(decoder.decode(piece, { stream: true }))
    if (fault !== null) return { ok: false, reason: fault }
  }
  decoder.decode()
  return parser.finish()
}
