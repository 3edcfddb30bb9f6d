/** JSON-RPC 2.0 (specification of 2013-01-04): which answer belongs to which question, and what an error means. */
import { isObject } from '../../pure/is-object.ts'
import { EndpointFault } from './errors.ts'
import { chainLimits } from '../../service/limits.ts'

export interface RpcCall {
  method: string
  params: readonly unknown[]
}

export interface NodeRpcError {
  ok: false
  code: number
  message: string
  data: unknown
}

/** Answer of the node to one call. The error text is the node's own, for classification only. */
export type RpcAnswer = { ok: true; result: unknown } | NodeRpcError

/** Of a revert. 3: geth and those that follow it; -32015: nethermind, as OpenEthereum had it. */
export const REVERT_CODES: ReadonlySet<number> = new Set([3, -32015])

/** Longest text of a node that is looked at. */
const MESSAGE_CHARS = 500

/**
 * Answers to the calls with ids from `first_id`, in their order. Missing, unknown or repeated answers make the whole response invalid.
 */
export function matchAnswers(found: unknown, first_id: number, count: number): RpcAnswer[] {
  const items: unknown[] = Array.isArray(found) ? found : [found]
  const [only] = items
  // A node that will not read a batch answers with one error, under no id or one of those of the batch.
  const refused = items.length === 1 && isObject(only) && 'error' in only && (count > 1 || (only['id'] ?? null) === null)
  if (refused) throw refusalOf(errorOf(only['error']))
  if (items.length !== count) throw malformed()
  const answers = new Map<unknown, RpcAnswer>()
  for (const item of items) {
    if (!isObject(item)) throw malformed()
    answers.set(item['id'], answerOf(item))
  }
  return Array.from({ length: count }, (_, index) => {
    const answer = answers.get(first_id + index)
    if (answer === undefined) throw malformed()
    if (!answer.ok && isLimit(answer)) throw refusalOf(answer)
    return answer
  })
}

/** The result, for calls whose error does not matter. */
export function resultOf(answer: RpcAnswer | undefined): unknown {
  if (answer === undefined) throw malformed()
  if (!answer.ok) throw refusalOf(answer)
  return answer.result
}

/** With which nodes say that a question was too much for them, alone or in its batch. */
const LONG_WORDS = /too (large|big|wide)|response size|block range/i
const SLOW_WORDS = /timed?[ -]?out/i

/** A fault for an error that is not an answer: the node is well, and will not or cannot serve this question now. */
export function refusalOf(error: NodeRpcError): EndpointFault {
  if (isLimit(error)) return new EndpointFault('limited', 'too many requests', chainLimits.limited_ms)
  const kind = LONG_WORDS.test(error.message) ? 'long' : SLOW_WORDS.test(error.message) ? 'slow' : 'unfit'
  return new EndpointFault(kind, `it refused with error ${error.code}`)
}

export function malformed(): EndpointFault {
  return new EndpointFault('broken', 'an answer that is not what was asked for')
}

function answerOf(item: Record<string, unknown>): RpcAnswer {
  const error = item['error'] ?? null
  if (error !== null) return errorOf(error)
  if (!('result' in item)) throw malformed()
  return { ok: true, result: item['result'] }
}

function errorOf(error: unknown): NodeRpcError {
  if (!isObject(error) || typeof error['code'] !== 'number') throw malformed()
  const message = typeof error['message'] === 'string' ? error['message'].slice(0, MESSAGE_CHARS) : ''
  return { ok: false, code: error['code'], message, data: error['data'] }
}

/** With which providers say that they were asked too often; their words on ranges of logs are others. */
const OFTEN_WORDS = /rate limit|too many requests?\b|\brequests? limit|per second/i

/**
 * EIP-1474 defines -32005; others answer with the HTTP status as the code. Their messages differ from those of range limits on logs, and
 * from revert reasons, which a contract chooses freely.
 */
function isLimit({ code, message }: NodeRpcError): boolean {
  if (code === 429) return true
  if (REVERT_CODES.has(code) || /revert/i.test(message)) return false
  return (code === -32005 && !/range|results|blocks|timed?[ -]?out|size/i.test(message)) || OFTEN_WORDS.test(message)
}
