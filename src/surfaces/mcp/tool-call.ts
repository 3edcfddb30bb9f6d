import { isObject } from '../../pure/is-object.ts'
import { answerText } from '../../service/calls/answer.ts'
import { type BriefParts, briefText, readBriefParts, type Detail } from '../../service/catalogue/brief.ts'
import type { Catalogue } from '../../service/catalogue/load.ts'
import type { SchemaList } from '../../service/catalogue/wire-schemas.ts'
import { withVerdict } from '../../service/catalogue/decode.ts'
import type { ServeCall } from '../../service/calls/instrumented-call.ts'
import type { CallRequest, InputRead, Outcome } from '../../service/calls/outcome.ts'
import { problem, problemBody, type Problem } from '../../service/problems.ts'
import type { PaymentCredential } from '../../service/payments/payment-header.ts'
import type { Challenge } from '../../service/payments/terms.ts'
import type { PaymentRenderer } from '../payment.ts'
import { creditIn, DETAIL_KEY, detailIn, paymentsIn, resendSecretsIn, unknownDetail } from '../rest.ts'
import { argumentsOf, readNestedInput, readToolArguments, TOOLS_CALL, type MessageExchange } from '../json-rpc.ts'
import { clientRequestId } from '../http/request-ids.ts'
import { CALL_TOOL, isFindTool, listPage, type ToolView } from './tool-list.ts'
import { isMessageFault, rpcErrorOf, type RpcError } from './rpc-error.ts'
import { ProtocolError, Server, type CallToolResult, type Implementation } from '@modelcontextprotocol/server'

/** One MCP request. */
export interface McpExchange extends MessageExchange {
  /** Tools that this client sees; all tools if absent. */
  readonly view?: ToolView
}

/** `params` of `tools/call`. */
export interface CallParams {
  readonly name: string
  readonly _meta?: Readonly<Record<string, unknown>> | undefined
}

/**
 * Result of `tools/call`: an answer or a problem, or a JSON-RPC error. `content` is the text that models read, `structured` the JSON text of the
 * structured content. A problem has that only with x402 terms (x402 transports-v2/mcp.md, Payment Required Signaling), which every supported
 * revision allows.
 */
export type ToolReply =
  | { kind: 'answer'; content: string; structured: string; meta: Record<string, unknown> | null }
  | { kind: 'problem'; content: string; structured: string | null; meta: Record<string, unknown> | null }
  | { kind: 'error'; error: RpcError }

/** Keys of an x402 payment: that of the specification and that of an earlier client package. */
const PAYMENT_KEYS = ['x402/payment', 'x402.payment']
/** Keys of the settlement response. */
const RESPONSE_KEYS = ['x402/payment-response', 'x402.payment-response']
/** Key of the terms in version 1, for clients that drop the text of an error. */
const ERROR_KEY = 'x402/error'
const PREVIOUS_KEY = 'assay/prev-receipt-hash'
const ARGUMENTS = '/params/arguments'

export interface ToolCalls {
  serve: ServeCall
  /** Tools with their schemas, from which brief answers are made. */
  catalogue: Pick<Catalogue, 'find'>
  schemas: SchemaList
  api_url: string
  words: PaymentRenderer
  /** Reports a fault. */
  onFault(error: unknown, tool: string): void
}

/** `tools/call`: converts a message to a call and the outcome to a reply. Never throws. */
export async function callTool(calls: ToolCalls, params: CallParams, exchange: McpExchange): Promise<ToolReply> {
  const { serve, api_url, onFault } = calls
  const { request_id, view } = exchange
  try {
    if (view?.find && isFindTool(params.name)) return finderReply(view.find, exchange, api_url)
    const { _meta: meta = {} } = params
    const detail = detailIn({ ...exchange, meta }, 'brief')
    if (detail === null) return problemReply(unknownDetail(DETAIL_POINTER), request_id, api_url, ARGUMENTS)
    const request = view?.find && params.name === CALL_TOOL ? nestedRequest(params, exchange) : callRequest(params, exchange)
    return outcomeReply(calls, await serve(request, request_id), { request_id, called: params.name, detail })
  } catch (error) {
    onFault(error, params.name)
    return { kind: 'error', error: rpcErrorOf(problem('INTERNAL_ERROR', 'Internal error; it was logged.'), request_id, api_url) }
  }
}

function callRequest({ name, _meta: meta = {} }: CallParams, { message, address, header }: McpExchange): CallRequest {
  const previous = meta[PREVIOUS_KEY]
  return {
    tool: name,
    address,
    payments: paymentsOf(meta, header),
    credit: creditIn(header, meta),
    secrets: resendSecretsIn(header, meta),
    traceparent: header('traceparent'),
    client_request_id: clientRequestId(header),
    // A value that is not text becomes an empty text, which is refused as a receipt hash instead of being ignored.
    prev_receipt_hash: previous === undefined ? null : typeof previous === 'string' ? previous : '',
    read: (bounds) => readToolArguments(message, bounds),
  }
}

/** Returns true for a call that carries a payment or a credit. */
export function hasCredential({ message, header }: McpExchange): boolean {
  if (!TOOLS_CALL.isCall(message.value)) return false
  const params = isObject(message.value) ? message.value['params'] : undefined
  const given = isObject(params) ? params['_meta'] : undefined
  const meta = isObject(given) ? given : {}
  return paymentsOf(meta, header).length > 0 || creditIn(header, meta) !== null
}

function finderReply(finder: NonNullable<ToolView['find']>, { message, request_id }: McpExchange, api_url: string): ToolReply {
  const found = finder(argumentsOf(message.value))
  return found.ok
    ? { kind: 'answer', content: found.brief, structured: JSON.stringify(found.value), meta: null }
    : problemReply(found.problem, request_id, api_url, ARGUMENTS)
}

/** Converts `call_tool` to a call of the tool that it names. */
function nestedRequest(params: CallParams, exchange: McpExchange): CallRequest {
  const { message } = exchange
  const given = argumentsOf(message.value)
  const name = isObject(given) && typeof given['tool'] === 'string' ? given['tool'] : ''
  const strays = isObject(given) && Object.keys(given).some((key) => key !== 'tool' && key !== 'input')
  const read: CallRequest['read'] = (bounds) => (strays ? UNKNOWN_ARGUMENTS : readNestedInput(message, bounds))
  return { ...callRequest({ ...params, name }, exchange), read }
}

const UNKNOWN_ARGUMENTS_TEXT = `${CALL_TOOL} accepts only tool and input. Put the fields of the tool under input.`
const UNKNOWN_ARGUMENTS: InputRead = {
  ok: false,
  problem: problem('INPUT_SCHEMA_INVALID', UNKNOWN_ARGUMENTS_TEXT, {
    errors: [{ pointer: ARGUMENTS, code: 'unknown_field', message: UNKNOWN_ARGUMENTS_TEXT }],
  }),
}

/** Payments in the message and in the headers; only a payment header is known before a long message is read. */
function paymentsOf(meta: Readonly<Record<string, unknown>>, header: McpExchange['header']): PaymentCredential[] {
  const inside = PAYMENT_KEYS.filter((key) => Object.hasOwn(meta, key)).map((key): PaymentCredential => ({
    kind: 'value',
    value: meta[key],
  }))
  return [...inside, ...paymentsIn(header)]
}

export const DETAIL_POINTER = `/params/_meta/${DETAIL_KEY.replace('/', '~1')}`

/** Answer whose text for models is brief, or the JSON text itself. */
export function answerReply(
  { catalogue, schemas }: Pick<ToolCalls, 'catalogue' | 'schemas'>,
  { tool: tool_id, detail, text }: { tool: string; detail: Detail; text: string },
  parts: () => BriefParts,
): Extract<ToolReply, { kind: 'answer' }> {
  const tool = catalogue.find(tool_id)
  const is_brief = detail === 'brief' && tool !== undefined
  return { kind: 'answer', content: is_brief ? briefText(tool, schemas.get(tool.id)?.output, parts()) : text, structured: text, meta: null }
}

interface ReplyContext {
  request_id: string
  /** Name of the called tool, which may be call_tool. */
  called: string
  detail: Detail
}

function outcomeReply(calls: ToolCalls, outcome: Outcome, { request_id, called, detail }: ReplyContext): ToolReply {
  const { api_url, words } = calls
  const place = called === CALL_TOOL ? `${ARGUMENTS}/input` : ARGUMENTS
  switch (outcome.kind) {
    case 'answered': {
      const { tool, answer } = outcome
      return answerReply(calls, { tool, detail, text: answerText(answer) }, () => ({ ...answer, settlement: null }))
    }
    case 'paid': {
      const { tool, text } = outcome
      const response = words.response(outcome.settlement)
      const meta = response === null ? null : Object.fromEntries(RESPONSE_KEYS.map((key) => [key, response]))
      return { ...answerReply(calls, { tool, detail, text }, () => readBriefParts(text)), meta }
    }
    case 'payment_required': {
      const reply = problemReply(withVerdict(outcome.tool, outcome.problem), request_id, api_url, place)
      const challenge = words.challenge(outcome)
      return challenge === null || reply.kind === 'error' ? reply : withTerms(reply.content, challenge)
    }
    case 'pending':
    case 'refused':
      return problemReply(withVerdict(outcome.tool, outcome.problem), request_id, api_url, place)
  }
}

/** Problem with the terms of version 2, as text and as structured content, and those of version 1 in `_meta`. */
function withTerms(problem_text: string, { required_json, body_members_json }: Challenge): ToolReply {
  const text = `${required_json.slice(0, -1)},${problem_text.slice(1)}`
  return { kind: 'problem', content: text, structured: text, meta: { [ERROR_KEY]: JSON.parse(`{${body_members_json}}`) as unknown } }
}

/** A malformed message is a JSON-RPC error; other problems go to the model, which can correct its input, wait or pay. */
function problemReply(found: Problem, request_id: string, api_url: string, place: string): ToolReply {
  const here = { ...found, errors: found.errors.map((error) => ({ ...error, pointer: pointerInMessage(error.pointer, place) })) }
  if (isMessageFault(found)) return { kind: 'error', error: rpcErrorOf(here, request_id, api_url) }
  return { kind: 'problem', content: JSON.stringify(problemBody(here, request_id, api_url)), structured: null, meta: null }
}

/** Replaces `/input` of REST by the place of the arguments in the message. */
function pointerInMessage(pointer: string, place: string): string {
  return pointer.replace(/^\/input(?=\/|$)/, () => place)
}

/** Cache lifetime of the tool list and server description for clients of 2026-07-28; both change only with a release. */
const CACHE = { ttlMs: 300_000, cacheScope: 'public' } as const

const INVALID_PARAMS = -32602

/** Server of tools for any transport. */
export interface ToolServerParts {
  identity: Implementation
  instructions: string
  view(): Pick<ToolView, 'listed' | 'page'>
  call(params: CallParams & { readonly arguments?: unknown }): Promise<ToolReply>
}

export function createToolServer({ identity, instructions, view, call }: ToolServerParts): Server {
  const server = new Server(identity, {
    capabilities: { tools: {} },
    instructions,
    // The SDK's handler adds the stateless revision.
    supportedProtocolVersions: HANDSHAKE_VERSIONS,
    cacheHints: { 'tools/list': CACHE, 'server/discover': CACHE },
  })
  server.setRequestHandler('tools/list', ({ params }) => {
    // MCP, pagination, error handling: unknown cursors are invalid params.
    const page = listPage(view(), params?.cursor)
    if (page === null)
      throw new ProtocolError(INVALID_PARAMS, 'Unknown cursor. Send nextCursor of the page before, or none for the first page.')
    return page
  })
  server.setRequestHandler('tools/call', async ({ params }) => toolResult(await call(params)))
  return server
}

function toolResult(reply: ToolReply): CallToolResult {
  if (reply.kind === 'error') throw new ProtocolError(reply.error.code, reply.error.message, reply.error.data)
  const { kind, content, structured, meta } = reply
  return {
    content: [{ type: 'text', text: content }],
    // Older clients validate structured content against the output schema even for an error; that schema allows payment terms only.
    ...(structured === null ? {} : { structuredContent: JSON.parse(structured) as Record<string, unknown> }),
    ...(kind === 'problem' ? { isError: true } : {}),
    ...(meta === null ? {} : { _meta: meta }),
  }
}

/** Instructions for models about answers. */
export const ANSWER_INSTRUCTIONS = [
  'A wrong value is a successful answer (valid: false with findings), not an error. The text of an answer is brief; its structured content has',
  'result, receipt, allowance, embeddable_badge and proof_summary_markdown. For all of it as text, send _meta["assay/detail"]: "full". To link an answer to an earlier one, send the digest of its receipt as',
  '_meta["assay/prev-receipt-hash"].',
] as const

/** Revisions with the `initialize` handshake, newest first. */
export const HANDSHAKE_VERSIONS = ['2025-11-25', '2025-06-18']

/** Revision in which each message describes its client. */
export const STATELESS_VERSION = '2026-07-28'
