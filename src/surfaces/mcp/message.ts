import type { Catalogue } from '../../service/catalogue/load.ts'
import type { ReadBounds } from '../../service/catalogue/define.ts'
import type { InputRead } from '../../service/calls/outcome.ts'
import { limits } from '../../service/limits.ts'
import { problem, type Problem } from '../../service/problems.ts'
import { readBody, type BodySource } from '../http/body.ts'
import { readJsonBody } from '../http/json-body.ts'

type JsonBounds = Omit<ReadBounds, 'body_bytes'>

/** The body of a request: JSON that every reader would read alike, meant to be a JSON-RPC message. */
export interface Message {
  readonly value: unknown
  readonly bytes: Uint8Array
  /** The bounds under which `value` was read. */
  readonly bounds: JsonBounds
}

export type MessageRead = { ok: true; message: Message } | { ok: false; problem: Problem }

/** What a JSON-RPC message needs around the arguments, beyond what REST needs around its input. */
const ENVELOPE = { depth: 1, nodes: 256 }

const ORDINARY: JsonBounds = aroundInput({ depth: limits.json_depth, nodes: limits.json_nodes, unsafe_numbers: 'refuse' })

/** Reads messages for these tools: strictly, under the ordinary bounds, and under wider ones only when a tool of the catalogue has them. */
export function createMessageReader({ tools }: Catalogue) {
  const most = (of: (bounds: ReadBounds) => number) => Math.max(0, ...tools.map(({ bounds }) => of(bounds)))
  const body_bytes = Math.max(
    limits.body_bytes,
    most((bounds) => bounds.body_bytes),
  )
  const widest: JsonBounds = {
    depth: Math.max(ORDINARY.depth, ENVELOPE.depth + most((bounds) => bounds.depth)),
    nodes: Math.max(ORDINARY.nodes, ENVELOPE.nodes + most((bounds) => bounds.nodes)),
    unsafe_numbers: tools.some(({ bounds }) => bounds.unsafe_numbers === 'keep_text') ? 'keep_text' : 'refuse',
  }
  return async (source: BodySource, mayReadLarge: () => Promise<boolean>): Promise<MessageRead> => {
    const body = await readBody(source, body_bytes, mayReadLarge)
    if (!body.ok) return body
    const ordinary = readMessage(body.bytes, ORDINARY)
    if (ordinary.ok || sameBounds(widest, ORDINARY)) return ordinary
    const wide = readMessage(body.bytes, widest)
    return wide.ok && isObject(wide.message.value) && wide.message.value['method'] === 'tools/call' ? wide : ordinary
  }
}

/** The arguments of a call, held against the bounds of its tool, which may be narrower or wider than those of the first reading. */
export function readArguments({ value, bytes, bounds }: Message, tool: ReadBounds): InputRead {
  if (bytes.length > tool.body_bytes) {
    return { ok: false, problem: problem('PAYLOAD_TOO_LARGE', `This tool reads messages of at most ${tool.body_bytes} bytes.`) }
  }
  const exact = aroundInput(tool)
  if (sameBounds(exact, bounds)) return { ok: true, input: argumentsOf(value) }
  const again = readMessage(bytes, exact)
  return again.ok ? { ok: true, input: argumentsOf(again.message.value) } : again
}

function readMessage(bytes: Uint8Array, bounds: JsonBounds): MessageRead {
  const json = readJsonBody(bytes, bounds)
  return json.ok ? { ok: true, message: { value: json.value, bytes, bounds } } : json
}

function argumentsOf(message: unknown): unknown {
  const params = isObject(message) ? message['params'] : undefined
  return (isObject(params) ? params['arguments'] : undefined) ?? {}
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function aroundInput({ depth, nodes, unsafe_numbers }: JsonBounds): JsonBounds {
  return { depth: depth + ENVELOPE.depth, nodes: nodes + ENVELOPE.nodes, unsafe_numbers }
}

function sameBounds(a: JsonBounds, b: JsonBounds): boolean {
  return a.depth === b.depth && a.nodes === b.nodes && a.unsafe_numbers === b.unsafe_numbers
}
