import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

/** A body and the content codings in which it can leave (RFC 9110, 8.4.1). Each is made when it is first asked for, then kept. */
export interface EncodedBody {
  /** The body for a client with this `Accept-Encoding`. The headers say what was chosen, and that there was a choice. */
  for(accept: string | undefined): { body: string | Uint8Array<ArrayBuffer>; headers: Record<string, string> }
}

/** `kept`: the body is sent many times as it is, so that the slowest and smallest coding pays. */
type Effort = 'kept' | 'fresh'

type Coding = 'br' | 'gzip' | 'identity'

/** Smaller bodies fit a packet or two as they are. */
const LEAST_CHARS = 1_200
const BROTLI_QUALITY: Record<Effort, number> = { kept: 11, fresh: 5 }
const GZIP_LEVEL: Record<Effort, number> = { kept: 9, fresh: 6 }

export function encodedBody(text: string, effort: Effort): EncodedBody {
  const made = new Map<Coding, Uint8Array<ArrayBuffer>>()
  return {
    for(accept) {
      if (text.length < LEAST_CHARS) return { body: text, headers: {} }
      const coding = chosen(accept)
      const vary = { vary: 'Accept-Encoding' }
      const kept = made.get(coding)
      const body = kept ?? encode(text, coding, effort)
      if (kept === undefined) made.set(coding, body)
      const length = { ...vary, 'content-length': String(body.byteLength) }
      return { body, headers: coding === 'identity' ? length : { ...length, 'content-encoding': coding } }
    },
  }
}

function encode(text: string, coding: Coding, effort: Effort): Uint8Array<ArrayBuffer> {
  switch (coding) {
    case 'identity':
      return new TextEncoder().encode(text)
    case 'br': {
      const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY[effort], [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT }
      return new Uint8Array(brotliCompressSync(text, { params }))
    }
    case 'gzip':
      return new Uint8Array(gzipSync(text, { level: GZIP_LEVEL[effort] }))
  }
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
