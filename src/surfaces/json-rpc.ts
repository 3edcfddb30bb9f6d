import { isObject } from '../pure/is-object.ts'
import { sameReader } from '../pure/documents/strict-json.ts'
import type { ReadBounds } from '../service/catalogue/define.ts'
import type { InputRead } from '../service/calls/outcome.ts'
import { limits } from '../service/limits.ts'
import type { Preflight } from '../service/preflight/request.ts'
import { problem, type Problem } from '../service/problems.ts'
import { readBody, type BodySource, type MayReadLarge } from './http/body.ts'
import { openJsonBody, type JsonBounds, type OpenJson } from './http/json-body.ts'

/** The body of a request: JSON that every reader would read alike, meant to be a JSON-RPC message. */
export type Message = WholeMessage | ThreadMessage

/** A message that was read on this thread. */
export interface WholeMessage {
  readonly kind: 'whole'
  readonly value: unknown
  readonly body_bytes: number
  readonly json: OpenJson
}

/** What a worker thread made of a long message. The input of a call stays out of `value`, with an empty object in its place. */
export interface ThreadMessage {
  readonly kind: 'from_thread'
  readonly value: unknown
  readonly body_bytes: number
  /** Input of the call that the message asks for; null for a tool that is not known, and for any other message. */
  readonly input: InputRead | null
  /** The call that a message of A2A asks for. */
  readonly asked: { kind: 'call'; tool: string } | { kind: 'unclear'; words: string; fault: string } | null
  /** Report on the document of an `assay/preflight`. */
  readonly preflight: Preflight | null
}

export type MessageRead = { ok: true; message: Message } | { ok: false; problem: Problem }

/** What a message needs around the input, beyond what REST needs. */
export interface Place {
  readonly depth: number
  readonly nodes: number
}

/** How the JSON-RPC messages of a protocol hold the input of a tool. */
export interface Envelope extends Place {
  /** Whether a message is a call; only such a one may have the wider bounds of a tool. */
  calls(message: unknown): boolean
  /** Where inputs stand, when they may stand at more than one place. */
  readonly places?: readonly Place[]
  /** Messages of another kind that have bounds of their own. */
  readonly others?: { bounds: JsonBounds; reads(message: unknown): boolean }
}

const ARGUMENTS: Place = { depth: 1, nodes: 256 }

/** Inside `call_tool` the input stands one level deeper. */
export const CALL_INSIDE: Place = { depth: ARGUMENTS.depth + 1, nodes: ARGUMENTS.nodes }

/** MCP: the arguments of `tools/call` are the input. */
export const TOOLS_CALL: Envelope = {
  ...ARGUMENTS,
  places: [ARGUMENTS, CALL_INSIDE],
  calls: (message) => isObject(message) && message['method'] === 'tools/call',
}

/** The bounds of a tool, as far as the reader of messages needs them. */
type Bounded = readonly { readonly bounds: ReadBounds }[]

/** Steps around the reading of a message that a surface decides. */
export interface ReadingSteps {
  mayReadLarge: MayReadLarge
  /** Waited for between the arrival of the body and its reading. */
  ready?(): Promise<unknown>
  /** Reads the bytes of a message elsewhere than on this thread; null for those that are read here. */
  inThread?(bytes: Uint8Array): Promise<MessageRead> | null
}

/** Reads messages for these tools from a request. */
export function createMessageReader({ tools }: { readonly tools: Bounded }, envelope: Envelope = TOOLS_CALL) {
  const parse = createMessageParser(tools, envelope)
  const body_bytes = Math.max(limits.body_bytes, ...tools.map(({ bounds }) => bounds.body_bytes))
  return async (source: BodySource, { mayReadLarge, ready, inThread }: ReadingSteps): Promise<MessageRead> => {
    const body = await readBody(source, body_bytes, mayReadLarge)
    if (!body.ok) return body
    await ready?.()
    return inThread?.(body.bytes) ?? parse(body.bytes)
  }
}

/**
 * Reads a message once for all bounds that may count: the ordinary ones; wider ones, where a tool or the kind of message has them; and
 * those of each tool, by which the input is judged when it is known which tool is called.
 */
export function createMessageParser(tools: Bounded, envelope: Envelope) {
  const ordinary = around(envelope, { depth: limits.json_depth, nodes: limits.json_nodes, unsafe_numbers: 'refuse' })
  const own = tools.flatMap(({ bounds }) => (envelope.places ?? [envelope]).map((place) => around(place, bounds)))
  const widest: JsonBounds = {
    depth: Math.max(ordinary.depth, ...tools.map(({ bounds }) => envelope.depth + bounds.depth)),
    nodes: Math.max(ordinary.nodes, ...tools.map(({ bounds }) => envelope.nodes + bounds.nodes)),
    unsafe_numbers: tools.some(({ bounds }) => bounds.unsafe_numbers === 'keep_text') ? 'keep_text' : 'refuse',
  }
  const calls = { bounds: widest, reads: (message: unknown) => envelope.calls(message) }
  const wider = [calls, ...(envelope.others === undefined ? [] : [envelope.others])].filter(({ bounds }) => !sameReader(bounds, ordinary))
  const all = distinct([ordinary, ...wider.map(({ bounds }) => bounds), ...own])
  return (bytes: Uint8Array): MessageRead => {
    const json = openJsonBody(bytes, all)
    const message = (value: unknown): MessageRead => ({ ok: true, message: { kind: 'whole', value, body_bytes: bytes.length, json } })
    const read = json.within(ordinary)
    if (read.ok) return message(read.value)
    for (const { bounds, reads } of wider) {
      const wide = json.within(bounds)
      if (wide.ok && reads(wide.value) && hasItsId(wide.value, json.text)) return message(wide.value)
    }
    return read
  }
}

function distinct(all: readonly JsonBounds[]): JsonBounds[] {
  return all.filter((one, index) => all.findIndex((other) => sameReader(one, other)) === index)
}

/** False for an id beyond 2^53, of which the wider reading makes a text: the answer would name another id than the one that was asked with. */
function hasItsId(value: unknown, text: string): boolean {
  const id = isObject(value) ? value['id'] : undefined
  if (typeof id !== 'string' || !/^-?\d/.test(id)) return true
  const plain: unknown = JSON.parse(text)
  return isObject(plain) && typeof plain['id'] === 'string'
}

/** The arguments of a call, held against the bounds of its tool. */
export function readArguments(message: Message, tool: ReadBounds): InputRead {
  return readInput(message, tool, TOOLS_CALL, argumentsOf)
}

/** The input that stands at one place of a message, held against the bounds of its tool. Of a message from a thread there is only the one. */
export function readInput(message: Message, tool: ReadBounds, place: Place, inputIn: (message: unknown) => unknown): InputRead {
  if (message.body_bytes > tool.body_bytes) {
    return { ok: false, problem: problem('PAYLOAD_TOO_LARGE', `This tool reads messages of at most ${tool.body_bytes} bytes.`) }
  }
  if (message.kind === 'from_thread') {
    if (message.input === null) throw new Error('a worker read no input for a call that names a tool')
    return message.input
  }
  const read = message.json.within(around(place, tool))
  return read.ok ? { ok: true, input: inputIn(read.value) } : read
}

/** `params.arguments`; what is left out is an empty object. */
export function argumentsOf(message: unknown): unknown {
  const params = isObject(message) ? message['params'] : undefined
  return (isObject(params) ? params['arguments'] : undefined) ?? {}
}

/** The input that `call_tool` hands on. */
export function innerInputOf(message: unknown): unknown {
  const given = argumentsOf(message)
  return isObject(given) ? given['input'] : undefined
}

function around(place: Place, { depth, nodes, unsafe_numbers }: JsonBounds): JsonBounds {
  return { depth: depth + place.depth, nodes: nodes + place.nodes, unsafe_numbers }
}
