/** The walk through one message: structure is checked, values are read, watchers are called. It holds the open elements and nothing else. */
import type { XmlAttribute, XmlName } from '../xml/reader.ts'
import { AmountText, ExactSum } from './decimal.ts'
import type { Details, Findings, Place } from './findings.ts'
import type { Leaf } from './leaves.ts'
import { type Node, NodeMaker } from './node.ts'
import type { BusinessHeader, MessageDefinition, RuleContext, Totals, Watcher } from './rule-engine.ts'
import type { RuleCode } from './rule-table.ts'
import { Values } from './values.ts'

const DEPTH = 80
/** What belongs nowhere comes after all that does. */
const LAST_SLOT = 99

/** What the machine is set up with. */
export interface MachineOptions {
  definition: MessageDefinition
  version: number
  namespace: string
  header: BusinessHeader
  findings: Findings
  /** Path of the root element as it is shown. */
  prefix: string
  /** Line of what is being read; null where there are none. */
  line: () => number | null
  /** Watchers that every message has. */
  shared: (context: RuleContext) => readonly Watcher[]
}

export class Machine implements RuleContext {
  readonly version: number
  readonly header: BusinessHeader
  readonly amount = new AmountText()
  readonly totals: Totals
  private readonly options: MachineOptions
  private readonly namespace: string
  private readonly findings: Findings
  private readonly maker: NodeMaker
  private readonly values: Values
  private depth = 0
  /** Depth inside what is not looked at. */
  private skipped = 0
  private node: Node
  private readonly nodes: Node[] = []
  /** Of each open element: the slot of its latest child, how often that came, and which slots have come. */
  private readonly last = new Int16Array(DEPTH)
  private readonly counts = new Int32Array(DEPTH)
  private readonly low = new Int32Array(DEPTH)
  private readonly high = new Int32Array(DEPTH)

  constructor(options: MachineOptions) {
    const { definition, version } = options
    this.options = options
    this.version = version
    this.namespace = options.namespace
    this.header = options.header
    this.findings = options.findings
    this.totals = {
      message_id: null,
      created: null,
      transactions: 0,
      sum: new ExactSum(),
      currencies: new Set(),
      unreadable: false,
      service_level: null,
    }
    this.values = new Values(this, definition.kind)
    this.maker = new NodeMaker(definition, version, [...options.shared(this), ...definition.watch(this)])
    this.node = this.maker.root(definition.root)
    this.nodes.push(this.node)
    this.enter(this.node)
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
    if (!parent.expanded) this.maker.expand(parent)
    const child = parent.children.get(name.local)
    if (child === undefined || name.namespace !== this.namespace) {
      this.report(parent.unexpected ?? 'STRUCT_UNEXPECTED', { found: name.local })
      this.skipped = 1
      return
    }
    const { depth } = this
    const { slot } = child
    const before = this.last[depth] ?? -1
    let fault: RuleCode | null = null
    if (slot > before) {
      this.last[depth] = slot
      this.counts[depth] = 1
    } else fault = this.outOfTurn(child, before)
    this.low[depth] = (this.low[depth] ?? 0) | child.low
    this.high[depth] = (this.high[depth] ?? 0) | child.high
    this.node = child
    this.depth = depth + 1
    this.nodes[depth + 1] = child
    this.enter(child)
    if (fault !== null) this.report(fault, { found: name.local })
    if (attributes.length > 0 || child.has_currency) this.values.attributes(child, attributes)
    if (child.on_open !== null) child.on_open()
  }

  private enter(node: Node): void {
    const { depth } = this
    this.last[depth] = -1
    this.counts[depth] = 0
    this.low[depth] = 0
    this.high[depth] = 0
    if (!node.expanded && node.definition !== null) this.maker.expand(node)
  }

  /** A child whose slot has come before, or has been passed. */
  private outOfTurn(child: Node, before: number): RuleCode | null {
    const { depth } = this
    const seen = ((this.low[depth] ?? 0) & child.low) !== 0 || ((this.high[depth] ?? 0) & child.high) !== 0
    if (child.slot !== before) return seen && child.max === 1 ? 'ELEMENT_REPEATED' : 'STRUCT_ORDER'
    const count = (this.counts[depth] ?? 0) + 1
    this.counts[depth] = count
    const sibling = this.nodes[depth + 1]
    if (sibling !== undefined && sibling.parent === child.parent && sibling.name !== child.name) return 'STRUCT_CHOICE'
    return count > child.max ? 'ELEMENT_REPEATED' : null
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

  private closeComplex(node: Node, text: string | null): void {
    const { depth } = this
    if (text !== null && text.trim() !== '' && !node.open_content) this.report(node.unexpected ?? 'STRUCT_TEXT', { found: text.trim() })
    const low = node.required_low & ~(this.low[depth] ?? 0)
    const high = node.required_high & ~(this.high[depth] ?? 0)
    if (low !== 0 || high !== 0) this.reportMissing(node, low, high)
  }

  private reportMissing(node: Node, low: number, high: number): void {
    node.definition?.labels.forEach((label, slot) => {
      const missing = slot < 31 ? low & (1 << slot) : high & (1 << (slot - 31))
      if (missing !== 0) this.report(node.missing ?? 'STRUCT_MISSING', { expected: label })
    })
  }

  /** Text beside elements. */
  mixed(text: string): void {
    if (this.skipped === 0 && !this.node.open_content) this.report('STRUCT_TEXT', { found: text.trim() })
  }

  has(child: string): boolean {
    const node = this.node.children.get(child)
    if (node === undefined) return false
    const { depth } = this
    return ((this.low[depth] ?? 0) & node.low) !== 0 || ((this.high[depth] ?? 0) & node.high) !== 0
  }

  slotOf(child: string): number {
    const { open_content, children } = this.node
    return open_content || this.skipped > 0 ? 0 : (children.get(child)?.slot ?? LAST_SLOT)
  }

  leafKind(): Leaf['kind'] | null {
    return this.skipped > 0 ? null : (this.node.leaf?.kind ?? null)
  }

  report(code: RuleCode, details: Details = {}): void {
    if (this.findings.count(code)) this.findings.keep(code, this.place(), details)
  }

  reportAt(place: Place, code: RuleCode, details: Details = {}): void {
    this.findings.add(code, place, details)
  }

  place(): Place {
    let path = this.options.prefix
    for (let level = 1; level <= this.depth; level++) {
      const node = this.nodes[level]
      if (node === undefined) break
      path += node.max > 1 ? `/${node.name}[${this.counts[level - 1] ?? 1}]` : `/${node.name}`
    }
    return { path, line: this.options.line() }
  }
}
