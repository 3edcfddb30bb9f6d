import { isObject } from '../../pure/is-object.ts'
import { answerText } from '../../service/calls/answer.ts'
import { type BriefParts, briefText, readBriefParts, type Detail } from '../../service/catalogue/brief.ts'
import type { Catalogue } from '../../service/catalogue/load.ts'
import type { SchemaList } from '../../service/catalogue/wire-schemas.ts'
import { withVerdict } from '../../service/catalogue/decode.ts'
import type { ServeCall } from '../../service/calls/instrumented-call.ts'
import type { CallRequest, InputRead, Outcome } from '../../service/calls/outcome.ts'
import type { CreditCredential } from '../../service/credits/credit-service.ts'
import { problem, problemBody, type Problem } from '../../service/problems.ts'
import type { PaymentCredential } from '../../service/payments/payment-header.ts'
import type { ResendSecrets } from '../../service/payments/resends.ts'
import type { Challenge } from '../../service/payments/terms.ts'
import type { PaymentRenderer } from '../payment.ts'
import { creditIn, DETAIL_KEY, detailIn, paymentsIn, resendSecretsIn, unknownDetail } from '../rest.ts'
import { argumentsOf, NESTED_CALL, nestedInputOf, readToolArguments, readInput, TOOLS_CALL, type Message } from '../json-rpc.ts'
import { CALL_TOOL, isFindTool, listPage, type FindTools, type ToolView } from './tool-list.ts'
import { isMessageFault, rpcErrorOf, type RpcError } from './rpc-error.ts'
import { ProtocolError, Server, type CallToolResult, type Implementation } from '@modelcontextprotocol/server'
import { allowanceWords, modeMark, SUMMARY } from '../../service/catalogue/text.ts'
import type { AppDeps } from '../deps.ts'

/** One MCP request. */
export interface McpExchange {
  readonly message: Message
  readonly request_id: string
  /** Address of the client behind trusted proxies. */
  readonly address: string
  /** Returns a header value by its lower-case name. */
  header(name: string): string | null
  /** Tools that this client sees; all tools if absent. */
  readonly view?: ToolView
  /** Level of detail in the address. */
  readonly detail?: string
}

/** `params` of `tools/call`. */
export interface CallParams {
  readonly name: string
  readonly _meta?: Readonly<Record<string, unknown>> | undefined
}

/**
 * Result of `tools/call`: an answer or a problem, both as JSON text in a result, or a JSON-RPC error. `brief` is the text content of an answer
 * whose structured content is `text`. A problem with x402 terms is also
 * structured content (x402 transports-v2/mcp.md, Payment Required Signaling), which every supported revision allows.
 */
export type ToolReply =
  | { kind: 'answer'; text: string; brief?: string; meta: ResultMeta | null }
  | { kind: 'problem'; text: string; meta: ResultMeta | null; has_terms?: true }
  | { kind: 'error'; error: RpcError }

export type ResultMeta = Record<string, unknown>

/** Keys of an x402 payment: that of the specification and that of an earlier client package. */
const PAYMENT_KEYS = ['x402/payment', 'x402.payment']
/** Keys of the settlement response. */
const RESPONSE_KEYS = ['x402/payment-response', 'x402.payment-response']
/** Key of the terms in version 1, for clients that drop the text of an error. */
const ERROR_KEY = 'x402/error'
const PREVIOUS_KEY = 'assay/prev-receipt-hash'
const CREDIT_KEY = 'assay/credit'
const IDEMPOTENCY_KEY = 'assay/idempotency-key'
const ANSWER_TOKEN_KEY = 'assay/answer-token'
const SIGN_IN_KEY = 'x402/sign-in-with-x'
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
    credit: creditOf(meta, header),
    secrets: resendSecretsOf(meta, header),
    traceparent: header('traceparent'),
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
  return paymentsOf(meta, header).length > 0 || creditOf(meta, header) !== null
}

function finderReply(finder: FindTools, { message, request_id }: McpExchange, api_url: string): ToolReply {
  const found = finder(argumentsOf(message.value))
  return found.ok
    ? { kind: 'answer', text: JSON.stringify(found.value), brief: found.brief, meta: null }
    : problemReply(found.problem, request_id, api_url, ARGUMENTS)
}

/** Converts `call_tool` to a call of the tool that it names. */
function nestedRequest(params: CallParams, exchange: McpExchange): CallRequest {
  const { message } = exchange
  const given = argumentsOf(message.value)
  const name = isObject(given) && typeof given['tool'] === 'string' ? given['tool'] : ''
  const strays = isObject(given) && Object.keys(given).some((key) => key !== 'tool' && key !== 'input')
  const read: CallRequest['read'] = (bounds) => (strays ? UNKNOWN_ARGUMENTS : readInput(message, bounds, NESTED_CALL, nestedInputOf))
  return { ...callRequest({ ...params, name }, exchange), read }
}

const UNKNOWN_ARGUMENTS_TEXT = `${CALL_TOOL} accepts only tool and input. Put the fields of the tool under input.`
const UNKNOWN_ARGUMENTS: InputRead = {
  ok: false,
  problem: problem('INPUT_SCHEMA_INVALID', UNKNOWN_ARGUMENTS_TEXT, {
    errors: [{ pointer: ARGUMENTS, code: 'unknown_field', message: UNKNOWN_ARGUMENTS_TEXT }],
  }),
}

/** Returns the prepaid code and its idempotency key; the message takes precedence over the headers. */
export function creditOf(meta: Readonly<Record<string, unknown>>, header: McpExchange['header']): CreditCredential | null {
  const beside = creditIn(header)
  const code = textIn(meta, CREDIT_KEY) ?? beside?.code ?? null
  return code === null ? null : { code, key: textIn(meta, IDEMPOTENCY_KEY) ?? header('idempotency-key') }
}

/** Returns the secrets that open the stored answer of an earlier payment; the message takes precedence over the headers. */
export function resendSecretsOf(meta: Readonly<Record<string, unknown>>, header: McpExchange['header']): ResendSecrets {
  const beside = resendSecretsIn(header)
  return { answer_token: textIn(meta, ANSWER_TOKEN_KEY) ?? beside.answer_token, sign_in: textIn(meta, SIGN_IN_KEY) ?? beside.sign_in }
}

/** A value that is not text becomes an empty text, which is refused later instead of being ignored. */
function textIn(meta: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = meta[name]
  return value === undefined ? null : typeof value === 'string' ? value : ''
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

/** Text for models in the brief form; undefined where they get the JSON text. */
export function briefOf(
  { catalogue, schemas }: Pick<ToolCalls, 'catalogue' | 'schemas'>,
  tool_id: string,
  detail: Detail,
  parts: () => BriefParts,
): { brief?: string } {
  const tool = catalogue.find(tool_id)
  return detail === 'brief' && tool !== undefined ? { brief: briefText(tool, schemas.get(tool.id)?.output, parts()) } : {}
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
    case 'answered':
      return {
        kind: 'answer',
        text: answerText(outcome.answer),
        ...briefOf(calls, outcome.tool, detail, () => ({ ...outcome.answer, settlement: null })),
        meta: null,
      }
    case 'paid': {
      const response = words.response(outcome.settlement)
      const meta = response === null ? null : Object.fromEntries(RESPONSE_KEYS.map((key) => [key, response]))
      return {
        kind: 'answer',
        text: outcome.text,
        ...briefOf(calls, outcome.tool, detail, () => readBriefParts(outcome.text)),
        meta,
      }
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

/** Problem with the terms of version 2, as text and as structured content, and those of version 1 in `_meta`. */
function withTerms(problem_text: string, { required_json, body_members_json }: Challenge): ToolReply {
  return {
    kind: 'problem',
    text: `${required_json.slice(0, -1)},${problem_text.slice(1)}`,
    meta: { [ERROR_KEY]: JSON.parse(`{${body_members_json}}`) as unknown },
    has_terms: true,
  }
}

/** A malformed message is a JSON-RPC error; other problems go to the model, which can correct its input, wait or pay. */
function problemReply(found: Problem, request_id: string, api_url: string, place: string): ToolReply {
  const here = { ...found, errors: found.errors.map((error) => ({ ...error, pointer: pointerInMessage(error.pointer, place) })) }
  if (isMessageFault(found)) return { kind: 'error', error: rpcErrorOf(here, request_id, api_url) }
  return { kind: 'problem', text: JSON.stringify(problemBody(here, request_id, api_url)), meta: null }
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

/** Text that models read. */
export function contentText(reply: Exclude<ToolReply, { kind: 'error' }>): string {
  return reply.kind === 'answer' ? (reply.brief ?? reply.text) : reply.text
}

function toolResult(reply: ToolReply): CallToolResult {
  switch (reply.kind) {
    case 'answer':
      return withMeta(reply.meta, {
        content: [{ type: 'text', text: contentText(reply) }],
        structuredContent: JSON.parse(reply.text) as Record<string, unknown>,
      })
    case 'problem':
      // Older clients validate structured content against the output schema even for an error; that schema allows payment terms only.
      return withMeta(reply.meta, {
        content: [{ type: 'text', text: reply.text }],
        ...(reply.has_terms === true ? { structuredContent: JSON.parse(reply.text) as Record<string, unknown> } : {}),
        isError: true,
      })
    case 'error':
      throw new ProtocolError(reply.error.code, reply.error.message, reply.error.data)
  }
}

function withMeta(meta: ResultMeta | null, result: CallToolResult): CallToolResult {
  return meta === null ? result : { ...result, _meta: meta }
}

/** Instructions for models about answers. */
export const ANSWER_INSTRUCTIONS = [
  'A wrong value is a successful answer (valid: false with findings), not an error. The text of an answer is brief; its structured content has',
  'result, receipt, allowance, embeddable_badge and proof_summary_markdown. For all of it as text, send _meta["assay/detail"]: "full". To link an answer to an earlier one, send the digest of its receipt as',
  '_meta["assay/prev-receipt-hash"].',
] as const

/** Instructions for models about the service. */
export function serviceInstructions(deps: AppDeps): string {
  const { tools } = deps.call.catalogue
  return [
    modeMark(deps),
    SUMMARY,
    allowanceWords(deps.free, tools),
    ...ANSWER_INSTRUCTIONS,
    `Prices and examples: ${deps.origins.api_url}/v1/tools`,
  ]
    .filter((words) => words !== null)
    .join(' ')
}

/** Revisions with the `initialize` handshake, newest first. */
export const HANDSHAKE_VERSIONS = ['2025-11-25', '2025-06-18']

/** Revision in which each message describes its client. */
export const STATELESS_VERSION = '2026-07-28'
