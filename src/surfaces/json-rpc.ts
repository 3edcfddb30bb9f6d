import { isObject } from '../pure/is-object.ts'
import { isSameReader } from '../pure/documents/strict-json.ts'
import type { ReadBounds } from '../service/catalogue/define.ts'
import type { InputRead } from '../service/calls/outcome.ts'
import { limits } from '../service/limits.ts'
import type { Preflight } from '../service/preflight/preflight.ts'
import { problem, type Problem } from '../service/problems.ts'
import { readBody, type BodySource, type MayReadLarge, openJsonBody, type JsonBounds, type OpenJson } from './http/body.ts'

/** Body of a request: strict JSON, expected to be a JSON-RPC message. */
export type Message = WholeMessage | ThreadMessage

/** Message that was read on this thread. */
export interface WholeMessage {
  readonly kind: 'whole'
  readonly value: unknown
  readonly body_bytes: number
  readonly json: OpenJson
}

/** Long message that a worker thread read. `value` has an empty object in place of the call's input. */
export interface ThreadMessage {
  readonly kind: 'from_thread'
  readonly value: unknown
  readonly body_bytes: number
  /** Input of the requested call; null for an unknown tool and for other messages. */
  readonly input: InputRead | null
  /** Call that an A2A message requests. */
  readonly asked: { kind: 'call'; tool: string } | { kind: 'unclear'; words: string; fault: string } | null
  /** Report on the document of an `assay/preflight` message. */
  readonly preflight: Preflight | null
}

/** A message with what a surface knows of its request. */
export interface MessageExchange {
  readonly message: Message
  readonly request_id: string
  /** Address of the client behind trusted proxies. */
  readonly address: string
  /** Returns a header value by its lower-case name. */
  header(name: string): string | null
  /** Level of detail in the address. */
  readonly detail?: string | undefined
}

export type MessageRead = { ok: true; message: Message } | { ok: false; problem: Problem }

/** Depth and values that a message adds around the input, compared with a REST body. */
export interface InputLocation {
  readonly depth: number
  readonly nodes: number
}

/** Position of a tool's input in the JSON-RPC messages of a protocol. */
export interface MessageEnvelope extends InputLocation {
  /** Only a call may use the wider limits of its tool. */
  isCall(message: unknown): boolean
  /** Alternative positions of the input. */
  readonly places?: readonly InputLocation[]
  /** Other kind of message with separate limits, such as a preflight. */
  readonly others?: { bounds: JsonBounds; reads(message: unknown): boolean }
}

const TOP_LEVEL_ARGUMENTS: InputLocation = { depth: 1, nodes: 256 }

/** In `call_tool` the input is one level deeper. */
const NESTED_CALL: InputLocation = { depth: TOP_LEVEL_ARGUMENTS.depth + 1, nodes: TOP_LEVEL_ARGUMENTS.nodes }

/** MCP: `params.arguments` of `tools/call` is the input. */
export const TOOLS_CALL: MessageEnvelope = {
  ...TOP_LEVEL_ARGUMENTS,
  places: [TOP_LEVEL_ARGUMENTS, NESTED_CALL],
  isCall: (message) => isObject(message) && message['method'] === 'tools/call',
}

type Bounded = readonly { readonly bounds: ReadBounds }[]

/** Steps around the reading of a message, chosen by the surface. */
export interface ReadingSteps {
  mayReadLarge: MayReadLarge
  /** Awaited between the arrival of the body and its parsing. */
  ready?(): Promise<unknown>
  /** Parses the message in a worker thread; null if it is short enough for this thread. */
  inThread?(bytes: Uint8Array): Promise<MessageRead> | null
}

/** Returns a reader of request bodies as messages for these tools. */
export function createMessageReader({ tools }: { readonly tools: Bounded }, envelope: MessageEnvelope = TOOLS_CALL) {
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
 * Parses a message once for all limits that may apply: the ordinary ones, the wider ones of calls or other messages, and those of each
 * tool, which are checked when the tool is known.
 */
export function createMessageParser(tools: Bounded, envelope: MessageEnvelope) {
  const ordinary = boundsWithEnvelope(envelope, { depth: limits.json_depth, nodes: limits.json_nodes, unsafe_numbers: 'refuse' })
  const tool_bounds = tools.flatMap(({ bounds }) => (envelope.places ?? [envelope]).map((place) => boundsWithEnvelope(place, bounds)))
  const widest: JsonBounds = {
    depth: Math.max(ordinary.depth, ...tools.map(({ bounds }) => envelope.depth + bounds.depth)),
    nodes: Math.max(ordinary.nodes, ...tools.map(({ bounds }) => envelope.nodes + bounds.nodes)),
    unsafe_numbers: tools.some(({ bounds }) => bounds.unsafe_numbers === 'keep_text') ? 'keep_text' : 'refuse',
  }
  const calls = { bounds: widest, reads: (message: unknown) => envelope.isCall(message) }
  const wider = [calls, ...(envelope.others === undefined ? [] : [envelope.others])].filter(({ bounds }) => !isSameReader(bounds, ordinary))
  const all = distinct([ordinary, ...wider.map(({ bounds }) => bounds), ...tool_bounds])
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
  return all.filter((one, index) => all.findIndex((other) => isSameReader(one, other)) === index)
}

/**
 * Returns false for a numeric id beyond 2^53: the wider reading turns it into text, so the reply would have another id than the request.
 */
function hasItsId(value: unknown, text: string): boolean {
  const id = isObject(value) ? value['id'] : undefined
  if (typeof id !== 'string' || !/^-?\d/.test(id)) return true
  const plain: unknown = JSON.parse(text)
  return isObject(plain) && typeof plain['id'] === 'string'
}

/** Returns the arguments of a call, checked against the limits of its tool. */
export function readToolArguments(message: Message, tool: ReadBounds): InputRead {
  return readInput(message, tool, TOOLS_CALL, argumentsOf)
}

/**
 * Returns the input at one position of the message, checked against the limits of its tool. A message from a thread contains only one
 * input.
 */
export function readInput(message: Message, tool: ReadBounds, place: InputLocation, inputIn: (message: unknown) => unknown): InputRead {
  if (message.body_bytes > tool.body_bytes) {
    return { ok: false, problem: problem('PAYLOAD_TOO_LARGE', `A message to this tool may have at most ${tool.body_bytes} bytes.`) }
  }
  if (message.kind === 'from_thread') {
    if (message.input === null) throw new Error('a worker read no input for a call that names a tool')
    return message.input
  }
  const read = message.json.within(boundsWithEnvelope(place, tool))
  return read.ok ? { ok: true, input: inputIn(read.value) } : read
}

/** Returns the input that `call_tool` passes on, checked against the limits of the tool that it names. */
export function readNestedInput(message: Message, tool: ReadBounds): InputRead {
  return readInput(message, tool, NESTED_CALL, (value) => {
    const given = argumentsOf(value)
    return isObject(given) ? given['input'] : undefined
  })
}

/** Returns `params.arguments`; an empty object if absent. */
export function argumentsOf(message: unknown): unknown {
  const params = isObject(message) ? message['params'] : undefined
  return (isObject(params) ? params['arguments'] : undefined) ?? {}
}

function boundsWithEnvelope(place: InputLocation, { depth, nodes, unsafe_numbers }: JsonBounds): JsonBounds {
  return { depth: depth + place.depth, nodes: nodes + place.nodes, unsafe_numbers }
}
