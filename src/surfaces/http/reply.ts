import type { AllowanceState } from '../../service/payments/allowance.ts'
import { limits } from '../../service/limits.ts'
import { PROBLEMS, problemBody, type Problem } from '../../service/problems.ts'

/** A response before it meets a transport. */
export interface Reply {
  status: number
  headers: Record<string, string>
  body: string
}

/** Where the service is known to the world; without a final slash. */
export interface Origins {
  base_url: string
  api_url: string
  site_url: string
  mcp_url: string
}

const EXPOSED = [
  'X-Request-Id',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Location',
  'PAYMENT-REQUIRED',
  'PAYMENT-RESPONSE',
  'X-PAYMENT-RESPONSE',
  'Mcp-Session-Id',
  'A2A-Extensions',
  'X-A2A-Extensions',
  'X-Assay-Mode',
].join(', ')

/** On every response: open to every origin, sniffed by none, framed by none. */
const COMMON_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'cross-origin',
}

/** The same with the mark of a deployment where no real money moves, and HSTS where every public origin is https. */
export function commonHeaders(mark: string | null, origins: Origins): Readonly<Record<string, string>> {
  const mode: Record<string, string> = mark === null ? {} : { 'x-assay-mode': mark }
  const secure = [origins.base_url, origins.api_url, origins.site_url, origins.mcp_url].every(isSecure)
  return { ...COMMON_HEADERS, ...mode, ...(secure ? { 'strict-transport-security': `max-age=${limits.hsts_s}` } : {}) }
}

/**
 * RFC 6797 §7.2: no Strict-Transport-Security over plain HTTP. Nor for localhost, whose other ports it would bind too (§8.2 knows hosts, no
 * ports). Subdomains are left out, since they are not this service's.
 */
function isSecure(origin: string): boolean {
  return origin.startsWith('https://') && !/^https:\/\/(?:[^/]*\.)?localhost(?::\d+)?$/.test(origin)
}

/** The answer to a CORS preflight. Clients of x402 send `Access-Control-Expose-Headers` as a request header, so it is allowed too. */
export function corsPreflight(methods: string): Reply {
  const headers = {
    'access-control-allow-methods': methods,
    'access-control-allow-headers':
      'Content-Type, Accept, Authorization, X-PAYMENT, PAYMENT-SIGNATURE, X-CREDIT, X-PREV-RECEIPT-HASH, X-Request-Id, ' +
      'X-ANSWER-TOKEN, SIGN-IN-WITH-X, ' +
      'Idempotency-Key, Access-Control-Expose-Headers, MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, Last-Event-ID, ' +
      'A2A-Version, A2A-Extensions, X-A2A-Extensions',
    'access-control-max-age': '86400',
  }
  return { status: 204, headers, body: '' }
}

export function jsonReply(status: number, body: string, headers: Record<string, string> = {}): Reply {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...headers }, body }
}

/** A problem as `application/problem+json`. */
export function problemReply(found: Problem, request_id: string, origins: Origins, headers: Record<string, string> = {}): Reply {
  const body = JSON.stringify(problemBody(found, request_id, origins.api_url))
  const retry: Record<string, string> = found.retry_after_s === undefined ? {} : { 'retry-after': String(found.retry_after_s) }
  const type = { 'content-type': 'application/problem+json; charset=utf-8', 'cache-control': 'no-store' }
  return { status: PROBLEMS[found.code].status, headers: { ...type, ...retry, ...headers }, body }
}

/** The allowance as RateLimit fields (draft-ietf-httpapi-ratelimit-headers). */
export function rateLimitHeaders(state: AllowanceState): Record<string, string> {
  return {
    'ratelimit-policy': `"daily";q=${state.limit};w=86400`,
    ratelimit: `"daily";r=${state.remaining};t=${state.resets_in_s}`,
  }
}

/** The reply as the web's own type. */
export function response(reply: Reply): Response {
  return new Response(reply.status === 204 ? null : reply.body, { status: reply.status, headers: reply.headers })
}
