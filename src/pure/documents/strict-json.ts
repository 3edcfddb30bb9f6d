/**
 * Strict reading of JSON at the edge of the network: what passes means the same to every reader.
 *
 * Refused beside broken JSON (RFC 8259): nesting and numbers of values beyond the bounds, a key twice in one object (escapes decoded),
 * half surrogate pairs, the key `__proto__`, and numbers whose nearest double lies beyond 2^53 - 1 either way, in whatever form they are
 * written. A fraction that a double cannot hold exactly, or one that is too small for it, passes: every reader rounds it alike.
 *
 * The engine's parser does the work; a look at the text and one at its result find whatever it would let through. Only on a doubt does
 * the exact scanner read again, find the position and name the fault.
 */
import { fault, type StrictJson, type StrictJsonBounds, type StrictJsonOptions, type StrictJsonReader } from './strict-json-fault.ts'
import { isEscaped, isSpace, scanJson, type JsonScan } from './strict-json-scan.ts'

export type {
  StrictJson,
  StrictJsonBounds,
  StrictJsonCode,
  StrictJsonFault,
  StrictJsonOptions,
  StrictJsonReader,
} from './strict-json-fault.ts'

/** Reads one JSON value. Never throws; takes time and memory in proportion to the text. */
export function readStrictJson(text: string, bounds: StrictJsonBounds, options: StrictJsonOptions = {}): StrictJson {
  const reader = { depth: bounds.depth, nodes: bounds.nodes, unsafe_numbers: options.unsafe_numbers ?? 'refuse' }
  return readForAll(text, [reader])(reader)
}

/**
 * Reads a text once for readers with different bounds. The function returned gives what `readStrictJson` gives for one of them. The text
 * meets the engine's parser at most once, and the exact scanner at most once, however many of the readers ask; only one that was not named
 * may need a scan of its own.
 */
export function readForAll(text: string, readers: readonly StrictJsonReader[]): (reader: StrictJsonReader) => StrictJson {
  const proven = parseProven(text, readers)
  let scan: JsonScan | null = null
  return (reader) => {
    if (proven !== null && proven.depth <= reader.depth && proven.nodes <= reader.nodes) return { ok: true, value: proven.value }
    const index = readers.findIndex((one) => sameReader(one, reader))
    if (index < 0) return judged(scanJson(text, [reader]), 0, text, reader)
    scan ??= scanJson(text, readers)
    return judged(scan, index, text, reader)
  }
}

function judged({ value, faults }: JsonScan, index: number, text: string, reader: StrictJsonReader): StrictJson {
  const found = faults[index] ?? null
  return found === null ? { ok: true, value } : fault(found.code, text, found.position, reader)
}

export function sameReader(a: StrictJsonReader, b: StrictJsonReader): boolean {
  return a.depth === b.depth && a.nodes === b.nodes && a.unsafe_numbers === b.unsafe_numbers
}

const DECODER = new TextDecoder('utf-8', { fatal: true })

/** The text behind UTF-8 bytes, null when they are not. One leading byte order mark is dropped, as RFC 8259 §8.1 permits. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return DECODER.decode(bytes)
  } catch {
    return null
  }
}

interface Tally {
  nodes: number
  depth: number
  /** Keys and texts. */
  strings: number
  /** Whether the text has escapes that could hide half a character. */
  readonly escapes: boolean
}

interface Proven {
  value: unknown
  depth: number
  nodes: number
}

/** The parsed value, when it is all that the text holds and nothing in it is refused to every reader. Null on any doubt. */
function parseProven(text: string, readers: readonly StrictJsonReader[]): Proven | null {
  const depth = Math.max(...readers.map((reader) => reader.depth))
  const nodes = Math.max(...readers.map((reader) => reader.nodes))
  if (isFlooded(text, nodes) || !text.isWellFormed() || text.includes('__proto__')) return null
  const strings = countStrings(text)
  if (strings === null) return null
  try {
    const value: unknown = JSON.parse(text)
    const tally: Tally = { nodes: 1, depth: 0, strings: 0, escapes: text.includes('\\u') }
    // A key that stands twice is in the value once, and so may be a text under it: then the text has more strings than the value.
    const proven = look(value, 0, depth, tally) && tally.nodes <= nodes && tally.strings === strings
    return proven ? { value, depth: tally.depth, nodes: tally.nodes } : null
  } catch {
    return null
  }
}

function look(value: unknown, depth: number, most_depth: number, tally: Tally): boolean {
  if (typeof value === 'number') return value <= Number.MAX_SAFE_INTEGER && value >= -Number.MAX_SAFE_INTEGER
  if (typeof value === 'string') {
    tally.strings++
    return !tally.escapes || value.isWellFormed()
  }
  if (typeof value !== 'object' || value === null) return true
  if (depth === tally.depth) tally.depth = depth + 1
  return depth < most_depth && lookInside(value, depth + 1, most_depth, tally)
}

function lookInside(container: object, depth: number, most_depth: number, tally: Tally): boolean {
  if (Array.isArray(container)) {
    tally.nodes += container.length
    for (const item of container) if (!look(item, depth, most_depth, tally)) return false
    return true
  }
  const record = container as Record<string, unknown>
  for (const name in record) {
    tally.nodes++
    tally.strings++
    if (!look(record[name], depth, most_depth, tally)) return false
  }
  return true
}

/**
 * Number of strings in a text, as long as it is JSON; null when a key is written with an escape. V8 up to 14.6 may read such a key as
 * another one that it has met before (nodejs/node issue 63785), and an escape may hide `__proto__` or half a character.
 */
function countStrings(text: string): number | null {
  return text.includes('\\') ? countEscaped(text) : countPlain(text)
}

/**
 * Without a backslash every mark opens or closes a string. This is a function of its own, since the engine (V8 14.x) makes the loop below
 * up to ninety times as slow once it has seen long texts that hold none.
 */
function countPlain(text: string): number {
  let marks = 0
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at + 1)) marks++
  return marks / 2
}

function countEscaped(text: string): number | null {
  let strings = 0
  let escape = text.indexOf('\\')
  for (let open = text.indexOf('"'); open !== -1; strings++) {
    let close = text.indexOf('"', open + 1)
    // Backslashes stand in strings only, so one before the closing mark is in this string.
    if (escape !== -1 && escape < close) {
      while (isEscaped(text, close)) close = text.indexOf('"', close + 1)
      if (isKey(text, close)) return null
      escape = text.indexOf('\\', close)
    }
    open = close === -1 ? -1 : text.indexOf('"', close + 1)
  }
  return strings
}

/** Whether the string that closes here is followed by a colon. */
function isKey(text: string, close: number): boolean {
  let index = close + 1
  while (isSpace(text.charCodeAt(index))) index++
  return text.charCodeAt(index) === 0x3a
}

/**
 * Above this length the engine's parser meets only texts whose brackets and commas, were all of them structure, would stay within bounds:
 * it takes ever more time per bracket when millions of them are open at once, and it builds an object of a million names before anybody
 * counts them.
 */
const FLOOD_CHARS = 65_536

function isFlooded(text: string, nodes: number): boolean {
  return text.length > FLOOD_CHARS && ['[', '{', ','].some((mark) => holdsMoreThan(text, mark, nodes))
}

function holdsMoreThan(text: string, mark: string, count: number): boolean {
  let left = count
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) {
    if (left-- === 0) return true
  }
  return false
}
