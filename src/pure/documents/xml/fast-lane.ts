/**
 * The hot path of reading. What nearly all of a payment message consists of – plain text, `<Name>`, `<Name attribute="value">` and
 * `</Name>` – is read here in one loop over the chunk; at anything else the parser goes on by itself from the same place. Nothing passes here
 * that the parser would refuse: only the plainest forms are known, and a closing tag must be that of the element that is open.
 *
 * It works on the state of saxes 6.0.0, whose version is pinned; a test reads the same documents with the lane and without it.
 */

/** An element that is open; one object for each name, since the parser only ever looks at the name. */
export interface Tag {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly isSelfClosing: boolean
  /** Its characters; all below 128. */
  readonly codes: Uint8Array
  /** Which element began next the last time: messages repeat themselves. */
  next: Tag | null
}

/** The part of the parser's state that is read and written here. */
export interface ParserState {
  chunk: string
  i: number
  line: number
  column: number
  text: string
  forbiddenState: number
  closedRoot: boolean
  tag: unknown
  readonly tags: { name: string; codes?: Uint8Array }[]
  readonly textHandler: (text: string) => void
  readonly openTagHandler: (tag: { name: string }) => void
  readonly closeTagHandler: (tag: { name: string }) => void
  readonly attributeHandler: (attribute: { name: string; value: string }) => void
}

const LESS = 0x3c
const GREATER = 0x3e
const SLASH = 0x2f
const SPACE = 0x20
const EQUALS = 0x3d
const QUOTE = 0x22
const NEW_LINE = 0x0a
const NO_ATTRIBUTES: Readonly<Record<string, string>> = Object.freeze({})
const NO_CODES = new Uint8Array(0)
const REMEMBERED_NAMES = 4_096

/** What may stand where, for characters below 128: 1 in a text, 2 in a name, 4 at its start, 8 in an attribute value. */
const KINDS = new Uint8Array(256)
for (let code = 0x20; code < 0x7f; code++) KINDS[code] = '<&]'.includes(String.fromCharCode(code)) ? 0 : 1
for (let code = 0x20; code < 0x7f; code++) if (!'<&"'.includes(String.fromCharCode(code))) KINDS[code] = (KINDS[code] ?? 0) | 8
KINDS[0x09] = 1
KINDS[NEW_LINE] = 1
for (let code = 0x30; code < 0x7b; code++) {
  const character = String.fromCharCode(code)
  if (/[A-Za-z_]/.test(character)) KINDS[code] = (KINDS[code] ?? 0) | 6
  else if (/[0-9:]/.test(character)) KINDS[code] = (KINDS[code] ?? 0) | 2
}
for (const character of '-.') KINDS[character.charCodeAt(0)] = (KINDS[character.charCodeAt(0)] ?? 0) | 2

const TEXT = 1
const NAME = 2
const NAME_START = 4
const VALUE = 8
/** Stands for characters beyond ASCII that texts may hold and that are one unit and one column each. */
const OTHER_TEXT = 0x80
KINDS[OTHER_TEXT] = TEXT
/** Stands for those that the parser shall judge: controls, surrogates, and what lies beyond them. */
const JUDGED = 0xff
const FIRST_OTHER = 0xa0
const SURROGATES = 0xd800

const ENCODER = new TextEncoder()
const FIRST_ROOM = 65_600

export class FastLane {
  private readonly names = new Map<string, Tag>()
  private previous = newTag('', NO_CODES)
  /** The chunk that `codes` were made of: a code for each of its characters, and 0 behind the last, which is of no kind. */
  private chunk = ''
  private codes = new Uint8Array(FIRST_ROOM)
  /** Where the line begins; negative when that was in a chunk before. */
  private line_start = 0
  /** What `endOfOpen` has read. */
  private tag = this.previous
  private attribute = ''
  private value = ''

  /** Reads on from the parser's place, inside the root element. Whether it came any further. */
  run(state: ParserState): boolean {
    if (state.text !== '' || state.forbiddenState !== 0) return false
    if (state.chunk !== this.chunk) this.take(state.chunk)
    const start = state.i
    this.line_start = start - state.column
    while (this.step(state, this.codes));
    return state.i > start
  }

  /** Looking at numbers in an array is several times as fast as asking a string for each of its characters. */
  private take(chunk: string): void {
    const { length } = chunk
    if (length >= this.codes.length) this.codes = new Uint8Array(length * 2)
    const { codes } = this
    const { read, written } = ENCODER.encodeInto(chunk, codes)
    if (read !== length || written !== length) {
      for (let index = 0; index < length; index++) {
        const code = chunk.charCodeAt(index)
        codes[index] = code < 0x80 ? code : code >= FIRST_OTHER && code < SURROGATES ? OTHER_TEXT : JUDGED
      }
    }
    codes[length] = 0
    this.chunk = chunk
  }

  /** One text and the tag behind it. False when it is not all plain, and nothing has happened; or when it was the last that is for this lane. */
  private step(state: ParserState, codes: Uint8Array): boolean {
    const start = state.i
    let index = start
    let lines = 0
    let { line_start } = this
    let code = codes[index] ?? 0
    while (((KINDS[code] ?? 0) & TEXT) !== 0) {
      index++
      if (code === NEW_LINE) {
        lines++
        line_start = index
      }
      code = codes[index] ?? 0
    }
    if (code !== LESS) return false
    const closing = codes[index + 1] === SLASH
    const end = closing ? endOfClose(state, codes, index + 2) : this.endOfOpen(codes, index + 1)
    if (end < 0) return false
    this.line_start = line_start
    state.i = end
    state.line += lines
    state.column = end - line_start
    if (index > start) state.textHandler(this.chunk.slice(start, index))
    if (closing) return close(state)
    this.open(state)
    return true
  }

  /** Behind an opening tag with at most one attribute; -1 when it is anything else. */
  private endOfOpen(codes: Uint8Array, from: number): number {
    const tag = this.tagAt(codes, from)
    if (tag === null) return -1
    const at = from + tag.codes.length
    this.tag = tag
    this.attribute = ''
    const code = codes[at]
    return code === GREATER ? at + 1 : code === SPACE ? this.endOfAttribute(codes, at + 1) : -1
  }

  private endOfAttribute(codes: Uint8Array, from: number): number {
    if (((KINDS[codes[from] ?? 0] ?? 0) & NAME_START) === 0) return -1
    const at = endOf(codes, from, NAME)
    if (codes[at] !== EQUALS || codes[at + 1] !== QUOTE) return -1
    const end = endOf(codes, at + 2, VALUE)
    if (codes[end] !== QUOTE || codes[end + 1] !== GREATER) return -1
    this.attribute = this.chunk.slice(from, at)
    this.value = this.chunk.slice(at + 2, end)
    return end + 2
  }

  /** The whole name that stands here; null when none does. */
  private tagAt(codes: Uint8Array, from: number): Tag | null {
    const guess = this.previous.next
    if (guess !== null && holdsAt(codes, guess.codes, from)) {
      const code = codes[from + guess.codes.length] ?? 0
      if (((KINDS[code] ?? 0) & NAME) === 0) return guess
    }
    if (((KINDS[codes[from] ?? 0] ?? 0) & NAME_START) === 0) return null
    return this.named(codes, from, endOf(codes, from, NAME))
  }

  private named(codes: Uint8Array, from: number, to: number): Tag {
    const name = this.chunk.slice(from, to)
    const known = this.names.get(name)
    if (known !== undefined) return known
    if (this.names.size >= REMEMBERED_NAMES) this.names.clear()
    const tag = newTag(name, codes.slice(from, to))
    this.names.set(name, tag)
    return tag
  }

  private open(state: ParserState): void {
    const { tag, attribute } = this
    this.previous.next = tag
    this.previous = tag
    state.tag = tag
    if (attribute !== '') state.attributeHandler({ name: attribute, value: this.value })
    state.openTagHandler(tag)
    state.tags.push(tag)
  }
}

function newTag(name: string, codes: Uint8Array): Tag {
  return { name, attributes: NO_ATTRIBUTES, isSelfClosing: false, codes, next: null }
}

/** Behind the closing tag of the innermost element; -1 when it is not that, or when the parser itself has opened it. */
function endOfClose({ tags }: ParserState, codes: Uint8Array, from: number): number {
  const name = tags[tags.length - 1]?.codes
  if (name === undefined || !holdsAt(codes, name, from)) return -1
  const end = from + name.length
  return codes[end] === GREATER ? end + 1 : -1
}

/** False when that was the root element: what follows is not for this lane. */
function close(state: ParserState): boolean {
  const { tags } = state
  const tag = tags.pop()
  if (tag === undefined) return false
  state.tag = tag
  state.closeTagHandler(tag)
  if (tags.length > 0) return true
  state.closedRoot = true
  return false
}

function holdsAt(codes: Uint8Array, name: Uint8Array, from: number): boolean {
  const { length } = name
  if (from + length >= codes.length) return false
  for (let index = 0; index < length; index++) if (codes[from + index] !== name[index]) return false
  return true
}

/** Behind the last of a run of such characters. It ends at the latest behind the chunk. */
function endOf(codes: Uint8Array, from: number, kind: number): number {
  let at = from
  while (((KINDS[codes[at] ?? 0] ?? 0) & kind) !== 0) at++
  return at
}
