import type { ReadBounds } from '../../service/catalogue/define.ts'
import type { InputRead } from '../../service/calls/outcome.ts'
import { limits } from '../../service/limits.ts'
import { readJsonBody } from '../http/json-body.ts'
import { isObject, readInput, type Envelope, type Message } from '../mcp/message.ts'

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
  const parts = partsOf(message.value)
  const found = parts.map((part, at) => askOfPart(message, part, at)).filter((asked) => asked !== null)
  const calls = found.filter(({ kind }) => kind === 'call')
  if (calls.length > 1) return { kind: 'unclear', words: '', fault: 'The message asks for more than one call; send one a message.' }
  return calls[0] ?? found[0] ?? EMPTY
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
  if (named !== null) return { kind: 'call', ask: { tool: named.tool, read: (bounds) => jsonInput(named.input, bounds, false) } }
  const whole = text.trimStart().startsWith('{') ? jsonInput(text, WHOLE, true) : null
  if (whole?.ok !== true || !isObject(whole.input)) return unclear
  const { tool: name, input: inner, ...others } = whole.input
  if (typeof name !== 'string' || !isObject(inner) || Object.keys(others).length > 0) return unclear
  return {
    kind: 'call',
    ask: {
      tool: name,
      read(bounds) {
        const read = jsonInput(text, bounds, true)
        return read.ok && isObject(read.input) ? { ok: true, input: read.input['input'] } : read
      },
    },
  }
}

const WORDS_CHARS = 400
const WHOLE = { depth: limits.json_depth + 1, nodes: limits.json_nodes, unsafe_numbers: 'keep_text' } as const

/** Text of its own inside the message: read as strictly as a body. */
function jsonInput(text: string, { depth, nodes, unsafe_numbers }: Omit<ReadBounds, 'body_bytes'>, wrapped: boolean): InputRead {
  const read = readJsonBody(new TextEncoder().encode(text), { depth: depth + (wrapped ? 1 : 0), nodes, unsafe_numbers })
  return read.ok ? { ok: true, input: read.value } : read
}

/** An input that was kept with its task; it was within the bounds of its tool when it came. */
export function keptAsk({ tool, input_text }: { tool: string; input_text: string }): Ask {
  return { tool, read: () => ({ ok: true, input: JSON.parse(input_text) as unknown }) }
}
