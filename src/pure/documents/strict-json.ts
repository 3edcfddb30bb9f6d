/**
 * Strict reading of JSON at the edge of the network: what passes means the same to every reader.
 *
 * Refused beside broken JSON (RFC 8259): nesting and numbers of values beyond the bounds, a key twice in one object (escapes decoded),
 * half surrogate pairs, the key `__proto__`, and numbers whose nearest double lies beyond 2^53 - 1 either way, in whatever form they are
 * written. A fraction that a double cannot hold exactly, or one that is too small for it, passes: every reader rounds it alike.
 *
 * The engine's parser does the work; one look at its result and one at the text find whatever it would let through. Only on a doubt does
 * the exact scanner read again, find the position and name the fault.
 */
import type { StrictJson, StrictJsonBounds, StrictJsonOptions } from './strict-json-fault.ts'
import { isEscaped, scanJson } from './strict-json-scan.ts'

export type { StrictJson, StrictJsonBounds, StrictJsonCode, StrictJsonFault, StrictJsonOptions } from './strict-json-fault.ts'

/** Reads one JSON value. Never throws; takes time and memory in proportion to the text. */
export function readStrictJson(text: string, bounds: StrictJsonBounds, options: StrictJsonOptions = {}): StrictJson {
  if (!isFlooded(text, bounds.nodes)) {
    try {
      const value: unknown = JSON.parse(text)
      if (isBeyondDoubt(text, value, bounds)) return { ok: true, value }
    } catch {
      // Broken; where and how is for the scanner to say.
    }
  }
  return scanJson(text, bounds, options.unsafe_numbers ?? 'refuse')
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
  /** Keys and texts. */
  strings: number
  /** Whether the text has escapes that could hide half a character. */
  readonly escapes: boolean
}

/** Whether the parsed value is all that stands in the text and nothing in it is refused. May say false to what is fine, never the reverse. */
function isBeyondDoubt(text: string, value: unknown, bounds: StrictJsonBounds): boolean {
  if (!text.isWellFormed() || text.includes('__proto__')) return false
  const tally: Tally = { nodes: 1, strings: 0, escapes: text.includes('\\u') }
  // A key that stands twice is in the value once, and so may be a text under it: then the text has more strings than the value.
  return look(value, bounds.depth, tally) && tally.nodes <= bounds.nodes && tally.strings === countStrings(text)
}

function look(value: unknown, depth_left: number, tally: Tally): boolean {
  if (typeof value === 'number') return value <= Number.MAX_SAFE_INTEGER && value >= -Number.MAX_SAFE_INTEGER
  if (typeof value === 'string') {
    tally.strings++
    return !tally.escapes || value.isWellFormed()
  }
  if (typeof value !== 'object' || value === null) return true
  return depth_left > 0 && lookInside(value, depth_left - 1, tally)
}

function lookInside(container: object, depth_left: number, tally: Tally): boolean {
  if (Array.isArray(container)) {
    tally.nodes += container.length
    for (const item of container) if (!look(item, depth_left, tally)) return false
    return true
  }
  const record = container as Record<string, unknown>
  for (const name in record) {
    tally.nodes++
    tally.strings++
    if (!look(record[name], depth_left, tally)) return false
  }
  return true
}

/**
 * The number of strings in a text that is known to be JSON; null when a key is written with an escape. V8 up to 14.6 may read such a key
 * as another one that it has met before (nodejs/node issue 63785), and an escape may hide `__proto__` or half a character.
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
    open = text.indexOf('"', close + 1)
  }
  return strings
}

/** Whether the string that closes here is followed by a colon. */
function isKey(text: string, close: number): boolean {
  let index = close + 1
  while (' \t\n\r'.includes(text.charAt(index)) && index < text.length) index++
  return text.charAt(index) === ':'
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
