import { limits } from '../../service/limits.ts'

/** Names of one request. */
export interface RequestIds {
  /** Made here for each request, so that no two requests share one and no caller chooses it. */
  request_id: string
  /** The caller's own name of the request; null for none. */
  client_request_id: string | null
}

/**
 * Returns the caller's own name of a request from `X-Client-Request-Id`, or from `X-Request-Id`, which proxies and clients send. It is
 * returned in `X-Client-Request-Id` and logged in addition to the id that was made here. Null for a name with other characters than letters,
 * digits, - and _, or a longer one than `limits.request_id_chars`.
 */
export function clientRequestId(header: (name: string) => string | null): string | null {
  const text = header('x-client-request-id') ?? header('x-request-id')
  return text !== null && text.length <= limits.request_id_chars && /^[\w-]+$/.test(text) ? text : null
}

export function requestIds(header: (name: string) => string | null): RequestIds {
  return { request_id: crypto.randomUUID(), client_request_id: clientRequestId(header) }
}

/** Headers of a response that name its request. */
export function requestIdHeaders({ request_id, client_request_id }: RequestIds): Record<string, string> {
  return client_request_id === null
    ? { 'x-request-id': request_id }
    : { 'x-request-id': request_id, 'x-client-request-id': client_request_id }
}
