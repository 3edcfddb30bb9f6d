import { jsonObject, type Members } from '../../../pure/is-object.ts'

/** Answer of the service. */
export interface JsonReply {
  ok: boolean
  status: number
  headers: Headers
  /** Retry-After in seconds; null without one. */
  retry_after_s: number | null
  text: string
  /** The JSON object of the text; null when it is none. */
  body: Members | null
}

export type ObjectReply = JsonReply & { body: Members }

/** Posts JSON text, or reads with GET when `json` is null. Null when no complete answer arrives. */
export async function requestJson(
  path: string,
  json: string | null,
  headers: Readonly<Record<string, string>> = {},
): Promise<JsonReply | null> {
  const sent = json === null ? { headers } : { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: json }
  try {
    const response = await fetch(path, { ...sent, cache: 'no-store' })
    const text = await response.text()
    const wait = response.headers.get('retry-after') ?? ''
    return {
      ok: response.ok,
      status: response.status,
      headers: response.headers,
      retry_after_s: /^\d{1,6}$/.test(wait) ? Number(wait) : null,
      text,
      body: jsonObject(text),
    }
  } catch {
    return null
  }
}

/** Posts a value, or reads with GET when it is null. An answer of another kind counts as none. */
export async function requestObject(path: string, value: unknown, headers?: Readonly<Record<string, string>>): Promise<ObjectReply | null> {
  const reply = await requestJson(path, value === null ? null : JSON.stringify(value), headers)
  return reply === null || reply.body === null ? null : { ...reply, body: reply.body }
}
