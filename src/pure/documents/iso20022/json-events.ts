/**
 * Tells a message in JSON as if it were XML. The forms that are read:
 *
 *   {"Document": {"@xmlns": "urn:…:pain.001.001.09", "CstmrCdtTrfInitn": {…}}}   with "AppHdr" beside it, and in any envelope
 *   {"CstmrCdtTrfInitn": {…}}                                                     with the namespace given apart
 *   "InstdAmt": {"@Ccy": "EUR", "#text": "10.00"}  or {"Ccy": "EUR", "value": "10.00"}
 *   "InstdAmt": {"$": {"Ccy": "EUR"}, "_": "10.00"}  or {"_attributes": {"Ccy": "EUR"}, "_text": "10.00"}  or {"@Ccy": "EUR", "$": "10.00"}
 *
 * Elements that repeat are arrays, and null is an element that is not there. The order of members means nothing in JSON, so it is that of the
 * schema. Prefixes of names are dropped, and attributes are marked as the common converters mark them: with `@`, `@_` or `$`, or gathered
 * under `$` or `_attributes`.
 */
import { NAMESPACE_PREFIX } from './definitions.ts'
import type { Envelope } from './envelope.ts'
import type { JsonNode } from './json-tree.ts'

type JsonObject = Extract<JsonNode, { kind: 'object' }>

/** Where the reader stands, for the lines of findings. */
export interface JsonPlace {
  line: number
}

const HEADER_NAMESPACE = `${NAMESPACE_PREFIX}head.001.001.02`
const ROOTS = new Set(['CstmrCdtTrfInitn', 'FIToFICstmrCdtTrf', 'BkToCstmrStmt'])
/** Envelopes in which documents are looked for. */
const SEARCHED_DEPTH = 6
const TEXT_KEYS = new Set(['#text', '_', '$t', 'value', '_text', '_cdata'])
/** Under these some converters gather the attributes of an element. */
const ATTRIBUTE_KEYS = new Set(['$', '_attributes'])

export function tellJson(tree: JsonNode, envelope: Envelope, place: JsonPlace, namespace: string | null): void {
  const teller = new Teller(envelope, place, namespace === null || namespace.includes(':') ? namespace : NAMESPACE_PREFIX + namespace)
  teller.search(tree, 0)
}

/** Whether there is anything that would be told as a message. */
export function holdsMessage(node: JsonNode, depth = 0): boolean {
  if (depth > SEARCHED_DEPTH) return false
  if (node.kind === 'array') return node.items.some((item) => holdsMessage(item, depth + 1))
  return (
    node.kind === 'object' &&
    node.members.some(([key, value]) => {
      const name = localName(key)
      return name === 'Document' || ROOTS.has(name) || holdsMessage(value, depth + 1)
    })
  )
}

class Teller {
  private readonly envelope: Envelope
  private readonly place: JsonPlace
  private namespace: string | null

  constructor(envelope: Envelope, place: JsonPlace, namespace: string | null) {
    this.envelope = envelope
    this.place = place
    this.namespace = namespace
  }

  /** Headers first, since they say how the document is to be read. */
  search(node: JsonNode, depth: number): void {
    if (depth > SEARCHED_DEPTH) return
    if (node.kind === 'array') for (const item of node.items) this.search(item, depth + 1)
    if (node.kind !== 'object') return
    for (const [key, value] of node.members) if (localName(key) === 'AppHdr') for (const one of each(value)) this.tellHeader(one)
    for (const [key, value] of node.members) {
      const name = localName(key)
      if (ROOTS.has(name)) this.tellDocument({ kind: 'object', line: node.line, members: [[key, value]] }, '')
      else if (name !== 'AppHdr') {
        for (const one of each(value)) {
          if (name === 'Document' && one.kind === 'object') this.tellDocument(one, key.slice(0, -name.length - 1))
          else this.search(one, depth + 1)
        }
      }
    }
  }

  private tellHeader(value: JsonNode): void {
    this.envelope.open({ local: 'AppHdr', namespace: HEADER_NAMESPACE }, [])
    if (value.kind === 'object') this.children(value)
    this.envelope.close(null)
  }

  private tellDocument(document: JsonObject, prefix: string): void {
    const declared = declarations(document)
    this.place.line = document.line
    const namespace = declared.get(prefix) ?? [...declared.values()].find((one) => one !== INSTANCE) ?? this.namespace ?? ''
    this.namespace = namespace
    this.envelope.open({ local: 'Document', namespace }, [])
    this.children(document)
    this.envelope.close(null)
  }

  private children({ members }: JsonObject): void {
    const elements = members.filter(([key, value]) => !isAttribute(key) && !isAbsent(value))
    const placed = elements.map(([key, value]) => ({ name: localName(key), value, slot: this.envelope.slotOf(localName(key)) }))
    for (const { name, value } of placed.toSorted((one, other) => one.slot - other.slot)) {
      if (value.kind !== 'array') this.element(name, value)
      else for (const item of value.items) this.element(name, item)
    }
  }

  private element(local: string, value: JsonNode): void {
    this.place.line = value.line
    this.envelope.open({ local, namespace: this.namespace ?? '' }, attributesOf(value))
    this.content(value)
  }

  private content(value: JsonNode): void {
    switch (value.kind) {
      case 'object': {
        const text = textOf(value)
        if (text !== undefined && this.envelope.leafKind() !== null) return this.content(text)
        this.children(value)
        this.envelope.close(value.members.length === 0 ? '' : null)
        return
      }
      case 'array':
        // An array in an array has no meaning as an element.
        this.envelope.close('')
        return
      case 'number':
        this.number(value.text)
        return
      case 'text':
        this.envelope.close(value.text)
        return
      case 'word':
        this.envelope.close(value.text === 'null' ? '' : value.text)
    }
  }

  private number(literal: string): void {
    const { envelope } = this
    const kind = envelope.leafKind()
    if (kind === 'amount' || kind === 'sum') envelope.findings.add('JSON_AMOUNT_NOT_STRING', envelope.place(), { found: literal })
    envelope.close(literal)
  }
}

/** What an element holds once or several times. */
function each(value: JsonNode): readonly JsonNode[] {
  return value.kind === 'array' ? value.items : [value]
}

/** Declared beside that of the message, for the place of its schema. */
const INSTANCE = 'http://www.w3.org/2001/XMLSchema-instance'
const DECLARATION = /^(?:@_?|\$)?xmlns(?::(\w+))?$/

/** Namespaces by their prefix, '' for none, in the order in which they stand. */
function declarations({ members }: JsonObject): Map<string, string> {
  const found = new Map<string, string>()
  const gathered = members.flatMap(([key, value]) => (ATTRIBUTE_KEYS.has(key) && value.kind === 'object' ? value.members : []))
  for (const [key, value] of [...members, ...gathered]) {
    const [declares, prefix = ''] = DECLARATION.exec(key) ?? []
    if (declares === undefined) continue
    if (value.kind === 'text') found.set(prefix, value.text)
    // One converter has an object of them, `$` for the one without prefix.
    else if (value.kind === 'object') {
      for (const [name, inner] of value.members) if (inner.kind === 'text') found.set(name === '$' ? '' : name, inner.text)
    }
  }
  return found
}

function localName(key: string): string {
  return key.slice(key.lastIndexOf(':') + 1)
}

/** Many writers have null for what is not there. */
function isAbsent(value: JsonNode): boolean {
  return value.kind === 'word' && value.text === 'null'
}

function isAttribute(key: string): boolean {
  return key.startsWith('@') || ATTRIBUTE_KEYS.has(key) || /^xmlns(?::\w+)?$/.test(key)
}

/** The text of an element that has attributes beside it. */
function textOf({ members }: JsonObject): JsonNode | undefined {
  return members.find(([key, value]) => TEXT_KEYS.has(key) || (key === '$' && value.kind !== 'object'))?.[1]
}

/** Currencies of amounts in the forms of the common converters. */
function attributesOf(value: JsonNode): { local: string; namespace: string; value: string }[] {
  if (value.kind !== 'object') return []
  const has_text = textOf(value) !== undefined
  return value.members.flatMap(([key, inner]) => {
    if (ATTRIBUTE_KEYS.has(key)) return attributesOf(renamed(inner))
    if (inner.kind !== 'text') return []
    const name = /^@_?([A-Za-z]\w*)$/.exec(key)?.[1] ?? (has_text && key === 'Ccy' ? key : undefined)
    return name === undefined || name === 'xmlns' ? [] : [{ local: name, namespace: '', value: inner.text }]
  })
}

function renamed(node: JsonNode): JsonNode {
  return node.kind === 'object' ? { ...node, members: node.members.map(([key, value]) => [`@${key}`, value] as const) } : node
}
