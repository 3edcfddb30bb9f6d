import type { Tool as ListedTool, Server } from '@modelcontextprotocol/server'
import { call } from '../service/calls/call.ts'
import type { ServeCall } from '../service/calls/instrumented-call.ts'
import { toolSchemas } from '../service/catalogue/wire-schemas.ts'
import { loadCatalogue } from '../service/catalogue/load.ts'
import { withRegisters } from '../service/registers.ts'
import { modeMark, SUMMARY } from '../service/catalogue/text.ts'
import { localOrigin } from '../assembly/identity.ts'
import type { PaymentRenderer } from '../surfaces/payment.ts'
import {
  ANSWER_INSTRUCTIONS,
  callTool,
  createToolServer,
  type ToolCalls,
  type ToolServerParts,
  answerReply,
  type CallParams,
  DETAIL_POINTER,
  type ToolReply,
} from '../surfaces/mcp/tool-call.ts'
import { createViews, type ToolViewRequest, CALL_TOOL, isFindTool } from '../surfaces/mcp/tool-list.ts'
import { VERSION } from '../assembly/deployment.ts'
import { localCallDeps } from './call.ts'
import type { Invocation } from './commands.ts'
import { markMode, readEnvironment } from './deployment.ts'
import { CliError, type Exit } from './errors.ts'
import { refuseWallet, shownAnswer, shownError, remoteClient } from './remote.ts'
import { remark, shownProblem } from './terminal.ts'
import { type AssayClient, AssayError } from '../client/index.ts'
import { once } from '../pure/once.ts'
import { REGISTER_IDS, limits } from '../service/limits.ts'
import { isObject } from '../pure/is-object.ts'
import { detailIn, unknownDetail } from '../surfaces/rest.ts'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { readJsonBody, type OpenJson } from '../surfaces/http/body.ts'
import type { Message } from '../surfaces/json-rpc.ts'

/** `assay mcp`: MCP on standard input and output; the tools run in this process or, with --url, at a service. */
export async function run(invocation: Invocation): Promise<Exit> {
  const parts = await partsFor(invocation)
  await serveOverStdio(
    () => createToolServer(parts),
    (error) => remark(`assay: ${error.message}`),
  )
  return 'ok'
}

async function partsFor(invocation: Invocation): Promise<ToolServerParts> {
  const url = invocation.text('url')
  const asked = { family: invocation.text('family'), form: invocation.flag('small') ? ('small' as const) : null, page: null }
  if (url !== null) return remoteServer(url, asked, invocation)
  refuseWallet(invocation)
  return localServer(asked)
}

/** Runs the tools in this process: no server, allowance or payment. */
async function localServer(asked: ToolViewRequest): Promise<ToolServerParts> {
  const settings = readEnvironment()
  const catalogue = withRegisters(await loadCatalogue(), settings.ASSAY_REGISTERS)
  const schemas = new Map(catalogue.tools.map((tool) => [tool.id, toolSchemas(tool)]))
  const views = createViews(catalogue.tools, schemas)
  const read = views(asked)
  if (!read.ok) throw new CliError('usage', read.message)
  const { view } = read
  markMode(settings)
  const deps = await localCallDeps(catalogue, settings)
  // The allowance without a limit is not shown to the model.
  const serve: ServeCall = async (request) => {
    const outcome = await call(deps, request)
    return outcome.kind === 'answered' ? { ...outcome, answer: { ...outcome.answer, allowance: null } } : outcome
  }
  const api_url = settings.ASSAY_API_URL || localOrigin(settings.ASSAY_HOST, settings.ASSAY_PORT)
  const calls: ToolCalls = { serve, catalogue, schemas, api_url, words: UNPAID, onFault: (error) => remark(`assay: ${String(error)}`) }
  const mark = modeMark({ mode: settings.ASSAY_MODE, chain_id: settings.ASSAY_CHAIN_ID })
  return {
    identity: { name: 'assay', title: 'assay', version: VERSION },
    instructions: [mark, SUMMARY, HERE, ...ANSWER_INSTRUCTIONS].filter((words) => words !== null).join(' '),
    view: () => view,
    call: (params) =>
      callTool(calls, params, {
        message: messageOf(params),
        request_id: crypto.randomUUID(),
        address: '127.0.0.1',
        header: () => null,
        view,
      }),
  }
}

const HERE = 'The tools run on this machine: nothing is counted or paid. Those that keep records need a running service.'

/** Calls are not paid here. */
const UNPAID: PaymentRenderer = { challenge: () => null, responseHeaders: () => ({}), failureHeaders: () => ({}), response: () => null }

type Params = CallParams & { readonly arguments?: unknown }

/** Tools of a running service. The client library calls and, within the spending caps, pays for them and verifies each receipt. */
async function remoteServer(url: string, asked: ToolViewRequest, invocation: Invocation): Promise<ToolServerParts> {
  const client = remoteClient(url, invocation, 'call_and_session')
  const { endpoint, notice } = await manifestOf(url)
  if (notice !== null) remark(`//// ${notice} ////`)
  const query = new URLSearchParams({
    ...(asked.family === null ? {} : { family: asked.family }),
    ...(asked.form === null ? {} : { tools: asked.form }),
  })
  const ask = (method: string, params: object) => rpc(`${endpoint}?${query.toString()}`, method, params)
  const list = resultOf(await ask('tools/list', {}))?.['tools']
  if (!Array.isArray(list)) throw new CliError('unavailable', 'The service at --url lists no tools; is the family right?')
  return {
    identity: { name: 'assay', title: 'assay', version: VERSION },
    instructions: [notice, SUMMARY, `Calls go to ${url}.`, payingWords(client), ...ANSWER_INSTRUCTIONS]
      .filter((words) => words !== null)
      .join(' '),
    view: () => ({ listed: list as ListedTool[], page: list.length }),
    call: (params) =>
      asked.form !== null && isFindTool(params.name) ? forwarded(ask, params) : called(client, params, asked.form !== null),
  }
}

function payingWords(client: AssayClient): string {
  const spending = client.spending()
  if (spending === null) return 'Only free calls are made: there is no payer.'
  return `Beyond the free calls a call is paid by itself, at most ${spending.per_call_usdc} USDC each and ${spending.session_usdc} in all.`
}

const NO_HEADERS = { header: () => null }

/** Tools of this version, from which brief texts are made; the answer of a tool that only the service knows is whole JSON. */
const knownTools = once(async () => {
  const catalogue = withRegisters(await loadCatalogue(), REGISTER_IDS)
  return { catalogue, schemas: new Map(catalogue.tools.map((tool) => [tool.id, toolSchemas(tool)])) }
})

async function called(client: AssayClient, params: Params, small: boolean): Promise<ToolReply> {
  const inner = small && params.name === CALL_TOOL
  const given = isObject(params.arguments) ? params.arguments : {}
  const tool = inner ? given['tool'] : params.name
  const input = inner ? given['input'] : given
  const { _meta: meta = {} } = params
  const previous = meta['assay/prev-receipt-hash']
  const detail = detailIn({ ...NO_HEADERS, meta }, 'brief')
  if (detail === null)
    return { kind: 'problem', content: JSON.stringify(shownProblem(unknownDetail(DETAIL_POINTER))), structured: null, meta: null }
  try {
    const options = typeof previous === 'string' ? { previous_receipt: previous } : {}
    const answer = await client.callUntyped(typeof tool === 'string' ? tool : '', isObject(input) ? input : {}, options)
    return answerReply(await knownTools(), { tool: answer.tool, detail, text: JSON.stringify(shownAnswer(answer)) }, () => answer)
  } catch (error) {
    if (!(error instanceof AssayError)) throw error
    return { kind: 'problem', content: JSON.stringify(shownError(error)), structured: null, meta: null }
  }
}

type Ask = (method: string, params: object) => Promise<unknown>

/** Forwards requests that are not tool calls to the service. */
async function forwarded(ask: Ask, { name, arguments: given }: Params): Promise<ToolReply> {
  const result = resultOf(await ask('tools/call', { name, arguments: isObject(given) ? given : {} }))
  const [first] = Array.isArray(result?.['content']) ? (result['content'] as unknown[]) : []
  const text =
    isObject(first) && typeof first['text'] === 'string' ? first['text'] : JSON.stringify({ detail: 'The service gave no answer.' })
  if (result?.['structuredContent'] === undefined) return { kind: 'problem', content: text, structured: null, meta: null }
  // Payment terms are structured content of an error result.
  if (result['isError'] === true) return { kind: 'problem', content: text, structured: text, meta: null }
  return { kind: 'answer', content: text, structured: JSON.stringify(result['structuredContent']), meta: null }
}

function resultOf(reply: unknown): Record<string, unknown> | null {
  const result = isObject(reply) ? reply['result'] : undefined
  return isObject(result) ? result : null
}

/** Reads the MCP address of the service and its notice about real or test money. */
async function manifestOf(url: string): Promise<{ endpoint: string; notice: string | null }> {
  const manifest = await json(`${url.replace(/\/+$/, '')}/.well-known/mcp.json`, {})
  const { endpoint, notice } = isObject(manifest) ? manifest : {}
  if (typeof endpoint !== 'string' || !/^https?:\/\//.test(endpoint)) {
    throw new CliError('unavailable', 'At --url there is no such service: /.well-known/mcp.json names no endpoint.')
  }
  return { endpoint, notice: typeof notice === 'string' ? notice : null }
}

const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-11-25',
}

function rpc(endpoint: string, method: string, params: object): Promise<unknown> {
  return json(endpoint, { method: 'POST', headers: HEADERS, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) })
}

const ANSWER_MS = 30_000

async function json(url: string, init: RequestInit): Promise<unknown> {
  try {
    const response = await globalThis.fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(ANSWER_MS) })
    return await response.json()
  } catch {
    throw new CliError('unavailable', 'The service at --url does not answer, or not in JSON.')
  }
}

/**
 * MCP over standard input and output, one message per line, both protocol eras. Nothing else may be written to standard output meanwhile.
 * Resolves when the client closes its end.
 */
async function serveOverStdio(server: () => Server, onFault: (error: Error) => void): Promise<void> {
  const closed = Promise.withResolvers<void>()
  process.stdin.once('close', closed.resolve)
  process.stdin.once('end', closed.resolve)
  const transport = new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: 2 * limits.document_body_bytes })
  const handle = serveStdio(server, { transport, onerror: onFault })
  await closed.promise
  await handle.close()
}

/**
 * Converts the params of a call to a message: serialized again, so that the limits of the tool apply. A duplicate key is not detected,
 * because the SDK's parser has already merged it.
 */
function messageOf(params: CallParams): Message {
  const value = { params }
  const bytes = new TextEncoder().encode(JSON.stringify(value))
  const within: OpenJson['within'] = (bounds) => readJsonBody(bytes, bounds)
  return { kind: 'whole', value, body_bytes: bytes.length, json: { text: '', within } }
}
