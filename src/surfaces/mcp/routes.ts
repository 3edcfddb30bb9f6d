import {
  classifyInboundRequest,
  createMcpHandler,
  isJsonContentType,
  isLegacyRequest,
  SERVER_INFO_META_KEY,
  WebStandardStreamableHTTPServerTransport,
  type Implementation,
  type InboundClassificationOutcome,
  type Server,
  type Tool as ListedTool,
} from '@modelcontextprotocol/server'
import type { Context, Hono } from 'hono'
import { isObject } from '../../pure/is-object.ts'
import { once } from '../../pure/once.ts'
import { isSigned, type InstrumentedCalls, type ServeCall } from '../../service/calls/instrumented-call.ts'
import { limits } from '../../service/limits.ts'
import type { Preflight } from '../../service/preflight/preflight.ts'
import { allowanceWords, modeMark, SUMMARY } from '../../service/catalogue/text.ts'
import { problem, type Problem } from '../../service/problems.ts'
import type { AppDeps } from '../deps.ts'
import { bodyOfRequest } from '../http/body.ts'
import { isLarge, readInThread } from '../http/read-in-thread.ts'
import { afterTurns, type Env } from '../http/reply.ts'
import { createMessageReader, TOOLS_CALL, type Message, type MessageRead } from '../json-rpc.ts'
import { largeMessageResponse, refuseLargeMessage } from '../large-message.ts'
import { mcpPaymentRenderer } from '../payment.ts'
import { isLargePreflight, isPreflight, PREFLIGHT_MESSAGES, preflightMessage, type PreflightService } from '../preflight/serve.ts'
import { paymentsIn } from '../rest.ts'
import { createGuard, refusalResponse, rpcErrorOf, rpcErrorResponse } from './rpc-error.ts'
import {
  ANSWER_INSTRUCTIONS,
  callTool,
  createToolServer,
  HANDSHAKE_VERSIONS,
  hasCredential,
  STATELESS_VERSION,
  type CallParams,
  type McpExchange,
  type ToolCalls,
  type ToolReply,
} from './tool-call.ts'
import { CALL_TOOL, createViews, SHORT_FORMS } from './tool-list.ts'

/** Decision about a message beyond the unpaid limit; `short` if none was needed. */
type LargeMessageDecision =
  | { kind: 'short' }
  | { kind: 'payable' }
  | { kind: 'preflight_only'; unpaid: Problem }
  | { kind: 'refused'; problem: Problem }

/**
 * Without free calls or a payment header a long message may be a preflight, which is free: it is counted as one, read up to the preflight
 * limit, and refused if it is another message.
 */
async function decideLargeMessage(call: AppDeps['call'], desk: PreflightService, sender: Sender): Promise<LargeMessageDecision> {
  const unpaid = await refuseLargeMessage(call, sender, 'mcp')
  if (unpaid === null) return { kind: 'payable' }
  const refused = desk.refuse(sender.address)
  return refused === null ? { kind: 'preflight_only', unpaid } : { kind: 'refused', problem: refused }
}

function readableBytes({ kind }: LargeMessageDecision): boolean | number {
  return kind === 'preflight_only' ? limits.preflight_body_bytes : kind === 'payable'
}

/** Returns the message, or the reason why the decision excludes it. */
function admittedMessage(read: MessageRead, decision: LargeMessageDecision): MessageRead {
  switch (decision.kind) {
    case 'short':
    case 'payable':
      return read
    case 'refused':
      return { ok: false, problem: decision.problem }
    case 'preflight_only': {
      if (read.ok && isPreflight(read.message.value)) return read
      const isBroken = !read.ok && read.problem.code !== 'PAYLOAD_TOO_LARGE' && decision.unpaid.code === 'PAYLOAD_TOO_LARGE'
      return isBroken ? read : { ok: false, problem: decision.unpaid }
    }
  }
}

type Sender = Pick<McpExchange, 'header' | 'address'>

/** Tool that a message calls: as the header of the stateless revision says, or the message if it was read; null for other messages. */
function calledTool(read: MessageRead, header: McpExchange['header']): string | null {
  const value = read.ok && TOOLS_CALL.isCall(read.message.value) ? read.message.value : null
  const params = isObject(value) && isObject(value['params']) ? value['params'] : {}
  const given = isObject(params['arguments']) ? params['arguments'] : {}
  const name = params['name'] === CALL_TOOL ? given['tool'] : (params['name'] ?? header('mcp-name'))
  return typeof name === 'string' ? name : null
}

type AnswerMessage = (request: Request, exchange: McpExchange) => Promise<Response>

/** Encoded response up to the id, which is its last member. */
type StoredLists = Partial<Record<Era, Uint8Array>>

/**
 * Serves plain `tools/list` requests. The SDK renders the list once for each view and protocol era; later requests get the stored bytes
 * with their own id. Null for requests with unusual members.
 */
export function createPlainLists(official: AnswerMessage): (request: Request, exchange: McpExchange) => Promise<Response> | null {
  const known = new WeakMap<object, StoredLists>()
  return (request, exchange) => {
    const { value } = exchange.message
    const listed = exchange.view?.listed
    if (listed === undefined || listed.length > (exchange.view?.page ?? 0) || !isPlainListRequest(value)) return null
    const era = eraOf(value, exchange.header, null)
    if (era === null) return null
    const kept = known.get(listed) ?? {}
    known.set(listed, kept)
    const end = `${JSON.stringify(value['id'])}}`
    const begin = kept[era]
    return begin === undefined
      ? storeList(official(request, exchange), end, (text) => (kept[era] = new TextEncoder().encode(text)))
      : Promise.resolve(listResponse(begin, end))
  }
}

/** True for a request with only the members that every revision has and without a cursor: the list is one page. */
function isPlainListRequest(message: unknown): message is Record<string, unknown> {
  if (!isObject(message) || message['method'] !== 'tools/list') return false
  const { id, params = {} } = message
  if (typeof id !== 'string' && !Number.isSafeInteger(id)) return false
  return isObject(params) && Object.keys(params).every((key) => key === '_meta')
}

function listResponse(begin: Uint8Array, end: string): Response {
  const body = new Uint8Array(Buffer.concat([begin, Buffer.from(end)]))
  return new Response(body, { headers: { 'content-type': 'application/json', 'content-length': String(body.byteLength) } })
}

/** Stores the response if it ends with the id. */
async function storeList(answer: Promise<Response>, end: string, keep: (begin: string) => void): Promise<Response> {
  const response = await answer
  const text = await response.clone().text()
  if (response.status === 200 && text.endsWith(`"id":${end}`)) keep(text.slice(0, -end.length))
  return response
}

/**
 * Answers `assay/preflight`, whose `params` are the body of `POST /v1/protocols/check`; null for other messages. The result is the
 * report; problems become JSON-RPC errors with the problem as `data`.
 */
export function answerPreflight(desk: PreflightService, exchange: McpExchange, api_url: string): Promise<Response> | null {
  const { value } = exchange.message
  if (!isObject(value) || !isPreflight(value)) return null
  return preflightResponse(desk, value['id'], exchange, api_url)
}

async function preflightResponse(desk: PreflightService, id: unknown, exchange: McpExchange, api_url: string): Promise<Response> {
  const { message, request_id, address, header } = exchange
  // A notification expects no answer.
  if (typeof id !== 'string' && typeof id !== 'number') return new Response(null, { status: 202 })
  const done = await checkMessage(desk, message, address)
  if (!done.ok) return Response.json({ jsonrpc: '2.0', id, error: rpcErrorOf(done.problem, request_id, api_url) })
  const stateless = header('mcp-protocol-version') === STATELESS_VERSION
  return Response.json({ jsonrpc: '2.0', id, result: stateless ? { ...done.report, resultType: 'complete' } : done.report })
}

async function checkMessage(desk: PreflightService, message: Message, address: string): Promise<Preflight> {
  const refused = desk.refuse(address)
  await desk.turn(address)
  if (refused !== null) return { ok: false, problem: refused }
  if (message.kind === 'whole') return preflightMessage(message, desk.at())
  if (message.preflight === null) throw new Error('a worker read a document to check without checking it')
  return message.preflight
}

const PATHS = ['/mcp', '/mcp/', '/mcp/small', '/mcp/small/']
/** Media types that a Streamable HTTP client must accept. */
const BOTH_FORMS = 'application/json, text/event-stream'
const NO_SUCH_LIST = `The query parameter tools must be "${SHORT_FORMS.join('" or "')}" or absent.`
const NO_SUCH_PAGE = 'The query parameter page must be a whole number from 1 to 100 or absent.'
const PAGE = /^(?:[1-9][0-9]?|100)$/

const FOREIGN_ORIGIN = {
  code: -32000,
  message: 'Host and Origin must name this machine. To serve other hosts, set ASSAY_MCP_URL.',
}
const NOT_JSON = { code: -32000, message: 'Send the message with Content-Type application/json.' }

/** Serves calls, and queues all other messages. */
export interface McpCalls {
  serve: ServeCall
  turn: InstrumentedCalls['turn']
}

interface ReceivedMessage {
  exchange: McpExchange
  /** The message was counted as a preflight while it was read. */
  is_counted: boolean
}

/**
 * `POST /mcp`: MCP over Streamable HTTP, stateless, protocol versions 2025-06-18, 2025-11-25 and 2026-07-28. `?family=bank,tax` lists
 * only those families; `?tools=search` lists two tools that find and call the others, `POST /mcp/small` also the most used ones;
 * `?page=20` divides the list.
 */
export function mcpRoutes(
  app: Hono<Env>,
  deps: AppDeps,
  { serve, turn }: McpCalls,
  caller: (context: Context<Env>) => string,
  desk: PreflightService,
): void {
  const readMessage = createMessageReader(deps.call.catalogue, { ...TOOLS_CALL, others: PREFLIGHT_MESSAGES })
  const views = createViews(deps.call.catalogue.tools, deps.schemas)
  // The origins are known only after the server listens.
  const guard = once(() => createGuard(deps.origins))
  const protocol = once(() => createAnswers(protocolParts(deps, serve), turn))
  const words = once(() => mcpPaymentRenderer(deps))

  const readExchange = async (context: Context<Env>): Promise<ReceivedMessage | Response> => {
    const header = (name: string) => (name === 'accept' ? acceptOf(context.req.header(name)) : (context.req.header(name) ?? null))
    if (!guard()(header('host') ?? new URL(context.req.url).host, header('origin'))) return rpcErrorResponse(403, FOREIGN_ORIGIN)
    if (!isJsonContentType(header('content-type'))) return rpcErrorResponse(415, NOT_JSON)
    const notFound = (message: string) => refusalResponse(problem('NOT_FOUND', message), deps.origins, context.env.request_id)
    const { family = null, page = null, detail, tools = isSmallPath(context.req.path) ? 'small' : null } = context.req.query()
    const form = SHORT_FORMS.find((one) => one === tools) ?? null
    if (tools !== null && form === null) return notFound(NO_SUCH_LIST)
    if (page !== null && !PAGE.test(page)) return notFound(NO_SUCH_PAGE)
    const seen = views({ family, form, page: page === null ? null : Number(page) })
    if (!seen.ok) return notFound(seen.message)
    const address = caller(context)
    const { request_id } = context.env
    const decided = Promise.withResolvers<LargeMessageDecision>()
    const mayReadLarge = async () => {
      decided.resolve(decideLargeMessage(deps.call, desk, { header, address }))
      return readableBytes(await decided.promise)
    }
    const { heavy } = deps.call
    const pays = () => isSigned(deps.call, paymentsIn(header))
    const body = (bytes: Uint8Array) => ({ kind: 'mcp', bytes, small: form !== null, at: desk.at() }) as const
    const inThread = (bytes: Uint8Array) =>
      heavy && (isLarge(bytes) || isLargePreflight(bytes)) ? readInThread(heavy, body(bytes), { address, pays: pays() }) : null
    const source = { ...bodyOfRequest(context), pays }
    const received = await readMessage(source, { mayReadLarge, ready: () => turn('intake', address), inThread })
    decided.resolve({ kind: 'short' })
    const decision = await decided.promise
    const read = admittedMessage(received, decision)
    if (!read.ok) {
      const is_unpaid = decision.kind === 'preflight_only' && read.problem === decision.unpaid
      if (!is_unpaid) return refusalResponse(read.problem, deps.origins, request_id)
      return largeMessageResponse(read.problem, { serve, words: words(), deps, tool: calledTool(received, header), address, request_id })
    }
    const exchange = { message: read.message, request_id, address, header, view: seen.view, detail }
    return { exchange, is_counted: decision.kind === 'preflight_only' }
  }
  app.on('POST', PATHS, async (context) => {
    const received = await readExchange(context)
    if (!(received instanceof Response)) {
      const { exchange, is_counted } = received
      const open = is_counted ? { ...desk, refuse: () => null } : desk
      return answerPreflight(open, exchange, deps.origins.api_url) ?? protocol()(withAccept(context.req.raw), exchange)
    }
    await turn('reads', caller(context))
    return received
  })
  for (const path of PATHS)
    app.all(path, (context) => {
      const found = problem(
        'METHOD_NOT_ALLOWED',
        'Send JSON-RPC messages with POST. The server is stateless, so there is no session or event stream.',
      )
      return refusalResponse(found, deps.origins, context.env.request_id, { allow: 'POST' })
    })
}

function isSmallPath(path: string): boolean {
  return path.startsWith('/mcp/small')
}

/** An absent Accept header, or one for any type, accepts both media types (RFC 9110, 12.5.1). */
function acceptOf(accept: string | undefined): string {
  return accept === undefined || /^\s*(?:\*\/\*\s*(?:;[^,]*)?)?$/.test(accept) ? BOTH_FORMS : accept
}

/** Request with the Accept header that the SDK expects; its body was read already. */
function withAccept(request: Request): Request {
  const given = request.headers.get('accept') ?? undefined
  const accept = acceptOf(given)
  if (accept === given) return request
  const headers = new Headers(request.headers)
  headers.set('accept', accept)
  return new Request(request.url, { method: request.method, headers })
}

/** Serves plain calls and lists directly and other messages through the SDK. Messages without a payment wait in the queue. */
function createAnswers(parts: ProtocolParts, turn: McpCalls['turn']): (request: Request, exchange: McpExchange) => Promise<Response> {
  const readPlain = createPlainCalls(parts.identity)
  const official = createProtocol(parts)
  const plainList = createPlainLists(official)
  return async (request, exchange) => {
    const plain = readPlain(exchange)
    if (plain !== null) return plain.response(await callTool(parts.calls, plain.params, exchange))
    if (!hasCredential(exchange)) await turn('reads', exchange.address)
    const list = plainList(request, exchange)
    return list === null ? official(request, exchange) : afterTurns(await list, () => turn('reads', exchange.address))
  }
}

/** Instructions for models about the service. */
function serviceInstructions(deps: AppDeps): string {
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

function protocolParts(deps: AppDeps, serve: ServeCall): ProtocolParts {
  const { api_url, site_url } = deps.origins
  return {
    identity: { name: 'assay', title: 'assay', version: deps.version, websiteUrl: site_url },
    instructions: serviceInstructions(deps),
    calls: {
      serve,
      catalogue: deps.call.catalogue,
      schemas: deps.schemas,
      api_url,
      words: mcpPaymentRenderer(deps),
      onFault: deps.call.onFault,
    },
  }
}

interface ProtocolParts {
  identity: Implementation
  instructions: string
  /** Tools for an exchange without a view. */
  tools?: ListedTool[]
  calls: ToolCalls
}

/** Answers one message through the SDK in both protocol eras, without sessions: each message gets a new server. */
export function createProtocol(parts: ProtocolParts): (request: Request, exchange: McpExchange) => Promise<Response> {
  const exchanges = new WeakMap<Request, McpExchange>()
  const serverFor = (request: Request | undefined) => createServer(parts, request && exchanges.get(request))
  const stateless = createMcpHandler(({ requestInfo }) => serverFor(requestInfo), { legacy: 'reject' })
  return async (request, exchange) => {
    const { value } = exchange.message
    exchanges.set(request, exchange)
    // Batches ended with 2025-06-18, the oldest supported revision; the stateless handler refuses them.
    const handshake = !Array.isArray(value) && (await isLegacyRequest(request, value))
    return handshake ? answerHandshakeEra(serverFor(request), request, value) : stateless.fetch(request, { parsedBody: value })
  }
}

/** Sends one JSON answer instead of an event stream, because nothing is sent before the result. */
async function answerHandshakeEra(server: Server, request: Request, parsedBody: unknown): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    return await transport.handleRequest(request, { parsedBody })
  } finally {
    await server.close()
  }
}

function createServer({ identity, instructions, tools = [], calls }: ProtocolParts, exchange: McpExchange | undefined): Server {
  return createToolServer({
    identity,
    instructions,
    view: () => exchange?.view ?? { listed: tools, page: tools.length },
    call(params) {
      if (exchange === undefined) throw new Error('a server was asked without its exchange')
      return callTool(calls, params, exchange)
    },
  })
}

/**
 * Plain `tools/call`, the most frequent message, served without an SDK server and transport, which cost as much as the call. The SDK
 * still classifies the message and handles every unusual one. A test compares both paths byte by byte.
 */
interface PlainCall {
  params: CallParams
  /** Serializes the reply as the SDK does. */
  response(reply: ToolReply): Response
}

/** Returns a reader of plain calls; it returns null for messages that the SDK must handle. */
export function createPlainCalls(identity: Implementation): (exchange: McpExchange) => PlainCall | null {
  const stamp = { [SERVER_INFO_META_KEY]: identity }
  const complete = ',"resultType":"complete"'
  const bare = { head: '', tail: `${complete},${membersText({ _meta: stamp })}` }
  // The SDK writes `_meta` of a result first and includes its server info; without other `_meta`, the server info comes last.
  const stateless: ResultFrame = (meta) =>
    meta === null ? bare : { head: `${membersText({ _meta: { ...meta, ...stamp } })},`, tail: complete }
  const handshake: ResultFrame = (meta) => ({ head: meta === null ? '' : `${membersText({ _meta: meta })},`, tail: '' })
  return ({ message, header }) => {
    const { value } = message
    if (!isObject(value) || value['method'] !== 'tools/call' || !hasPlainParams(value['params'])) return null
    const params = value['params']
    const era = eraOf(value, header, params.name)
    if (era === null) return null
    const frame = era === 'stateless' ? stateless : handshake
    return { params, response: (reply) => jsonResponse(replyText(reply, JSON.stringify(value['id']), frame)) }
  }
}

const PARAMS = new Set(['name', 'arguments', '_meta'])

/** True for params with only the members that every revision has. */
function hasPlainParams(params: unknown): params is CallParams {
  if (!isObject(params) || !Object.keys(params).every((key) => PARAMS.has(key))) return false
  const { name, arguments: given = {}, _meta: meta = {} } = params
  return typeof name === 'string' && /^[\w-]{1,64}$/.test(name) && isObject(given) && isObject(meta)
}

type Era = 'handshake' | 'stateless'

/** Protocol era of a plain request as the SDK classifies it; null for unusual requests. `name` is the called tool. */
function eraOf(message: Record<string, unknown>, header: Header, name: string | null): Era | null {
  const route = classifyInboundRequest({ httpMethod: 'POST', body: message, ...mcpHeaders(header) })
  if (isHandshake(route, header)) return 'handshake'
  return isStateless(route, message['method'], name, header) ? 'stateless' : null
}

type Header = McpExchange['header']

function mcpHeaders(header: Header) {
  const found = {
    protocolVersionHeader: header('mcp-protocol-version'),
    mcpMethodHeader: header('mcp-method'),
    mcpNameHeader: header('mcp-name'),
  }
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== null))
}

/** Versions up to 2025-11-25; without the header, `initialize` has negotiated the version. */
function isHandshake(route: InboundClassificationOutcome, header: Header): boolean {
  if (route.kind !== 'legacy' || route.reason !== 'no-claim') return false
  const version = header('mcp-protocol-version')
  const accept = header('accept') ?? ''
  const known = version === null || HANDSHAKE_VERSIONS.includes(version)
  return known && accept.includes('application/json') && accept.includes('text/event-stream')
}

/** Version 2026-07-28, in which the headers must match the message. */
function isStateless(route: InboundClassificationOutcome, method: unknown, name: string | null, header: Header): boolean {
  if (route.kind !== 'modern' || route.messageKind !== 'request' || route.classification.revision !== STATELESS_VERSION) return false
  return header('mcp-protocol-version') === STATELESS_VERSION && header('mcp-method') === method && header('mcp-name') === name
}

/** Text before and after the content of a result. */
type ResultFrame = (meta: Record<string, unknown> | null) => { head: string; tail: string }

function membersText(value: Record<string, unknown>): string {
  return JSON.stringify(value).slice(1, -1)
}

function replyText(reply: ToolReply, id: string, frame: ResultFrame): string {
  if (reply.kind === 'error') return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(reply.error)}}`
  const { head, tail } = frame(reply.meta)
  const structured = reply.structured === null ? null : `"structuredContent":${reply.structured}`
  const more = [structured, reply.kind === 'answer' ? null : '"isError":true'].filter((one) => one !== null).join(',')
  return `{"result":{${head}"content":[${textContent(reply.content)}],${more}${tail}},"jsonrpc":"2.0","id":${id}}`
}

function textContent(text: string): string {
  return `{"type":"text","text":${JSON.stringify(text)}}`
}

function jsonResponse(body: string): Response {
  return new Response(body, { headers: { 'content-type': 'application/json' } })
}
