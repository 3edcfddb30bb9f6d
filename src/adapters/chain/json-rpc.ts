/** JSON-RPC 2.0 (specification of 2013-01-04): which answer belongs to which question, and what an error means. */
import { isObject } from '../../pure/is-object.ts'
import { EndpointFault } from './errors.ts'
import { chainLimits } from '../../service/limits.ts'
import type { ChainReadResult, SendResult } from '../../ports/chain.ts'
import { decodeRevert, type RevertReason } from '../../pure/payments/token-calls.ts'

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
const REVERT_CODES: ReadonlySet<number> = new Set([3, -32015])

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
function refusalOf(error: NodeRpcError): EndpointFault {
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

type Revert = Extract<ChainReadResult, { ok: false }>

/**
 * Ends of a run without REVERT: they too are what the contract did, and the same on every node. The words of go-ethereum (core/vm/errors.go);
 * reth and anvil name them after `EVM error`, the one with a colon.
 */
const REVERT_WORDS: readonly RegExp[] = [
  /\brevert(ed)?\b/i,
  /\bout of gas\b|\bgas uint64 overflow\b/i,
  /\binvalid (opcode|jump|code)|\bbad jump/i,
  /\bstack (underflow|overflow|limit)/i,
  /\bwrite protection\b|\breturn data out of bounds\b/i,
  /\bmax ((init)?code size|call depth) exceeded\b/i,
  /\bEVM error:? (?!database|fatal|custom)/i,
]

/**
 * Data that a call returned. A few nodes return the data of a revert like a result (geth up to 1.9.13 and its derivatives): read as a
 * number they would be an enormous balance. No function returns exactly an encoded Error(string) or Panic(uint256).
 */
export function returnedData(data: string): ChainReadResult {
  const reason = decodeRevert(data)
  return reason.kind === 'text' || reason.kind === 'panic' ? reverted(data, reason) : { ok: true, data }
}

/** A revert as a value; null when the error says nothing about the contract. */
export function revertReason(error: NodeRpcError): Revert | null {
  if (!REVERT_CODES.has(error.code) && !REVERT_WORDS.some((words) => words.test(error.message))) return null
  const revert = revertData(error.data) ?? '0x'
  return reverted(revert, decodeRevert(revert), error.message)
}

function reverted(revert: string, reason: RevertReason, said = ''): Revert {
  switch (reason.kind) {
    case 'text':
      return { ok: false, revert, message: reason.text }
    case 'panic':
      return { ok: false, revert, message: `panic ${reason.code}` }
    case 'custom':
      return { ok: false, revert, message: `custom error ${reason.selector}` }
    case 'none':
      return { ok: false, revert, message: /out ?of ?gas/i.test(said) ? 'out of gas' : 'no reason given' }
  }
}

/** The data may be plain, after a word (`Reverted 0x…`), or inside one or two objects. */
function revertData(data: unknown, depth = 0): string | null {
  if (typeof data === 'string') return /^(?:Reverted )?(0x(?:[0-9a-f]{2})*)$/i.exec(data)?.[1]?.toLowerCase() ?? null
  if (!isObject(data) || depth === 2) return null
  return revertData(data['data'], depth + 1) ?? revertData(data['output'], depth + 1) ?? revertData(data['result'], depth + 1)
}

const KNOWN = /already known|alreadyknown|known transaction|already imported|already in (the )?(mem|tx)?pool|already exists/i
const NONCE_USED = /nonce (is )?too low|nonce too small|oldnonce|nonce has already been used/i
const UNDERPRICED = /replacement.*underpriced|underpriced.*replacement|replacement ?not ?allowed|gas price too low to replace/i
/** The node is in trouble, or some machine between: nothing follows for the transaction. */
const TROUBLE = /time(d)?[ -]?out|unavailable|internal|not (yet )?synced|syncing|connection/i
const TROUBLE_CODES: ReadonlySet<number> = new Set([-32601, -32603, -32700, -32005])

/** First that fits; our words for the operator, since a node's own may hold anything. */
const REFUSALS: readonly (readonly [RegExp, string])[] = [
  [/insufficient (funds|balance)|insufficientfunds|upfront cost|sender.*balance/i, 'the account cannot pay for the gas'],
  [/nonce too high|nonce.*(gap|distant|far)|nonceGap/i, 'the account nonce is too far ahead'],
  [/max ?fee|fee ?cap|base ?fee|underpriced|fee ?too ?low|gas ?price.*(low|below|minimum)/i, 'the fee is below what the node takes'],
  [/gas limit|intrinsic gas|exceeds block/i, 'the gas limit is not one that the node takes'],
  [/pool is full|txpool.*full|too many/i, 'the pool is full'],
  [/chain ?id|replay.?protect/i, 'it is signed for another chain'],
  [/sender|signature|decode|rlp|invalid transaction/i, 'it cannot be read as a signed transaction'],
]

/** Classifies the answer of a node to a raw transaction. Throws an EndpointFault when the answer leaves open whether it was accepted. */
export function sendOutcome(error: NodeRpcError): SendResult {
  const { message, code } = error
  if (KNOWN.test(message)) return { kind: 'known' }
  if (NONCE_USED.test(message)) return { kind: 'nonce_used' }
  if (UNDERPRICED.test(message)) return { kind: 'underpriced' }
  const refusal = REFUSALS.find(([words]) => words.test(message))?.[1]
  if (refusal !== undefined) return { kind: 'refused', message: refusal }
  if (TROUBLE_CODES.has(code) || TROUBLE.test(message)) throw refusalOf(error)
  return { kind: 'refused', message: `for a reason that is not known here (error ${code})` }
}
