import { pointerStep } from '../documents/json-schema/json.ts'

/** Cursors: a value of a document together with its position, so that every finding has its JSON pointer. */

/**
 * Type of the value as in JSON. `absent`: there is no value. `redacted`: a marker such as `[REDACTED]` replaces a removed value; it counts
 * as present and is not checked further.
 */
type CursorKind = 'absent' | 'redacted' | 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object'

/** Literals of numbers that are not plain integers within ±(2^53 - 1), by the array or object that holds them. */
export type NumberLiterals = ReadonlyMap<object, ReadonlyMap<string, string>>

export const NO_LITERALS: NumberLiterals = new Map()

/** Maximum length of a reported JSON pointer; a longer one is cut at the last whole step. */
const POINTER_CHARS = 512

const FIRST = '[<*rR'
const MARKERS: ReadonlySet<string> = new Set(['[redacted]', '<redacted>', 'redacted', '[masked]', '<masked>'])

export class JsonCursor {
  /** undefined if absent. */
  readonly value: unknown
  /** Name or index under the parent; empty for the root. */
  readonly key: string
  readonly parent: JsonCursor | null
  private readonly literals: NumberLiterals
  /** The string that contains the JSON of which this is the root; null otherwise. */
  private readonly host: JsonCursor | null

  private constructor(value: unknown, key: string, parent: JsonCursor | null, literals: NumberLiterals, host: JsonCursor | null = null) {
    this.value = value
    this.key = key
    this.parent = parent
    this.literals = literals
    this.host = host
  }

  static root(value: unknown, literals: NumberLiterals = NO_LITERALS): JsonCursor {
    return new JsonCursor(value, '', null, literals)
  }

  /** A cursor on the JSON inside this string, parsed by the caller. All values below have the pointer of the string. */
  inside(value: unknown, literals: NumberLiterals = NO_LITERALS): JsonCursor {
    return new JsonCursor(value, '', null, literals, this)
  }

  get kind(): CursorKind {
    const { value } = this
    if (value === undefined) return 'absent'
    if (value === null) return 'null'
    if (typeof value === 'string') return isRedactionMarker(value) ? 'redacted' : 'string'
    if (typeof value === 'number' || typeof value === 'boolean') return typeof value === 'number' ? 'number' : 'boolean'
    return Array.isArray(value) ? 'array' : 'object'
  }

  /** True for every value, also for null and redaction markers. */
  get present(): boolean {
    return this.value !== undefined
  }

  get redacted(): boolean {
    return this.kind === 'redacted'
  }

  /** The cursor at the end of these member names; absent if a name does not exist. */
  get(...names: string[]): JsonCursor {
    return names.reduce((cursor: JsonCursor, name) => cursor.member(name), this)
  }

  private member(name: string): JsonCursor {
    const { value } = this
    const isHere = typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, name)
    return new JsonCursor(isHere ? (value as Record<string, unknown>)[name] : undefined, name, this, this.literals)
  }

  /** Returns whether this is an object with a member of this name. */
  has(name: string): boolean {
    return this.get(name).present
  }

  // Each of the following reads this value, or the one at the end of the names that it is given.

  /** The items of an array; none for any other type. */
  items(...names: string[]): JsonCursor[] {
    const holder = this.get(...names)
    if (!Array.isArray(holder.value)) return []
    return holder.value.map((item: unknown, index) => new JsonCursor(item, String(index), holder, this.literals))
  }

  /** Items of an array that are objects. Rules about types report the others. */
  objects(...names: string[]): JsonCursor[] {
    return this.items(...names).filter(({ kind }) => kind === 'object')
  }

  /** The members of an object, in the order of the document; none for any other type. */
  members(...names: string[]): JsonCursor[] {
    const holder = this.get(...names)
    if (holder.kind !== 'object') return []
    return Object.entries(holder.value as Record<string, unknown>).map(
      ([name, member]) => new JsonCursor(member, name, holder, this.literals),
    )
  }

  /** The text; null for any other type and for a redaction marker. */
  text(...names: string[]): string | null {
    const { kind, value } = this.get(...names)
    return kind === 'string' ? (value as string) : null
  }

  /** The boolean; null for any other type. */
  boolean(...names: string[]): boolean | null {
    const { value } = this.get(...names)
    return typeof value === 'boolean' ? value : null
  }

  /** The number as a double; null for any other type. Never for money: see `integer`. */
  number(...names: string[]): number | null {
    const { value } = this.get(...names)
    return typeof value === 'number' ? value : null
  }

  /** The number if it is an integer within ±(2^53 - 1), however it was written; null otherwise. */
  integer(...names: string[]): bigint | null {
    const { value } = this.get(...names)
    return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : null
  }

  /** Items of an array or members of an object; none for any other type. */
  children(): JsonCursor[] {
    return this.kind === 'array' ? this.items() : this.members()
  }

  /** This value and all values inside it. The order is fixed and is not that of the document. */
  *descendants(): Generator<JsonCursor> {
    const open: JsonCursor[] = [this]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      yield next
      open.push(...next.children())
    }
  }

  /** The literal of the number, if it is not a plain integer within ±(2^53 - 1); null otherwise. */
  literal(): string | null {
    const holder = this.parent?.value
    return typeof holder === 'object' && holder !== null ? (this.literals.get(holder)?.get(this.key) ?? null) : null
  }

  /** RFC 6901, empty for the root. */
  path(): string {
    const line: JsonCursor[] = [this]
    for (let above = this.parent; above !== null; above = above.parent) line.push(above)
    const host = line.at(-1)?.host ?? null
    if (host !== null) return host.path()
    let path = ''
    for (const cursor of line.toReversed()) {
      const step = cursor.parent === null ? '' : pointerStep(cursor.key)
      if (path.length + step.length > POINTER_CHARS) break
      path += step
    }
    return path
  }

  /** Name of the value in messages: its key if that is safe to show, else a description. */
  get label(): string {
    if (this.parent === null) return this.host === null ? 'The document' : 'The JSON in this text'
    if (Array.isArray(this.parent.value)) return `Item ${this.key}`
    return /^[\w.$@-]{1,64}$/.test(this.key) ? this.key : 'This member'
  }
}

/** Returns whether a text is a marker for a value that was removed before the document was sent. */
function isRedactionMarker(text: string): boolean {
  // Asked of every text several times, so most are sent away by their first character.
  if (text.length > 32 || !FIRST.includes(text.charAt(0)) || text === '') return false
  return MARKERS.has(text.toLowerCase()) || /^\*{3,32}$/.test(text)
}
