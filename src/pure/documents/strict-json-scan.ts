/**
 * Exact reader of strict JSON (RFC 8259): one pass that finds the first fault by position, for several bounds together. It is slower than
 * the engine's parser and runs only when the fast reader has a doubt. It reads the text again from its start and reuses nothing from the first
 * reading.
 */

interface ScanFault {
  code: StrictJsonCode
  position: number
}

/**
 * Reads the text until every reader has a fault, and returns the result of each by its index. Unsafe numbers are text in the value. Time and
 * memory are linear in the length of the text; the largest `depth` bounds the stack.
 */
export function scanJson(text: string, readers: readonly StrictJsonReader[]): (index: number) => StrictJson {
  const scan = new JsonScanner(text, readers)
  const value = documentOf(scan)
  return (index) => {
    const [reader, fault] = [readers[index], scan.faults[index] ?? null]
    return reader === undefined || fault === null ? { ok: true, value } : strictJsonFault(fault, text, reader)
  }
}

/** Undefined if every reader has a fault. */
function documentOf(scan: JsonScanner): unknown {
  try {
    return scan.document()
  } catch (stop) {
    if (stop instanceof Stop) return undefined
    throw stop
  }
}

/** Thrown when no reader is left; never leaves this file. */
class Stop extends Error {}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const ZERO = 0x30
const NINE = 0x39
const WORDS = { 0x74: 'true', 0x66: 'false', 0x6e: 'null' } as const
/** Integers with at most this many digits are computed exactly without calling `Number`. */
const SHORT_DIGITS = 15
/** Escaped strings up to this length are decoded here; longer ones are faster in the engine's parser. */
const SHORT_CHARS = 64

class JsonScanner {
  readonly faults: (ScanFault | null)[]
  private readonly text: string
  private readonly readers: readonly StrictJsonReader[]
  private readonly well_formed: boolean
  private position = 0
  private nodes = 0
  // The narrowest bounds among the readers without a fault.
  private least_depth = 0
  private least_nodes = 0
  private refuses_unsafe = false

  constructor(text: string, readers: readonly StrictJsonReader[]) {
    this.text = text
    this.readers = readers
    this.faults = readers.map(() => null)
    this.well_formed = text.isWellFormed()
    this.narrow()
  }

  document(): unknown {
    const value = this.value(0)
    this.skip()
    return this.position === this.text.length ? value : this.stop('not_json')
  }

  private value(depth: number): unknown {
    this.skip()
    const start = this.position
    const mark = this.text.charCodeAt(start)
    if (!startsValue(mark)) this.stop('not_json')
    const nodes = ++this.nodes
    if (nodes > this.least_nodes) this.refuseFor('too_many_nodes', start, (reader) => nodes > reader.nodes)
    switch (mark) {
      case 0x7b:
      case 0x5b:
        if (depth >= this.least_depth) this.refuseFor('too_deep', start, (reader) => depth >= reader.depth)
        return mark === 0x7b ? this.object(depth + 1) : this.array(depth + 1)
      case QUOTE:
        return this.string()
      case 0x74:
      case 0x66:
      case 0x6e:
        return this.word(WORDS[mark])
      default:
        return this.number()
    }
  }

  private array(depth: number): unknown[] {
    const items: unknown[] = []
    this.position++
    this.skip()
    if (this.accept(0x5d)) return items
    do {
      items.push(this.value(depth))
      this.skip()
    } while (this.accept(0x2c))
    this.expect(0x5d)
    return items
  }

  private object(depth: number): Record<string, unknown> {
    const members: Record<string, unknown> = {}
    this.position++
    this.skip()
    if (this.accept(0x7d)) return members
    do {
      this.skip()
      const start = this.position
      if (this.text.charCodeAt(start) !== QUOTE) this.stop('not_json')
      const name = this.string()
      if (name === '__proto__') this.stop('forbidden_key', start)
      if (Object.hasOwn(members, name)) this.stop('duplicate_key', start)
      this.skip()
      this.expect(0x3a)
      members[name] = this.value(depth)
      this.skip()
    } while (this.accept(0x2c))
    this.expect(0x7d)
    return members
  }

  private string(): string {
    const { text, position: start } = this
    let end = start + 1
    let escaped = false
    for (let code = text.charCodeAt(end); code !== QUOTE; code = text.charCodeAt(++end)) {
      if (code === BACKSLASH) {
        escaped = true
        end++
      } else if (!(code >= 0x20)) this.stop('not_json', faultInString(text, start))
    }
    const value = escaped ? decodeString(text, start, end) : text.slice(start + 1, end)
    if (value === null) return this.stop('not_json', faultInString(text, start))
    if ((escaped || !this.well_formed) && !value.isWellFormed()) this.stop('lone_surrogate', start)
    this.position = end + 1
    return value
  }

  private number(): number | string {
    const { text, position: start } = this
    const negative = this.accept(0x2d)
    const first = this.position
    if (!this.accept(ZERO)) this.digits()
    const digits = this.position - first
    const mark = text.charCodeAt(this.position)
    const whole = mark !== 0x2e && mark !== 0x65 && mark !== 0x45
    if (whole && digits <= SHORT_DIGITS) {
      let value = 0
      for (let at = first; at < this.position; at++) value = value * 10 + text.charCodeAt(at) - ZERO
      return negative ? -value : value
    }
    if (this.accept(0x2e)) this.digits()
    if (this.accept(0x65) || this.accept(0x45)) {
      if (!this.accept(0x2b)) this.accept(0x2d)
      this.digits()
    }
    const literal = text.slice(start, this.position)
    const value = Number(literal)
    if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return value
    if (this.refuses_unsafe) this.refuseFor('unsafe_number', start, ({ unsafe_numbers }) => unsafe_numbers === 'refuse')
    return literal
  }

  private digits(): void {
    const { text } = this
    let at = this.position
    for (let code = text.charCodeAt(at); code >= ZERO && code <= NINE;) code = text.charCodeAt(++at)
    if (at === this.position) this.stop('not_json')
    this.position = at
  }

  private word(word: 'true' | 'false' | 'null'): boolean | null {
    for (let at = 0; at < word.length; at++) this.expect(word.charCodeAt(at))
    return word === 'null' ? null : word === 'true'
  }

  private skip(): void {
    for (let code = this.text.charCodeAt(this.position); isSpace(code);) code = this.text.charCodeAt(++this.position)
  }

  private accept(code: number): boolean {
    if (this.text.charCodeAt(this.position) !== code) return false
    this.position++
    return true
  }

  private expect(code: number): void {
    if (!this.accept(code)) this.stop('not_json')
  }

  /** Records a fault for every reader. */
  private stop(code: StrictJsonCode, position = this.position): never {
    this.readers.forEach((_, index) => (this.faults[index] ??= { code, position }))
    throw new Stop()
  }

  /** Records a fault for the readers whose bounds are exceeded here, and continues for the others. */
  private refuseFor(code: StrictJsonCode, position: number, exceeds: (reader: StrictJsonReader) => boolean): void {
    this.readers.forEach((reader, index) => {
      if (exceeds(reader)) this.faults[index] ??= { code, position }
    })
    this.narrow()
  }

  private narrow(): void {
    const left = this.readers.filter((_, index) => this.faults[index] === null)
    if (left.length === 0) throw new Stop()
    this.least_depth = Math.min(...left.map(({ depth }) => depth))
    this.least_nodes = Math.min(...left.map(({ nodes }) => nodes))
    this.refuses_unsafe = left.some(({ unsafe_numbers }) => unsafe_numbers === 'refuse')
  }
}

function startsValue(code: number): boolean {
  if (code === QUOTE || code === 0x7b || code === 0x5b || code === 0x2d || (code >= ZERO && code <= NINE)) return true
  return code === 0x74 || code === 0x66 || code === 0x6e
}

export function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

/** A quotation mark is part of its string if an odd number of backslashes precedes it. */
export function isEscaped(text: string, mark: number): boolean {
  let index = mark - 1
  while (text.charCodeAt(index) === BACKSLASH) index--
  return (mark - index) % 2 === 0
}

const ESCAPED = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }
const ESCAPES = new Map(Object.entries(ESCAPED).map(([letter, mark]) => [letter.charCodeAt(0), mark]))

/** Decodes the string between the quotation marks at `start` and `end`; null if an escape is invalid. */
function decodeString(text: string, start: number, end: number): string | null {
  if (end - start > SHORT_CHARS) return decodeLongString(text.slice(start, end + 1))
  let value = ''
  let from = start + 1
  for (let at = from; at < end; at++) {
    if (text.charCodeAt(at) !== BACKSLASH) continue
    value += text.slice(from, at)
    const mark = text.charCodeAt(++at)
    if (mark === 0x75) {
      const unit = at + 5 > end ? -1 : readHexUnit(text, at + 1)
      if (unit < 0) return null
      value += String.fromCharCode(unit)
      at += 4
    } else {
      const plain = ESCAPES.get(mark)
      if (plain === undefined) return null
      value += plain
    }
    from = at + 1
  }
  return value + text.slice(from, end)
}

function decodeLongString(token: string): string | null {
  try {
    return String(JSON.parse(token))
  } catch {
    return null
  }
}

/** Value of the four hexadecimal digits at `at`; negative if they are not four digits. */
function readHexUnit(text: string, at: number): number {
  let value = 0
  for (let index = at; index < at + 4; index++) {
    const code = text.charCodeAt(index)
    const letter = code | 0x20
    const digit = code >= ZERO && code <= NINE ? code - ZERO : letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
    if (digit < 0) return -1
    value = value * 16 + digit
  }
  return value
}

/** Position of the first fault in an invalid string (RFC 8259 §7). */
function faultInString(text: string, start: number): number {
  let index = start + 1
  for (; text.charCodeAt(index) >= 0x20; index++) {
    if (text.charCodeAt(index) !== BACKSLASH) continue
    const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{0,4})?/y
    escape.lastIndex = index
    escape.test(text)
    const length = escape.lastIndex - index
    if (length === 1 || (text.charAt(index + 1) === 'u' && length < 6)) return escape.lastIndex
    index = escape.lastIndex - 1
  }
  return index
}

/** Limits of one text. */
export interface StrictJsonBounds {
  /** Nesting of arrays and objects; a scalar has depth 0. At most 1,000. */
  depth: number
  /** Number of values: scalars, arrays and objects. Keys do not count. */
  nodes: number
}

/** One reader of a text with its limits. */
export interface StrictJsonReader extends StrictJsonBounds {
  /** `keep_text` returns the literal of an unsafe number as text. */
  readonly unsafe_numbers: 'refuse' | 'keep_text'
}

export type StrictJsonCode =
  | 'not_json'
  | 'too_deep'
  | 'too_many_nodes'
  | 'duplicate_key'
  | 'lone_surrogate'
  | 'forbidden_key'
  | 'unsafe_number'

export interface StrictJsonFault {
  ok: false
  code: StrictJsonCode
  /**
   * Offset in UTF-16 units of the first fault: the unexpected character, the bracket beyond the depth, or the start of the refused key,
   * text or number.
   */
  position: number
  /** Both from 1; lines end at line feeds, columns count UTF-16 units. */
  line: number
  column: number
  message: string
}

export type StrictJson = { ok: true; value: unknown } | StrictJsonFault

function strictJsonFault({ code, position }: ScanFault, text: string, bounds: StrictJsonBounds): StrictJsonFault {
  let line = 1
  let line_start = 0
  for (let end = text.indexOf('\n'); end !== -1 && end < position; end = text.indexOf('\n', line_start)) {
    line++
    line_start = end + 1
  }
  return { ok: false, code, position, line, column: position - line_start + 1, message: faultMessage(code, text, position, bounds) }
}

function faultMessage(code: StrictJsonCode, text: string, position: number, bounds: StrictJsonBounds): string {
  switch (code) {
    case 'not_json':
      return `Invalid JSON: unexpected ${unexpectedAt(text, position)}.`
    case 'too_deep':
      return `The JSON is nested deeper than ${bounds.depth} levels.`
    case 'too_many_nodes':
      return `The JSON contains more than ${bounds.nodes} values.`
    case 'duplicate_key':
      return 'Duplicate key; an object may contain each key once.'
    case 'lone_surrogate':
      return 'The string contains half of a surrogate pair.'
    case 'forbidden_key':
      return 'The key __proto__ is not allowed.'
    case 'unsafe_number':
      return 'The number is beyond 9007199254740991 (2^53 - 1), where JSON readers round differently; send it as a string.'
  }
}

/** Names the character at a position. Characters other than printable ASCII are given by code point, because the text is untrusted. */
function unexpectedAt(text: string, position: number): string {
  const point = text.codePointAt(position)
  if (point === undefined) return 'end of text'
  return point > 0x20 && point < 0x7f
    ? `'${String.fromCodePoint(point)}'`
    : `character U+${point.toString(16).toUpperCase().padStart(4, '0')}`
}
