import { SaxParser, stop, Stop, type XmlFault, type XmlFaultCode } from './parser.ts'

/** Limits for every document; payment messages stay far below. */
const XML_LIMITS = {
  depth: 64,
  /** Attributes of one element, including namespace declarations. */
  attributes: 16,
  /** Text of one element, or one attribute value, in UTF-16 units. */
  text_chars: 65_536,
  prolog_chars: 65_536,
} as const

/** The name of an element or attribute with its prefix resolved. */
export interface XmlName {
  readonly local: string
  /** Empty for none. */
  readonly namespace: string
}

export interface XmlAttribute extends XmlName {
  readonly value: string
}

/** Receives the events of a document in document order; each `open` has its `close` unless reading ends with a fault. */
export interface XmlHandler {
  /** `attributes` does not include namespace declarations. During the call `reader.line` is the line of the tag. */
  open(name: XmlName, attributes: readonly XmlAttribute[]): void
  /**
   * `text` is the exact text of an element without child elements, entities and CDATA resolved, '' when empty; null when the element had
   * child elements.
   */
  close(text: string | null): void
  /** Text other than white space next to child elements. */
  mixed?(text: string): void
  /** A processing instruction, or a comment inside the text of an element: readers differ in the value that they then see. */
  aside?(kind: 'instruction' | 'comment'): void
}

interface XmlReaderOptions {
  /** Maximum document size, in bytes for bytes, in UTF-16 units for text. Unlimited by default. */
  size_cap?: number
}

const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace'
const XMLNS_NAMESPACE = 'http://www.w3.org/2000/xmlns/'
/** A document with more names is not cached; real messages have a few hundred. */
const CACHED_NAMES = 4_096

/** A raw name, resolved, and the element that followed it last time: messages repeat themselves. */
interface CachedName {
  readonly raw: string
  readonly name: XmlName
  next: CachedName | null
}

function noName(): CachedName {
  return { raw: '', name: { local: '', namespace: '' }, next: null }
}

/** Resolves prefixes by Namespaces in XML 1.0. A resolved name stays in one cache until a declaration changes. */
class NameTable {
  private readonly cache = new Map<string, CachedName>()
  /** The previous element; its `next` is the guess for the coming one. */
  private last = noName()
  private readonly declarations: { prefix: string; namespace: string; depth: number }[] = []
  /** Depth of the innermost element with a declaration; 0 without one. */
  declared_depth = 0

  /** Returns whether the attribute declares a namespace, and stores it; null when the declaration is not allowed. */
  declare(name: string, value: string, depth: number): boolean | null {
    if (!name.startsWith('xmlns')) return false
    if (name.length > 5 && name.charAt(5) !== ':') return false
    const prefix = name.slice(6)
    if (name.length === 6 || prefix.includes(':') || (prefix !== '' && value === '') || prefix === 'xmlns') return null
    if ((prefix === 'xml') !== (value === XML_NAMESPACE) || value === XMLNS_NAMESPACE) return null
    this.declarations.push({ prefix, namespace: value, depth })
    this.declared_depth = depth
    this.clearCache()
    return true
  }

  /** Drops the declarations of an element that closes. */
  leave(depth: number): void {
    while (this.declarations.at(-1)?.depth === depth) this.declarations.pop()
    this.declared_depth = this.declarations.at(-1)?.depth ?? 0
    this.clearCache()
  }

  /** The name of an element; null for an undeclared prefix or two colons. */
  elementName(raw: string): XmlName | null {
    const guess = this.last.next
    const found = guess !== null && guess.raw === raw ? guess : (this.cache.get(raw) ?? this.addToCache(raw))
    if (found === null) return null
    this.last.next = found
    this.last = found
    return found.name
  }

  private addToCache(raw: string): CachedName | null {
    const name = this.resolve(raw, this.namespaceOf(''))
    if (name === null) return null
    if (this.cache.size >= CACHED_NAMES) this.clearCache()
    const added: CachedName = { raw, name, next: null }
    this.cache.set(raw, added)
    return added
  }

  private clearCache(): void {
    this.cache.clear()
    this.last = noName()
  }

  /** The name of an attribute, which has no namespace without a prefix. */
  attributeName(raw: string): XmlName | null {
    return this.resolve(raw, '')
  }

  private resolve(raw: string, unprefixed: string): XmlName | null {
    const colon = raw.indexOf(':')
    if (colon === -1) return { local: raw, namespace: unprefixed }
    const local = raw.slice(colon + 1)
    const namespace = this.namespaceOf(raw.slice(0, colon))
    return namespace === '' || colon === 0 || local === '' || local.includes(':') ? null : { local, namespace }
  }

  private namespaceOf(prefix: string): string {
    if (prefix === 'xml') return XML_NAMESPACE
    return this.declarations.findLast((one) => one.prefix === prefix)?.namespace ?? ''
  }
}

/** Result of inspecting the text before the root element. */
type Prolog =
  | { kind: 'clear' }
  /** No fault so far, and the root element has not begun. */
  | { kind: 'incomplete' }
  | { kind: 'fault'; code: XmlFaultCode; offset: number; message: string }

const DECLARATION = /^<\?xml[ \t\r\n]/
const ENCODING = /[ \t\r\n]encoding[ \t\r\n]*=[ \t\r\n]*["']([^"']*)["']/
const SPACE = /[ \t\r\n]*/y

/**
 * Looks for what must never reach a parser: a document type declaration, which parsers may read whole before they report it, and any
 * encoding but UTF-8, in which this inspection would find nothing. Other faults are left to the parser.
 */
function inspectProlog(text: string): Prolog {
  // A zero among the first characters, or a byte order mark with its bytes swapped.
  const is_wide = text.slice(0, 4).includes('\0') || text.charCodeAt(0) === 0xfffe
  if (is_wide) return { kind: 'fault', code: 'XML_ENCODING', offset: 0, message: 'The document is UTF-16 or UTF-32; send UTF-8.' }
  let at = 0
  for (;;) {
    SPACE.lastIndex = at
    SPACE.test(text)
    at = SPACE.lastIndex
    if (text.length - at < '<!DOCTYPE'.length && '<'.startsWith(text.charAt(at))) return incomplete(text, at)
    const item = inspectItem(text, at)
    if (item.kind !== 'item') return item
    at = item.end
  }
}

/** Skips one instruction or comment, or ends the inspection. */
function inspectItem(text: string, at: number): Prolog | { kind: 'item'; end: number } {
  if (text.startsWith('<?', at)) {
    const end = text.indexOf('?>', at + 2)
    if (end === -1) return incomplete(text, at)
    const encoding = at === 0 && DECLARATION.test(text) ? ENCODING.exec(text.slice(0, end))?.[1] : undefined
    if (encoding === undefined || /^utf-?8$/i.test(encoding)) return { kind: 'item', end: end + 2 }
    return { kind: 'fault', code: 'XML_ENCODING', offset: 0, message: 'The XML declaration names another encoding; send UTF-8.' }
  }
  if (text.startsWith('<!--', at)) {
    const end = text.indexOf('-->', at + 4)
    return end === -1 ? incomplete(text, at) : { kind: 'item', end: end + 3 }
  }
  if (!/^<!doctype$/i.test(text.slice(at, at + '<!DOCTYPE'.length))) return { kind: 'clear' }
  const message = 'A document type declaration (DOCTYPE) is not allowed: it can define entities and load external files. Remove it.'
  return { kind: 'fault', code: 'XML_DOCTYPE', offset: at, message }
}

function incomplete(text: string, offset: number): Prolog {
  if (text.length <= XML_LIMITS.prolog_chars) return { kind: 'incomplete' }
  const message = `More than ${XML_LIMITS.prolog_chars} characters precede the root element.`
  return { kind: 'fault', code: 'XML_LIMIT', offset, message }
}

const NO_ATTRIBUTES: readonly XmlAttribute[] = []
/** Written chunks are cut so short that a token without end is noticed before it fills memory. */
const PIECE = 65_536

/**
 * The only XML reader: a stream of events over saxes, with limits, without entities, without a tree. `write` the chunks of one document in
 * order, bytes or text but not both, then `end`. The first fault is final.
 *
 * Faults are returned as values with line and column: a document type declaration (before the parser sees it), any encoding but UTF-8, text
 * that is not well-formed by XML 1.0 and Namespaces in XML 1.0, and documents that exceed `XML_LIMITS`. Time is linear in the length of the
 * text, memory in the depth.
 */
export class XmlReader {
  private readonly handler: XmlHandler
  private readonly size_cap: number
  private readonly parser = new SaxParser()
  private readonly names = new NameTable()
  private readonly decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  private fault: XmlFault | null = null
  /** The text before the root element; null once the root element has begun. */
  private prolog: string | null = ''
  private next_inspection = 1
  private size = 0
  private half_pair = ''
  private depth = 0
  private leaf = false
  private value = ''
  private commented = false
  private raw_names: string[] = []
  private raw_values: string[] = []
  private previous_attributes: readonly XmlAttribute[] = NO_ATTRIBUTES
  private chars_since_event = 0

  constructor(handler: XmlHandler, options: XmlReaderOptions = {}) {
    this.handler = handler
    this.size_cap = options.size_cap ?? Infinity
    const { parser } = this
    parser.on('opentag', ({ name }) => this.onOpen(name))
    parser.on('attribute', ({ name, value }) => this.onAttribute(name, value))
    parser.on('text', (text) => this.onText(text))
    parser.on('cdata', (text) => this.onText(text))
    parser.on('closetag', () => this.onClose())
    parser.on('comment', () => {
      this.chars_since_event = 0
      if (this.leaf) this.commented = true
    })
    parser.on('processinginstruction', () => {
      this.chars_since_event = 0
      this.handler.aside?.('instruction')
    })
  }

  /** Line of the tag or text that is being read, from 1. */
  get line(): number {
    return this.parser.line
  }

  /** Returns the first fault so far, or null. */
  write(chunk: string | Uint8Array): XmlFault | null {
    if (this.fault !== null) return this.fault
    this.size += chunk.length
    if (this.size > this.size_cap) return this.setFault('XML_LIMIT', `The document is larger than ${this.size_cap}.`)
    return this.attempt(() => {
      for (let at = 0; at < chunk.length; at += PIECE) {
        if (typeof chunk === 'string') this.feed(this.wholeCharacters(chunk.length <= PIECE ? chunk : chunk.slice(at, at + PIECE)))
        else this.feed(this.decode(chunk.subarray(at, at + PIECE)))
      }
    })
  }

  /** Ends the document. Null when all of it was well-formed. */
  end(): XmlFault | null {
    return this.attempt(() => {
      if (this.half_pair !== '') stop('XML_NOT_WELLFORMED', 'The text ends with half of a surrogate pair.')
      this.feed(this.decode(undefined))
      if (this.prolog !== null) this.releaseProlog(this.prolog)
      this.parser.close()
    })
  }

  private attempt(step: () => void): XmlFault | null {
    if (this.fault !== null) return this.fault
    try {
      step()
      return null
    } catch (caught) {
      if (caught instanceof Stop) return this.setFault(caught.code, caught.message)
      throw caught
    }
  }

  private setFault(code: XmlFaultCode, message: string, at?: { line: number; column: number }): XmlFault {
    this.fault ??= { code, line: at?.line ?? this.parser.line, column: at?.column ?? Math.max(1, this.parser.column), message }
    return this.fault
  }

  private decode(bytes: Uint8Array | undefined): string {
    try {
      return bytes === undefined ? this.decoder.decode() : this.decoder.decode(bytes, { stream: true })
    } catch {
      return stop('XML_ENCODING', 'Invalid UTF-8 near this line; send the document in UTF-8.')
    }
  }

  /** Returns the text without half of a surrogate pair at its end, which is kept for the next piece. */
  private wholeCharacters(piece: string): string {
    const text = this.half_pair + piece
    const last = text.charCodeAt(text.length - 1)
    this.half_pair = last >= 0xd800 && last <= 0xdbff ? text.slice(-1) : ''
    const whole = this.half_pair === '' ? text : text.slice(0, -1)
    return whole.isWellFormed() ? whole : stop('XML_NOT_WELLFORMED', 'The text contains half of a surrogate pair.')
  }

  private feed(text: string): void {
    if (this.prolog === null) this.parse(text)
    else this.addToProlog(this.prolog + text)
  }

  /** Buffers the text before the root element until it is known to be harmless. It is inspected again only when it has doubled. */
  private addToProlog(text: string): void {
    const prolog = this.prolog === '' && text.startsWith('\uFEFF') ? text.slice(1) : text
    this.prolog = prolog
    if (prolog.length < this.next_inspection) return
    this.next_inspection = Math.min(prolog.length * 2, XML_LIMITS.prolog_chars + 1)
    const inspected = inspectProlog(prolog)
    if (inspected.kind === 'clear') this.releaseProlog(prolog)
    else if (inspected.kind === 'fault') this.stopInProlog(prolog, inspected)
  }

  private releaseProlog(prolog: string): void {
    this.prolog = null
    const inspected = inspectProlog(prolog)
    if (inspected.kind === 'fault') this.stopInProlog(prolog, inspected)
    if (prolog !== '') this.parse(prolog)
  }

  private stopInProlog(prolog: string, { code, message, offset }: Extract<Prolog, { kind: 'fault' }>): never {
    this.setFault(code, message, positionAt(prolog, offset))
    stop(code, message)
  }

  private parse(text: string): void {
    if (text === '') return
    this.chars_since_event += text.length
    this.parser.write(text)
    if (this.chars_since_event > XML_LIMITS.text_chars + PIECE)
      stop('XML_LIMIT', `A tag, text or comment is longer than ${XML_LIMITS.text_chars} characters.`)
  }

  private onAttribute(name: string, value: string): void {
    this.chars_since_event = 0
    if (value.length > XML_LIMITS.text_chars) stop('XML_LIMIT', `An attribute is longer than ${XML_LIMITS.text_chars} characters.`)
    if (this.raw_names.push(name) > XML_LIMITS.attributes)
      stop('XML_LIMIT', `An element has more than ${XML_LIMITS.attributes} attributes.`)
    this.raw_values.push(value)
  }

  private onOpen(raw: string): void {
    this.chars_since_event = 0
    if (this.value !== '') {
      // The text so far precedes a child element.
      if (!isBlank(this.value)) this.handler.mixed?.(this.value)
      this.value = ''
    }
    if (++this.depth > XML_LIMITS.depth) stop('XML_LIMIT', `Elements are nested deeper than ${XML_LIMITS.depth} levels.`)
    const attributes = this.raw_names.length === 0 ? NO_ATTRIBUTES : this.resolveAttributes()
    const name = this.names.elementName(raw) ?? stopAtName()
    this.leaf = true
    this.commented = false
    this.handler.open(name, attributes)
  }

  private resolveAttributes(): readonly XmlAttribute[] {
    const { raw_names, raw_values } = this
    const only = raw_names[0] ?? ''
    if (raw_names.length === 1 && !only.includes(':') && only !== 'xmlns') return this.singleAttribute(only, raw_values[0] ?? '')
    this.raw_names = []
    this.raw_values = []
    // Declarations first: they apply to the other attributes in any order.
    const others = raw_names.flatMap((name, index) => {
      const declares = this.names.declare(name, raw_values[index] ?? '', this.depth)
      if (declares === null) stop('XML_NOT_WELLFORMED', 'Invalid namespace declaration.')
      return declares ? [] : [index]
    })
    if (others.length === 0) return NO_ATTRIBUTES
    const named = others.map((index) => ({
      ...(this.names.attributeName(raw_names[index] ?? '') ?? stopAtName()),
      value: raw_values[index] ?? '',
    }))
    const distinct = new Set(named.map(({ namespace, local }) => `${namespace} ${local}`))
    return distinct.size === named.length ? named : stop('XML_NOT_WELLFORMED', 'An element has the same attribute twice.')
  }

  /** One attribute without prefix. Reused while it stays the same: messages repeat one currency a million times. */
  private singleAttribute(local: string, value: string): readonly XmlAttribute[] {
    this.raw_names.length = 0
    this.raw_values.length = 0
    const [before] = this.previous_attributes
    if (before === undefined || before.local !== local || before.value !== value)
      this.previous_attributes = [{ local, namespace: '', value }]
    return this.previous_attributes
  }

  private onText(text: string): void {
    this.chars_since_event = 0
    if (!this.leaf) {
      if (this.depth > 0 && !isBlank(text)) this.handler.mixed?.(text)
      return
    }
    this.value = this.value === '' ? text : this.value + text
    if (this.value.length > XML_LIMITS.text_chars) stop('XML_LIMIT', `A text is longer than ${XML_LIMITS.text_chars} characters.`)
  }

  private onClose(): void {
    this.chars_since_event = 0
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
}

function positionAt(text: string, offset: number): { line: number; column: number } {
  let line = 1
  let start = 0
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) {
    line++
    start = at + 1
  }
  return { line, column: offset - start + 1 }
}

/** Reads a whole document. Null when all of it was well-formed. */
export function readXml(document: string | Uint8Array, handler: XmlHandler, options: XmlReaderOptions = {}): XmlFault | null {
  const reader = new XmlReader(handler, options)
  return reader.write(document) ?? reader.end()
}

function stopAtName(): never {
  return stop('XML_NOT_WELLFORMED', 'A name has an undeclared prefix or two colons.')
}

function isBlank(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0x20) return false
  return true
}
