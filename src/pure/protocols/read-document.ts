import { readStrictJson } from '../documents/strict-json.ts'
import type { StrictJsonBounds, StrictJsonFault } from '../documents/strict-json-scan.ts'
import type { NumberLiterals } from './json-cursor.ts'

type ProtocolDocumentRead = { ok: true; value: unknown; literals: NumberLiterals } | StrictJsonFault

/**
 * Reads JSON as strictly as the API does and keeps the literals of numbers with a fraction, an exponent or more than 2^53 - 1. In the value
 * they are doubles, possibly rounded; the literals are returned separately, by the array or object that holds them.
 */
export function readProtocolDocument(text: string, bounds: StrictJsonBounds): ProtocolDocumentRead {
  const read = readStrictJson(text, bounds, { unsafe_numbers: 'keep_text' })
  return read.ok ? readNumberLiterals(text, read.value) : read
}

/** Replaces the texts that strict reading with `keep_text` left for such numbers, in place, and returns their literals. */
export function readNumberLiterals(text: string, read: unknown): { ok: true; value: unknown; literals: NumberLiterals } {
  if (!MAYBE_ODD.test(text)) return { ok: true, value: read, literals: new Map() }
  const keeper = new LiteralReader(text)
  const value = keeper.value(read)
  return { ok: true, value, literals: keeper.literals }
}

/** A text without such a place has no odd number. */
const MAYBE_ODD = /[0-9][.eE]|[0-9]{16}|-0/
const PLAIN = /^(?:-?[1-9][0-9]{0,14}|0)$/

/**
 * Walks a text that is known to be JSON along with the value that was read from it. Recursion ends at the depth under which it was read.
 */
class LiteralReader {
  readonly literals = new Map<object, Map<string, string>>()
  private readonly text: string
  private position = 0

  constructor(text: string) {
    this.text = text
  }

  /** The value at the current position, with numbers in place of the kept literals. */
  value(read: unknown): unknown {
    this.skip()
    const mark = this.text.charAt(this.position)
    if (mark === '{') this.object(read as Record<string, unknown>)
    else if (mark === '[') this.array(read as unknown[])
    else if (mark === '"') this.string()
    else {
      const start = this.position
      while (!' \t\n\r,]}'.includes(this.text.charAt(this.position)) && this.position < this.text.length) this.position++
      if ('-0123456789'.includes(mark)) return Number(this.text.slice(start, this.position))
    }
    return read
  }

  private member(holder: Record<string, unknown> | unknown[], key: string): void {
    this.skip()
    const start = this.position
    const isNumber = '-0123456789'.includes(this.text.charAt(start))
    const members = holder as Record<string, unknown>
    const value = this.value(members[key])
    if (!isNumber) return
    const literal = this.text.slice(start, this.position)
    members[key] = value
    if (!PLAIN.test(literal) && !isPlainLong(literal)) this.keep(holder, key, literal)
  }

  private keep(holder: object, key: string, literal: string): void {
    const kept = this.literals.get(holder) ?? new Map<string, string>()
    this.literals.set(holder, kept.set(key, literal))
  }

  private object(read: Record<string, unknown>): void {
    this.position++
    for (this.skip(); this.text.charAt(this.position) !== '}'; this.skip()) {
      if (this.text.charAt(this.position) === ',') this.position++
      this.skip()
      const name: unknown = JSON.parse(this.string())
      this.skip()
      this.position++
      this.member(read, String(name))
    }
    this.position++
  }

  private array(read: unknown[]): void {
    this.position++
    let index = 0
    for (this.skip(); this.text.charAt(this.position) !== ']'; this.skip()) {
      if (this.text.charAt(this.position) === ',') this.position++
      this.member(read, String(index++))
    }
    this.position++
  }

  /** The token with its quotation marks. */
  private string(): string {
    const start = this.position
    let end = start
    do end = this.text.indexOf('"', end + 1)
    while (isEscaped(this.text, end))
    this.position = end + 1
    return this.text.slice(start, this.position)
  }

  private skip(): void {
    while (' \t\n\r'.includes(this.text.charAt(this.position)) && this.position < this.text.length) this.position++
  }
}

/** Sixteen digits may still be within 2^53 - 1. */
function isPlainLong(literal: string): boolean {
  return /^-?[1-9][0-9]{15}$/.test(literal) && Number.isSafeInteger(Number(literal))
}

function isEscaped(text: string, mark: number): boolean {
  let index = mark - 1
  while (text.charAt(index) === '\\') index--
  return (mark - index) % 2 === 0
}
