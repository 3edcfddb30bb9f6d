import { formatSSEEvent } from '@a2a-js/sdk'
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server'
import { VersionNotSupportedError } from '@a2a-js/sdk/errors'
import { JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server'
import type { Context, Hono } from 'hono'
import { isObject } from '../../pure/is-object.ts'
import { isSigned, type ObservedCalls, type ServeCall } from '../../service/calls/observed.ts'
import { quotaClient } from '../../service/clients.ts'
import { limits } from '../../service/limits.ts'
import { caip2 } from '../../service/payments/terms.ts'
import { problem, PROBLEMS, type Problem } from '../../service/problems.ts'
import type { AppDeps } from '../deps.ts'
import { once } from '../../pure/once.ts'
import { sendDocument, storedDocument, JSON_TYPE } from '../discovery/document.ts'
import type { Env } from '../http/env.ts'
import { bodyOfRequest } from '../http/fetch-body.ts'
import { isLarge, readInThread } from '../http/read-in-thread.ts'
import { createGuard } from '../mcp/guard.ts'
import { createMessageReader } from '../json-rpc.ts'
import { rpcErrorOf, rpcErrorResponse } from '../mcp/rpc-error.ts'
import { restWords } from '../payment.ts'
import { bringsReadablePayment, paymentsIn } from '../rest.ts'
import { SEND } from './ask.ts'
import { agentCard, currentCard, legacyCard, sharedCard } from './card.ts'
import { createRequestHandler } from './handler.ts'
import { sealedTasks } from './kept.ts'
import { messageFault, methodFault, requestFault } from './message-fault.ts'
import { A2A_PATHS, CURRENT_VERSION, LEGACY_VERSION, X402_EXTENSION } from './names.ts'
import { bringsPayment, type A2aExchange, type A2aParts } from './work.ts'

const DAY_MS = 24 * 3_600_000

const FOREIGN = { code: -32000, message: 'Host and Origin must name this machine. A deployment that serves others sets its origins.' }
const NOT_JSON = { code: -32005, message: 'Send the message as application/json.' }

/** How calls are served, and the turns of messages that bring no payment. */
export interface A2aCalls {
  serve: ServeCall
  turn: ObservedCalls['turn']
}

/** `POST /a2a`: the agent protocol, versions 1.0 and 0.3 over JSON-RPC, and the agent cards. */
export function a2aRoutes(app: Hono<Env>, deps: AppDeps, { serve, turn }: A2aCalls, caller: (context: Context<Env>) => string): void {
  const parts = once(() => partsOf(deps, serve))
  // The origins are known only once the server listens.
  const card = once(() => agentCard(deps))
  const guard = once(() => createGuard(deps.origins))
  const read = createMessageReader(deps.call.catalogue, SEND)
  cardRoutes(app, card)
  const readExchange = async (context: Context<Env>): Promise<A2aExchange | Response> => {
    const header = (name: string) => context.req.header(name) ?? null
    if (!guard()(header('host') ?? new URL(context.req.url).host, header('origin'))) return rpcErrorResponse(403, FOREIGN)
    if (!/^application\/(?:a2a\+)?json(?: *;|$)/i.test(header('content-type') ?? '')) return rpcErrorResponse(415, NOT_JSON)
    const address = caller(context)
    const { request_id } = context.env
    let down: Problem | null = null
    const mayReadLarge = async () => {
      if (bringsReadablePayment(header)) return true
      const peeked = await deps.call.allowance.peek('', address).catch((error: unknown) => {
        deps.call.onFault(error, 'a2a')
        down = problem('STORE_UNAVAILABLE', 'Try again shortly.', { retry_after_s: limits.store_retry_s })
        return { remaining: 0 }
      })
      return peeked.remaining > 0
    }
    const { heavy } = deps.call
    const inThread = (bytes: Uint8Array) =>
      heavy && isLarge(bytes)
        ? readInThread(heavy, { kind: 'a2a', bytes }, { address, pays: isSigned(deps.call, paymentsIn(header)) })
        : null
    const body = await read(bodyOfRequest(context), { mayReadLarge, ready: () => turn('intake', address), inThread })
    if (down !== null) return refusal(down, deps, request_id)
    if (!body.ok) return refusal(body.problem, deps, request_id)
    return { message: body.message, request_id, address, header }
  }
  app.on('POST', A2A_PATHS, async (context) => {
    const exchange = await readExchange(context)
    if (exchange instanceof Response || !bringsPayment(exchange)) await turn(laneOf(exchange), caller(context))
    return exchange instanceof Response ? exchange : answer(parts(), exchange, card())
  })
  for (const path of A2A_PATHS)
    app.all(path, (context) => {
      const found = problem('METHOD_NOT_ALLOWED', 'Send JSON-RPC messages by POST; /.well-known/agent-card.json describes them.')
      return refusal(found, deps, context.env.request_id, { allow: 'POST' })
    })
}

const LOOKING = new Set(['tasks/get', 'GetTask'])

/** Who asks for a task, which may have been paid, does not stand behind readers. */
function laneOf(exchange: A2aExchange | Response): 'reads' | 'probes' {
  const value = exchange instanceof Response ? null : exchange.message.value
  return isObject(value) && LOOKING.has(String(value['method'])) ? 'probes' : 'reads'
}

function partsOf(deps: AppDeps, serve: ServeCall): A2aParts {
  const { catalogue, sources, payments, onFault } = deps.call
  return {
    serve,
    told: { words: restWords(deps), api_url: deps.origins.api_url, network: caip2(deps.chain_id), catalogue: deps.call.catalogue },
    tasks: sealedTasks(deps.tasks, deps.sealer),
    catalogue,
    desk: payments?.desk ?? null,
    instances: deps.store.instances,
    clock: sources.clock,
    client: (address) => sources.derive.hmac('a2a-client', `${Math.floor(sources.clock.now_ms() / DAY_MS)}|${quotaClient(address)}`),
    onFault,
  }
}

/** The cards, by the version that the client says it reads; the older path is that of older versions. */
function cardRoutes(app: Hono<Env>, card: () => ReturnType<typeof agentCard>): void {
  const document = (form: typeof currentCard) =>
    once(() => storedDocument(JSON_TYPE, JSON.stringify(form(card())), { vary: 'A2A-Version' }))
  const [current, legacy, shared] = [document(currentCard), document(legacyCard), document(sharedCard)]
  app.get('/.well-known/agent-card.json', (context) => {
    const version = context.req.header('a2a-version')
    return sendDocument(context, version === CURRENT_VERSION ? current() : version === LEGACY_VERSION ? legacy() : shared())
  })
  app.get('/.well-known/agent.json', (context) => sendDocument(context, legacy()))
}

async function answer(parts: A2aParts, exchange: A2aExchange, card: ReturnType<typeof agentCard>): Promise<Response> {
  const { value } = exchange.message
  const message = isObject(value) ? value : {}
  const version = versionOf(message, exchange.header)
  const legacy = version === LEGACY_VERSION
  const transport = legacy ? LegacyJsonRpcTransportHandler : JsonRpcTransportHandler
  const headers = activated(exchange.header, card)
  const id = typeof message['id'] === 'string' || Number.isInteger(message['id']) ? message['id'] : null
  const fail = (error: unknown) => Response.json({ jsonrpc: '2.0', id, error }, { headers })
  const broken = requestFault(value)
  if (broken !== null) return fail(broken)
  try {
    if (version !== CURRENT_VERSION && !legacy) throw new VersionNotSupportedError('Versions 1.0 and 0.3 are served.')
    const unknown = methodFault(message, version)
    if (unknown !== null) return fail(unknown)
    messageFault(message)
    const handler = createRequestHandler(parts, exchange, card)
    const replied = await new transport(handler).handle(message, new ServerCallContext({ requestedVersion: version }))
    if (!isStream(replied)) return Response.json(bounded(message['method'] === 'ListTasks' ? wholeList(replied) : replied), { headers })
    // A call has one end: all that a stream tells is there when it begins.
    let text = ''
    for await (const event of replied) text += formatSSEEvent(event)
    return new Response(text, { headers: { ...headers, 'content-type': 'text/event-stream', 'cache-control': 'no-store' } })
  } catch (error) {
    return fail(errorOf(error, legacy))
  }
}

const ERROR_CHARS = 300

/** The package puts what it was sent into some of its errors: no more of it goes back than this. */
function bounded(replied: object): object {
  const error = isObject(replied) ? replied['error'] : undefined
  if (!isObject(error) || typeof error['message'] !== 'string') return replied
  return { ...replied, error: { ...error, message: error['message'].replace(/[^\x20-\x7e]/g, '?').slice(0, ERROR_CHARS) } }
}

/** The package leaves out members with empty values, which a list of tasks always has (A2A 1.0, ListTasksResponse). */
function wholeList(replied: object): object {
  const result = isObject(replied) ? replied['result'] : undefined
  return isObject(result) ? { ...replied, result: { tasks: [], nextPageToken: '', totalSize: 0, ...result } } : replied
}

function errorOf(error: unknown, legacy: boolean): unknown {
  return legacy ? LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error) : JsonRpcTransportHandler.mapToJSONRPCError(error)
}

function isStream(replied: unknown): replied is AsyncIterable<unknown> {
  return typeof replied === 'object' && replied !== null && Symbol.asyncIterator in replied
}

/** By the header; without one it is 0.3 by the specification, unless the method is one that only 1.0 has. */
function versionOf(message: Record<string, unknown>, header: A2aExchange['header']): string {
  const named = header('a2a-version')
  // Patch versions do not change the protocol.
  if (named !== null && named !== '') return named.replace(/^(\d{1,3}\.\d{1,3})\.\d{1,3}$/, '$1')
  const { method } = message
  return typeof method === 'string' && /^[A-Z]/.test(method) ? CURRENT_VERSION : LEGACY_VERSION
}

const EXTENSION_HEADERS = ['a2a-extensions', 'x-a2a-extensions']

/** Names the extension back to a client that asked for it, under either name of the header. */
function activated(header: A2aExchange['header'], { capabilities }: ReturnType<typeof agentCard>): Record<string, string> {
  const asked = EXTENSION_HEADERS.flatMap((name) => (header(name) ?? '').split(',')).map((uri) => uri.trim())
  const known = capabilities?.extensions.some(({ uri }) => uri === X402_EXTENSION) === true && asked.includes(X402_EXTENSION)
  return known ? { 'A2A-Extensions': X402_EXTENSION, 'X-A2A-Extensions': X402_EXTENSION } : {}
}

/** What is refused before there is a message to answer. */
function refusal(found: Problem, deps: AppDeps, request_id: string, headers: Record<string, string> = {}): Response {
  const retry: Record<string, string> = found.retry_after_s === undefined ? {} : { 'retry-after': String(found.retry_after_s) }
  return rpcErrorResponse(PROBLEMS[found.code].status, rpcErrorOf(found, request_id, deps.origins.api_url), { ...headers, ...retry })
}
