import { decodeUtf8 } from '../../pure/documents/strict-json.ts'
import { readDocument } from '../../pure/protocols/read-document.ts'
import { limits } from '../../service/limits.ts'
import { BODY_BOUNDS, type Preflight } from '../../service/preflight/request.ts'
import { problem, type Problem } from '../../service/problems.ts'
import type { PreflightDesk } from '../preflight/serve.ts'
import { isObject } from './message.ts'
import { rpcErrorOf } from './rpc-error.ts'
import type { McpExchange } from './tool-call.ts'
import { STATELESS_VERSION } from './versions.ts'

/** The method beside the tools: the preflight is free and has no receipt, so it is no tool. */
export const PREFLIGHT_METHOD = 'assay/preflight'

/** What a message adds around the body of `POST /v1/protocols/check`. */
const MESSAGE_BOUNDS = { depth: BODY_BOUNDS.depth + 1, nodes: BODY_BOUNDS.nodes + 256 }

/** Such a message may hold whatever REST checks, numbers that readers round among it. */
export const PREFLIGHT_MESSAGES = { bounds: { ...MESSAGE_BOUNDS, unsafe_numbers: 'keep_text' }, reads: isPreflight } as const

export function isPreflight(message: unknown): boolean {
  return isObject(message) && message['method'] === PREFLIGHT_METHOD && message['jsonrpc'] === '2.0'
}

/**
 * Answers `assay/preflight`, whose `params` are the body of `POST /v1/protocols/check`; null for every other message. The result is the
 * report; what REST would answer with a problem is an error with the problem as its data.
 */
export function answerPreflight(desk: PreflightDesk, exchange: McpExchange, api_url: string): Promise<Response> | null {
  const { value } = exchange.message
  if (!isObject(value) || !isPreflight(value)) return null
  return answered(desk, value['id'], exchange, api_url)
}

async function answered(desk: PreflightDesk, id: unknown, exchange: McpExchange, api_url: string): Promise<Response> {
  const { message, request_id, address, header } = exchange
  // A notification wants no answer, and without one there is nothing to do.
  if (typeof id !== 'string' && typeof id !== 'number') return new Response(null, { status: 202 })
  const done = await checked(desk, message.bytes, address)
  if (!done.ok) return Response.json({ jsonrpc: '2.0', id, error: rpcErrorOf(done.problem, request_id, api_url) })
  const stateless = header('mcp-protocol-version') === STATELESS_VERSION
  return Response.json({ jsonrpc: '2.0', id, result: stateless ? { ...done.report, resultType: 'complete' } : done.report })
}

async function checked(desk: PreflightDesk, bytes: Uint8Array, address: string): Promise<Preflight> {
  const refused = desk.refuse(address)
  await desk.turn()
  if (refused !== null) return { ok: false, problem: refused }
  if (bytes.length > limits.preflight_body_bytes) return { ok: false, problem: tooLarge() }
  // Read anew, with the literals of its numbers; that it is JSON within bounds was found before.
  const read = readDocument(decodeUtf8(bytes) ?? '', MESSAGE_BOUNDS)
  if (!read.ok) return { ok: false, problem: problem('PARSE_ERROR', read.message) }
  const params = isObject(read.value) ? read.value['params'] : undefined
  if (!isObject(params)) return desk.check({ value: params, literals: read.literals })
  const { _meta: _, ...body } = params
  return desk.check({ value: body, literals: read.literals })
}

function tooLarge(): Problem {
  return problem('PAYLOAD_TOO_LARGE', `A preflight reads messages of at most ${limits.preflight_body_bytes} bytes.`)
}
