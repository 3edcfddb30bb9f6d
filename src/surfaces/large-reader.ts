/** Readers of long bodies, as worker threads run them: strict JSON, the schema of the tool and the hash of the input in one place. */
import { isObject } from '../pure/is-object.ts'
import type { ReceiptCrypto } from '../pure/receipts/crypto.ts'
import type { ReadBounds, Tool } from '../service/catalogue/define.ts'
import { decodeRead } from '../service/calls/decode-read.ts'
import type { InputRead } from '../service/calls/outcome.ts'
import { inputHash } from '../service/calls/prepare.ts'
import { limits } from '../service/limits.ts'
import { problem } from '../service/problems.ts'
import { readAsk, SEND } from './a2a/ask.ts'
import { readJsonBody, unwrapInput } from './http/json-body.ts'
import type { LargeBody } from './http/read-in-thread.ts'
import * as mcp from './json-rpc.ts'
import { isPreflight, preflightMessage, PREFLIGHT_MESSAGES } from './mcp/preflight-message.ts'
import { CALL_TOOL, FIND_TOOLS } from './mcp/small.ts'
import { checkBody } from './preflight/check-body.ts'

/** What the readers need of their thread. */
export interface LargeReaderParts {
  /** The bounds of all tools. */
  readonly tools: readonly { readonly bounds: ReadBounds }[]
  /** Loads a tool by its id, underscores read as hyphens; null where there is none. */
  find(id: string): Promise<Tool | null>
  /** Puts the input of a pure tool into the form in which the thread that runs the tool gets it. */
  pack(input: Record<string, unknown>): Uint8Array
  readonly crypto: ReceiptCrypto
}

/** Makes the reader of all kinds of long bodies. */
export function createLargeReader(parts: LargeReaderParts): (body: LargeBody) => Promise<object> {
  const parseCall = mcp.createMessageParser(parts.tools, { ...mcp.TOOLS_CALL, others: PREFLIGHT_MESSAGES })
  const parseSend = mcp.createMessageParser(parts.tools, SEND)
  return async (body) => {
    switch (body.kind) {
      case 'rest':
        return restInput(parts, body)
      case 'mcp':
        return bounded(await readMcp(parts, body, parseCall(body.bytes)))
      case 'a2a':
        return bounded(await readA2a(parts, parseSend(body.bytes)))
      case 'preflight':
        return checkBody(body.bytes, body.at)
    }
  }
}

async function restInput(parts: LargeReaderParts, { tool: id, bytes }: LargeBody<'rest'>): Promise<InputRead> {
  const tool = await parts.find(id)
  if (tool === null) throw new Error('a body was read for a tool that is not known')
  const json = readJsonBody(bytes, tool.bounds)
  return ready(parts, tool, json.ok ? unwrapInput(json.value, tool.id) : json)
}

/**
 * The input as its tool takes it. That of a pure tool stays packed, since the tool runs in a thread too, and making an object of the input
 * would block the event loop.
 */
function ready(parts: LargeReaderParts, tool: Tool, read: InputRead): InputRead {
  const decoded = decodeRead(tool, read)
  if (!decoded.ok || decoded.input === null) return decoded.ok ? read : decoded
  const { input, bare } = decoded
  const input_hash = inputHash(parts, input)
  const isPure = tool.sources.every((source) => source === 'catalogue')
  const found = isPure ? { input: pricedPart(tool, input), packed: parts.pack(input) } : { input, packed: null }
  return { ok: true, input: null, bare, ready: { ...found, input_hash } }
}

/** What the price of a call depends on: the number of items of a batch. */
function pricedPart({ price }: Tool, { items }: Record<string, unknown>): Record<string, unknown> | null {
  return price === 'batch' && Array.isArray(items) ? { items: items.map(() => null) } : null
}

async function readMcp(parts: LargeReaderParts, body: LargeBody<'mcp'>, read: mcp.MessageRead): Promise<mcp.MessageRead> {
  if (!read.ok || read.message.kind !== 'whole') return read
  const { message } = read
  const { value } = message
  if (isPreflight(value)) {
    const preflight = preflightMessage(message, body.at)
    return fromThread(message, { value: isObject(value) ? { ...value, params: {} } : value, preflight })
  }
  const params = isObject(value) ? value['params'] : undefined
  const name = isObject(params) ? params['name'] : undefined
  if (!isObject(value) || !mcp.TOOLS_CALL.calls(value) || !isObject(params) || (body.small && name === FIND_TOOLS))
    return fromThread(message, { value })
  const given = params['arguments']
  if (!isObject(given)) return fromThread(message, { value, input: await inputOf(parts, name, (tool) => mcp.readArguments(message, tool)) })
  const isInside = body.small && name === CALL_TOOL
  const left = isInside ? ('input' in given ? { ...given, input: {} } : given) : {}
  const input = isInside
    ? await inputOf(parts, given['tool'], (tool) => mcp.readInput(message, tool, mcp.CALL_INSIDE, mcp.innerInputOf))
    : await inputOf(parts, name, (tool) => mcp.readArguments(message, tool))
  return fromThread(message, { value: { ...value, params: { ...params, arguments: left } }, input })
}

async function readA2a(parts: LargeReaderParts, read: mcp.MessageRead): Promise<mcp.MessageRead> {
  if (!read.ok || read.message.kind !== 'whole') return read
  const { message } = read
  if (!SEND.calls(message.value)) return fromThread(message, { value: message.value })
  const asked = readAsk(message)
  const value = withoutData(message.value)
  if (asked.kind !== 'call') return fromThread(message, { value, asked })
  const { tool, read: readInput } = asked.ask
  return fromThread(message, { value, asked: { kind: 'call', tool }, input: await inputOf(parts, tool, readInput) })
}

async function inputOf(parts: LargeReaderParts, name: unknown, read: (bounds: ReadBounds) => InputRead | Promise<InputRead>) {
  const tool = typeof name === 'string' ? await parts.find(name) : null
  return tool === null ? null : ready(parts, tool, await read(tool.bounds))
}

/** A message of A2A with an empty object for the data of each part. */
function withoutData(value: unknown): unknown {
  const params = isObject(value) ? value['params'] : undefined
  const sent = isObject(params) ? params['message'] : undefined
  if (!isObject(value) || !isObject(params) || !isObject(sent) || !Array.isArray(sent['parts'])) return value
  const strip = (part: unknown) => (isObject(part) && isObject(part['data']) ? { ...part, data: {} } : part)
  return { ...value, params: { ...params, message: { ...sent, parts: sent['parts'].map(strip) } } }
}

type Found = Pick<mcp.ThreadMessage, 'value'> & Partial<mcp.ThreadMessage>

function fromThread({ body_bytes }: mcp.WholeMessage, found: Found): mcp.MessageRead {
  return { ok: true, message: { kind: 'from_thread', body_bytes, input: null, asked: null, preflight: null, ...found } }
}

/** Refuses a message with more around its input than any small message may hold: all of it would have to be made again on the event loop. */
function bounded(read: mcp.MessageRead): mcp.MessageRead {
  const most = limits.envelope_nodes
  if (!read.ok || countUpTo(read.message.value, most) <= most) return read
  return { ok: false, problem: problem('JSON_TOO_MANY_NODES', `A long message may hold ${most} values around its input.`) }
}

/** Number of values, or some number above `most`. */
function countUpTo(value: unknown, most: number): number {
  if (typeof value !== 'object' || value === null) return 1
  let count = 1
  for (const name in value) {
    count += countUpTo((value as Record<string, unknown>)[name], most - count)
    if (count > most) break
  }
  return count
}
