import { readBoundedText } from '../../pure/read-bounded.ts'
import type { Clock } from '../../ports/clock.ts'
import { beginAttempt } from './attempt.ts'
import { EndpointFault } from './errors.ts'
import { chainLimits } from './limits.ts'

/** Where a node listens. User and password of a URL travel in a header, since fetch refuses them and would quote the URL in its error. */
export interface Target {
  url: string
  headers: Readonly<Record<string, string>>
}

/** Throws a RangeError, without the text of the URL, for what is no http or https URL. */
export function targetOf(text: string, number: number): Target {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new RangeError(`RPC endpoint ${number} is not an http or https URL.`)
  }
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json' }
  if (url.username !== '' || url.password !== '') {
    const user = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
    headers['authorization'] = `Basic ${Buffer.from(user).toString('base64')}`
    url.username = ''
    url.password = ''
  }
  return { url: url.href, headers }
}

/** Posts JSON and reads JSON, once, within the time and size bounds. Rejects with an EndpointFault; one of kind `long` for an answer beyond the bound. */
export async function postJson(target: Target, body: unknown, deadline: AbortSignal | null, clock: Clock): Promise<unknown> {
  const attempt = beginAttempt(chainLimits.attempt_ms)
  const signal = deadline === null ? attempt.signal : AbortSignal.any([attempt.signal, deadline])
  try {
    // A redirect could carry the question, and a key in the URL, to somebody else.
    const response = await fetch(target.url, {
      method: 'POST',
      headers: target.headers,
      body: JSON.stringify(body),
      redirect: 'error',
      signal,
    })
    const retry_after = response.headers.get('retry-after')
    if (response.status === 429 || (response.status === 503 && retry_after !== null)) {
      await response.body?.cancel()
      throw new EndpointFault('limited', response.status === 429 ? 'too many requests' : 'out of service', pauseOf(retry_after, clock))
    }
    const text = await boundedText(response)
    const found = parse(text)
    // Nodes put errors of JSON-RPC into answers of any status; without one the status itself is the answer.
    if (!response.ok && (found === undefined || typeof found !== 'object'))
      throw new EndpointFault('broken', `HTTP status ${response.status}`)
    if (found === undefined) throw new EndpointFault('broken', 'an answer that is not JSON')
    return found
  } catch (error) {
    if (error instanceof EndpointFault) throw error
    if (deadline?.aborted === true && !attempt.signal.aborted) throw new EndpointFault('unfit', 'no time left')
    // The error of fetch may quote the URL, so nothing of it is kept.
    throw new EndpointFault('broken', attempt.signal.aborted ? `no answer within ${chainLimits.attempt_ms} ms` : 'connection failed')
  } finally {
    attempt.end()
  }
}

async function boundedText(response: Response): Promise<string> {
  const text = await readBoundedText(response.body, chainLimits.answer_bytes)
  if (text === null) throw new EndpointFault('long', `an answer of more than ${chainLimits.answer_bytes} bytes`)
  return text
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Retry-After (RFC 9110, 10.2.3) is a number of seconds or a date. */
function pauseOf(header: string | null, clock: Clock): number {
  const text = header?.trim() ?? ''
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - clock.now_ms()
  if (Number.isNaN(ms)) return chainLimits.limited_ms
  return Math.min(Math.max(ms, 0), chainLimits.limited_max_ms)
}
