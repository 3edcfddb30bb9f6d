import { isObject } from '../../pure/is-object.ts'
import { answerText } from '../../service/calls/answer-text.ts'
import { withVerdict } from '../../service/catalogue/bare.ts'
import type { ServeCall } from '../../service/calls/observed.ts'
import type { CallRequest, InputRead, Outcome } from '../../service/calls/outcome.ts'
import type { CreditGiven } from '../../service/credits/given.ts'
import { problem, problemBody, type Problem } from '../../service/problems.ts'
import type { PaymentGiven } from '../../service/payments/payment-header.ts'
import type { ResendSecrets } from '../../service/payments/resends.ts'
import type { Challenge } from '../../service/payments/terms.ts'
import type { PaymentWords } from '../payment.ts'
import { creditIn, paymentsIn, resendSecretsIn } from '../rest.ts'
import { argumentsOf, CALL_INSIDE, innerInputOf, readArguments, readInput, TOOLS_CALL, type Message } from '../json-rpc.ts'
import { CALL_TOOL, FIND_TOOLS, type Finder } from './small.ts'
import type { View } from './view.ts'
import { isMessageFault, rpcErrorOf, type RpcError } from './rpc-error.ts'

/** A request for a call, as far as MCP cares. */
export interface McpExchange {
  readonly message: Message
  readonly request_id: string
  /** Address of the caller, proxies already seen through. */
  readonly address: string
  /** Value of a header by its lower-case name. */
  header(name: string): string | null
  /** What this client is shown; all tools where it is left out. */
  readonly view?: View
}

/** `params` of `tools/call`, as far as they matter here. */
export interface CallParams {
  readonly name: string
  readonly _meta?: Readonly<Record<string, unknown>> | undefined
}

/**
 * How a call ends in MCP: an answer or a problem, both as JSON text inside a result, or an error of the protocol. A problem with x402 terms is
 * also structured content (x402 transports-v2/mcp.md, Payment Required Signaling), which every revision that is served allows.
 */
export type ToolReply =
  | { kind: 'answer'; text: string; meta: ResultMeta | null }
  | { kind: 'problem'; text: string; meta: ResultMeta | null; has_terms?: true }
  | { kind: 'error'; error: RpcError }

/** `_meta` of a result. */
export type ResultMeta = Record<string, unknown>

/** Where clients put an x402 payment: the specification's key, and the one that an earlier client package uses. */
const PAYMENT_KEYS = ['x402/payment', 'x402.payment']
/** The keys of the answers to them. */
const RESPONSE_KEYS = ['x402/payment-response', 'x402.payment-response']
/** Where clients that drop an error's text look for the terms, in the form of version 1. */
const ERROR_KEY = 'x402/error'
const PREVIOUS_KEY = 'assay/prev-receipt-hash'
const CREDIT_KEY = 'assay/credit'
const USE_KEY = 'assay/idempotency-key'
const TOKEN_KEY = 'assay/answer-token'
const SIGN_IN_KEY = 'x402/sign-in-with-x'
const ARGUMENTS = '/params/arguments'

export interface ToolCalls {
  serve: ServeCall
  api_url: string
  words: PaymentWords
  /** Told of accidents, so that they are seen. */
  onFault(error: unknown, tool: string): void
}

/** `tools/call`: translates a message into a call, and its outcome into a reply. Never throws. */
export async function callTool(calls: ToolCalls, params: CallParams, exchange: McpExchange): Promise<ToolReply> {
  const { serve, api_url, onFault } = calls
  const { request_id, view } = exchange
  try {
    if (view?.finder && params.name === FIND_TOOLS) return finderReply(view.finder, exchange, api_url)
    const request = view?.finder && params.name === CALL_TOOL ? innerRequest(params, exchange) : callRequest(params, exchange)
    return outcomeReply(calls, await serve(request, request_id), request_id, params.name)
  } catch (error) {
    onFault(error, params.name)
    return { kind: 'error', error: rpcErrorOf(problem('INTERNAL_ERROR', 'The fault is ours and has been noted.'), request_id, api_url) }
  }
}

function callRequest({ name, _meta: meta = {} }: CallParams, { message, address, header }: McpExchange): CallRequest {
  const previous = meta[PREVIOUS_KEY]
  return {
    tool: name,
    address,
    payments: paymentsOf(meta, header),
    credit: creditOf(meta, header),
    secrets: resendSecretsOf(meta, header),
    traceparent: header('traceparent'),
    // What is no text is handed on as a text that no receipt hash equals, so that it is refused and not overlooked.
    prev_receipt_hash: previous === undefined ? null : typeof previous === 'string' ? previous : '',
    read: (bounds) => readArguments(message, bounds),
  }
}

/** Whether the message is a call that brings what may pay for it. */
export function bringsPayment({ message, header }: McpExchange): boolean {
  if (!TOOLS_CALL.calls(message.value)) return false
  const params = isObject(message.value) ? message.value['params'] : undefined
  const given = isObject(params) ? params['_meta'] : undefined
  const meta = isObject(given) ? given : {}
  return paymentsOf(meta, header).length > 0 || creditOf(meta, header) !== null
}

function finderReply(finder: Finder, { message, request_id }: McpExchange, api_url: string): ToolReply {
  const found = finder(argumentsOf(message.value))
  return found.ok
    ? { kind: 'answer', text: JSON.stringify(found.value), meta: null }
    : problemReply(found.problem, request_id, api_url, ARGUMENTS)
}

/** The call inside `call_tool`: from here on it is a call of that tool. */
function innerRequest(params: CallParams, exchange: McpExchange): CallRequest {
  const { message } = exchange
  const given = argumentsOf(message.value)
  const name = isObject(given) && typeof given['tool'] === 'string' ? given['tool'] : ''
  const strays = isObject(given) && Object.keys(given).some((key) => key !== 'tool' && key !== 'input')
  const read: CallRequest['read'] = (bounds) => (strays ? STRAYS : readInput(message, bounds, CALL_INSIDE, innerInputOf))
  return { ...callRequest({ ...params, name }, exchange), read }
}

const STRAY_WORDS = `${CALL_TOOL} takes tool and input, and nothing else; the fields of the tool go under input.`
const STRAYS: InputRead = {
  ok: false,
  problem: problem('INPUT_SCHEMA_INVALID', STRAY_WORDS, { errors: [{ pointer: ARGUMENTS, code: 'unknown_field', message: STRAY_WORDS }] }),
}

/** A prepaid code and its key, in the message or in headers; each is looked for in the message first. */
export function creditOf(meta: Readonly<Record<string, unknown>>, header: McpExchange['header']): CreditGiven | null {
  const beside = creditIn(header)
  const code = textIn(meta, CREDIT_KEY) ?? beside?.code ?? null
  return code === null ? null : { code, key: textIn(meta, USE_KEY) ?? header('idempotency-key') }
}

/** Secrets that open the answer of a payment sent before, in the message or in headers. */
export function resendSecretsOf(meta: Readonly<Record<string, unknown>>, header: McpExchange['header']): ResendSecrets {
  const beside = resendSecretsIn(header)
  return { answer_token: textIn(meta, TOKEN_KEY) ?? beside.answer_token, sign_in: textIn(meta, SIGN_IN_KEY) ?? beside.sign_in }
}

/** What is no text is handed on as one that is refused, so that it is not overlooked. */
function textIn(meta: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = meta[name]
  return value === undefined ? null : typeof value === 'string' ? value : ''
}

/** A payment in the message, or in a header as over REST: then even a large message is read for it. */
function paymentsOf(meta: Readonly<Record<string, unknown>>, header: McpExchange['header']): PaymentGiven[] {
  const inside = PAYMENT_KEYS.filter((key) => Object.hasOwn(meta, key)).map((key): PaymentGiven => ({ kind: 'value', value: meta[key] }))
  return [...inside, ...paymentsIn(header)]
}

function outcomeReply({ api_url, words }: ToolCalls, outcome: Outcome, request_id: string, called: string): ToolReply {
  const place = called === CALL_TOOL ? `${ARGUMENTS}/input` : ARGUMENTS
  switch (outcome.kind) {
    case 'answered':
      return { kind: 'answer', text: answerText(outcome.answer), meta: null }
    case 'paid': {
      const response = words.response(outcome.settlement)
      const meta = response === null ? null : Object.fromEntries(RESPONSE_KEYS.map((key) => [key, response]))
      return { kind: 'answer', text: outcome.text, meta }
    }
    case 'payment_required': {
      const reply = problemReply(withVerdict(outcome.tool, outcome.problem), request_id, api_url, place)
      const challenge = words.challenge(outcome)
      return challenge === null || reply.kind === 'error' ? reply : withTerms(reply.text, challenge)
    }
    case 'pending':
    case 'refused':
      return problemReply(withVerdict(outcome.tool, outcome.problem), request_id, api_url, place)
  }
}

/** The problem with the terms of version 2 beside it, as text and as structured content, and those of version 1 in `_meta`. */
function withTerms(problem_text: string, { required_json, body_members_json }: Challenge): ToolReply {
  return {
    kind: 'problem',
    text: `${required_json.slice(0, -1)},${problem_text.slice(1)}`,
    meta: { [ERROR_KEY]: JSON.parse(`{${body_members_json}}`) as unknown },
    has_terms: true,
  }
}

/** A broken message is an error of JSON-RPC; everything else goes to the model, which can mend its input, wait or pay. */
function problemReply(found: Problem, request_id: string, api_url: string, place: string): ToolReply {
  const here = { ...found, errors: found.errors.map((error) => ({ ...error, pointer: pointerInMessage(error.pointer, place) })) }
  if (isMessageFault(found)) return { kind: 'error', error: rpcErrorOf(here, request_id, api_url) }
  return { kind: 'problem', text: JSON.stringify(problemBody(here, request_id, api_url)), meta: null }
}

/** REST holds the arguments under `input`. */
function pointerInMessage(pointer: string, place: string): string {
  return pointer.replace(/^\/input(?=\/|$)/, () => place)
}
