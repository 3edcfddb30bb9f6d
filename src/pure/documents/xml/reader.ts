import { Parser, placeOf, Stop, stop, widen, XML_BOUNDS, type XmlFault, type XmlFaultCode } from './parser.ts'
export type { XmlFault, XmlFaultCode } from './parser.ts'

/** An element's or attribute's name with its prefix resolved. */
export interface XmlName {
  readonly local: string
  /** Empty for none. */
  readonly namespace: string
}

const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace'
const XMLNS_NAMESPACE = 'http://www.w3.org/2000/xmlns/'
/** A document with more names than this gets no cache; real messages have a few hundred. */
const CACHED_NAMES = 4_096

/** A name as it was written, and which came after it the last time: messages repeat themselves. */
interface Entry {
  readonly raw: string
  readonly name: XmlName
  next: Entry | null
}

function newEntry(raw: string, name: XmlName): Entry {
  return { raw, name, next: null }
}

/**
 * Prefixes and what they stand for, as Namespaces in XML 1.0 has it. Declarations are a stack; a name that was resolved once is looked
 * up in one map until a declaration changes.
 */
class NameTable {
  private readonly cache = new Map<string, Entry>()
  /** The element before; its `next` is the guess for the one to come. */
  private last: Entry = newEntry('', { local: '', namespace: '' })
  private readonly prefixes: string[] = []
  private readonly namespaces: string[] = []
  private readonly depths: number[] = []
  /** Depth of the innermost element that declares anything; 0 when none does. */
  declared_depth = 0

  /** Whether the attribute declares a namespace; null when it does so as no document may. */
  declares(name: string, value: string, depth: number): boolean | null {
    if (!name.startsWith('xmlns')) return false
    if (name.length > 5 && name.charAt(5) !== ':') return false
    const prefix = name.slice(6)
    if (name.length === 6 || prefix.includes(':') || (prefix !== '' && value === '') || prefix === 'xmlns') return null
    if ((prefix === 'xml') !== (value === XML_NAMESPACE) || value === XMLNS_NAMESPACE) return null
    this.prefixes.push(prefix)
    this.namespaces.push(value)
    this.depths.push(depth)
    this.declared_depth = depth
    this.forget()
    return true
  }

  /** The element at this depth closes. */
  leave(depth: number): void {
    while (this.depths.at(-1) === depth) {
      this.prefixes.pop()
      this.namespaces.pop()
      this.depths.pop()
    }
    this.declared_depth = this.depths.at(-1) ?? 0
    this.forget()
  }

  /** The name of an element; null when its prefix stands for nothing or it has two colons. */
  element(raw: string): XmlName | null {
    const guess = this.last.next
    if (guess === null || guess.raw !== raw) return this.searched(raw)
    this.last = guess
    return guess.name
  }

  private searched(raw: string): XmlName | null {
    const found = this.cache.get(raw) ?? this.resolved(raw)
    if (found === null) return null
    this.last.next = found
    this.last = found
    return found.name
  }

  private resolved(raw: string): Entry | null {
    const name = this.split(raw, this.namespaceOf(''))
    if (name === null) return null
    if (this.cache.size >= CACHED_NAMES) this.forget()
    const entry = newEntry(raw, name)
    this.cache.set(raw, entry)
    return entry
  }

  private forget(): void {
    this.cache.clear()
    this.last = newEntry('', { local: '', namespace: '' })
  }

  /** The name of an attribute, which has no namespace without a prefix. */
  attribute(raw: string): XmlName | null {
    return this.split(raw, '')
  }

  private split(raw: string, unprefixed: string): XmlName | null {
    const colon = raw.indexOf(':')
    if (colon === -1) return { local: raw, namespace: unprefixed }
    const local = raw.slice(colon + 1)
    const namespace = this.namespaceOf(raw.slice(0, colon))
    return namespace === '' || colon === 0 || local === '' || local.includes(':') ? null : { local, namespace }
  }

  private namespaceOf(prefix: string): string {
    const index = this.prefixes.lastIndexOf(prefix)
    return prefix === 'xml' ? XML_NAMESPACE : (this.namespaces[index] ?? '')
  }
}

/** What stands before the root element, looked at before any parser sees it. */
type Prolog =
  | { kind: 'clear' }
  /** Nothing is wrong so far, but the root element has not begun. */
  | { kind: 'open' }
  | { kind: 'refused'; code: XmlFaultCode; offset: number; message: string }

const DECLARATION = /^<\?xml[ \t\r\n]/
const ENCODING = /[ \t\r\n]encoding[ \t\r\n]*=[ \t\r\n]*["']([^"']*)["']/
const SPACE = /[ \t\r\n]*/y

/**
 * Looks for what must never reach a parser: a document type declaration, which parsers may read whole before they report it, and any
 * encoding but UTF-8, in which such a look would see nothing. What is merely broken is left to the parser.
 */
function lookAtProlog(text: string): Prolog {
  if (isWide(text)) return refused('XML_ENCODING', 0, 'The bytes look like UTF-16 or UTF-32; send UTF-8.')
  let at = 0
  for (;;) {
    SPACE.lastIndex = at
    SPACE.test(text)
    at = SPACE.lastIndex
    if (text.length - at < '<!DOCTYPE'.length && '<'.startsWith(text.charAt(at))) return open(text, at)
    const item = itemAt(text, at)
    if (item.kind !== 'item') return item
    at = item.end
  }
}

/** A zero among the first characters, or the two halves of a byte order mark swapped. */
function isWide(text: string): boolean {
  return text.slice(0, 4).includes('\0') || text.charCodeAt(0) === 0xfffe
}

type Item = Prolog | { kind: 'item'; end: number }

/** One instruction or comment that is passed over, or how the look ends. */
function itemAt(text: string, at: number): Item {
  if (text.startsWith('<?', at)) {
    const end = text.indexOf('?>', at + 2)
    if (end === -1) return open(text, at)
    const encoding = at === 0 && DECLARATION.test(text) ? ENCODING.exec(text.slice(0, end))?.[1] : undefined
    if (encoding !== undefined && !/^utf-?8$/i.test(encoding)) {
      return refused('XML_ENCODING', 0, 'The declaration names another encoding than UTF-8.')
    }
    return { kind: 'item', end: end + 2 }
  }
  if (text.startsWith('<!--', at)) {
    const end = text.indexOf('-->', at + 4)
    return end === -1 ? open(text, at) : { kind: 'item', end: end + 3 }
  }
  if (/^<!doctype$/i.test(text.slice(at, at + '<!DOCTYPE'.length))) {
    return refused('XML_DOCTYPE', at, 'A document type declaration is refused: it can hide entities and outside files.')
  }
  return { kind: 'clear' }
}

function open(text: string, at: number): Prolog {
  if (text.length <= XML_BOUNDS.prolog_chars) return { kind: 'open' }
  return refused('XML_LIMIT', at, `More than ${XML_BOUNDS.prolog_chars} characters stand before the root element.`)
}

function refused(code: XmlFaultCode, offset: number, message: string): Prolog {
  return { kind: 'refused', code, offset, message }
}

/**
 * The one reader of XML: a stream of events over saxes, with bounds, without entities, without a tree.
 *
 * Refused as values, with line and column: a document type declaration (before the parser sees it), any encoding but UTF-8, what is not
 * well-formed by XML 1.0 and Namespaces in XML 1.0, and what goes beyond `XML_BOUNDS`. Time grows with the length of the text and memory
 * with the depth only.
 */

export interface XmlAttribute extends XmlName {
  readonly value: string
}

/** What a document is told to. Calls come in document order; each `open` has its `close` unless reading ends with a fault. */
export interface XmlHandler {
  /** Declarations of namespaces are not among the attributes. While it is called, `reader.line` is the line of the tag. */
  open(name: XmlName, attributes: readonly XmlAttribute[]): void
  /**
   * `text` is the whole text of an element without child elements, exactly, entities and CDATA resolved; '' when there is none. It is null
   * when the element had child elements.
   */
  close(text: string | null): void
  /** Text other than white space beside child elements. */
  mixed?(text: string): void
  /** A processing instruction, or a comment inside the text of an element: readers differ in what value they then see. */
  aside?(kind: 'instruction' | 'comment'): void
}

interface XmlReaderOptions {
  /** Largest document, in bytes when it is written as bytes, in UTF-16 units when as text. Unbounded when left out. */
  size_cap?: number
}

const NO_ATTRIBUTES: readonly XmlAttribute[] = []
/** Written pieces are cut so short that a token without end is noticed before it fills memory. */
const PIECE = 65_536

/** Reads one document: `write` its pieces in order, bytes or text but not both, then `end`. The first fault stays. */
export class XmlReader {
  private readonly handler: XmlHandler
  private readonly size_cap: number
  private readonly parser = new Parser({ xmlns: false, position: false, defaultXMLVersion: '1.0', forceXMLVersion: true })
  private readonly names = new NameTable()
  private readonly decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  private fault: XmlFault | null = null
  /** What was written before the root element began; null from then on. */
  private prolog: string | null = ''
  private next_look = 1
  private size = 0
  private half = ''
  private depth = 0
  private leaf = false
  private value = ''
  private commented = false
  private raw_names: string[] = []
  private raw_values: string[] = []
  private latest: readonly XmlAttribute[] = NO_ATTRIBUTES
  /** Characters since the last event. */
  private quiet = 0

  constructor(handler: XmlHandler, options: XmlReaderOptions = {}) {
    this.handler = handler
    this.size_cap = options.size_cap ?? Infinity
    const { parser } = this
    widen(parser)
    parser.on('opentag', ({ name }) => this.onOpen(name))
    parser.on('attribute', ({ name, value }) => this.onAttribute(name, value))
    parser.on('text', (text) => this.onText(text))
    parser.on('cdata', (text) => this.onText(text))
    parser.on('closetag', () => this.onClose())
    parser.on('comment', () => this.onComment())
    parser.on('processinginstruction', () => this.onInstruction())
  }

  /** Line of the tag or text that is being read, from 1. */
  get line(): number {
    return this.parser.line
  }

  /** Reads on. Null while all is well. */
  write(chunk: string | Uint8Array): XmlFault | null {
    if (this.fault !== null) return this.fault
    this.size += chunk.length
    if (this.size > this.size_cap) return this.fails('XML_LIMIT', `The document is larger than ${this.size_cap}.`)
    return this.attempt(() => {
      for (let at = 0; at < chunk.length; at += PIECE) {
        if (typeof chunk === 'string') this.text(this.whole(chunk.length <= PIECE ? chunk : chunk.slice(at, at + PIECE)))
        else this.text(this.decoded(chunk.subarray(at, at + PIECE)))
      }
    })
  }

  /** The document is over. Null when all of it was well-formed. */
  end(): XmlFault | null {
    return this.attempt(() => {
      if (this.half !== '') stop('XML_NOT_WELLFORMED', 'The text ends in half a surrogate pair.')
      this.text(this.decoded(undefined))
      if (this.prolog !== null) this.release(this.prolog)
      this.parser.close()
    })
  }

  private attempt(step: () => void): XmlFault | null {
    if (this.fault !== null) return this.fault
    try {
      step()
      return null
    } catch (caught) {
      if (caught instanceof Stop) return this.fails(caught.code, caught.message)
      throw caught
    }
  }

  private fails(code: XmlFaultCode, message: string, place?: { line: number; column: number }): XmlFault {
    this.fault ??= { code, line: place?.line ?? this.parser.line, column: place?.column ?? Math.max(1, this.parser.column), message }
    return this.fault
  }

  private decoded(bytes: Uint8Array | undefined): string {
    try {
      return bytes === undefined ? this.decoder.decode() : this.decoder.decode(bytes, { stream: true })
    } catch {
      return stop('XML_ENCODING', 'The bytes are not UTF-8 from about here on.')
    }
  }

  /** Text without half a surrogate pair at its end, which waits for the next piece. */
  private whole(piece: string): string {
    const text = this.half + piece
    const last = text.charCodeAt(text.length - 1)
    this.half = last >= 0xd800 && last <= 0xdbff ? text.slice(-1) : ''
    const told = this.half === '' ? text : text.slice(0, -1)
    return told.isWellFormed() ? told : stop('XML_NOT_WELLFORMED', 'The text holds half of a surrogate pair.')
  }

  private text(text: string): void {
    if (this.prolog === null) this.parse(text)
    else this.gather(this.prolog + text)
  }

  /** Keeps what comes before the root element until it is known to be harmless. It is looked at again only when it has doubled. */
  private gather(text: string): void {
    const prolog = this.prolog === '' && text.startsWith('\uFEFF') ? text.slice(1) : text
    this.prolog = prolog
    if (prolog.length < this.next_look) return
    this.next_look = Math.min(prolog.length * 2, XML_BOUNDS.prolog_chars + 1)
    const seen = lookAtProlog(prolog)
    switch (seen.kind) {
      case 'open':
        return
      case 'clear':
        this.release(prolog)
        return
      case 'refused':
        this.fails(seen.code, seen.message, placeOf(prolog, seen.offset))
        stop(seen.code, seen.message)
    }
  }

  private release(prolog: string): void {
    this.prolog = null
    const seen = lookAtProlog(prolog)
    if (seen.kind === 'refused') {
      this.fails(seen.code, seen.message, placeOf(prolog, seen.offset))
      stop(seen.code, seen.message)
    }
    if (prolog !== '') this.parse(prolog)
  }

  private parse(text: string): void {
    if (text === '') return
    this.quiet += text.length
    this.parser.write(text)
    if (this.quiet > XML_BOUNDS.text_chars + PIECE)
      stop('XML_LIMIT', `A tag, text or comment is longer than ${XML_BOUNDS.text_chars} characters.`)
  }

  private onAttribute(name: string, value: string): void {
    this.quiet = 0
    if (value.length > XML_BOUNDS.text_chars) stop('XML_LIMIT', `An attribute is longer than ${XML_BOUNDS.text_chars} characters.`)
    if (this.raw_names.push(name) > XML_BOUNDS.attributes)
      stop('XML_LIMIT', `An element has more than ${XML_BOUNDS.attributes} attributes.`)
    this.raw_values.push(value)
  }

  private onOpen(raw: string): void {
    this.quiet = 0
    if (this.value !== '') this.beside()
    if (++this.depth > XML_BOUNDS.depth) stop('XML_LIMIT', `Elements are nested deeper than ${XML_BOUNDS.depth} levels.`)
    const attributes = this.raw_names.length === 0 ? NO_ATTRIBUTES : this.attributes()
    const name = this.names.element(raw) ?? unbound()
    this.leaf = true
    this.commented = false
    this.handler.open(name, attributes)
  }

  /** The text so far turns out to stand beside a child element. */
  private beside(): void {
    if (!isBlank(this.value)) this.handler.mixed?.(this.value)
    this.value = ''
  }

  private attributes(): readonly XmlAttribute[] {
    const { raw_names, raw_values } = this
    const only = raw_names[0] ?? ''
    if (raw_names.length === 1 && !only.includes(':') && only !== 'xmlns') return this.single(only, raw_values[0] ?? '')
    this.raw_names = []
    this.raw_values = []
    // Declarations first: they hold for the attributes beside them, in whatever order they stand.
    const others = raw_names.flatMap((name, index) => {
      const declares = this.names.declares(name, raw_values[index] ?? '', this.depth)
      if (declares === null) stop('XML_NOT_WELLFORMED', 'A namespace is declared in a way that is not allowed.')
      return declares ? [] : [index]
    })
    if (others.length === 0) return NO_ATTRIBUTES
    const named = others.map((index) => ({
      ...(this.names.attribute(raw_names[index] ?? '') ?? unbound()),
      value: raw_values[index] ?? '',
    }))
    const distinct = new Set(named.map(({ namespace, local }) => `${namespace} ${local}`))
    return distinct.size === named.length ? named : stop('XML_NOT_WELLFORMED', 'An element has the same attribute twice.')
  }

  /** One attribute without prefix. Messages repeat the same currency a million times. */
  private single(local: string, value: string): readonly XmlAttribute[] {
    this.raw_names.length = 0
    this.raw_values.length = 0
    const [before] = this.latest
    if (before === undefined || before.local !== local || before.value !== value) this.latest = [{ local, namespace: '', value }]
    return this.latest
  }

  private onText(text: string): void {
    this.quiet = 0
    if (!this.leaf) {
      if (this.depth > 0 && !isBlank(text)) this.handler.mixed?.(text)
      return
    }
    this.value = this.value === '' ? text : this.value + text
    if (this.value.length > XML_BOUNDS.text_chars) stop('XML_LIMIT', `A text is longer than ${XML_BOUNDS.text_chars} characters.`)
  }

  private onClose(): void {
    this.quiet = 0
    if (this.leaf) {
      const text = this.value
      this.value = ''
      this.leaf = false
      if (this.commented && !isBlank(text)) this.handler.aside?.('comment')
      this.handler.close(text)
    } else this.handler.close(null)
    if (this.names.declared_depth === this.depth) this.names.leave(this.depth)
    this.depth--
  }

  private onComment(): void {
    this.quiet = 0
    if (this.leaf) this.commented = true
  }

  private onInstruction(): void {
    this.quiet = 0
    this.handler.aside?.('instruction')
  }
}

/** Reads a whole document. Null when all of it was well-formed. */
export function readXml(document: string | Uint8Array, handler: XmlHandler, options: XmlReaderOptions = {}): XmlFault | null {
  const reader = new XmlReader(handler, options)
  return reader.write(document) ?? reader.end()
}

function unbound(): never {
  return stop('XML_NOT_WELLFORMED', 'A prefix is not declared, or a name has two colons.')
}

function isBlank(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0x20) return false
  return true
}
