import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { FEEDS, parseFeed, type FeedDefinition, type FeedName } from '../../pure/datasets/feeds.ts'
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
  return {
    async read(name, etag, today) {
      const feed: FeedDefinition = FEEDS[name as FeedName]
      const bytes_max = bounds.bytes_max ?? feed.bytes_max
      try {
        if (mirror !== '' && !isUrl) return await readCopy(feed, join(mirror, feed.file), etag, today, bytes_max)
        const url = isUrl ? new URL(feed.file, mirror.endsWith('/') ? mirror : `${mirror}/`).href : feed.url
        if (url === null) return { kind: 'absent', reason: `The publisher has no open address for ${feed.file}; put it into a mirror.` }
        return await readUrl(feed, { url, etag, today, open, read_ms: bounds.read_ms, bytes_max })
      } catch (error) {
        return failed(error instanceof Error ? error.message : 'unknown reason')
      }
    },
  }
}

function failed(reason: string): FeedResult {
  return { kind: 'failed', reason }
}

async function readCopy(feed: FeedDefinition, path: string, etag: string | null, today: string, bytes_max: number): Promise<FeedResult> {
  const found = await stat(path).catch((error: unknown) => error)
  if (feed.optional && isObject(found) && found['code'] === 'ENOENT') return { kind: 'absent', reason: `The mirror has no ${feed.file}.` }
  return readFolder(feed, path, etag, today, bytes_max)
}

/** The size and the time of the last change take the place of an entity tag. */
async function readFolder(feed: FeedDefinition, path: string, etag: string | null, today: string, bytes_max: number): Promise<FeedResult> {
  const { size, mtimeMs } = await stat(path)
  const tag = `file:${size}:${mtimeMs}`
  if (tag === etag) return { kind: 'unchanged' }
  return readDocument(feed, createReadStream(path), tag, today, bytes_max)
}

interface UrlRequest {
  url: string
  etag: string | null
  today: string
  open: OpenUrl
  read_ms: number
  bytes_max: number
}

const TYPE = /^(?:application|text)\/xml\b|^application\/(?:octet-stream|[a-z0-9.-]+\+xml)\b/i
const ETAG_CHARS_MAX = 200

async function readUrl(feed: FeedDefinition, { url, etag, today, open, read_ms, bytes_max }: UrlRequest): Promise<FeedResult> {
  const signal = AbortSignal.timeout(read_ms)
  const response = await open(url, signal, etag === null ? {} : { 'if-none-match': etag })
  if (response === null)
    return failed('The server is not on the public internet, or it redirects too often or to an address that may not be read.')
  const { statusCode, headers } = response
  const type = headers['content-type'] ?? 'no type'
  const refuse = (reason: string) => {
    response.destroy()
    return failed(reason)
  }
  if (statusCode === 304 && etag !== null) {
    response.destroy()
    return { kind: 'unchanged' }
  }
  if (statusCode === 404 && feed.optional) {
    response.destroy()
    return { kind: 'absent', reason: `The server has no ${feed.file} (404).` }
  }
  if (statusCode !== 200) return refuse(`The server answers ${statusCode ?? 'without a status'}; expected 200.`)
  if (!TYPE.test(type)) return refuse(`The document is of the type ${type.slice(0, 100)}; expected XML.`)
  if (Number(headers['content-length'] ?? 0) > bytes_max) return refuse(tooLong(bytes_max))
  const tag = headers.etag !== undefined && headers.etag.length <= ETAG_CHARS_MAX ? headers.etag : null
  return readDocument(feed, response, tag, today, bytes_max)
}

/** Reads a copy of a feed's document from a path. Never rejects. */
export async function readFeedFile(name: FeedName, path: string, today: string): Promise<FeedResult> {
  const feed: FeedDefinition = FEEDS[name]
  return readFolder(feed, path, null, today, feed.bytes_max).catch((error: unknown) =>
    failed(error instanceof Error ? error.message : 'unknown reason'),
  )
}

function tooLong(bytes_max: number): string {
  return `The document has more than ${bytes_max} bytes.`
}

/** Reads piece by piece, so that no document is in memory as a whole and other work continues between two pieces. */
async function readDocument(
  feed: FeedDefinition,
  stream: Readable,
  etag: string | null,
  today: string,
  bytes_max: number,
): Promise<FeedResult> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const parser = parseFeed(feed, datasetLimits.element_chars)
  let bytes = 0
  for await (const piece of stream as AsyncIterable<Uint8Array>) {
    bytes += piece.length
    if (bytes > bytes_max) return failed(tooLong(bytes_max))
    const fault = parser.push(decoder.decode(piece, { stream: true }))
    if (fault !== null) return failed(fault)
  }
  decoder.decode()
  const found = parser.finish(today)
  if (typeof found === 'string') return failed(found)
  return { kind: 'read', etag, snapshots: found.map(({ dataset, snapshot }) => ({ dataset, text: JSON.stringify(snapshot) })) }
}
