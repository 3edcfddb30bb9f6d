import { type SaxesOptions, SaxesParser } from 'saxes'

export type XmlFaultCode = 'XML_DOCTYPE' | 'XML_ENCODING' | 'XML_NOT_WELLFORMED' | 'XML_LIMIT'

export interface XmlFault {
  code: XmlFaultCode
  /** Position where reading stopped, at or just after the fault. Both from 1; lines end at line feeds, columns count characters. */
  line: number
  column: number
  /** Never quotes the document. */
  message: string
}

/** Ends reading with a fault; caught by `XmlReader`. */
export class Stop extends Error {
  readonly code: XmlFaultCode
  constructor(code: XmlFaultCode, message: string) {
    super(message)
    this.code = code
  }
}

/**
 * Handlers are properties that saxes adds to itself; from the eighth one V8 turns the parser into a dictionary and reading takes six times
 * as long. Therefore errors are handled by an override, and `doctype` has no handler: `XmlReader` rejects DOCTYPE before the parser sees
 * it.
 */
export class SaxParser extends SaxesParser<{ xmlns: false } & SaxesOptions> {
  constructor() {
    super({ xmlns: false, position: false, defaultXMLVersion: '1.0', forceXMLVersion: true })
    lanes.set(this, new FastLane())
  }

  override fail(message: string): this {
    return stop('XML_NOT_WELLFORMED', `The XML is not well-formed: ${clean(message)}`)
  }
}

interface TextState extends ParserState {
  handleTextInRoot(): void
  handleTextOutsideRoot(): void
}

/** Fast lanes by parser, which must have handlers for text, attributes and tags when it is written to. */
const lanes = new WeakMap<object, FastLane>()

/** Replaces the method that saxes calls for each text; saxes reads it once, for its table of states. */
Object.defineProperty(SaxParser.prototype, 'sText', {
  value(this: TextState) {
    if (this.tags.length === 0) this.handleTextOutsideRoot()
    else if (lanes.get(this)?.run(this) !== true) this.handleTextInRoot()
  },
})

export function stop(code: XmlFaultCode, message: string): never {
  throw new Stop(code, message)
}

/** The parser's message without its quotes of the document. */
function clean(message: string): string {
  return message
    .replace(/:.*$/s, '.')
    .replace(/[^ -~]/g, '?')
    .slice(0, 80)
}

/**
 * The hot path. Plain text, `<Name>`, `<Name attribute="value">` and `</Name>`, which make up nearly all of a payment message, are read in
 * one loop over the chunk; at anything else the parser continues from the same offset. Nothing is accepted here that the parser would
 * reject: only these forms are recognized, and a closing tag must match the open element.
 *
 * Reads and writes the state of saxes 6.0.0, whose version is pinned; a test reads the same documents with the fast lane and without it.
 */

/** An open element; one object per name, since the parser only looks at the name. */
interface Tag {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly isSelfClosing: boolean
  /** Character codes of the name; all below 128. */
  readonly codes: Uint8Array
  /** The element that followed last time: messages repeat themselves. */
  next: Tag | null
}

/** The state of the parser that the fast lane reads and writes. */
interface ParserState {
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

/** Bits of each character below 128: allowed in a text (1), in a name (2), at its start (4), in an attribute value (8). */
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
/** Replaces characters beyond ASCII that texts may contain and that are one unit and one column each. */
const OTHER_TEXT = 0x80
KINDS[OTHER_TEXT] = TEXT
/** Replaces characters that are left to the parser: controls, surrogates and all above. */
const LEFT_TO_PARSER = 0xff
const FIRST_OTHER = 0xa0
const SURROGATES = 0xd800

const ENCODER = new TextEncoder()
const FIRST_ROOM = 65_600

class FastLane {
  private readonly names = new Map<string, Tag>()
  private previous = newTag('', NO_CODES)
  /** The chunk that `codes` encodes: one code per character, and 0 after the last, which is allowed nowhere. */
  private chunk = ''
  private codes = new Uint8Array(FIRST_ROOM)
  /** Offset of the current line's start; negative when it is in an earlier chunk. */
  private line_start = 0
  /** Tag and attribute that `endOfOpen` has read. */
  private tag = this.previous
  private attribute = ''
  private value = ''

  /** Continues from the parser's offset, inside the root element. Returns whether it read anything. */
  run(state: ParserState): boolean {
    if (state.text !== '' || state.forbiddenState !== 0) return false
    if (state.chunk !== this.chunk) this.encode(state.chunk)
    const start = state.i
    this.line_start = start - state.column
    while (this.step(state, this.codes));
    return state.i > start
  }

  /** Encodes the chunk: reading numbers from an array is several times as fast as reading characters from a string. */
  private encode(chunk: string): void {
    const { length } = chunk
    if (length >= this.codes.length) this.codes = new Uint8Array(length * 2)
    const { codes } = this
    const { read, written } = ENCODER.encodeInto(chunk, codes)
    if (read !== length || written !== length) {
      for (let index = 0; index < length; index++) {
        const code = chunk.charCodeAt(index)
        codes[index] = code < 0x80 ? code : code >= FIRST_OTHER && code < SURROGATES ? OTHER_TEXT : LEFT_TO_PARSER
      }
    }
    codes[length] = 0
    this.chunk = chunk
  }

  /** Reads one text and the tag after it. False when a form is not recognized, and nothing was read; or after the root element. */
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
    if (closing) return closeTag(state)
    this.openTag(state)
    return true
  }

  /** The offset after an opening tag with at most one attribute; -1 for any other form. */
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
    const at = endOfRun(codes, from, NAME)
    if (codes[at] !== EQUALS || codes[at + 1] !== QUOTE) return -1
    const end = endOfRun(codes, at + 2, VALUE)
    if (codes[end] !== QUOTE || codes[end + 1] !== GREATER) return -1
    this.attribute = this.chunk.slice(from, at)
    this.value = this.chunk.slice(at + 2, end)
    return end + 2
  }

  /** The tag of the name at this offset; null without a name. */
  private tagAt(codes: Uint8Array, from: number): Tag | null {
    const guess = this.previous.next
    if (guess !== null && matchesAt(codes, guess.codes, from)) {
      const code = codes[from + guess.codes.length] ?? 0
      if (((KINDS[code] ?? 0) & NAME) === 0) return guess
    }
    if (((KINDS[codes[from] ?? 0] ?? 0) & NAME_START) === 0) return null
    return this.tagNamed(codes, from, endOfRun(codes, from, NAME))
  }

  private tagNamed(codes: Uint8Array, from: number, to: number): Tag {
    const name = this.chunk.slice(from, to)
    const known = this.names.get(name)
    if (known !== undefined) return known
    if (this.names.size >= REMEMBERED_NAMES) this.names.clear()
    const tag = newTag(name, codes.slice(from, to))
    this.names.set(name, tag)
    return tag
  }

  private openTag(state: ParserState): void {
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

/** The offset after the closing tag of the innermost element; -1 for any other tag, or when the parser opened the element. */
function endOfClose({ tags }: ParserState, codes: Uint8Array, from: number): number {
  const name = tags[tags.length - 1]?.codes
  if (name === undefined || !matchesAt(codes, name, from)) return -1
  const end = from + name.length
  return codes[end] === GREATER ? end + 1 : -1
}

/** False after the root element: the rest is left to the parser. */
function closeTag(state: ParserState): boolean {
  const { tags } = state
  const tag = tags.pop()
  if (tag === undefined) return false
  state.tag = tag
  state.closeTagHandler(tag)
  if (tags.length > 0) return true
  state.closedRoot = true
  return false
}

function matchesAt(codes: Uint8Array, name: Uint8Array, from: number): boolean {
  const { length } = name
  if (from + length >= codes.length) return false
  for (let index = 0; index < length; index++) if (codes[from + index] !== name[index]) return false
  return true
}

/** The offset after a run of characters of one kind, at most the end of the chunk. */
function endOfRun(codes: Uint8Array, from: number, kind: number): number {
  let at = from
  while (((KINDS[codes[at] ?? 0] ?? 0) & kind) !== 0) at++
  return at
}
