import { isJsonContentType } from '@modelcontextprotocol/server'
import type { Context, Hono } from 'hono'
import { isSigned, type ObservedCalls, type ServeCall } from '../../service/calls/observed.ts'
import { problem, PROBLEMS, type Problem } from '../../service/problems.ts'
import type { AppDeps } from '../deps.ts'
import { mcpResource } from '../../service/payments/terms.ts'
import { createPaymentWords } from '../payment.ts'
import type { PreflightDesk } from '../preflight/serve.ts'
import { once } from '../../pure/once.ts'
import type { Env } from '../http/env.ts'
import { bodyOfRequest } from '../http/fetch-body.ts'
import { inTurns } from '../http/in-turns.ts'
import { isLarge, readInThread } from '../http/read-in-thread.ts'
import { paymentsIn } from '../rest.ts'
import { createGuard } from './guard.ts'
import { instructions } from './instructions.ts'
import { readLarge } from './large.ts'
import { createMessageReader, TOOLS_CALL } from '../json-rpc.ts'
import { createPlainCalls } from './plain-call.ts'
import { createPlainLists } from './plain-list.ts'
import { isLargePreflight, PREFLIGHT_MESSAGES } from './preflight-message.ts'
import { answerPreflight } from './preflight-method.ts'
import { createProtocol, type ProtocolParts } from './protocol.ts'
import { rpcErrorOf, rpcErrorResponse } from './rpc-error.ts'
import { bringsPayment, callTool, type McpExchange } from './tool-call.ts'
import { createViews } from './view.ts'

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
