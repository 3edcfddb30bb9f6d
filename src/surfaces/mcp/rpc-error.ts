import { type Problem, problemBody, type ProblemCode, PROBLEMS } from '../../service/problems.ts'
import { localhostAllowedHostnames, validateHostHeader, validateOriginHeader } from '@modelcontextprotocol/server'
import type { Origins } from '../http/reply.ts'

/** Error of JSON-RPC 2.0; `data` is the problem that REST would return. */
export interface RpcError {
  code: number
  message: string
  data?: Record<string, unknown>
}

const INTERNAL = -32603

/** Problems that are JSON-RPC errors instead of results (JSON-RPC 2.0 §5.1; MCP, tools, error handling). */
const MESSAGE_FAULTS: Partial<Record<ProblemCode, number>> = {
  PARSE_ERROR: -32700,
  NOT_UTF8: -32700,
  CONTENT_ENCODING_REFUSED: -32700,
  DUPLICATE_KEY: -32600,
  LONE_SURROGATE: -32600,
  FORBIDDEN_KEY: -32600,
  UNSAFE_NUMBER: -32600,
  JSON_TOO_DEEP: -32600,
  JSON_TOO_MANY_NODES: -32600,
  PAYLOAD_TOO_LARGE: -32600,
  TOOL_NOT_FOUND: -32602,
  METHOD_NOT_ALLOWED: -32000,
  PREFLIGHT_REQUEST_INVALID: -32602,
  PREFLIGHT_BOUND_EXCEEDED: -32602,
  PREFLIGHT_RATE_LIMITED: -32000,
}

export function isMessageFault({ code }: Problem): boolean {
  return code in MESSAGE_FAULTS
}

export function rpcErrorOf(found: Problem, request_id: string, api_url: string): RpcError {
  const code = MESSAGE_FAULTS[found.code] ?? INTERNAL
  return { code, message: PROBLEMS[found.code].title, data: problemBody(found, request_id, api_url) }
}

/** Error response to a message whose id is unknown, with its HTTP status. */
export function rpcErrorResponse(status: number, error: RpcError, headers: Record<string, string> = {}): Response {
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status, headers })
}

/** Response to a request that was refused before its message was read. */
export function refusalResponse(found: Problem, origins: Origins, request_id: string, headers: Record<string, string> = {}): Response {
  const retry: Record<string, string> = found.retry_after_s === undefined ? {} : { 'retry-after': String(found.retry_after_s) }
  return rpcErrorResponse(PROBLEMS[found.code].status, rpcErrorOf(found, request_id, origins.api_url), { ...headers, ...retry })
}

/** Returns true if a request with this Host and Origin is admitted. */
type Guard = (host: string, origin: string | null) => boolean

/**
 * Protection against DNS rebinding (MCP specification, Streamable HTTP, security warning): a web page can point its own name at this
 * machine and must not reach a local service. On a local deployment, Host and Origin must therefore both name this machine. A deployment
 * with a public origin is open to all pages, uses no ambient credentials and may be behind proxies that rewrite Host, so it admits every
 * request. Errs towards refusing on a local deployment.
 */
export function createGuard(origins: Origins): Guard {
  const own = Object.values(origins).map((origin) => new URL(origin).hostname)
  if (!own.every(isLoopback)) return () => true
  const known = [...localhostAllowedHostnames(), ...own]
  return (host, origin) => validateHostHeader(host, known).ok && validateOriginHeader(origin, known).ok
}

/** RFC 5735 §3: 127.0.0.0/8 is the loopback network. */
function isLoopback(hostname: string): boolean {
  return localhostAllowedHostnames().includes(hostname) || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}
