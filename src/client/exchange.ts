import type { Clock } from './clock.ts'
import { localError } from './error.ts'
import type { Fetch } from './options.ts'

/** Longest body that is read, in bytes. */
const BODY_BYTES_MAX = 32 * 1024 * 1024

/** One service, and how it is spoken to. */
export interface Link {
  /** Without a final slash. */
  url: string
  fetch: Fetch
  request_ms: number
  patience_ms: number
  clock: Clock
}

export interface Reply {
  kind: 'reply'
  status: number
  header(name: string): string | null
  /** The body as JSON; undefined when it is none. */
  body: unknown
}

/** What became of a request. `lost` and `redirected` say nothing of what the service did with it. */
export type Sent = Reply | { kind: 'lost'; reason: string; cause: unknown } | { kind: 'redirected' }

export interface Asking {
  method: 'GET' | 'POST'
  /** From the slash before /v1 on. */
  path: string
  headers?: Record<string, string>
  body?: string
  signal: AbortSignal | null
}

/** One request. It never throws; redirects are not followed, so that no payment travels to an address that nobody named. */
export async function send(link: Link, { method, path, headers = {}, body, signal }: Asking): Promise<Sent> {
  const late = AbortSignal.timeout(link.request_ms)
  try {
    const response = await link.fetch(`${link.url}${path}`, {
      method,
      headers,
      redirect: 'manual',
      signal: signal === null ? late : AbortSignal.any([signal, late]),
      ...(body === undefined ? {} : { body }),
    })
    // Browsers hide a redirect that is not followed behind status 0.
    if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) return { kind: 'redirected' }
    const text = await readText(response)
    if (text === null) return { kind: 'lost', reason: 'the answer is too long', cause: null }
    return { kind: 'reply', status: response.status, header: (name) => response.headers.get(name), body: parsed(text) }
  } catch (error) {
    return { kind: 'lost', reason: 'no answer came', cause: error }
  }
}

/** A document of the service; throws when there is none. */
export async function getJson(link: Link, path: string): Promise<unknown> {
  const sent = await send(link, { method: 'GET', path, signal: null })
  if (sent.kind === 'lost') {
    throw localError('NETWORK_ERROR', `${path}: ${sent.reason}.`, { retryable: true, cause: sent.cause })
  }
  if (sent.kind === 'redirected') throw localError('REDIRECTED', `${path} answers with a redirect, which is not followed.`)
  if (sent.status !== 200 || sent.body === undefined) {
    throw localError('BAD_RESPONSE', `${path} answered with status ${sent.status} and no document.`, { status: sent.status })
  }
  return sent.body
}

/** The body as text; null when it is longer than bodies are read. */
async function readText(response: Response): Promise<string | null> {
  const reader = response.body?.getReader()
  if (reader === undefined) return response.text()
  const decoder = new TextDecoder()
  let text = ''
  let length = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    length += value.length
    if (length > BODY_BYTES_MAX) {
      await reader.cancel()
      return null
    }
    text += decoder.decode(value, { stream: true })
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
