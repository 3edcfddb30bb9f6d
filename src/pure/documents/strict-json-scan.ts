/**
 * The exact reader of strict JSON (RFC 8259): one pass, the first fault by position. It is slower than the engine's parser and runs only
 * when the fast reader has a doubt, so it reads the text anew and trusts nothing.
 */
import { fault, type StrictJson, type StrictJsonBounds, type StrictJsonCode } from './strict-json-fault.ts'

/** Reads the whole text. Time and memory grow in proportion to its length; the stack is bounded by `bounds.depth`. */
export function scanJson(text: string, bounds: StrictJsonBounds, unsafe_numbers: 'refuse' | 'keep_text'): StrictJson {
  try {
    return { ok: true, value: new Scan(text, bounds, unsafe_numbers).document() }
  } catch (stop) {
    if (stop instanceof Stop) return fault(stop.code, text, stop.position, bounds)
    throw stop
  }
}

/** Where reading stops; it never leaves this file. */
class Stop extends Error {
  readonly code: StrictJsonCode
  readonly position: number
  constructor(code: StrictJsonCode, position: number) {
    super(code)
    this.code = code
    this.position = position
  }
}

const VALUE_BEGINS = '{["tfn-0123456789'
const SPACE = ' \t\n\r'
const DIGIT = '0123456789'
const WORDS = { t: 'true', f: 'false', n: 'null' } as const

class Scan {
  private readonly text: string
  private readonly bounds: StrictJsonBounds
  private readonly unsafe_numbers: 'refuse' | 'keep_text'
  private position = 0
  private nodes = 0

  constructor(text: string, bounds: StrictJsonBounds, unsafe_numbers: 'refuse' | 'keep_text') {
    this.text = text
    this.bounds = bounds
    this.unsafe_numbers = unsafe_numbers
  }

  document(): unknown {
    const value = this.value(0)
    this.skip(SPACE)
    return this.position === this.text.length ? value : this.stop('not_json')
  }

  private value(depth: number): unknown {
    this.skip(SPACE)
    if (!this.at(VALUE_BEGINS)) this.stop('not_json')
    if (++this.nodes > this.bounds.nodes) this.stop('too_many_nodes')
    const mark = this.text.charAt(this.position)
    switch (mark) {
      case '{':
      case '[':
        if (depth === this.bounds.depth) this.stop('too_deep')
        return mark === '{' ? this.object(depth + 1) : this.array(depth + 1)
      case '"':
        return this.string()
      case 't':
      case 'f':
      case 'n':
        return this.word(WORDS[mark])
      default:
        return this.number()
    }
  }

  private array(depth: number): unknown[] {
    const items: unknown[] = []
    this.position++
    this.skip(SPACE)
    if (this.takes(']')) return items
    do {
      items.push(this.value(depth))
      this.skip(SPACE)
    } while (this.takes(','))
    this.expect(']')
    return items
  }

  private object(depth: number): Record<string, unknown> {
    const members = new Map<string, unknown>()
    this.position++
    this.skip(SPACE)
    if (this.takes('}')) return {}
    do {
      const name = this.name(members)
      this.skip(SPACE)
      this.expect(':')
      members.set(name, this.value(depth))
      this.skip(SPACE)
    } while (this.takes(','))
    this.expect('}')
    return Object.fromEntries(members)
  }

  private name(members: ReadonlyMap<string, unknown>): string {
    this.skip(SPACE)
    if (!this.at('"')) this.stop('not_json')
    const start = this.position
    const name = this.string()
    if (name === '__proto__') this.stop('forbidden_key', start)
    if (members.has(name)) this.stop('duplicate_key', start)
    return name
  }

  private string(): string {
    const start = this.position
    let end = this.text.indexOf('"', start + 1)
    while (end !== -1 && isEscaped(this.text, end)) end = this.text.indexOf('"', end + 1)
    const value = end === -1 ? null : decode(this.text.slice(start, end + 1))
    if (value === null) return this.stop('not_json', faultInString(this.text, start))
    if (!value.isWellFormed()) this.stop('lone_surrogate', start)
    this.position = end + 1
    return value
  }

  private number(): number | string {
    const start = this.position
    this.takes('-')
    if (!this.takes('0')) this.digits()
    if (this.takes('.')) this.digits()
    if (this.takes('e') || this.takes('E')) {
      if (!this.takes('+')) this.takes('-')
      this.digits()
    }
    const literal = this.text.slice(start, this.position)
    const value: unknown = JSON.parse(literal)
    if (typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER) return value
    return this.unsafe_numbers === 'keep_text' ? literal : this.stop('unsafe_number', start)
  }

  private digits(): void {
    if (!this.at(DIGIT)) this.stop('not_json')
    this.skip(DIGIT)
  }

  private word(word: 'true' | 'false' | 'null'): boolean | null {
    for (const letter of word) this.expect(letter)
    return word === 'null' ? null : word === 'true'
  }

  /** Whether one of these characters stands here. */
  private at(characters: string): boolean {
    return this.position < this.text.length && characters.includes(this.text.charAt(this.position))
  }

  private skip(characters: string): void {
    while (this.at(characters)) this.position++
  }

  private takes(characters: string): boolean {
    const here = this.at(characters)
    if (here) this.position++
    return here
  }

  private expect(characters: string): void {
    if (!this.takes(characters)) this.stop('not_json')
  }

  private stop(code: StrictJsonCode, position = this.position): never {
    throw new Stop(code, position)
  }
}

/** Whether the quotation mark is part of its string: an odd number of backslashes stands before it. */
export function isEscaped(text: string, mark: number): boolean {
  let index = mark - 1
  while (text.charCodeAt(index) === BACKSLASH) index--
  return (mark - index) % 2 === 0
}

const BACKSLASH = 0x5c

/** The text behind a string token, null when it is none. The engine decides, since it is fast and exact. */
function decode(token: string): string | null {
  try {
    return String(JSON.parse(token))
  } catch {
    return null
  }
}

/** Where a string that is none goes wrong: RFC 8259 §7, character by character. Only ever run once, on the way out. */
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
