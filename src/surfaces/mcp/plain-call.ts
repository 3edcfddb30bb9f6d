import {
  classifyInboundRequest,
  SERVER_INFO_META_KEY,
  type Implementation,
  type InboundClassificationOutcome,
} from '@modelcontextprotocol/server'
import { isObject } from '../../pure/is-object.ts'
import type { CallParams, McpExchange, ResultMeta, ToolReply } from './tool-call.ts'
import { HANDSHAKE_VERSIONS, STATELESS_VERSION } from './versions.ts'

/**
 * The plain `tools/call`, by far the most frequent message, answered without a server and a transport of its own, which cost as much as
 * the call itself. The official package still judges the message; what is unusual in any way is left to it altogether, and a test holds
 * the two ways against one another, byte by byte.
 */
export interface PlainCall {
  params: CallParams
  /** Writes the reply exactly as the official package does. */
  response(reply: ToolReply): Response
}

/** Reads plain calls; null for every message that the official package has to answer. */
export function createPlainCalls(identity: Implementation): (exchange: McpExchange) => PlainCall | null {
  const stamp = { [SERVER_INFO_META_KEY]: identity }
  const complete = ',"resultType":"complete"'
  const bare = { head: '', tail: `${complete},${members({ _meta: stamp })}` }
  // The package puts a result's own `_meta` first, with its stamp in it, and a stamp alone last.
  const stateless: Frame = (meta) => (meta === null ? bare : { head: `${members({ _meta: { ...meta, ...stamp } })},`, tail: complete })
  const handshake: Frame = (meta) => ({ head: meta === null ? '' : `${members({ _meta: meta })},`, tail: '' })
  return ({ message, header }) => {
    const { value } = message
    if (!isObject(value) || value['method'] !== 'tools/call' || !isPlain(value['params'])) return null
    const params = value['params']
    const era = eraOf(value, header, params.name)
    if (era === null) return null
    const frame = era === 'stateless' ? stateless : handshake
    return { params, response: (reply) => json(replyText(reply, JSON.stringify(value['id']), frame)) }
  }
}

const PARAMS = new Set(['name', 'arguments', '_meta'])

/** Nothing but what every revision has, in the form that every revision asks for. */
function isPlain(params: unknown): params is CallParams {
  if (!isObject(params) || !Object.keys(params).every((key) => PARAMS.has(key))) return false
  const { name, arguments: given = {}, _meta: meta = {} } = params
  return typeof name === 'string' && /^[\w-]{1,64}$/.test(name) && isObject(given) && isObject(meta)
}

export type Era = 'handshake' | 'stateless'

/** The era of a plain request, by the official package's own judgement; null for what is unusual in any way. `name` is that of a tool. */
export function eraOf(message: Record<string, unknown>, header: Header, name: string | null): Era | null {
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

/** Protocol versions up to 2025-11-25; without the header, the version is the one that `initialize` settled. */
function isHandshake(route: InboundClassificationOutcome, header: Header): boolean {
  if (route.kind !== 'legacy' || route.reason !== 'no-claim') return false
  const version = header('mcp-protocol-version')
  const accept = header('accept') ?? ''
  const known = version === null || HANDSHAKE_VERSIONS.includes(version)
  return known && accept.includes('application/json') && accept.includes('text/event-stream')
}

/** Protocol version 2026-07-28, whose headers must say what the message says. */
function isStateless(route: InboundClassificationOutcome, method: unknown, name: string | null, header: Header): boolean {
  if (route.kind !== 'modern' || route.messageKind !== 'request' || route.classification.revision !== STATELESS_VERSION) return false
  return header('mcp-protocol-version') === STATELESS_VERSION && header('mcp-method') === method && header('mcp-name') === name
}

/** What stands around the content of a result. */
type Frame = (meta: ResultMeta | null) => { head: string; tail: string }

function members(value: Record<string, unknown>): string {
  return JSON.stringify(value).slice(1, -1)
}

function replyText(reply: ToolReply, id: string, frame: Frame): string {
  if (reply.kind === 'error') return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(reply.error)}}`
  const { head, tail } = frame(reply.meta)
  const structured = reply.kind === 'answer' || reply.has_terms === true ? `"structuredContent":${reply.text}` : null
  const more = [structured, reply.kind === 'answer' ? null : '"isError":true'].filter((one) => one !== null).join(',')
  return `{"result":{${head}"content":[${textContent(reply.text)}],${more}${tail}},"jsonrpc":"2.0","id":${id}}`
}

function textContent(text: string): string {
  return `{"type":"text","text":${JSON.stringify(text)}}`
}

function json(body: string): Response {
  return new Response(body, { headers: { 'content-type': 'application/json' } })
}
