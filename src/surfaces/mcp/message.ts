import type { Catalogue } from '../../service/catalogue/load.ts'
import type { ReadBounds } from '../../service/catalogue/define.ts'
import type { InputRead } from '../../service/calls/outcome.ts'
import { limits } from '../../service/limits.ts'
import { problem, type Problem } from '../../service/problems.ts'
import { readBody, type BodySource, type MayReadLarge } from '../http/body.ts'
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

/** How the JSON-RPC messages of a protocol hold the input of a tool. */
export interface Envelope {
  /** What a message needs around the input, beyond what REST needs. */
  readonly depth: number
  readonly nodes: number
  /** Whether a message is a call; only such a one may have the wider bounds of a tool. */
  calls(message: unknown): boolean
  /** Messages of another kind that have bounds of their own. */
  readonly others?: { bounds: JsonBounds; reads(message: unknown): boolean }
}

/** MCP: the arguments of `tools/call` are the input. */
export const TOOLS_CALL: Envelope = {
  depth: 1,
  nodes: 256,
  calls: (message) => isObject(message) && message['method'] === 'tools/call',
}

/** Reads messages for these tools: strictly, under the ordinary bounds, and under wider ones only where a tool or the kind of message has them. */
export function createMessageReader({ tools }: Catalogue, envelope: Envelope = TOOLS_CALL) {
  const ordinary_bounds = around(envelope, { depth: limits.json_depth, nodes: limits.json_nodes, unsafe_numbers: 'refuse' })
  const most = (of: (bounds: ReadBounds) => number) => Math.max(0, ...tools.map(({ bounds }) => of(bounds)))
  const body_bytes = Math.max(
    limits.body_bytes,
    most((bounds) => bounds.body_bytes),
  )
  const widest: JsonBounds = {
    depth: Math.max(ordinary_bounds.depth, envelope.depth + most((bounds) => bounds.depth)),
    nodes: Math.max(ordinary_bounds.nodes, envelope.nodes + most((bounds) => bounds.nodes)),
    unsafe_numbers: tools.some(({ bounds }) => bounds.unsafe_numbers === 'keep_text') ? 'keep_text' : 'refuse',
  }
  const calls = { bounds: widest, reads: (message: unknown) => envelope.calls(message) }
  const wider = [calls, ...(envelope.others === undefined ? [] : [envelope.others])].filter(
    ({ bounds }) => !sameBounds(bounds, ordinary_bounds),
  )
  return async (source: BodySource, mayReadLarge: MayReadLarge): Promise<MessageRead> => {
    const body = await readBody(source, body_bytes, mayReadLarge)
    if (!body.ok) return body
    const ordinary = readMessage(body.bytes, ordinary_bounds)
    if (ordinary.ok) return ordinary
    for (const { bounds, reads } of wider) {
      const wide = readMessage(body.bytes, bounds)
      if (wide.ok && reads(wide.message.value) && hasItsId(wide.message)) return wide
    }
    return ordinary
  }
}

/** False for an id beyond 2^53, of which the wider reading makes a text: the answer would name another id than the one that was asked with. */
function hasItsId({ value, bytes }: Message): boolean {
  const id = isObject(value) ? value['id'] : undefined
  if (typeof id !== 'string' || !/^-?\d/.test(id)) return true
  const plain: unknown = JSON.parse(new TextDecoder().decode(bytes))
  return isObject(plain) && typeof plain['id'] === 'string'
}

/** The arguments of a call, held against the bounds of its tool. */
export function readArguments(message: Message, tool: ReadBounds): InputRead {
  return readInput(message, tool, TOOLS_CALL, argumentsOf)
}

/** The input that stands at one place of a message, held against the bounds of its tool, which may differ from those of the first reading. */
export function readInput(
  { value, bytes, bounds }: Message,
  tool: ReadBounds,
  envelope: Pick<Envelope, 'depth' | 'nodes'>,
  inputIn: (message: unknown) => unknown,
): InputRead {
  if (bytes.length > tool.body_bytes) {
    return { ok: false, problem: problem('PAYLOAD_TOO_LARGE', `This tool reads messages of at most ${tool.body_bytes} bytes.`) }
  }
  const exact = around(envelope, tool)
  if (sameBounds(exact, bounds)) return { ok: true, input: inputIn(value) }
  const again = readMessage(bytes, exact)
  return again.ok ? { ok: true, input: inputIn(again.message.value) } : again
}

function readMessage(bytes: Uint8Array, bounds: JsonBounds): MessageRead {
  const json = readJsonBody(bytes, bounds)
  return json.ok ? { ok: true, message: { value: json.value, bytes, bounds } } : json
}

/** `params.arguments`; what is left out is an empty object. */
export function argumentsOf(message: unknown): unknown {
  const params = isObject(message) ? message['params'] : undefined
  return (isObject(params) ? params['arguments'] : undefined) ?? {}
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function around(envelope: Pick<Envelope, 'depth' | 'nodes'>, { depth, nodes, unsafe_numbers }: JsonBounds): JsonBounds {
  return { depth: depth + envelope.depth, nodes: nodes + envelope.nodes, unsafe_numbers }
}

function sameBounds(a: JsonBounds, b: JsonBounds): boolean {
  return a.depth === b.depth && a.nodes === b.nodes && a.unsafe_numbers === b.unsafe_numbers
}
