import type { Context } from 'hono'
import { accepts } from 'hono/accepts'
import type { BodyAccount } from '../../service/admission/bodies.ts'
import { limits } from '../../service/limits.ts'
import type { AllowanceState } from '../../service/payments/allowance.ts'
import { problemBody, PROBLEMS, type Problem } from '../../service/problems.ts'

/** Response independent of the transport. */
export interface Reply {
  status: number
  headers: Record<string, string>
  body: string
}

/** Public origins of the service, without a final slash. */
export interface Origins {
  base_url: string
  api_url: string
  site_url: string
  mcp_url: string
}

const EXPOSED = [
  'X-Request-Id',
  'X-Client-Request-Id',
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

/** Headers of every response: any origin may read it, content types are not sniffed, and no page may frame it. */
const COMMON_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'cross-origin',
}

/** Common headers with the mode if no real money moves, and HSTS if every public origin uses https. */
export function commonHeaders(mark: string | null, origins: Origins): Readonly<Record<string, string>> {
  const mode: Record<string, string> = mark === null ? {} : { 'x-assay-mode': mark }
  const secure = [origins.base_url, origins.api_url, origins.site_url, origins.mcp_url].every(isSecure)
  return { ...COMMON_HEADERS, ...mode, ...(secure ? { 'strict-transport-security': `max-age=${limits.hsts_s}` } : {}) }
}

/**
 * RFC 6797 §7.2: no Strict-Transport-Security over plain HTTP. Also not for localhost, because it would apply to its other ports (§8.2:
 * hosts, not ports). Subdomains are excluded, because they may belong to other services.
 */
function isSecure(origin: string): boolean {
  return origin.startsWith('https://') && !/^https:\/\/(?:[^/]*\.)?localhost(?::\d+)?$/.test(origin)
}

/** Answer to a CORS preflight. Clients of x402 send `Access-Control-Expose-Headers` as a request header, so it is allowed too. */
export function corsPreflight(methods: string): Reply {
  const headers = {
    'access-control-allow-methods': methods,
    'access-control-allow-headers':
      'Content-Type, Accept, Authorization, X-PAYMENT, PAYMENT-SIGNATURE, X-CREDIT, X-PREV-RECEIPT-HASH, X-Request-Id, X-Client-Request-Id, ' +
      'X-ANSWER-TOKEN, SIGN-IN-WITH-X, X-Detail, ' +
      'Idempotency-Key, Access-Control-Expose-Headers, MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, Last-Event-ID, ' +
      'A2A-Version, A2A-Extensions, X-A2A-Extensions',
    'access-control-max-age': '86400',
  }
  return { status: 204, headers, body: '' }
}

export function jsonReply(status: number, body: string, headers: Record<string, string> = {}): Reply {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...headers }, body }
}

export function problemReply(found: Problem, request_id: string, origins: Origins, headers: Record<string, string> = {}): Reply {
  const body = JSON.stringify(problemBody(found, request_id, origins.api_url))
  const retry: Record<string, string> = found.retry_after_s === undefined ? {} : { 'retry-after': String(found.retry_after_s) }
  const type = { 'content-type': 'application/problem+json; charset=utf-8', 'cache-control': 'no-store' }
  return { status: PROBLEMS[found.code].status, headers: { ...type, ...retry, ...headers }, body }
}

export function rateLimitHeaders(state: AllowanceState): Record<string, string> {
  return {
    'ratelimit-policy': `"daily";q=${state.limit};w=86400`,
    ratelimit: `"daily";r=${state.remaining};t=${state.resets_in_s}`,
  }
}

export function response(reply: Reply): Response {
  return new Response(reply.status === 204 ? null : reply.body, { status: reply.status, headers: reply.headers })
}

/** Facts about a request from the server. */
export interface Env {
  Bindings: {
    /** Address of the peer. */
    peer: string
    request_id: string
    /** The caller's own name of the request; null for none. */
    client_request_id: string | null
    /** Memory reserved for its body; absent without a body or a connection. */
    body_account?: BodyAccount | undefined
  }
}

const JSON_FORM = 'application/json'
const PAGE_FORM = 'text/html'

/**
 * Returns true if the client prefers a page to JSON (RFC 9110 §12.5.1). Each form has the weight of the most specific range that matches
 * it. Equal weights: the more specific range wins, then `usual`.
 */
export function wantsPage(context: Context, usual: 'json' | 'page' = 'json'): boolean {
  const form = usual === 'page' ? PAGE_FORM : JSON_FORM
  return accepts(context, { header: 'Accept', supports: [JSON_FORM, PAGE_FORM], default: form, match: preferredForm }) === PAGE_FORM
}

interface AcceptRange {
  type: string
  q: number
}

function preferredForm(ranges: readonly AcceptRange[], { default: usual }: { default: string }): string {
  const [page, json] = [bestMatch(PAGE_FORM, ranges), bestMatch(JSON_FORM, ranges)]
  const ahead = page.weight - json.weight || page.closeness - json.closeness
  if (ahead === 0) return usual
  return ahead > 0 ? PAGE_FORM : JSON_FORM
}

function bestMatch(form: string, ranges: readonly AcceptRange[]): { weight: number; closeness: number } {
  const matching = ['*/*', `${form.slice(0, form.indexOf('/'))}/*`, form]
  for (const [closeness, range] of [...matching.entries()].toReversed()) {
    const found = ranges.find(({ type }) => type.toLowerCase() === range)
    if (found !== undefined) return { weight: found.q, closeness: found.q === 0 ? 0 : closeness }
  }
  return { weight: 0, closeness: 0 }
}

/** Bytes of a response that count as one turn in the queue. */
const TURN_BYTES = 65_536

/** Waits in the queue in proportion to the length of the response, because writing a long one takes as long as several short ones. */
export async function afterTurns(answer: Response, turn: () => Promise<unknown>): Promise<Response> {
  const bytes = Number(answer.headers.get('content-length'))
  for (let written = TURN_BYTES; written < bytes; written += TURN_BYTES) await turn()
  return answer
}
