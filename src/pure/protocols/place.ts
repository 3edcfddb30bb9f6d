/** One value of a document and where it stands. Rules walk with it, so that every finding knows its JSON pointer. */

/**
 * The type of the value in JSON's words. `absent`: nothing stands there. `redacted`: a marker such as `[REDACTED]` stands for a value that
 * was taken out; it counts as present, and nothing more is asked of it.
 */
export type Kind = 'absent' | 'redacted' | 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object'

/** How numbers were written, where that is not a plain integer within ±(2^53 - 1): by the array or object that holds them. */
export type NumberLiterals = ReadonlyMap<object, ReadonlyMap<string, string>>

export const NO_LITERALS: NumberLiterals = new Map()

/** Longest JSON pointer that is told; a longer one is cut at the last whole step. */
const POINTER_CHARS = 512

const FIRST = '[<*rR'
const MARKERS: ReadonlySet<string> = new Set(['[redacted]', '<redacted>', 'redacted', '[masked]', '<masked>'])

export class Place {
  /** undefined where nothing stands. */
  readonly value: unknown
  /** Name or index under the parent; empty for the root. */
  readonly key: string
  readonly parent: Place | null
  private readonly literals: NumberLiterals
  /** The text that holds the JSON of which this is the root; null for the root of the document, and below roots. */
  private readonly host: Place | null

  private constructor(value: unknown, key: string, parent: Place | null, literals: NumberLiterals, host: Place | null = null) {
    this.value = value
    this.key = key
    this.parent = parent
    this.literals = literals
    this.host = host
  }

  static root(value: unknown, literals: NumberLiterals = NO_LITERALS): Place {
    return new Place(value, '', null, literals)
  }

  /** What the text here says as JSON, read by the caller. No pointer leads into a text: all below has the pointer of the text. */
  inside(value: unknown, literals: NumberLiterals): Place {
    return new Place(value, '', null, literals, this)
  }

  get kind(): Kind {
    const { value } = this
    if (value === undefined) return 'absent'
    if (value === null) return 'null'
    if (typeof value === 'string') return isMarker(value) ? 'redacted' : 'string'
    if (typeof value === 'number' || typeof value === 'boolean') return typeof value === 'number' ? 'number' : 'boolean'
    return Array.isArray(value) ? 'array' : 'object'
  }

  /** Whether anything stands here; null and redaction markers do. */
  get present(): boolean {
    return this.value !== undefined
  }

  get redacted(): boolean {
    return this.kind === 'redacted'
  }

  /** The own member of this name, or an absent place. */
  get(name: string): Place {
    const { value } = this
    const isHere = typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, name)
    return new Place(isHere ? (value as Record<string, unknown>)[name] : undefined, name, this, this.literals)
  }

  /** The place at the end of several names. */
  down(...names: string[]): Place {
    return names.reduce((place: Place, name) => place.get(name), this)
  }

  /** Whether the object here has a member of this name; false for all that is no object. */
  has(name: string): boolean {
    return this.get(name).present
  }

  /** The items of an array; none for all that is no array. */
  items(): Place[] {
    const { value } = this
    if (!Array.isArray(value)) return []
    return value.map((item: unknown, index) => new Place(item, String(index), this, this.literals))
  }

  /** The members of an object, in the order of the document; none for all that is no object. */
  members(): Place[] {
    const { value } = this
    if (this.kind !== 'object') return []
    return Object.entries(value as Record<string, unknown>).map(([name, member]) => new Place(member, name, this, this.literals))
  }

  /** The text here; null for all else, and for a redaction marker. */
  text(): string | null {
    return this.kind === 'string' ? (this.value as string) : null
  }

  /** The boolean here; null for all else. */
  boolean(): boolean | null {
    return typeof this.value === 'boolean' ? this.value : null
  }

  /** The number here as a double; null for all else. Never for money: see `integer`. */
  number(): number | null {
    return typeof this.value === 'number' ? this.value : null
  }

  /** The number here when it is an integer within ±(2^53 - 1), however it was written; null for all else. */
  integer(): bigint | null {
    const { value } = this
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) return null
    return BigInt(value)
  }

  /** How the number here was written, where that is not a plain integer within ±(2^53 - 1); null for all else. */
  literal(): string | null {
    const holder = this.parent?.value
    return typeof holder === 'object' && holder !== null ? (this.literals.get(holder)?.get(this.key) ?? null) : null
  }

  /** RFC 6901, empty for the root. */
  path(): string {
    const line: Place[] = [this]
    for (let above = this.parent; above !== null; above = above.parent) line.push(above)
    const host = line.at(-1)?.host ?? null
    if (host !== null) return host.path()
    let path = ''
    for (const place of line.toReversed()) {
      const step = stepOf(place)
      if (path.length + step.length > POINTER_CHARS) break
      path += step
    }
    return path
  }

  /** The name of this place in a sentence of ours: its key where that is harmless, else what it is. */
  get label(): string {
    if (this.parent === null) return this.host === null ? 'The document' : 'The JSON in this text'
    if (Array.isArray(this.parent.value)) return `Item ${this.key}`
    return /^[\w.$@-]{1,64}$/.test(this.key) ? this.key : 'This member'
  }
}

/** One step of a pointer; empty for the root. */
function stepOf({ parent, key }: Place): string {
  return parent === null ? '' : `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** Whether a text stands for a value that was taken out before the document was sent. */
function isMarker(text: string): boolean {
  // Asked of every text several times, so most are sent away by their first character.
  if (text.length > 32 || !FIRST.includes(text.charAt(0)) || text === '') return false
  return MARKERS.has(text.toLowerCase()) || /^\*{3,32}$/.test(text)
}
