import { formatSSEEvent, TaskState, AgentCard } from '@a2a-js/sdk'
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server'
import { VersionNotSupportedError, ContentTypeNotSupportedError, RequestMalformedError } from '@a2a-js/sdk/errors'
import { JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server'
import type { Context, Hono } from 'hono'
import { isObject } from '../../pure/is-object.ts'
import type { RenderAnswer } from '../../service/calls/answer-detail.ts'
import { isSigned, type InstrumentedCalls, type ServeCall } from '../../service/calls/instrumented-call.ts'
import { providerNetwork, quotaClient, widerNetwork } from '../../service/clients.ts'
import { limits } from '../../service/limits.ts'
import { caip2 } from '../../service/payments/terms.ts'
import { problem, type Problem } from '../../service/problems.ts'
import type { AppDeps } from '../deps.ts'
import { once } from '../../pure/once.ts'
import { sendDocument, storedDocument, JSON_TYPE } from '../http/document.ts'
import type { Env } from '../http/reply.ts'
import { bodyOfRequest } from '../http/body.ts'
import { isLarge, readInThread } from '../http/read-in-thread.ts'
import { createGuard, rpcErrorResponse, type RpcError, refusalResponse } from '../mcp/rpc-error.ts'
import { createMessageReader, type MessageExchange } from '../json-rpc.ts'
import { restPaymentRenderer } from '../payment.ts'
import { paymentsIn } from '../rest.ts'
import { largeMessageResponse, refuseLargeMessage } from '../large-message.ts'
import { A2A_ENVELOPE, X402_EXTENSION } from './message.ts'
import { boundedTasks } from './task-bounds.ts'
import { createRequestHandler, sealedTasks } from './tasks.ts'
import { hasCredential, type A2aParts } from './task-call.ts'
import type { Tool } from '../../service/catalogue/define.ts'
import { allowanceWords, markedName, modeMark, RECEIPT_LIMIT, SUMMARY } from '../../service/catalogue/text.ts'

const A2A_PATH = '/a2a'
const A2A_PATHS = [A2A_PATH, `${A2A_PATH}/`]

const CURRENT_VERSION = '1.0'
const LEGACY_VERSION = '0.3'

/** Methods of each protocol version. */
export const METHODS: Readonly<Record<string, readonly string[]>> = {
  [CURRENT_VERSION]: [
    'SendMessage',
    'SendStreamingMessage',
    'GetTask',
    'ListTasks',
    'CancelTask',
    'SubscribeToTask',
    'CreateTaskPushNotificationConfig',
    'GetTaskPushNotificationConfig',
    'ListTaskPushNotificationConfigs',
    'DeleteTaskPushNotificationConfig',
    'GetExtendedAgentCard',
  ],
  [LEGACY_VERSION]: [
    'message/send',
    'message/stream',
    'tasks/get',
    'tasks/cancel',
    'tasks/resubscribe',
    'tasks/pushNotificationConfig/set',
    'tasks/pushNotificationConfig/get',
    'tasks/pushNotificationConfig/list',
    'tasks/pushNotificationConfig/delete',
    'agent/getAuthenticatedExtendedCard',
  ],
}

const DAY_MS = 24 * 3_600_000

const FOREIGN = {
  code: -32000,
  message: 'Host and Origin must name this machine. To serve other hosts, set the public origins of the deployment.',
}
const NOT_JSON = { code: -32005, message: 'Send the message with Content-Type application/json.' }

/** Serves calls, and queues messages without a payment. */
export interface A2aCalls {
  serve: ServeCall
  render: RenderAnswer
  turn: InstrumentedCalls['turn']
}

/** `POST /a2a`: A2A versions 1.0 and 0.3 over JSON-RPC, and the agent cards. */
export function a2aRoutes(
  app: Hono<Env>,
  deps: AppDeps,
  { serve, render, turn }: A2aCalls,
  caller: (context: Context<Env>) => string,
): void {
  const parts = once(() => partsOf(deps, { serve, render }))
  // The origins are known only after the server listens.
  const card = once(() => agentCard(deps))
  const guard = once(() => createGuard(deps.origins))
  const read = createMessageReader(deps.call.catalogue, A2A_ENVELOPE)
  cardRoutes(app, card)
  const readExchange = async (context: Context<Env>): Promise<MessageExchange | Response> => {
    const header = (name: string) => context.req.header(name) ?? null
    if (!guard()(header('host') ?? new URL(context.req.url).host, header('origin'))) return rpcErrorResponse(403, FOREIGN)
    if (!/^application\/(?:a2a\+)?json(?: *;|$)/i.test(header('content-type') ?? '')) return rpcErrorResponse(415, NOT_JSON)
    const address = caller(context)
    const { request_id } = context.env
    let refused: Problem | null = null
    const mayReadLarge = async () => {
      refused = await refuseLargeMessage(deps.call, { header, address }, 'a2a')
      return refused === null
    }
    const { heavy } = deps.call
    const pays = () => isSigned(deps.call, paymentsIn(header))
    const inThread = (bytes: Uint8Array) =>
      heavy && isLarge(bytes) ? readInThread(heavy, { kind: 'a2a', bytes }, { address, pays: pays() }) : null
    const body = await read({ ...bodyOfRequest(context), pays }, { mayReadLarge, ready: () => turn('intake', address), inThread })
    if (refused !== null) {
      const asked = { serve, words: parts().context.words, deps, tool: null, address, request_id }
      return largeMessageResponse(refused, asked)
    }
    if (!body.ok) return refusalResponse(body.problem, deps.origins, request_id)
    return { message: body.message, request_id, address, header, detail: context.req.query('detail') }
  }
  app.on('POST', A2A_PATHS, async (context) => {
    const exchange = await readExchange(context)
    if (exchange instanceof Response || !hasCredential(exchange)) await turn(laneOf(exchange), caller(context))
    return exchange instanceof Response ? exchange : answer(parts(), exchange, card())
  })
  for (const path of A2A_PATHS)
    app.all(path, (context) => {
      const found = problem('METHOD_NOT_ALLOWED', 'Send JSON-RPC messages by POST; /.well-known/agent-card.json describes them.')
      return refusalResponse(found, deps.origins, context.env.request_id, { allow: 'POST' })
    })
}

const LOOKING = new Set(['tasks/get', 'GetTask'])

/** Polling a task that may be paid has its own lane, so that unpaid readers cannot delay it. */
function laneOf(exchange: MessageExchange | Response): 'reads' | 'probes' {
  const value = exchange instanceof Response ? null : exchange.message.value
  return isObject(value) && LOOKING.has(String(value['method'])) ? 'probes' : 'reads'
}

function partsOf(deps: AppDeps, { serve, render }: Pick<A2aCalls, 'serve' | 'render'>): A2aParts {
  const { catalogue, sources, payments, onFault } = deps.call
  return {
    serve,
    render,
    context: {
      words: restPaymentRenderer(deps),
      api_url: deps.origins.api_url,
      network: caip2(deps.chain_id),
      catalogue: deps.call.catalogue,
    },
    tasks: sealedTasks(
      boundedTasks(deps.tasks, () => sources.clock.now_ms()),
      deps.sealer,
    ),
    catalogue,
    desk: payments?.service ?? null,
    instances: deps.store.instances,
    clock: sources.clock,
    origin: (address) => {
      const day = Math.floor(sources.clock.now_ms() / DAY_MS)
      const hashed = (name: string) => sources.derive.hmac('a2a-client', `${day}|${name}`)
      return {
        client: hashed(quotaClient(address)),
        network: hashed(`network|${widerNetwork(address)}`),
        provider: hashed(`provider|${providerNetwork(address)}`),
      }
    },
    onFault,
  }
}

/** Agent cards, selected by the A2A-Version header; `/.well-known/agent.json` is the path of version 0.3. */
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

async function answer(parts: A2aParts, exchange: MessageExchange, card: ReturnType<typeof agentCard>): Promise<Response> {
  const { value } = exchange.message
  const message = isObject(value) ? value : {}
  const version = versionOf(message, exchange.header)
  const legacy = version === LEGACY_VERSION
  const transport = legacy ? LegacyJsonRpcTransportHandler : JsonRpcTransportHandler
  const headers = extensionHeaders(exchange.header, card)
  const id = typeof message['id'] === 'string' || Number.isInteger(message['id']) ? message['id'] : null
  const fail = (error: unknown) => Response.json({ jsonrpc: '2.0', id, error }, { headers })
  const broken = requestFault(value)
  if (broken !== null) return fail(broken)
  try {
    if (version !== CURRENT_VERSION && !legacy)
      throw new VersionNotSupportedError('Unsupported protocol version. Send A2A-Version 1.0 or 0.3.')
    const unknown = methodFault(message, version)
    if (unknown !== null) return fail(unknown)
    messageFault(message)
    const handler = createRequestHandler(parts, exchange, card)
    const replied = await new transport(handler).handle(message, new ServerCallContext({ requestedVersion: version }))
    if (!isStream(replied))
      return Response.json(limitErrorMessage(message['method'] === 'ListTasks' ? completeTaskList(replied) : replied), { headers })
    // The outcome is final when the stream begins, so all events are sent together.
    let text = ''
    for await (const event of replied) text += formatSSEEvent(event)
    return new Response(text, { headers: { ...headers, 'content-type': 'text/event-stream', 'cache-control': 'no-store' } })
  } catch (error) {
    return fail(errorOf(error, legacy))
  }
}

const ERROR_CHARS = 300

/** The SDK copies parts of the request into some of its errors; this limits their length. */
function limitErrorMessage(replied: object): object {
  const error = isObject(replied) ? replied['error'] : undefined
  if (!isObject(error) || typeof error['message'] !== 'string') return replied
  return { ...replied, error: { ...error, message: error['message'].replace(/[^\x20-\x7e]/g, '?').slice(0, ERROR_CHARS) } }
}

/** The SDK omits empty members, which ListTasksResponse requires (A2A 1.0). */
function completeTaskList(replied: object): object {
  const result = isObject(replied) ? replied['result'] : undefined
  return isObject(result) ? { ...replied, result: { tasks: [], nextPageToken: '', totalSize: 0, ...result } } : replied
}

function errorOf(error: unknown, legacy: boolean): unknown {
  return legacy ? LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error) : JsonRpcTransportHandler.mapToJSONRPCError(error)
}

function isStream(replied: unknown): replied is AsyncIterable<unknown> {
  return typeof replied === 'object' && replied !== null && Symbol.asyncIterator in replied
}

/** Version in the header; without one it is 0.3, unless only 1.0 has the method. */
function versionOf(message: Record<string, unknown>, header: MessageExchange['header']): string {
  const named = header('a2a-version')
  // Patch versions do not change the protocol.
  if (named !== null && named !== '') return named.replace(/^(\d{1,3}\.\d{1,3})\.\d{1,3}$/, '$1')
  const { method } = message
  return typeof method === 'string' && /^[A-Z]/.test(method) ? CURRENT_VERSION : LEGACY_VERSION
}

const EXTENSION_HEADERS = ['a2a-extensions', 'x-a2a-extensions']

/** Confirms the x402 extension to a client that requested it, under both header names. */
function extensionHeaders(header: MessageExchange['header'], { capabilities }: ReturnType<typeof agentCard>): Record<string, string> {
  const asked = EXTENSION_HEADERS.flatMap((name) => (header(name) ?? '').split(',')).map((uri) => uri.trim())
  const known = capabilities?.extensions.some(({ uri }) => uri === X402_EXTENSION) === true && asked.includes(X402_EXTENSION)
  return known ? { 'A2A-Extensions': X402_EXTENSION, 'X-A2A-Extensions': X402_EXTENSION } : {}
}

const NO_REQUEST = 'Send one JSON-RPC 2.0 request: {"jsonrpc": "2.0", "method": …, "id": …} with a string or whole number as id.'

/** Validates the JSON-RPC envelope (2.0, sections 4 and 5.1); null if it is valid. */
function requestFault(message: unknown): RpcError | null {
  if (!isObject(message)) return { code: -32600, message: NO_REQUEST }
  const { jsonrpc, method, id = null } = message
  const named = id === null || typeof id === 'string' || Number.isInteger(id)
  return jsonrpc === '2.0' && typeof method === 'string' && named ? null : { code: -32600, message: NO_REQUEST }
}

/** Checked before the parameters, which have no meaning for an unknown method. */
function methodFault({ method }: Record<string, unknown>, version: string): RpcError | null {
  const known = METHODS[version]?.includes(String(method)) === true
  return known ? null : { code: -32601, message: `Unknown method for A2A version ${version}.` }
}

const STATES: ReadonlySet<unknown> = new Set(Object.keys(TaskState).filter((name) => name.startsWith('TASK_STATE_')))

/** Methods that require a task id. */
const TASK_METHODS = new Set(['tasks/get', 'tasks/cancel', 'tasks/resubscribe', 'GetTask', 'CancelTask', 'SubscribeToTask'])

/**
 * Refuses parameters that the SDK would convert to text or fail on. Throws the SDK's error for malformed requests; the SDK checks the
 * rest.
 */
function messageFault({ method, params }: Record<string, unknown>): void {
  if (!isObject(params)) return
  if (TASK_METHODS.has(String(method)) && (params['id'] ?? '') === '') throwMalformed('params.id is required: the id of the task.')
  idFault('params.id', params['id'])
  if (params['tenant'] !== undefined && params['tenant'] !== '') throwMalformed('params.tenant is not supported; leave it out.')
  if (method === 'ListTasks') listFieldsFault(params)
  if (!A2A_ENVELOPE.isCall({ method })) return
  const sent = params['message']
  if (!isObject(sent)) return throwMalformed('params.message must be an object.')
  roleFault(sent['role'], String(method))
  const { messageId, taskId, contextId, parts, metadata, extensions, referenceTaskIds } = sent
  if (messageId === undefined || messageId === '') throwMalformed('params.message.messageId is required.')
  idFault('params.message.messageId', messageId)
  idFault('params.message.taskId', taskId)
  idFault('params.message.contextId', contextId)
  partsFault(parts)
  for (const list of [extensions, referenceTaskIds]) listFault(list)
  for (const one of [metadata, params['metadata'], params['configuration']]) {
    if (one !== undefined && !isObject(one)) throwMalformed('metadata and configuration must be objects.')
  }
}

function partsFault(parts: unknown): void {
  if (!Array.isArray(parts) || parts.length === 0 || parts.length > limits.a2a_parts) {
    throwMalformed(`params.message.parts must have 1 to ${limits.a2a_parts} parts.`)
    return
  }
  for (const part of parts) {
    if (!isObject(part)) return throwMalformed('A part must be an object, such as {"data": {…}}.')
    const { kind: named, text, metadata } = part
    mediaFault(part)
    if (named !== undefined && named !== 'text' && named !== 'data') throwMalformed('The kind of a part must be "text" or "data".')
    if (text !== undefined && typeof text !== 'string') throwMalformed('The member text of a part must be a string.')
    if (metadata !== undefined && !isObject(metadata)) throwMalformed('The metadata of a part must be an object.')
  }
}

/** Refuses files and media types that no skill reads (A2A 1.0, 3.3.2: ContentTypeNotSupportedError). */
function mediaFault(part: Record<string, unknown>): void {
  if (part['kind'] === 'file' || ['raw', 'file', 'url'].some((kind) => part[kind] !== undefined))
    throw new ContentTypeNotSupportedError('Files are not supported. Send a data part (application/json) or a text part (text/plain).')
  for (const name of ['mediaType', 'mimeType']) {
    const type = part[name]
    if (type === undefined || type === null || type === '') continue
    if (typeof type !== 'string') throwMalformed(`The ${name} of a part must be a string.`)
    else if (!MEDIA_TYPES.test(type)) throw new ContentTypeNotSupportedError('Unsupported media type. Send application/json or text/plain.')
  }
}

const MEDIA_TYPES = /^(?:application\/(?:[a-z0-9.-]{1,64}\+)?json|text\/plain) *(?:;|$)/i

/** Role of a client message: `user` in version 0.3; `ROLE_USER` or its protocol-buffer number in 1.0. */
function roleFault(role: unknown, method: string): void {
  const isNew = /^[A-Z]/.test(method)
  const known: readonly unknown[] = isNew ? ['ROLE_USER', 'ROLE_AGENT', 1, 2] : ['user', 'agent']
  if (!known.includes(role)) throwMalformed(`params.message.role must be ${isNew ? 'ROLE_USER' : 'user'}.`)
}

/** The SDK converts values of other types to text and unknown states to a number. */
function listFieldsFault(params: Record<string, unknown>): void {
  idFault('params.contextId', params['contextId'])
  idFault('params.pageToken', params['pageToken'])
  idFault('params.statusTimestampAfter', params['statusTimestampAfter'])
  const { status, pageSize } = params
  if (status !== undefined && status !== null && !STATES.has(status))
    throwMalformed('params.status must be a task state such as TASK_STATE_COMPLETED.')
  if (pageSize !== undefined && pageSize !== null && !Number.isInteger(pageSize)) throwMalformed('params.pageSize must be a whole number.')
}

function idFault(place: string, id: unknown): void {
  if (id === undefined || id === null) return
  if (typeof id !== 'string' || id.length > limits.a2a_id_chars || !/^[\x20-\x7e]*$/.test(id)) {
    throwMalformed(`${place} must be a string of at most ${limits.a2a_id_chars} printable ASCII characters.`)
  }
}

function listFault(list: unknown): void {
  if (list === undefined || list === null) return
  const fits = Array.isArray(list) && list.length <= limits.a2a_parts && list.every((one) => typeof one === 'string')
  if (!fits) throwMalformed(`extensions and referenceTaskIds must be lists of at most ${limits.a2a_parts} strings.`)
}

function throwMalformed(message: string): void {
  throw new RequestMalformedError(message)
}

const JSON_MODE = 'application/json'

/** Agent card in the format of the SDK: one skill per tool. */
function agentCard(deps: AppDeps): AgentCard {
  const { api_url, site_url } = deps.origins
  const { tools } = deps.call.catalogue
  const url = `${api_url}${A2A_PATH}`
  const place = { url, protocolBinding: 'JSONRPC', tenant: '' }
  return {
    name: markedName(deps),
    description: [modeMark(deps), SUMMARY, HOW_TO_CALL, allowanceWords(deps.free, tools), RECEIPT_LIMIT]
      .filter((words) => words !== null)
      .join(' '),
    supportedInterfaces: [
      { ...place, protocolVersion: CURRENT_VERSION },
      { ...place, protocolVersion: LEGACY_VERSION },
    ],
    provider: { organization: 'assay', url: site_url },
    version: deps.version,
    documentationUrl: `${api_url}/llms.txt`,
    capabilities: {
      streaming: true,
      pushNotifications: false,
      extendedAgentCard: false,
      extensions: deps.takes_payments ? [X402_CAPABILITY] : [],
    },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: [JSON_MODE, 'text/plain'],
    defaultOutputModes: [JSON_MODE],
    skills: tools.map(skill),
    signatures: [],
  }
}

const HOW_TO_CALL = 'Send one data part {"tool": id of a skill, "input": {…}}; the artifact contains result and receipt.'

const X402_CAPABILITY = {
  uri: X402_EXTENSION,
  description: 'Calls beyond the free allowance are paid in USDC with x402 (scheme exact): the task waits for x402.payment.payload.',
  required: false,
  params: undefined,
}

function skill({ id, title, description, family, example }: Tool): AgentCard['skills'][number] {
  return {
    id,
    name: title,
    description,
    tags: [family, ...id.split('-').filter((word) => word !== family && word.length > 2)].slice(0, 6),
    examples: [JSON.stringify({ tool: id, input: example })].filter((text) => text.length <= EXAMPLE_CHARS),
    inputModes: [],
    outputModes: [],
    securityRequirements: [],
  }
}

/** Longer examples are left out of the card; the catalogue has all of them. */
const EXAMPLE_CHARS = 300

function currentCard(card: AgentCard): Record<string, unknown> {
  return AgentCard.toJSON(card) as Record<string, unknown>
}

/** Card in the format of version 0.3, which older clients read. */
function legacyCard({ name, description, supportedInterfaces, version, ...card }: AgentCard): Record<string, unknown> {
  const url = supportedInterfaces[0]?.url ?? ''
  const extensions = card.capabilities?.extensions ?? []
  return {
    protocolVersion: '0.3.0',
    name,
    description,
    url,
    preferredTransport: 'JSONRPC',
    provider: card.provider,
    version,
    documentationUrl: card.documentationUrl,
    capabilities: { streaming: true, pushNotifications: false, ...(extensions.length === 0 ? {} : { extensions }) },
    defaultInputModes: card.defaultInputModes,
    defaultOutputModes: card.defaultOutputModes,
    skills: card.skills.map(({ id, name: title, description: words, tags, examples }) => ({
      id,
      name: title,
      description: words,
      tags,
      ...(examples.length === 0 ? {} : { examples }),
    })),
  }
}

/** Card with the members of both versions, for clients that do not send a version. */
function sharedCard(card: AgentCard): Record<string, unknown> {
  return { ...legacyCard(card), ...currentCard(card) }
}
