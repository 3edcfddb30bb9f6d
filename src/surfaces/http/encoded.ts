import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

/** A body and the content codings in which it can leave (RFC 9110, 8.4.1). Each is made when it is first asked for, then kept. */
export interface EncodedBody {
  /** What every answer says of the choice, a 304 too. */
  readonly vary: Readonly<Record<string, string>>
  /**
   * The body for a client with this `Accept-Encoding`, and the headers that say what was chosen. The first client waits for the
   * compression, which runs off the event loop; all others that ask meanwhile wait for the same one.
   */
  for(accept: string | undefined): Promise<{ body: string | Uint8Array<ArrayBuffer>; headers: Record<string, string> }>
}

/** `kept`: the body is sent many times as it is, so that the slowest and smallest coding pays. */
type Effort = 'kept' | 'fresh'

type Coding = 'br' | 'gzip' | 'identity'

/** Smaller bodies fit a packet or two as they are. */
const LEAST_CHARS = 1_200
const BROTLI_QUALITY: Record<Effort, number> = { kept: 11, fresh: 5 }
const GZIP_LEVEL: Record<Effort, number> = { kept: 9, fresh: 6 }

const brotli = promisify(brotliCompress)
const deflate = promisify(gzip)

export function encodedBody(text: string, effort: Effort): EncodedBody {
  const made = new Map<Coding, Promise<Uint8Array<ArrayBuffer>>>()
  const vary: Record<string, string> = text.length < LEAST_CHARS ? {} : { vary: 'Accept-Encoding' }
  return {
    vary,
    async for(accept) {
      if (text.length < LEAST_CHARS) return { body: text, headers: {} }
      const coding = chosen(accept)
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

/** Compresses on the threads of the engine: a long document takes hundreds of milliseconds. */
async function encode(text: string, coding: Coding, effort: Effort): Promise<Uint8Array<ArrayBuffer>> {
  switch (coding) {
    case 'identity':
      return new TextEncoder().encode(text)
    case 'br': {
      const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY[effort], [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT }
      return bytesOf(await brotli(text, { params }))
    }
    case 'gzip':
      return bytesOf(await deflate(text, { level: GZIP_LEVEL[effort] }))
  }
}

/** Copied, so that what is kept for good holds no more memory than its length. */
function bytesOf(buffer: Buffer): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer)
}

/** The smallest coding that the client takes; weights only say what it does not take (RFC 9110, 12.5.3). */
function chosen(accept: string | undefined): Coding {
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
