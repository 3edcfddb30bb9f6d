import { isObject } from '../../pure/is-object.ts'
import type { ReadBounds } from '../../service/catalogue/define.ts'
import type { Detail } from '../../service/catalogue/brief.ts'
import type { InputRead } from '../../service/calls/outcome.ts'
import { limits } from '../../service/limits.ts'
import { openJsonBody, type JsonRead, type OpenJson } from '../http/body.ts'
import { readInput, type MessageEnvelope, type Message, type ThreadMessage } from '../json-rpc.ts'

/** Result of reading a message: the requested call, or the reason why none was found with the client's own text, if any. */
export type MessageRequest =
  // The tool id is as the client wrote it.
  { kind: 'call'; tool: string; read(bounds: ReadBounds): InputRead } | { kind: 'unclear'; words: string; fault: string }

const SENDING = new Set(['message/send', 'message/stream', 'SendMessage', 'SendStreamingMessage'])

/** A2A: the input is at `params.message.parts[n].data.input`, five levels deeper than in REST. */
export const A2A_ENVELOPE: MessageEnvelope = {
  depth: 5,
  nodes: 512,
  isCall: (message) => isObject(message) && SENDING.has(String(message['method'])),
}

const NO_CALL: MessageRequest = { kind: 'unclear', words: '', fault: 'The message has no part that requests a call.' }

/** Reads the one call that a message requests. Two calls in one message are refused. */
export function readRequest(message: Message): MessageRequest {
  if (message.kind === 'from_thread') return requestFromThread(message)
  const parts = partsOf(message.value)
  const found = parts.map((part, at) => requestInPart(message, part, at)).filter((asked) => asked !== null)
  const calls = found.filter(({ kind }) => kind === 'call')
  if (calls.length > 1) return { kind: 'unclear', words: '', fault: 'The message requests more than one call. Send one call per message.' }
  return calls[0] ?? found[0] ?? NO_CALL
}

/** A worker thread read the parts; `value` contains them without data. */
function requestFromThread(message: ThreadMessage): MessageRequest {
  const { asked } = message
  if (asked?.kind !== 'call') return asked ?? NO_CALL
  return { ...asked, read: (bounds) => readInput(message, bounds, A2A_ENVELOPE, () => undefined) }
}

function partsOf(message: unknown): readonly unknown[] {
  const params = isObject(message) ? message['params'] : undefined
  const sent = isObject(params) ? params['message'] : undefined
  const parts = isObject(sent) ? sent['parts'] : undefined
  return Array.isArray(parts) ? parts.slice(0, limits.a2a_parts) : []
}

function requestInPart(message: Message, part: unknown, at: number): MessageRequest | null {
  if (!isObject(part)) return null
  const { data, text } = part
  if (isObject(data)) return requestInData(message, data, at)
  return typeof text === 'string' ? requestInText(text) : null
}

const UNCLEAR_DATA =
  'A data part that requests a call has exactly the members tool and input, for example {"tool":"iban-check","input":{"iban":"…"}}.'

function requestInData(message: Message, data: Record<string, unknown>, at: number): MessageRequest {
  const { tool, input, ...others } = data
  if (typeof tool !== 'string' || !isObject(input) || Object.keys(others).length > 0)
    return { kind: 'unclear', words: '', fault: UNCLEAR_DATA }
  const place = (value: unknown) => {
    const found = partsOf(value)[at]
    const asked = isObject(found) ? found['data'] : undefined
    return isObject(asked) ? asked['input'] : undefined
  }
  return { kind: 'call', tool, read: (bounds) => readInput(message, bounds, A2A_ENVELOPE, place) }
}

/** Text before the input: a tool id, optionally after a word such as `call`. */
const TOOL_PREFIX = /^(?:(?:call|run|use) +)?([a-z][a-z0-9_-]{2,63}) ?:?$/i
const TOOL_PREFIX_CHARS = 100

/** Reads `iban-check {"iban":"…"}` as id and input; null for other texts. */
function readNamedInput(text: string): { tool: string; input: string } | null {
  const trimmed = text.trim()
  const brace = trimmed.indexOf('{')
  if (brace < 1 || brace > TOOL_PREFIX_CHARS || !trimmed.endsWith('}')) return null
  const tool = TOOL_PREFIX.exec(trimmed.slice(0, brace).trim())?.[1]
  return tool === undefined ? null : { tool, input: trimmed.slice(brace) }
}

function requestInText(text: string): MessageRequest {
  const unclear: MessageRequest = {
    kind: 'unclear',
    words: text.slice(0, CLIENT_TEXT_CHARS),
    fault: 'The text has no tool id followed by a JSON object, such as iban-check {"iban":"GB82 WEST 1234 5698 7654 32"}.',
  }
  if (text.length > limits.unpaid_body_bytes) return unclear
  const named = readNamedInput(text)
  if (named !== null) {
    const inside = openJsonText(named.input)
    return { kind: 'call', tool: named.tool, read: (bounds) => toInputRead(inside.within(bounds)) }
  }
  if (!text.trimStart().startsWith('{')) return unclear
  const json = openJsonText(text)
  const whole = json.within(TEXT_BOUNDS)
  if (!whole.ok || !isObject(whole.value)) return unclear
  const { tool: name, input: inner, ...others } = whole.value
  if (typeof name !== 'string' || !isObject(inner) || Object.keys(others).length > 0) return unclear
  return {
    kind: 'call',
    tool: name,
    read({ depth, nodes, unsafe_numbers }) {
      const read = json.within({ depth: depth + 1, nodes, unsafe_numbers })
      return read.ok && isObject(read.value) ? { ok: true, input: read.value['input'] } : toInputRead(read)
    },
  }
}

const CLIENT_TEXT_CHARS = 400
const TEXT_BOUNDS = { depth: limits.json_depth + 2, nodes: limits.json_nodes, unsafe_numbers: 'keep_text' } as const

/** Parses the JSON in a text part once, as strictly as a body. */
function openJsonText(text: string): OpenJson {
  return openJsonBody(new TextEncoder().encode(text), [TEXT_BOUNDS])
}

function toInputRead(read: JsonRead): InputRead {
  return read.ok ? { ok: true, input: read.value } : read
}

/** Call of a task as it is stored, so that a later message need not repeat its input. */
export interface StoredCall {
  tool: string
  /** Input as JSON text; null if it was too long to store or could not be read. */
  input_text: string | null
  prev_receipt_hash: string | null
  /** Level of detail; tasks of earlier versions lack it. */
  detail?: Detail
}

/** URI of the x402 extension for A2A: version 0.1 and the A2A transport of x402 version 2 use the same one. */
export const X402_EXTENSION = 'https://github.com/google-a2a/a2a-x402/v0.1'
