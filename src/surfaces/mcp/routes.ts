import { limits } from '../../service/limits.ts'
import { problem, type Problem, PROBLEMS } from '../../service/problems.ts'
import type { AppDeps } from '../deps.ts'
import type { PreflightDesk } from '../preflight/serve.ts'
import { bringsReadablePayment, paymentsIn } from '../rest.ts'
import { createMessageReader, type Message, type MessageRead, TOOLS_CALL } from '../json-rpc.ts'
import { isLargePreflight, isPreflight, PREFLIGHT_MESSAGES, preflightMessage } from './preflight-message.ts'
import { bringsPayment, callTool, type McpExchange } from './tool-call.ts'
import { isObject } from '../../pure/is-object.ts'
import { createPlainCalls, type Era, eraOf } from './plain-call.ts'
import type { Preflight } from '../../service/preflight/request.ts'
import { rpcErrorOf, rpcErrorResponse } from './rpc-error.ts'
import { STATELESS_VERSION } from './versions.ts'
import { isJsonContentType } from '@modelcontextprotocol/server'
import type { Context, Hono } from 'hono'
import { isSigned, type ObservedCalls, type ServeCall } from '../../service/calls/observed.ts'
import { mcpResource } from '../../service/payments/terms.ts'
import { createPaymentWords } from '../payment.ts'
import { once } from '../../pure/once.ts'
import type { Env } from '../http/env.ts'
import { bodyOfRequest } from '../http/fetch-body.ts'
import { inTurns } from '../http/in-turns.ts'
import { isLarge, readInThread } from '../http/read-in-thread.ts'
import { createGuard } from './guard.ts'
import { instructions } from './instructions.ts'
import { createProtocol, type ProtocolParts } from './protocol.ts'
import { createViews } from './view.ts'

/** How one message beyond the unpaid bound comes to be read. */
export interface LargeReading {
  /** Asked when there is one: whether it is read, and how much of it. */
  mayRead(): Promise<boolean | number>
  /** What was read, or why it may not go on. */
  judged(read: MessageRead): MessageRead
  /** Whether it was counted as a document to check already. */
  is_counted(): boolean
}

/**
 * A payment inside a message is not seen before it is read: for a large one an allowance speaks, or a payment in a header. Without them it may
 * still be a document to check, which is free: it is counted as one, read as far as one may reach, and refused when it is anything else.
 */
export function readLarge({ allowance, onFault }: AppDeps['call'], desk: PreflightDesk, { header, address }: From): LargeReading {
  let unpaid: Problem | null = null
  let refused: Problem | null = null
  const unpaidFault = async (): Promise<Problem | null> => {
    if (bringsReadablePayment(header)) return null
    try {
      return (await allowance.peek(header('mcp-name') ?? '', address)).remaining > 0 ? null : tooLargeUnpaid()
    } catch (error) {
      onFault(error, 'mcp')
      return problem('STORE_UNAVAILABLE', 'Try again shortly.', { retry_after_s: limits.store_retry_s })
    }
  }
  return {
    async mayRead() {
      unpaid = await unpaidFault()
      if (unpaid === null) return true
      refused = desk.refuse(address)
      return refused === null ? limits.preflight_body_bytes : false
    },
    judged(read) {
      if (refused !== null) return { ok: false, problem: refused }
      if (unpaid === null || (read.ok && isPreflight(read.message.value))) return read
      const isBroken = !read.ok && read.problem.code !== 'PAYLOAD_TOO_LARGE' && unpaid.code === 'PAYLOAD_TOO_LARGE'
      return isBroken ? read : { ok: false, problem: unpaid }
    },
    is_counted: () => unpaid !== null && refused === null,
  }
}

type From = Pick<McpExchange, 'header' | 'address'>

function tooLargeUnpaid(): Problem {
  const { unpaid_body_bytes, preflight_body_bytes } = limits
  const detail = `A message beyond ${unpaid_body_bytes} bytes is read only while free calls are left, or with a payment; a document to check up to ${preflight_body_bytes}.`
  return problem('PAYLOAD_TOO_LARGE', detail)
}

type Answer = (request: Request, exchange: McpExchange) => Promise<Response>

/** All of an answer but its id, which stands at the end, in UTF-8. */
type Kept = Partial<Record<Era, Uint8Array>>

/**
 * The plain `tools/list`, which every client sends first and whose answer is as long as a book. The official package writes it once for
 * each list and era; from then on it is sent as it was written, with the id of the message. Null for every message that is unusual.
 */
export function createPlainLists(official: Answer): (request: Request, exchange: McpExchange) => Promise<Response> | null {
  const known = new WeakMap<object, Kept>()
  return (request, exchange) => {
    const { value } = exchange.message
    const listed = exchange.view?.listed
    if (listed === undefined || !isPlain(value)) return null
    const era = eraOf(value, exchange.header, null)
    if (era === null) return null
    const kept = known.get(listed) ?? {}
    known.set(listed, kept)
    const end = `${JSON.stringify(value['id'])}}`
    const begin = kept[era]
    return begin === undefined
      ? learn(official(request, exchange), end, (text) => (kept[era] = new TextEncoder().encode(text)))
      : Promise.resolve(whole(begin, end))
  }
}

/** Nothing but what every revision has; no cursor, which none of our lists has either. */
function isPlain(message: unknown): message is Record<string, unknown> {
  if (!isObject(message) || message['method'] !== 'tools/list') return false
  const { id, params = {} } = message
  if (typeof id !== 'string' && !Number.isSafeInteger(id)) return false
  return isObject(params) && Object.keys(params).every((key) => key === '_meta')
}

function whole(begin: Uint8Array, end: string): Response {
  const body = new Uint8Array(Buffer.concat([begin, Buffer.from(end)]))
  return new Response(body, { headers: { 'content-type': 'application/json', 'content-length': String(body.byteLength) } })
}

/** An answer that does not end with the id is handed on and not kept. */
async function learn(answer: Promise<Response>, end: string, keep: (begin: string) => void): Promise<Response> {
  const response = await answer
  const text = await response.clone().text()
  if (response.status === 200 && text.endsWith(`"id":${end}`)) keep(text.slice(0, -end.length))
  return response
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

const PATHS = ['/mcp', '/mcp/']
/** What a client of Streamable HTTP must take. */
const BOTH_FORMS = 'application/json, text/event-stream'
const SEARCH = 'search'
const NO_SUCH_LIST = 'The parameter tools is search, or is left out.'

const FOREIGN = { code: -32000, message: 'Host and Origin must name this machine. A deployment that serves others sets ASSAY_MCP_URL.' }
const NOT_JSON = { code: -32000, message: 'Send the message as application/json.' }

/** Serves calls, and queues messages that are no plain calls. */
export interface McpCalls {
  serve: ServeCall
  turn: ObservedCalls['turn']
}

interface Received {
  exchange: McpExchange
  /** Whether it was counted as a document to check when it was read. */
  is_counted: boolean
}

/**
 * `POST /mcp`: MCP over Streamable HTTP, stateless, protocol versions 2025-06-18, 2025-11-25 and 2026-07-28. `?family=bank,tax`
 * lists those families alone, `?tools=search` a pair of tools that finds and calls the others.
 */
export function mcpRoutes(
  app: Hono<Env>,
  deps: AppDeps,
  { serve, turn }: McpCalls,
  caller: (context: Context<Env>) => string,
  desk: PreflightDesk,
): void {
  const readMessage = createMessageReader(deps.call.catalogue, { ...TOOLS_CALL, others: PREFLIGHT_MESSAGES })
  const views = createViews(deps.call.catalogue.tools, deps.schemas)
  // The origins are known only once the server listens.
  const guard = once(() => createGuard(deps.origins))
  const protocol = once(() => createAnswers(protocolParts(deps, serve), turn))

  const readExchange = async (context: Context<Env>): Promise<Received | Response> => {
    const header = (name: string) => (name === 'accept' ? acceptOf(context.req.header(name)) : (context.req.header(name) ?? null))
    const mayEnter = guard()
    if (!mayEnter(header('host') ?? new URL(context.req.url).host, header('origin'))) return rpcErrorResponse(403, FOREIGN)
    if (!isJsonContentType(header('content-type'))) return rpcErrorResponse(415, NOT_JSON)
    const { family = null, tools = null } = context.req.query()
    if (tools !== null && tools !== SEARCH) return refusal(problem('NOT_FOUND', NO_SUCH_LIST), deps, context.env.request_id)
    const seen = views({ family, small: tools === SEARCH })
    if (!seen.ok) return refusal(problem('NOT_FOUND', seen.message), deps, context.env.request_id)
    const address = caller(context)
    const { request_id } = context.env
    const large = readLarge(deps.call, desk, { header, address })
    const { heavy } = deps.call
    const body = (bytes: Uint8Array) => ({ kind: 'mcp', bytes, small: tools === SEARCH, at: desk.at() }) as const
    const inThread = (bytes: Uint8Array) =>
      heavy && (isLarge(bytes) || isLargePreflight(bytes))
        ? readInThread(heavy, body(bytes), { address, pays: isSigned(deps.call, paymentsIn(header)) })
        : null
    const steps = { mayReadLarge: large.mayRead, ready: () => turn('intake', address), inThread }
    const read = large.judged(await readMessage(bodyOfRequest(context), steps))
    if (!read.ok) return refusal(read.problem, deps, request_id)
    return { exchange: { message: read.message, request_id, address, header, view: seen.view }, is_counted: large.is_counted() }
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
        'Send JSON-RPC messages by POST. There are no sessions, so there is no stream to open or to end.',
      )
      return refusal(found, deps, context.env.request_id, { allow: 'POST' })
    })
}

/** Who takes anything, or does not say, takes what the protocol asks for (RFC 9110, 12.5.1). */
function acceptOf(accept: string | undefined): string {
  return accept === undefined || /^\s*(?:\*\/\*\s*(?:;[^,]*)?)?$/.test(accept) ? BOTH_FORMS : accept
}

/** The request as the official package wants it; the body was read already. */
function withAccept(request: Request): Request {
  const given = request.headers.get('accept') ?? undefined
  const accept = acceptOf(given)
  if (accept === given) return request
  const headers = new Headers(request.headers)
  headers.set('accept', accept)
  return new Request(request.url, { method: request.method, headers })
}

/** Plain calls and lists on the short way, everything else by the official package; who brings no payment waits for a turn. */
function createAnswers(parts: ProtocolParts, turn: McpCalls['turn']): (request: Request, exchange: McpExchange) => Promise<Response> {
  const readPlain = createPlainCalls(parts.identity)
  const official = createProtocol(parts)
  const plainList = createPlainLists(official)
  return async (request, exchange) => {
    const plain = readPlain(exchange)
    if (plain !== null) return plain.response(await callTool(parts.calls, plain.params, exchange))
    if (!bringsPayment(exchange)) await turn('reads', exchange.address)
    const list = plainList(request, exchange)
    return list === null ? official(request, exchange) : inTurns(await list, () => turn('reads', exchange.address))
  }
}

function protocolParts(deps: AppDeps, serve: ServeCall): ProtocolParts {
  const { api_url, site_url } = deps.origins
  return {
    identity: { name: 'assay', title: 'assay', version: deps.version, websiteUrl: site_url },
    instructions: instructions(deps),
    calls: { serve, api_url, words: createPaymentWords(deps.place, deps.call.catalogue, mcpResource), onFault: deps.call.onFault },
  }
}

/** What is refused before there is a message to answer. */
function refusal(found: Problem, deps: AppDeps, request_id: string, headers: Record<string, string> = {}): Response {
  const retry: Record<string, string> = found.retry_after_s === undefined ? {} : { 'retry-after': String(found.retry_after_s) }
  return rpcErrorResponse(PROBLEMS[found.code].status, rpcErrorOf(found, request_id, deps.origins.api_url), { ...retry, ...headers })
}
