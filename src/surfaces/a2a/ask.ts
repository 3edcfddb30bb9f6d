import { isObject } from '../../pure/is-object.ts'
import type { ReadBounds } from '../../service/catalogue/define.ts'
import type { InputRead } from '../../service/calls/outcome.ts'
import { limits } from '../../service/limits.ts'
import { openJsonBody, type JsonRead, type OpenJson } from '../http/json-body.ts'
import { readInput, type Envelope, type Message, type ThreadMessage } from '../json-rpc.ts'

/** The call that a message asks for. */
export interface Ask {
  /** The tool as the client named it. */
  tool: string
  read(bounds: ReadBounds): InputRead
}

/** What a message says; a message that asks for no call says so in its own words, if it has any. */
export type Asked = { kind: 'call'; ask: Ask } | { kind: 'unclear'; words: string; fault: string }

const SENDING = new Set(['message/send', 'message/stream', 'SendMessage', 'SendStreamingMessage'])

/** A2A: the input stands in `params.message.parts[n].data.input`, five levels below where REST has it. */
export const SEND: Envelope = {
  depth: 5,
  nodes: 512,
  calls: (message) => isObject(message) && SENDING.has(String(message['method'])),
}

const EMPTY: Asked = { kind: 'unclear', words: '', fault: 'The message holds no part that asks for a call.' }

/** Reads the one call that a message asks for: never guesses, and never runs the first of two. */
export function readAsk(message: Message): Asked {
  if (message.kind === 'from_thread') return askFromThread(message)
  const parts = partsOf(message.value)
  const found = parts.map((part, at) => askOfPart(message, part, at)).filter((asked) => asked !== null)
  const calls = found.filter(({ kind }) => kind === 'call')
  if (calls.length > 1) return { kind: 'unclear', words: '', fault: 'The message asks for more than one call; send one a message.' }
  return calls[0] ?? found[0] ?? EMPTY
}

/** A worker thread has read the parts; `value` has them without their data. */
function askFromThread(message: ThreadMessage): Asked {
  const { asked } = message
  if (asked?.kind !== 'call') return asked ?? EMPTY
  return { kind: 'call', ask: { tool: asked.tool, read: (bounds) => readInput(message, bounds, SEND, () => undefined) } }
}

function partsOf(message: unknown): readonly unknown[] {
  const params = isObject(message) ? message['params'] : undefined
  const sent = isObject(params) ? params['message'] : undefined
  const parts = isObject(sent) ? sent['parts'] : undefined
  return Array.isArray(parts) ? parts.slice(0, limits.a2a_parts) : []
}

function askOfPart(message: Message, part: unknown, at: number): Asked | null {
  if (!isObject(part)) return null
  const { data, text } = part
  if (isObject(data)) return askOfData(message, data, at)
  return typeof text === 'string' ? askOfText(text) : null
}

const UNCLEAR_DATA =
  'A data part asks for a call with exactly the members tool and input, such as {"tool":"iban-check","input":{"iban":"…"}}.'

function askOfData(message: Message, data: Record<string, unknown>, at: number): Asked {
  const { tool, input, ...others } = data
  if (typeof tool !== 'string' || !isObject(input) || Object.keys(others).length > 0)
    return { kind: 'unclear', words: '', fault: UNCLEAR_DATA }
  const place = (value: unknown) => {
    const found = partsOf(value)[at]
    const asked = isObject(found) ? found['data'] : undefined
    return isObject(asked) ? asked['input'] : undefined
  }
  return { kind: 'call', ask: { tool, read: (bounds) => readInput(message, bounds, SEND, place) } }
}

/** What stands before the input in a text: the id of a tool, with or without a word such as `call` in front. */
const HEAD = /^(?:(?:call|run|use) +)?([a-z][a-z0-9_-]{2,63}) ?:?$/i
const HEAD_CHARS = 100

/** `iban-check {"iban":"…"}`: id and input; null for any other text. */
function namedIn(text: string): { tool: string; input: string } | null {
  const trimmed = text.trim()
  const brace = trimmed.indexOf('{')
  if (brace < 1 || brace > HEAD_CHARS || !trimmed.endsWith('}')) return null
  const tool = HEAD.exec(trimmed.slice(0, brace).trim())?.[1]
  return tool === undefined ? null : { tool, input: trimmed.slice(brace) }
}

function askOfText(text: string): Asked {
  const unclear: Asked = {
    kind: 'unclear',
    words: text.slice(0, WORDS_CHARS),
    fault: 'The text names no tool with a JSON object as its input.',
  }
  if (text.length > limits.unpaid_body_bytes) return unclear
  const named = namedIn(text)
  if (named !== null) {
    const inside = openText(named.input)
    return { kind: 'call', ask: { tool: named.tool, read: (bounds) => inputOf(inside.within(bounds)) } }
  }
  if (!text.trimStart().startsWith('{')) return unclear
  const json = openText(text)
  const whole = json.within(WHOLE)
  if (!whole.ok || !isObject(whole.value)) return unclear
  const { tool: name, input: inner, ...others } = whole.value
  if (typeof name !== 'string' || !isObject(inner) || Object.keys(others).length > 0) return unclear
  return {
    kind: 'call',
    ask: {
      tool: name,
      read({ depth, nodes, unsafe_numbers }) {
        const read = json.within({ depth: depth + 1, nodes, unsafe_numbers })
        return read.ok && isObject(read.value) ? { ok: true, input: read.value['input'] } : inputOf(read)
      },
    },
  }
}

const WORDS_CHARS = 400
const WHOLE = { depth: limits.json_depth + 2, nodes: limits.json_nodes, unsafe_numbers: 'keep_text' } as const

/** JSON that a text part holds: read as strictly as a body, once. */
function openText(text: string): OpenJson {
  return openJsonBody(new TextEncoder().encode(text), [WHOLE])
}

function inputOf(read: JsonRead): InputRead {
  return read.ok ? { ok: true, input: read.value } : read
}

/** An input that was kept with its task; it was within the bounds of its tool when it came. */
export function keptAsk({ tool, input_text }: { tool: string; input_text: string }): Ask {
  return { tool, read: () => ({ ok: true, input: JSON.parse(input_text) as unknown }) }
}
