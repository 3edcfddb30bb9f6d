/**
 * The engine that walks a message and calls its rules. A message is a `MessageDefinition`: its structure table, and a function that makes
 * the `Watcher`s of one run. The engine checks structure and values in one pass and calls the watchers in document order; watchers keep
 * totals and flags, never a tree, and report findings. `pain001.ts` is the model for a new message; the rules are in `rules.ts`.
 *
 * Keys of a watcher name elements:
 *   'GrpHdr/MsgId'      the path below the message's root element ('' is the root element itself)
 *   '** /DbtrAcct/Id'   (without the space) any path that ends so
 *   ':Address'          any element of that type of the structure table, ':Address/TwnNm' that child of it
 *
 * `open` is called when the element begins, `close` when it ends (then `has` tests for children), `text` with a well-formed value; a
 * malformed value was reported and reaches no watcher, so that one fault makes one finding. For an amount, `amount` and `currency` contain
 * the value. A rule on several values stores the `position()` to which its finding points.
 *
 * Report every breach in every profile: severities are assigned at the end, by the rule table.
 */
import type { XmlAttribute, XmlName } from '../xml/reader.ts'
import { AmountText, ExactSum } from './accumulators.ts'
import type { FindingDetails, MessageFindings, MessageKind, MessagePosition, RuleCode } from './rules.ts'
import { type Leaf, type Member, Schema, type TypeDefinition, type TypeTable, hasCurrency } from './structure.ts'
import { ValueReader } from './values.ts'

/** The fields of the business application header that rules use; null when absent. */
export class BusinessHeader {
  business_service: string | null = null
  message_definition: string | null = null
  message_id: string | null = null
  priority: string | null = null
  /** The header marks a copy or a possible duplicate. */
  copy = false
  from_bic: string | null = null
  to_bic: string | null = null
}

/** Totals of the whole message, for the answer. */
export class MessageTotals {
  message_id: string | null = null
  /** Creation time, as stated. */
  created: string | null = null
  transactions = 0
  /** Sum of the amounts that the control sum covers, across currencies. */
  readonly sum = new ExactSum()
  readonly currencies = new Set<string>()
  /** An amount could not be read, so that the sum is unknown. */
  unreadable = false
  /** The first service level, from which a profile may follow. */
  service_level: string | null = null
}

export interface RuleContext {
  readonly version: number
  readonly header: Readonly<BusinessHeader>
  readonly totals: MessageTotals
  /** The amount of the current `text` call, and its currency. */
  readonly amount: AmountText
  readonly currency: string
  /** Reports at the current element. */
  report(code: RuleCode, details?: FindingDetails): void
  reportAt(position: MessagePosition, code: RuleCode, details?: FindingDetails): void
  /** Position of the current element. Builds a text: do not call it for every element. */
  position(): MessagePosition
  /** Within `close`: whether the element had this child. */
  has(child: string): boolean
}

type TextCall = (text: string) => void

export interface Watcher {
  readonly open?: Readonly<Record<string, () => void>>
  readonly text?: Readonly<Record<string, TextCall>>
  readonly close?: Readonly<Record<string, () => void>>
}

/**
 * Rules that replace the general ones, by path: STRUCT_MISSING and STRUCT_UNEXPECTED inside the element, STRUCT_LEXICAL for a blank value
 * (`empty`) and for any other malformed value (`lexical`).
 */
type RuleOverrides = Readonly<Partial<Record<'missing' | 'unexpected' | 'empty' | 'lexical', Readonly<Record<string, RuleCode>>>>>

export interface MessageDefinition {
  readonly kind: MessageKind
  /** The element inside Document. */
  readonly root: string
  /** Versions, and the generation of the shared types of each. */
  readonly versions: ReadonlyMap<number, number>
  readonly types: TypeTable
  readonly overrides: RuleOverrides
  watch(context: RuleContext): readonly Watcher[]
}

/** An element of one run, with its structure and its watchers, so that the walk looks nothing up by path. */
class ElementNode {
  readonly name: string
  readonly type: string
  readonly path: string
  readonly parent: ElementNode | null
  readonly slot: number
  readonly max: number
  readonly low: number
  readonly high: number
  readonly leaf: Leaf | null
  readonly has_currency: boolean
  readonly open_content: boolean
  readonly definition: TypeDefinition | null
  /** Those that have come, by name. */
  readonly children = new Map<string, ElementNode>()
  on_open: (() => void) | null = null
  on_text: TextCall | null = null
  on_close: (() => void) | null = null
  missing: RuleCode | null = null
  unexpected: RuleCode | null = null
  empty: RuleCode | null = null
  lexical: RuleCode | null = null

  constructor(parent: ElementNode | null, member: Member, schema: Schema) {
    this.parent = parent
    this.name = member.name
    this.type = member.type
    this.slot = member.slot
    this.max = member.max
    this.path = parent === null ? '' : parent.path === '' ? member.name : `${parent.path}/${member.name}`
    this.low = member.low
    this.high = member.high
    const content = schema.contentOf(member.type)
    this.leaf = content.kind === 'leaf' ? content.leaf : null
    this.has_currency = hasCurrency(this.leaf)
    this.open_content = content.kind === 'any'
    this.definition = content.kind === 'complex' ? content.type : null
  }
}

/** Types of each version for all messages; only known versions get here, so the number of schemas is bounded. */
const schemas = new WeakMap<MessageDefinition, Map<number, Schema>>()

function schemaOf(definition: MessageDefinition, version: number): Schema {
  const { types, versions } = definition
  const kept = schemas.get(definition) ?? new Map<number, Schema>()
  schemas.set(definition, kept)
  const schema = kept.get(version) ?? new Schema(types, version, versions.get(version) ?? 9)
  kept.set(version, schema)
  return schema
}

/** Creates nodes when they are first needed and binds their watchers. */
class NodeFactory {
  private readonly schema: Schema
  private readonly opens: WatcherCalls<() => void>
  private readonly texts: WatcherCalls<TextCall>
  private readonly closes: WatcherCalls<() => void>
  private readonly overrides: RuleOverrides

  constructor(definition: MessageDefinition, version: number, watchers: readonly Watcher[]) {
    this.schema = schemaOf(definition, version)
    this.opens = new WatcherCalls(watchers.map(({ open }) => open))
    this.texts = new WatcherCalls(watchers.map(({ text }) => text))
    this.closes = new WatcherCalls(watchers.map(({ close }) => close))
    this.overrides = definition.overrides
  }

  root(name: string): ElementNode {
    return this.bind(new ElementNode(null, { name, type: 'Root', slot: 0, max: 1, low: 1, high: 0 }, this.schema))
  }

  /** A child of an element; null for a name that its type does not have. */
  child(parent: ElementNode, name: string): ElementNode | null {
    const kept = parent.children.get(name)
    if (kept !== undefined) return kept
    const member = parent.definition?.members.get(name)
    if (member === undefined) return null
    const node = this.bind(new ElementNode(parent, member, this.schema))
    parent.children.set(name, node)
    return node
  }

  private bind(node: ElementNode): ElementNode {
    const { missing, unexpected, empty, lexical } = this.overrides
    node.on_open = callAll(this.opens.forNode(node))
    node.on_text = callAll(this.texts.forNode(node))
    node.on_close = callAll(this.closes.forNode(node))
    node.missing = missing?.[node.path] ?? null
    node.unexpected = unexpected?.[node.path] ?? null
    node.empty = empty?.[node.path] ?? null
    node.lexical = lexical?.[node.path] ?? null
    return node
  }
}

/** The calls of all watchers for an event, by key. Nearly every key is one exact path, so that a node finds its calls without a search. */
class WatcherCalls<Call> {
  private readonly exact = new Map<string, { order: number; call: Call }[]>()
  private readonly endings: { end: string; order: number; call: Call }[] = []

  constructor(all: readonly (Readonly<Record<string, Call>> | undefined)[]) {
    const entries = all.flatMap((calls) => Object.entries(calls ?? {}))
    for (const [order, [key, call]] of entries.entries()) {
      if (key.startsWith('**')) this.endings.push({ end: key.slice(2), order, call })
      else this.exact.set(key, [...(this.exact.get(key) ?? []), { order, call }])
    }
  }

  /** The calls for a node in the order of the watchers. */
  forNode({ path, type, name, parent }: ElementNode): Call[] {
    const keys = [path, `:${type}`, ...(parent === null ? [] : [`:${parent.type}/${name}`])]
    const named = keys.flatMap((key) => this.exact.get(key) ?? [])
    const rooted = `/${path}`
    const ending = this.endings.filter(({ end }) => rooted.endsWith(end))
    return [...named, ...ending].toSorted((one, other) => one.order - other.order).map(({ call }) => call)
  }
}

function callAll<Values extends unknown[]>(calls: ((...values: Values) => void)[]): ((...values: Values) => void) | null {
  const [first = null, ...others] = calls
  if (first === null || others.length === 0) return first
  return (...values) => {
    for (const call of calls) call(...values)
  }
}

const DEPTH = 80
/** Slot of unknown elements; sorts last. */
const LAST_SLOT = 99

interface WalkerOptions {
  definition: MessageDefinition
  version: number
  namespace: string
  header: BusinessHeader
  findings: MessageFindings
  line: () => number | null
  shared: (context: RuleContext) => readonly Watcher[]
}

/** Walks one message: checks structure, reads values, calls watchers. Stores the open elements and nothing else. */
export class MessageWalker implements RuleContext {
  readonly version: number
  readonly header: BusinessHeader
  readonly amount = new AmountText()
  readonly totals = new MessageTotals()
  private readonly options: WalkerOptions
  private readonly namespace: string
  private readonly nodes: NodeFactory
  private readonly values: ValueReader
  private depth = 0
  /** Number of open elements inside skipped content. */
  private skipped = 0
  private node: ElementNode
  private readonly open_nodes: ElementNode[] = []
  /** Of each open element: the slot of its latest child, how often that child came, and which slots are filled. */
  private readonly last = new Int16Array(DEPTH)
  private readonly counts = new Int32Array(DEPTH)
  private readonly low = new Int32Array(DEPTH)
  private readonly high = new Int32Array(DEPTH)

  constructor(options: WalkerOptions) {
    const { definition, version } = options
    this.options = options
    this.version = version
    this.namespace = options.namespace
    this.header = options.header
    this.values = new ValueReader(this, definition.kind)
    this.nodes = new NodeFactory(definition, version, [...options.shared(this), ...definition.watch(this)])
    this.node = this.nodes.root(definition.root)
    this.open_nodes.push(this.node)
    this.enter()
    this.node.on_open?.()
  }

  get currency(): string {
    return this.values.currency
  }

  open(name: XmlName, attributes: readonly XmlAttribute[]): void {
    if (this.skipped > 0) {
      this.skipped++
      return
    }
    const parent = this.node
    if (parent.open_content) {
      this.skipped = 1
      return
    }
    const child = this.nodes.child(parent, name.local)
    if (child === null || name.namespace !== this.namespace) {
      this.report(parent.unexpected ?? 'STRUCT_UNEXPECTED', { found: name.local })
      this.skipped = 1
      return
    }
    const { depth } = this
    const before = this.last[depth] ?? -1
    let fault: RuleCode | null = null
    if (child.slot > before) {
      this.last[depth] = child.slot
      this.counts[depth] = 1
    } else fault = this.orderFault(child, before)
    this.low[depth] = (this.low[depth] ?? 0) | child.low
    this.high[depth] = (this.high[depth] ?? 0) | child.high
    this.node = child
    this.depth = depth + 1
    this.open_nodes[depth + 1] = child
    this.enter()
    if (fault !== null) this.report(fault, { found: name.local })
    if (attributes.length > 0 || child.has_currency) this.values.readAttributes(child, attributes)
    if (child.on_open !== null) child.on_open()
  }

  private enter(): void {
    const { depth } = this
    this.last[depth] = -1
    this.counts[depth] = 0
    this.low[depth] = 0
    this.high[depth] = 0
  }

  /** The fault of a child whose slot is filled or was passed; null for a permitted repetition. */
  private orderFault(child: ElementNode, before: number): RuleCode | null {
    const { depth } = this
    if (child.slot !== before) return this.isFilled(child) && child.max === 1 ? 'ELEMENT_REPEATED' : 'STRUCT_ORDER'
    const count = (this.counts[depth] ?? 0) + 1
    this.counts[depth] = count
    const sibling = this.open_nodes[depth + 1]
    if (sibling !== undefined && sibling.parent === child.parent && sibling.name !== child.name) return 'STRUCT_CHOICE'
    return count > child.max ? 'ELEMENT_REPEATED' : null
  }

  private isFilled({ low, high }: Member | ElementNode): boolean {
    const { depth } = this
    return ((this.low[depth] ?? 0) & low) !== 0 || ((this.high[depth] ?? 0) & high) !== 0
  }

  close(text: string | null): void {
    if (this.skipped > 0) {
      this.skipped--
      return
    }
    const { node } = this
    if (node.leaf === null) this.closeComplex(node, text)
    else if (text !== null && this.values.read(node, node.leaf, text) && node.on_text !== null) node.on_text(text)
    if (node.on_close !== null) node.on_close()
    this.depth--
    if (node.parent !== null) this.node = node.parent
  }

  private closeComplex(node: ElementNode, text: string | null): void {
    const { depth } = this
    if (text !== null && text.trim() !== '' && !node.open_content) this.report(node.unexpected ?? 'STRUCT_TEXT', { found: text.trim() })
    if (node.definition === null) return
    const { required_low, required_high, labels } = node.definition
    const low = required_low & ~(this.low[depth] ?? 0)
    const high = required_high & ~(this.high[depth] ?? 0)
    if (low === 0 && high === 0) return
    labels.forEach((label, slot) => {
      const missing = slot < 31 ? low & (1 << slot) : high & (1 << (slot - 31))
      if (missing !== 0) this.report(node.missing ?? 'STRUCT_MISSING', { expected: label })
    })
  }

  /** Text next to elements. */
  mixed(text: string): void {
    if (this.skipped === 0 && !this.node.open_content) this.report('STRUCT_TEXT', { found: text.trim() })
  }

  has(child: string): boolean {
    const member = this.node.definition?.members.get(child)
    return member !== undefined && this.isFilled(member)
  }

  slotOf(child: string): number {
    const { open_content, definition } = this.node
    return open_content || this.skipped > 0 ? 0 : (definition?.members.get(child)?.slot ?? LAST_SLOT)
  }

  leafKind(): Leaf['kind'] | null {
    return this.skipped > 0 ? null : (this.node.leaf?.kind ?? null)
  }

  report(code: RuleCode, details: FindingDetails = {}): void {
    const { findings } = this.options
    if (findings.count(code)) findings.store(code, this.position(), details)
  }

  reportAt(position: MessagePosition, code: RuleCode, details: FindingDetails = {}): void {
    this.options.findings.add(code, position, details)
  }

  position(): MessagePosition {
    let path = `/Document/${this.options.definition.root}`
    for (let level = 1; level <= this.depth; level++) {
      const node = this.open_nodes[level]
      if (node === undefined) break
      path += node.max > 1 ? `/${node.name}[${this.counts[level - 1] ?? 1}]` : `/${node.name}`
    }
    return { path, line: this.options.line() }
  }
}
