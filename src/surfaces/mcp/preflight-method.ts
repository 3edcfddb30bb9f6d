import { isObject } from '../../pure/is-object.ts'
import type { Preflight } from '../../service/preflight/request.ts'
import type { PreflightDesk } from '../preflight/serve.ts'
import type { Message } from '../json-rpc.ts'
import { isPreflight, preflightMessage } from './preflight-message.ts'
import { rpcErrorOf } from './rpc-error.ts'
import type { McpExchange } from './tool-call.ts'
import { STATELESS_VERSION } from './versions.ts'

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
  const done = await checked(desk, message, address)
  if (!done.ok) return Response.json({ jsonrpc: '2.0', id, error: rpcErrorOf(done.problem, request_id, api_url) })
  const stateless = header('mcp-protocol-version') === STATELESS_VERSION
  return Response.json({ jsonrpc: '2.0', id, result: stateless ? { ...done.report, resultType: 'complete' } : done.report })
}

async function checked(desk: PreflightDesk, message: Message, address: string): Promise<Preflight> {
  const refused = desk.refuse(address)
  await desk.turn(address)
  if (refused !== null) return { ok: false, problem: refused }
  if (message.kind === 'whole') return preflightMessage(message, desk.at())
  if (message.preflight === null) throw new Error('a worker read a document to check without checking it')
  return message.preflight
}
