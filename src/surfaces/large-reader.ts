/** Reads long bodies in a worker thread: strict JSON, the schema of the tool and the input hash. */
import { isObject } from '../pure/is-object.ts'
import type { ReceiptCrypto } from '../pure/receipts/crypto.ts'
import type { ReadBounds, Tool } from '../service/catalogue/define.ts'
import { decodeInputRead } from '../service/calls/decoded-call.ts'
import type { InputRead } from '../service/calls/outcome.ts'
import { inputHash } from '../service/calls/answer.ts'
import { limits } from '../service/limits.ts'
import { problem } from '../service/problems.ts'
import { readRequest, A2A_ENVELOPE } from './a2a/message.ts'
import { readJsonBody, unwrapInput } from './http/body.ts'
import type { LargeBody } from './http/read-in-thread.ts'
import {
  createMessageParser,
  readNestedInput,
  readToolArguments,
  TOOLS_CALL,
  type MessageRead,
  type ThreadMessage,
  type WholeMessage,
} from './json-rpc.ts'
import { isPreflight, preflightMessage, PREFLIGHT_MESSAGES, checkBody } from './preflight/serve.ts'
import { CALL_TOOL, isFindTool } from './mcp/tool-list.ts'

/** Dependencies of the reader in its thread. */
export interface LargeReaderParts {
  /** Limits of all tools. */
  readonly tools: readonly { readonly bounds: ReadBounds }[]
  /** Loads a tool by id (underscores count as hyphens); null if it does not exist. */
  find(id: string): Promise<Tool | null>
  /** Serializes the input of a pure tool for the thread that runs the tool. */
  pack(input: Record<string, unknown>): Uint8Array
  readonly crypto: ReceiptCrypto
}

/** Returns the reader of all kinds of long bodies. */
export function createLargeReader(parts: LargeReaderParts): (body: LargeBody) => Promise<object> {
  const parseCall = createMessageParser(parts.tools, { ...TOOLS_CALL, others: PREFLIGHT_MESSAGES })
  const parseSend = createMessageParser(parts.tools, A2A_ENVELOPE)
  return async (body) => {
    switch (body.kind) {
      case 'rest':
        return restInput(parts, body)
      case 'mcp':
        return limitEnvelope(await readMcp(parts, body, parseCall(body.bytes)))
      case 'a2a':
        return limitEnvelope(await readA2a(parts, parseSend(body.bytes)))
      case 'preflight':
        return checkBody(body.bytes, body.at)
    }
  }
}

async function restInput(parts: LargeReaderParts, { tool: id, bytes }: LargeBody<'rest'>): Promise<InputRead> {
  const tool = await parts.find(id)
  if (tool === null) throw new Error('a body was read for a tool that is not known')
  const json = readJsonBody(bytes, tool.bounds)
  return toInputRead(parts, tool, json.ok ? unwrapInput(json.value, tool.id) : json)
}

/**
 * Validates the input. The input of a pure tool stays serialized: the tool runs in a thread too, and parsing the input on the event loop
 * would block it.
 */
function toInputRead(parts: LargeReaderParts, tool: Tool, read: InputRead): InputRead {
  const decoded = decodeInputRead(tool, read)
  if (!decoded.ok || decoded.input === null) return decoded.ok ? read : decoded
  const { input, unwrapped } = decoded
  const input_hash = inputHash(parts, input)
  // A register is asked on the event loop, which then needs the input.
  const isPure = tool.sources.every((source) => source === 'catalogue') && input['register'] !== true
  const found = isPure ? { input: priceFactors(tool, input), packed: parts.pack(input) } : { input, packed: null }
  return { ok: true, input: null, unwrapped, ready: { ...found, input_hash } }
}

/** Facts that the price depends on: the number of items of a batch. */
function priceFactors({ price }: Tool, { items }: Record<string, unknown>): Record<string, unknown> | null {
  return price === 'batch' && Array.isArray(items) ? { items: items.map(() => null) } : null
}

async function readMcp(parts: LargeReaderParts, body: LargeBody<'mcp'>, read: MessageRead): Promise<MessageRead> {
  if (!read.ok || read.message.kind !== 'whole') return read
  const { message } = read
  const { value } = message
  if (isPreflight(value)) {
    const preflight = preflightMessage(message, body.at)
    return fromThread(message, { value: isObject(value) ? { ...value, params: {} } : value, preflight })
  }
  const params = isObject(value) ? value['params'] : undefined
  const name = isObject(params) ? params['name'] : undefined
  if (!isObject(value) || !TOOLS_CALL.isCall(value) || !isObject(params) || (body.small && isFindTool(name)))
    return fromThread(message, { value })
  const given = params['arguments']
  if (!isObject(given)) return fromThread(message, { value, input: await inputOf(parts, name, (tool) => readToolArguments(message, tool)) })
  const isInside = body.small && name === CALL_TOOL
  const left = isInside ? ('input' in given ? { ...given, input: {} } : given) : {}
  const input = isInside
    ? await inputOf(parts, given['tool'], (tool) => readNestedInput(message, tool))
    : await inputOf(parts, name, (tool) => readToolArguments(message, tool))
  return fromThread(message, { value: { ...value, params: { ...params, arguments: left } }, input })
}

async function readA2a(parts: LargeReaderParts, read: MessageRead): Promise<MessageRead> {
  if (!read.ok || read.message.kind !== 'whole') return read
  const { message } = read
  if (!A2A_ENVELOPE.isCall(message.value)) return fromThread(message, { value: message.value })
  const asked = readRequest(message)
  const value = withoutData(message.value)
  if (asked.kind !== 'call') return fromThread(message, { value, asked })
  const { tool, read: readInput } = asked
  return fromThread(message, { value, asked: { kind: 'call', tool }, input: await inputOf(parts, tool, readInput) })
}

async function inputOf(parts: LargeReaderParts, name: unknown, read: (bounds: ReadBounds) => InputRead | Promise<InputRead>) {
  const tool = typeof name === 'string' ? await parts.find(name) : null
  return tool === null ? null : toInputRead(parts, tool, await read(tool.bounds))
}

/** Returns the A2A message with an empty object as the data of each part. */
function withoutData(value: unknown): unknown {
  const params = isObject(value) ? value['params'] : undefined
  const sent = isObject(params) ? params['message'] : undefined
  if (!isObject(value) || !isObject(params) || !isObject(sent) || !Array.isArray(sent['parts'])) return value
  const strip = (part: unknown) => (isObject(part) && isObject(part['data']) ? { ...part, data: {} } : part)
  return { ...value, params: { ...params, message: { ...sent, parts: sent['parts'].map(strip) } } }
}

type ThreadMessageFields = Pick<ThreadMessage, 'value'> & Partial<ThreadMessage>

function fromThread({ body_bytes }: WholeMessage, found: ThreadMessageFields): MessageRead {
  return { ok: true, message: { kind: 'from_thread', body_bytes, input: null, asked: null, preflight: null, ...found } }
}

/** Refuses a message with too many values around its input: they are parsed again on the event loop. */
function limitEnvelope(read: MessageRead): MessageRead {
  const most = limits.envelope_nodes
  if (!read.ok || countUpTo(read.message.value, most) <= most) return read
  return { ok: false, problem: problem('JSON_TOO_MANY_NODES', `A long message may have at most ${most} values around its input.`) }
}

/** Returns the number of values, or any number above `most`. */
function countUpTo(value: unknown, most: number): number {
  if (typeof value !== 'object' || value === null) return 1
  let count = 1
  for (const name in value) {
    count += countUpTo((value as Record<string, unknown>)[name], most - count)
    if (count > most) break
  }
  return count
}
