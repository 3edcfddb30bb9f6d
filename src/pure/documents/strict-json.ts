/**
 * Strict JSON reader for untrusted input: accepted text has the same meaning for every reader.
 *
 * Rejected in addition to invalid JSON (RFC 8259): nesting and numbers of values beyond the limits, duplicate keys (escapes decoded), lone
 * surrogates, the key `__proto__`, and numbers whose nearest double is beyond ±(2^53 - 1), in any notation. Fractions that a double cannot
 * represent, or that underflow to zero, are accepted: every reader rounds them alike.
 *
 * The engine's parser does the work; one check of the text and one of its result find what it would wrongly accept. Only when they fail
 * does the exact scanner read the text again to locate and name the fault.
 */
import { isEscaped, isSpace, scanJson, type StrictJson, type StrictJsonBounds, type StrictJsonReader } from './strict-json-scan.ts'

/** Reads one JSON value. Never throws; time and memory are linear in the length of the text. Unsafe numbers are refused by default. */
export function readStrictJson(
  text: string,
  bounds: StrictJsonBounds,
  options: Partial<Pick<StrictJsonReader, 'unsafe_numbers'>> = {},
): StrictJson {
  const reader = { depth: bounds.depth, nodes: bounds.nodes, unsafe_numbers: options.unsafe_numbers ?? 'refuse' }
  return readStrictJsonForReaders(text, [reader])(reader)
}

/**
 * Reads a text once for readers with different limits. The returned function gives the result of `readStrictJson` for one of them. The
 * engine's parser and the exact scanner each run at most once; only a reader that was not listed may need a scan of its limits.
 */
export function readStrictJsonForReaders(text: string, readers: readonly StrictJsonReader[]): (reader: StrictJsonReader) => StrictJson {
  const proven = parseProven(text, readers)
  let scan: ReturnType<typeof scanJson> | null = null
  return (reader) => {
    if (proven !== null && proven.depth <= reader.depth && proven.nodes <= reader.nodes) return { ok: true, value: proven.value }
    const index = readers.findIndex((one) => isSameReader(one, reader))
    if (index < 0) return scanJson(text, [reader])(0)
    scan ??= scanJson(text, readers)
    return scan(index)
  }
}

export function isSameReader(a: StrictJsonReader, b: StrictJsonReader): boolean {
  return a.depth === b.depth && a.nodes === b.nodes && a.unsafe_numbers === b.unsafe_numbers
}

const DECODER = new TextDecoder('utf-8', { fatal: true })

/** Decodes UTF-8; null if invalid. One leading byte order mark is dropped, as RFC 8259 §8.1 permits. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return DECODER.decode(bytes)
  } catch {
    return null
  }
}

interface JsonTally {
  nodes: number
  depth: number
  /** Keys and string values. */
  strings: number
  /** The text has escapes that could hide a lone surrogate. */
  readonly escapes: boolean
}

interface ProvenJson {
  value: unknown
  depth: number
  nodes: number
}

/** Returns the parsed value if it proves that the text is acceptable to the most lenient reader; null if in doubt. */
function parseProven(text: string, readers: readonly StrictJsonReader[]): ProvenJson | null {
  const depth = Math.max(...readers.map((reader) => reader.depth))
  const nodes = Math.max(...readers.map((reader) => reader.nodes))
  if (isFlooded(text, nodes) || !text.isWellFormed() || text.includes('__proto__')) return null
  const strings = countStrings(text)
  if (strings === null) return null
  try {
    const value: unknown = JSON.parse(text)
    const tally: JsonTally = { nodes: 1, depth: 0, strings: 0, escapes: text.includes('\\u') }
    // A duplicate key occurs once in the value, so the text then has more strings than the value.
    const proven = inspectValue(value, 0, depth, tally) && tally.nodes <= nodes && tally.strings === strings
    return proven ? { value, depth: tally.depth, nodes: tally.nodes } : null
  } catch {
    return null
  }
}

function inspectValue(value: unknown, depth: number, most_depth: number, tally: JsonTally): boolean {
  if (typeof value === 'number') return value <= Number.MAX_SAFE_INTEGER && value >= -Number.MAX_SAFE_INTEGER
  if (typeof value === 'string') {
    tally.strings++
    return !tally.escapes || value.isWellFormed()
  }
  if (typeof value !== 'object' || value === null) return true
  if (depth === tally.depth) tally.depth = depth + 1
  return depth < most_depth && inspectContainer(value, depth + 1, most_depth, tally)
}

function inspectContainer(container: object, depth: number, most_depth: number, tally: JsonTally): boolean {
  if (Array.isArray(container)) {
    tally.nodes += container.length
    for (const item of container) if (!inspectValue(item, depth, most_depth, tally)) return false
    return true
  }
  const record = container as Record<string, unknown>
  for (const name in record) {
    tally.nodes++
    tally.strings++
    if (!inspectValue(record[name], depth, most_depth, tally)) return false
  }
  return true
}

/**
 * Counts the strings of a text that is JSON; null if a key contains an escape. V8 up to 14.6 may read such a key as another one that it has
 * seen before (nodejs/node issue 63785), and an escape may hide `__proto__` or a lone surrogate.
 */
function countStrings(text: string): number | null {
  return text.includes('\\') ? countEscaped(text) : countPlain(text)
}

/**
 * Without backslashes every quotation mark opens or closes a string. Separate from `countEscaped`, because V8 14.x runs that loop up to 90
 * times slower once it has seen long texts without backslashes.
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
    // Backslashes occur in strings only, so one before the closing mark is in this string.
    if (escape !== -1 && escape < close) {
      while (isEscaped(text, close)) close = text.indexOf('"', close + 1)
      if (isKey(text, close)) return null
      escape = text.indexOf('\\', close)
    }
    open = close === -1 ? -1 : text.indexOf('"', close + 1)
  }
  return strings
}

/** The string that closes here is followed by a colon. */
function isKey(text: string, close: number): boolean {
  let index = close + 1
  while (isSpace(text.charCodeAt(index))) index++
  return text.charCodeAt(index) === 0x3a
}

/**
 * Longer texts reach the engine's parser only if their brackets and commas, counted as structure, stay within the limits: the parser slows
 * down per bracket with millions of open ones, and would build an object of a million members before they are counted.
 */
const FLOOD_CHARS = 65_536

function isFlooded(text: string, nodes: number): boolean {
  return text.length > FLOOD_CHARS && ['[', '{', ','].some((mark) => containsMoreThan(text, mark, nodes))
}

function containsMoreThan(text: string, mark: string, count: number): boolean {
  let left = count
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) {
    if (left-- === 0) return true
  }
  return false
}
