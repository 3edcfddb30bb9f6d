/**
 * Reads a message in JSON and walks it with the events of XML. Accepted forms:
 *
 *   {"Document": {"@xmlns": "urn:…:pain.001.001.09", "CstmrCdtTrfInitn": {…}}}   next to "AppHdr", and in any envelope
 *   {"CstmrCdtTrfInitn": {…}}                                                     with the namespace as an argument
 *   "InstdAmt": {"@Ccy": "EUR", "#text": "10.00"}  or {"Ccy": "EUR", "value": "10.00"}
 *   "InstdAmt": {"$": {"Ccy": "EUR"}, "_": "10.00"}  or {"_attributes": {"Ccy": "EUR"}, "_text": "10.00"}  or {"@Ccy": "EUR", "$": "10.00"}
 *
 * Repeated elements are arrays, and null is an absent element. The order of members has no meaning in JSON, so elements are walked in the
 * order of the schema. Prefixes of names are dropped. Attributes are marked as by the common converters: with `@`, `@_` or `$`, or inside
 * `$` or `_attributes`.
 */
import { isEscaped } from '../strict-json-scan.ts'
import type { XmlHandler } from '../xml/reader.ts'
import { type MessageFindings, type MessagePosition, NAMESPACE_PREFIX } from './rules.ts'
import type { StatedListTotals } from './shared-rules.ts'
import type { Leaf } from './structure.ts'
import { MESSAGE_ROOTS } from './structure-data.ts'
import { SCHEMA_INSTANCE } from './values.ts'

export interface JsonMessageHandler extends XmlHandler {
  readonly findings: MessageFindings
  position(): MessagePosition
  /** The slot of a child of the open element in the order of the schema. */
  slotOf(child: string): number
  /** The kind of value of the open element; null when it has elements. */
  leafKind(): Leaf['kind'] | null
}

type JsonNode =
  | { kind: 'object'; line: number; members: readonly (readonly [name: string, value: JsonNode])[] }
  | { kind: 'array'; line: number; items: readonly JsonNode[] }
  | { kind: 'text'; line: number; text: string }
  | { kind: 'number'; line: number; text: string }
  | { kind: 'word'; line: number; text: 'true' | 'false' | 'null' }

type JsonObject = Extract<JsonNode, { kind: 'object' }>

/** A version whose structure is not checked: in JSON a header rarely states its version. */
const HEADER_NAMESPACE = `${NAMESPACE_PREFIX}head.001.001.01`
/** Maximum depth of envelopes around a document. */
const SEARCHED_DEPTH = 6
const TEXT_KEYS = new Set(['#text', '_', '$t', 'value', '_text', '_cdata'])
/** Members in which some converters put the attributes of an element. */
const ATTRIBUTE_KEYS = new Set(['$', '_attributes'])
const DECLARATION = /^(?:@_?|\$)?xmlns(?::(\w+))?$/
const COUNT_KEYS = new Set(['NbOfTxs', 'nb_of_txs', 'number_of_transactions', 'tx_count'])
const SUM_KEYS = new Set(['CtrlSum', 'ctrl_sum', 'control_sum'])

function hasMessage(node: JsonNode, depth = 0): boolean {
  if (depth > SEARCHED_DEPTH) return false
  if (node.kind === 'array') return node.items.some((item) => hasMessage(item, depth + 1))
  return (
    node.kind === 'object' &&
    node.members.some(([key, value]) => {
      const name = localName(key)
      return name === 'Document' || MESSAGE_ROOTS.has(name) || hasMessage(value, depth + 1)
    })
  )
}

/** A payload in JSON, with a message or without. */
export class JsonPayload {
  readonly #tree: JsonTree

  constructor(text: string) {
    this.#tree = readJsonTree(text)
  }

  /** The totals at the top of a payload without a message; null if it has one or is not JSON. */
  totalsWithoutMessage(): StatedListTotals | null {
    if (!this.#tree.ok || hasMessage(this.#tree.value)) return null
    const payload = this.#tree.value
    const find = (keys: ReadonlySet<string>) => {
      const value = payload.kind === 'object' ? payload.members.find(([key]) => keys.has(key))?.[1] : undefined
      return value?.kind === 'text' || value?.kind === 'number' ? value.text : null
    }
    return { count: find(COUNT_KEYS), sum: find(SUM_KEYS) }
  }

  /** Reports duplicate keys and walks the message; `cursor` follows the line of the current element. Returns the fault of a text that is not JSON. */
  walk(handler: JsonMessageHandler, cursor: { line: number }, namespace: string | null): Extract<JsonTree, { ok: false }> | null {
    if (!this.#tree.ok) return this.#tree
    const { value, duplicates } = this.#tree
    for (const { name, line } of duplicates) handler.findings.add('JSON_DUP_KEY', { path: '/', line }, { found: name })
    const complete = namespace === null || namespace.includes(':') ? namespace : NAMESPACE_PREFIX + namespace
    new JsonWalker(handler, cursor, complete).search(value, 0)
    return null
  }
}

class JsonWalker {
  private readonly handler: JsonMessageHandler
  private readonly cursor: { line: number }
  private namespace: string | null

  constructor(handler: JsonMessageHandler, cursor: { line: number }, namespace: string | null) {
    this.handler = handler
    this.cursor = cursor
    this.namespace = namespace
  }

  /** Headers first, since they decide how the document is read. */
  search(node: JsonNode, depth: number): void {
    if (depth > SEARCHED_DEPTH) return
    if (node.kind === 'array') for (const item of node.items) this.search(item, depth + 1)
    if (node.kind !== 'object') return
    for (const [key, value] of node.members) if (localName(key) === 'AppHdr') for (const one of asArray(value)) this.walkHeader(one)
    for (const [key, value] of node.members) {
      const name = localName(key)
      if (MESSAGE_ROOTS.has(name)) this.walkDocument({ kind: 'object', line: node.line, members: [[key, value]] }, '')
      else if (name !== 'AppHdr') {
        for (const one of asArray(value)) {
          if (name === 'Document' && one.kind === 'object') this.walkDocument(one, key.slice(0, -name.length - 1))
          else this.search(one, depth + 1)
        }
      }
    }
  }

  private walkHeader(value: JsonNode): void {
    this.handler.open({ local: 'AppHdr', namespace: HEADER_NAMESPACE }, [])
    if (value.kind === 'object') this.walkChildren(value)
    this.handler.close(null)
  }

  private walkDocument(document: JsonObject, prefix: string): void {
    const declared = declaredNamespaces(document)
    this.cursor.line = document.line
    const namespace = declared.get(prefix) ?? [...declared.values()].find((one) => one !== SCHEMA_INSTANCE) ?? this.namespace ?? ''
    this.namespace = namespace
    this.handler.open({ local: 'Document', namespace }, [])
    this.walkChildren(document)
    this.handler.close(null)
  }

  private walkChildren({ members }: JsonObject): void {
    const elements = members.filter(([key, value]) => !isAttribute(key) && !isAbsent(value))
    const sorted = elements.map(([key, value]) => ({ name: localName(key), value, slot: this.handler.slotOf(localName(key)) }))
    for (const { name, value } of sorted.toSorted((one, other) => one.slot - other.slot)) {
      for (const one of asArray(value)) this.walkElement(name, one)
    }
  }

  private walkElement(local: string, value: JsonNode): void {
    this.cursor.line = value.line
    this.handler.open({ local, namespace: this.namespace ?? '' }, attributesOf(value))
    this.walkContent(value)
  }

  private walkContent(value: JsonNode): void {
    const { handler } = this
    switch (value.kind) {
      case 'object': {
        const text = textMember(value)
        if (text !== undefined && handler.leafKind() !== null) return this.walkContent(text)
        this.walkChildren(value)
        return handler.close(value.members.length === 0 ? '' : null)
      }
      case 'array':
        // An array inside an array has no meaning as an element.
        return handler.close('')
      case 'number': {
        const kind = handler.leafKind()
        if (kind === 'amount' || kind === 'sum') {
          handler.findings.add('JSON_AMOUNT_NOT_STRING', handler.position(), { found: value.text })
        }
        return handler.close(value.text)
      }
      case 'text':
        return handler.close(value.text)
      case 'word':
        return handler.close(value.text === 'null' ? '' : value.text)
    }
  }
}

function asArray(value: JsonNode): readonly JsonNode[] {
  return value.kind === 'array' ? value.items : [value]
}

/** Namespaces by prefix, '' for none, in document order. */
function declaredNamespaces({ members }: JsonObject): Map<string, string> {
  const found = new Map<string, string>()
  const inner = members.flatMap(([key, value]) => (ATTRIBUTE_KEYS.has(key) && value.kind === 'object' ? value.members : []))
  for (const [key, value] of [...members, ...inner]) {
    const [declares, prefix = ''] = DECLARATION.exec(key) ?? []
    if (declares === undefined) continue
    if (value.kind === 'text') found.set(prefix, value.text)
    // One converter writes an object of declarations, `$` for the one without prefix.
    else if (value.kind === 'object') {
      for (const [name, one] of value.members) if (one.kind === 'text') found.set(name === '$' ? '' : name, one.text)
    }
  }
  return found
}

function localName(key: string): string {
  return key.slice(key.lastIndexOf(':') + 1)
}

/** Many writers write null for an absent element. */
function isAbsent(value: JsonNode): boolean {
  return value.kind === 'word' && value.text === 'null'
}

function isAttribute(key: string): boolean {
  return key.startsWith('@') || ATTRIBUTE_KEYS.has(key) || /^xmlns(?::\w+)?$/.test(key)
}

/** The text of an element with attributes. */
function textMember({ members }: JsonObject): JsonNode | undefined {
  return members.find(([key, value]) => TEXT_KEYS.has(key) || (key === '$' && value.kind !== 'object'))?.[1]
}

/** Attributes in the forms of the common converters; without a mark only the currency. */
function attributesOf(value: JsonNode): { local: string; namespace: string; value: string }[] {
  if (value.kind !== 'object') return []
  const has_text = textMember(value) !== undefined
  return value.members.flatMap(([key, inner]) => {
    if (ATTRIBUTE_KEYS.has(key)) return attributesOf(withMarkedKeys(inner))
    if (inner.kind !== 'text') return []
    const name = /^@_?([A-Za-z]\w*)$/.exec(key)?.[1] ?? (has_text && key === 'Ccy' ? key : undefined)
    return name === undefined || name === 'xmlns' ? [] : [{ local: name, namespace: '', value: inner.text }]
  })
}

function withMarkedKeys(node: JsonNode): JsonNode {
  return node.kind === 'object' ? { ...node, members: node.members.map(([key, value]) => [`@${key}`, value] as const) } : node
}

type JsonTree =
  | { ok: true; value: JsonNode; duplicates: readonly { name: string; line: number }[] }
  | { ok: false; code: 'JSON_NOT_WELLFORMED' | 'JSON_LIMIT'; line: number }

const MAX_DEPTH = 64
const MAX_VALUES = 1_000_000
const MAX_DUPLICATES = 200

/**
 * Reads JSON (RFC 8259) with the literal of every number: `100.10` keeps its zero, and a number above 2^53 its digits. Duplicate keys are
 * all kept and reported. Time and memory are linear, the stack is limited by `MAX_DEPTH`.
 */
export function readJsonTree(text: string): JsonTree {
  const scanner = new JsonScanner(text)
  try {
    return { ok: true, value: scanner.document(), duplicates: scanner.duplicates }
  } catch (stop) {
    if (!(stop instanceof JsonStop)) throw stop
    return { ok: false, code: stop.limit ? 'JSON_LIMIT' : 'JSON_NOT_WELLFORMED', line: scanner.line }
  }
}

class JsonStop extends Error {
  readonly limit: boolean
  constructor(limit: boolean) {
    super('stop')
    this.limit = limit
  }
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORD = /true|false|null/y

class JsonScanner {
  readonly duplicates: { name: string; line: number }[] = []
  line = 1
  private readonly text: string
  private at = 0
  private values = 0

  constructor(text: string) {
    this.text = text
  }

  document(): JsonNode {
    const value = this.value(0)
    this.skipSpace()
    if (this.at < this.text.length) throw new JsonStop(false)
    return value
  }

  private value(depth: number): JsonNode {
    this.skipSpace()
    if (++this.values > MAX_VALUES || depth > MAX_DEPTH) throw new JsonStop(true)
    const { line } = this
    switch (this.text.charAt(this.at)) {
      case '{':
        return { kind: 'object', line, members: this.members(depth + 1) }
      case '[':
        return { kind: 'array', line, items: this.items(depth + 1) }
      case '"':
        return { kind: 'text', line, text: this.string() }
      default:
        return this.scalar(line)
    }
  }

  private scalar(line: number): JsonNode {
    const number = this.match(NUMBER)
    if (number !== null) return { kind: 'number', line, text: number }
    const word = this.match(WORD)
    if (word !== 'true' && word !== 'false' && word !== 'null') throw new JsonStop(false)
    return { kind: 'word', line, text: word }
  }

  private members(depth: number): (readonly [string, JsonNode])[] {
    const members: (readonly [string, JsonNode])[] = []
    const names = new Set<string>()
    this.at++
    if (this.consume('}')) return members
    do {
      this.skipSpace()
      const { line } = this
      const name = this.string()
      if (names.has(name) && this.duplicates.length < MAX_DUPLICATES) this.duplicates.push({ name, line })
      names.add(name)
      this.expect(':')
      members.push([name, this.value(depth)])
    } while (this.consume(','))
    this.expect('}')
    return members
  }

  private items(depth: number): JsonNode[] {
    const items: JsonNode[] = []
    this.at++
    if (this.consume(']')) return items
    do items.push(this.value(depth))
    while (this.consume(','))
    this.expect(']')
    return items
  }

  private string(): string {
    const { text, at } = this
    let end = text.charAt(at) === '"' ? text.indexOf('"', at + 1) : -1
    while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
    if (end === -1) throw new JsonStop(false)
    this.at = end + 1
    try {
      return String(JSON.parse(text.slice(at, end + 1)))
    } catch {
      this.at = at
      throw new JsonStop(false)
    }
  }

  private match(pattern: RegExp): string | null {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.text)?.[0]
    if (found === undefined) return null
    this.at += found.length
    return found
  }

  private consume(mark: string): boolean {
    this.skipSpace()
    if (this.text.charAt(this.at) !== mark) return false
    this.at++
    return true
  }

  private expect(mark: string): void {
    if (!this.consume(mark)) throw new JsonStop(false)
  }

  private skipSpace(): void {
    for (; this.at < this.text.length; this.at++) {
      const code = this.text.charCodeAt(this.at)
      if (code === 0x0a) this.line++
      else if (code !== 0x20 && code !== 0x09 && code !== 0x0d) return
    }
  }
}
