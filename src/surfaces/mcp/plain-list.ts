import { isObject } from '../../pure/is-object.ts'
import { eraOf, type Era } from './plain-call.ts'
import type { McpExchange } from './tool-call.ts'

type Answer = (request: Request, exchange: McpExchange) => Promise<Response>

/** All of an answer but its id, which stands at the end, in UTF-8. */
type Kept = Partial<Record<Era, Uint8Array>>

/**
 * The plain `tools/list`, which every client sends first and whose answer is as long as a book. The official package writes it once for
 * each list and era; from then on it is sent as it was written, with the id of the message. Null for every message that is unusual.
 */
export function createPlainLists(official: Answer): (request: Request, exchange: McpExchange) => Promise<Response> | null {
  const known = new WeakMap<object, Kept>()
  return (request, exchange) => {
    const { value } = exchange.message
    const listed = exchange.view?.listed
    if (listed === undefined || !isPlain(value)) return null
    const era = eraOf(value, exchange.header, null)
    if (era === null) return null
    const kept = known.get(listed) ?? {}
    known.set(listed, kept)
    const end = `${JSON.stringify(value['id'])}}`
    const begin = kept[era]
    return begin === undefined
      ? learn(official(request, exchange), end, (text) => (kept[era] = new TextEncoder().encode(text)))
      : Promise.resolve(whole(begin, end))
  }
}

/** Nothing but what every revision has; no cursor, which none of our lists has either. */
function isPlain(message: unknown): message is Record<string, unknown> {
  if (!isObject(message) || message['method'] !== 'tools/list') return false
  const { id, params = {} } = message
  if (typeof id !== 'string' && !Number.isSafeInteger(id)) return false
  return isObject(params) && Object.keys(params).every((key) => key === '_meta')
}

function whole(begin: Uint8Array, end: string): Response {
  const body = new Uint8Array(Buffer.concat([begin, Buffer.from(end)]))
  return new Response(body, { headers: { 'content-type': 'application/json', 'content-length': String(body.byteLength) } })
}

/** An answer that does not end with the id is handed on and not kept. */
async function learn(answer: Promise<Response>, end: string, keep: (begin: string) => void): Promise<Response> {
  const response = await answer
  const text = await response.clone().text()
  if (response.status === 200 && text.endsWith(`"id":${end}`)) keep(text.slice(0, -end.length))
  return response
}
