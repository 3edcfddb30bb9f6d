import type { Context } from 'hono'
import { nobleCrypto } from '../../pure/receipts/crypto.ts'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

/** Document that is built once and sent many times. */
export interface StoredDocument {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

export const JSON_TYPE = 'application/json; charset=utf-8'

export function storedDocument(type: string, body: string, more: Record<string, string> = {}): StoredDocument {
  // Weak, because a proxy that compresses the body may keep the tag.
  const etag = `W/"${nobleCrypto.keccak256Hex(body).slice(2, 34)}"`
  return { body, headers: { 'content-type': type, 'cache-control': 'public, max-age=60', etag, ...more } }
}

export function storedJson(value: unknown): StoredDocument {
  return storedDocument(JSON_TYPE, JSON.stringify(value))
}

/** Compressed forms, which live as long as their documents. */
const compressed = new WeakMap<StoredDocument, EncodedBody>()

/** Sends the document in an encoding that the client accepts, or 304 if the client has it (RFC 9110, 13.1.2). */
export async function sendDocument(context: Context, document: StoredDocument): Promise<Response> {
  const { 'content-type': _, ...validators } = document.headers
  const encoded = compressed.get(document) ?? encodedBody(document.body, 'fresh')
  compressed.set(document, encoded)
  const vary = [validators['vary'], encoded.vary['vary']].filter((field) => field !== undefined).join(', ')
  const varied: Record<string, string> = vary === '' ? {} : { vary }
  if (clientHas(context, document.headers['etag'] ?? '')) return context.body(null, 304, { ...validators, ...varied })
  const { body, headers } = await encoded.for(context.req.header('accept-encoding'))
  return context.body(body, 200, { ...document.headers, ...headers, ...varied })
}

/** Sends a body that is made for one request, in an encoding that the client accepts. */
export async function sendOnce(context: Context, text: string, headers: Readonly<Record<string, string>>): Promise<Response> {
  const { body, headers: encoding } = await encodedBody(text, 'fresh').for(context.req.header('accept-encoding'))
  return context.body(body, 200, { ...headers, ...encoding })
}

/** Returns true if the client has the representation with this tag (weak comparison: the prefix W/ is ignored). */
export function clientHas(context: Context, etag: string): boolean {
  const known = context.req.header('if-none-match')
  if (known === undefined) return false
  const bare = (tag: string) => tag.trim().replace(/^W\//, '')
  return known.trim() === '*' || known.split(',').some((tag) => bare(tag) === bare(etag))
}

/** Body in several content encodings (RFC 9110, 8.4.1). Each is made on first use and then kept. */
export interface EncodedBody {
  /** Vary header of every response, including 304. */
  readonly vary: Readonly<Record<string, string>>
  /**
   * Returns the body for this `Accept-Encoding` with its headers. Concurrent requests share one compression, which runs off the event
   * loop.
   */
  for(accept: string | undefined): Promise<{ body: string | Uint8Array<ArrayBuffer>; headers: Record<string, string> }>
}

/** `kept`: sent many times, so the slowest and smallest encoding is worth its cost. */
type Effort = 'kept' | 'fresh'

type Coding = 'br' | 'gzip' | 'identity'

/** Smaller bodies fit in one or two packets. */
const COMPRESSED_CHARS_MIN = 1_200
const BROTLI_QUALITY: Record<Effort, number> = { kept: 11, fresh: 5 }
const GZIP_LEVEL: Record<Effort, number> = { kept: 9, fresh: 6 }

const compressBrotli = promisify(brotliCompress)
const compressGzip = promisify(gzip)

export function encodedBody(text: string, effort: Effort): EncodedBody {
  const made = new Map<Coding, Promise<Uint8Array<ArrayBuffer>>>()
  const vary: Record<string, string> = text.length < COMPRESSED_CHARS_MIN ? {} : { vary: 'Accept-Encoding' }
  return {
    vary,
    async for(accept) {
      if (text.length < COMPRESSED_CHARS_MIN) return { body: text, headers: {} }
      const coding = chooseCoding(accept)
      const making = made.get(coding) ?? encode(text, coding, effort)
      made.set(coding, making)
      const body = await making.catch((error: unknown) => {
        made.delete(coding)
        throw error
      })
      const headers = { ...vary, 'content-length': String(body.byteLength) }
      return { body, headers: coding === 'identity' ? headers : { ...headers, 'content-encoding': coding } }
    },
  }
}

/** Compresses on the thread pool: a long document takes hundreds of milliseconds. */
async function encode(text: string, coding: Coding, effort: Effort): Promise<Uint8Array<ArrayBuffer>> {
  switch (coding) {
    case 'identity':
      return new TextEncoder().encode(text)
    case 'br': {
      const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY[effort], [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT }
      return copyBytes(await compressBrotli(text, { params }))
    }
    case 'gzip':
      return copyBytes(await compressGzip(text, { level: GZIP_LEVEL[effort] }))
  }
}

/** Copies the bytes, because a buffer of the pool may be larger than the part that is kept. */
function copyBytes(buffer: Buffer): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer)
}

/** Smallest encoding that the client accepts; only a weight of 0 matters (RFC 9110, 12.5.3). */
function chooseCoding(accept: string | undefined): Coding {
  if (accept === undefined) return 'identity'
  const refused = new Set<string>()
  const taken = new Set<string>()
  for (const part of accept.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim())
    ;(parameters.some((parameter) => /^q=0(?:\.0{0,3})?$/.test(parameter)) ? refused : taken).add(name)
  }
  const takes = (coding: Coding) => taken.has(coding) || (taken.has('*') && !refused.has(coding))
  return takes('br') ? 'br' : takes('gzip') ? 'gzip' : 'identity'
}
