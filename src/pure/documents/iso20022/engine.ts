/**
 * The engine that walks a message and calls its rules. A message is a `MessageDefinition`: its structure table, and a function that makes
 * the `Watcher`s of one run. The engine checks structure and values in one pass and calls the watchers in document order; watchers keep
 * totals and flags, never a tree, and report findings. `pain001.ts` is the model for a new message; the rules are in `rules.ts`.
 *
 * Keys of a watcher name elements:
 *   'GrpHdr/MsgId'      the path below the message's root element ('' is the root element itself)
 *   '** /DbtrAcct/Id'   (without the space) any path that ends so
 *   ':PostalAddress'    any element of a type of that family in the structure tables, ':PostalAddress/TwnNm' that child of it
 *
 * `open` is called when the element begins, `close` when it ends (then `has` tests for children), `text` with a well-formed value; a
 * malformed value was reported and reaches no watcher, so that one fault makes one finding. For an amount, `amount` and `currency` contain
 * the value. A rule on several values stores the `position()` to which its finding points.
 *
 * Report every breach in every profile: severities are assigned at the end, by the rule table.
 */
import type { XmlAttribute, XmlName } from '../xml/reader.ts'
import { AmountText, ExactSum } from './accumulators.ts'
import {
  type FindingDetails,
  type MessageFindings,
  type MessageKind,
  type MessagePosition,
  printableValue,
  type RuleCode,
} from './rules.ts'
import { type ElementNode, NodeFactory, type RuleOverrides, type Watcher } from './element-nodes.ts'
import type { Leaf, Member, Schema } from './structure.ts'
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
  /** Within `close`: whether the structure allows this child in this version, and does not require it. */
  mayLack(child: string): boolean
}

export type { Watcher }

export interface MessageDefinition {
  readonly kind: MessageKind
  readonly overrides: RuleOverrides
  watch(context: RuleContext): readonly Watcher[]
}

const DEPTH = 80
/** Slot of unknown elements; sorts last. */
const LAST_SLOT = 99

interface WalkerOptions {
  definition: MessageDefinition
  schema: Schema
  root: { name: string; type: string }
  version: number
  namespace: string
  /** Path of the element around the root element, for example /Document. */
  parent_path: string
  /** Required elements may be absent: the document is an excerpt. */
  partial?: boolean
  header: BusinessHeader
  findings: MessageFindings
  line: () => number | null
  shared: (context: RuleContext) => readonly Watcher[]
}

/** An element before the one that precedes it in the order of its type: one of the two is misplaced, and the next element decides which. */
interface OrderFault {
  depth: number
  early: { name: string; slot: number; position: MessagePosition; expected: string }
  late: { name: string; slot: number; position: MessagePosition; expected: string }
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
  /** Of each open element: its latest child, the slot of that child and of the one before, how often it came, and which slots are filled. */
  private readonly latest: (ElementNode | null)[] = []
  /** Alternatives of choices that came. */
  private readonly chosen: string[][] = []
  private readonly last = new Int16Array(DEPTH)
  private readonly before = new Int16Array(DEPTH)
  private readonly lines = new Float64Array(DEPTH)
  private readonly counts = new Int32Array(DEPTH)
  private readonly low = new Int32Array(DEPTH)
  private readonly high = new Int32Array(DEPTH)
  private fault: OrderFault | null = null

  constructor(options: WalkerOptions) {
    const { definition, schema, root } = options
    this.options = options
    this.version = options.version
    this.namespace = options.namespace
    this.header = options.header
    this.values = new ValueReader(this, definition.kind)
    this.nodes = new NodeFactory(schema, definition.overrides, [...options.shared(this), ...definition.watch(this)])
    this.node = this.nodes.root(root.name, root.type)
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
      this.openAny(name)
      return
    }
    const child = this.nodes.child(parent, name.local)
    if (child === null || name.namespace !== this.namespace) {
      this.reportUnexpected(parent, name)
      this.skipped = 1
      return
    }
    const { depth } = this
    if (this.fault !== null && this.fault.depth === depth) this.decideOrder(child)
    const before = this.last[depth] ?? -1
    let fault: RuleCode | null = null
    if (child.slot > before) {
      this.before[depth] = before
      this.last[depth] = child.slot
      this.latest[depth] = child
      this.counts[depth] = 1
      // Only an element that skips a slot can be too early.
      if (child.slot - before > 1) this.lines[depth] = this.options.line() ?? 0
    } else fault = this.orderFault(child, before)
    if (child.alternative) this.noteChoice(child.name)
    this.low[depth] = (this.low[depth] ?? 0) | child.low
    this.high[depth] = (this.high[depth] ?? 0) | child.high
    this.node = child
    this.depth = depth + 1
    this.open_nodes[depth + 1] = child
    this.enter()
    if (fault === 'STRUCT_ORDER') this.noteOrder(child)
    else if (fault !== null) this.report(fault, { found: name.local })
    if (attributes.length > 0 || child.has_currency) this.values.readAttributes(child, attributes)
    if (child.on_open !== null) child.on_open()
  }

  private enter(): void {
    const { depth } = this
    this.last[depth] = -1
    this.before[depth] = -1
    this.latest[depth] = null
    const chosen = this.chosen[depth]
    if (chosen !== undefined && chosen.length > 0) chosen.length = 0
    this.counts[depth] = 0
    this.low[depth] = 0
    this.high[depth] = 0
  }

  private noteChoice(name: string): void {
    const chosen = (this.chosen[this.depth] ??= [])
    if (chosen.length === 0 || !chosen.includes(name)) chosen.push(name)
  }

  /** Content of any kind is one element, and what is inside it is not checked. */
  private openAny({ local }: XmlName): void {
    const { depth } = this
    this.counts[depth] = (this.counts[depth] ?? 0) + 1
    if (this.counts[depth] === 2) this.report('STRUCT_UNEXPECTED', { found: local, expected: 'one element' })
    this.skipped = 1
  }

  private reportUnexpected({ unexpected, definition }: ElementNode, { local, namespace }: XmlName): void {
    const { depth } = this
    const code = unexpected ?? 'STRUCT_UNEXPECTED'
    if (definition === null) return this.report(code, { found: local, expected: 'text without elements' })
    if (definition.members.has(local)) return this.report(code, { found: `${local} of namespace "${namespace}"`, expected: this.namespace })
    const near = nearName(definition, local)
    const allowed = allowedNames(definition, this.last[depth] ?? -1, true, (slot) => this.isFilled(slotBits(slot)))
    const message = near === null ? {} : { message: `There is no element ${printableValue(local)} here; ${near} is meant, as it seems.` }
    this.report(code, { found: local, expected: near ?? oneOf(allowed), ...message })
  }

  /** The fault of a child whose slot is filled or was passed; null for a permitted repetition. */
  private orderFault(child: ElementNode, before: number): RuleCode | null {
    const { depth } = this
    if (child.slot !== before) return this.isFilled(child) && child.max === 1 ? 'ELEMENT_REPEATED' : 'STRUCT_ORDER'
    const count = (this.counts[depth] ?? 0) + 1
    this.counts[depth] = count
    const sibling = this.latest[depth] ?? null
    if (sibling !== null && sibling.name !== child.name) return 'STRUCT_CHOICE'
    return count > child.max ? 'ELEMENT_REPEATED' : null
  }

  private isFilled({ low, high }: Pick<Member, 'low' | 'high'>): boolean {
    const { depth } = this
    return ((this.low[depth] ?? 0) & low) !== 0 || ((this.high[depth] ?? 0) & high) !== 0
  }

  /**
   * Stores a child that is out of order. If it would fit without its predecessor, the next child decides which of them is misplaced; else it
   * is the child.
   */
  private noteOrder(child: ElementNode): void {
    const depth = this.depth - 1
    const definition = child.parent?.definition
    const early = this.latest[depth] ?? null
    if (definition === null || definition === undefined || early === null) return
    this.settleOrder(false)
    const [slot, before] = [this.last[depth] ?? 0, this.before[depth] ?? -1]
    const late = { name: child.name, slot: child.slot, position: this.position(), expected: oneOf(allowedNames(definition, slot, false)) }
    const fault = {
      depth,
      early: {
        name: early.name,
        slot,
        position: { path: `${pathOf(late.position.path)}/${early.name}`, line: this.lines[depth] ?? null },
        expected: oneOf(allowedNames(definition, before, false)),
      },
      late,
    }
    this.fault = fault
    if (child.slot <= before || (this.counts[depth] ?? 0) > 1 || early.max > 1) this.settleOrder(false)
  }

  /** The sibling after two elements in the wrong order: if it belongs between them, the first of them came too early. */
  private decideOrder(child: ElementNode): void {
    const { depth } = this
    const { early, late } = this.fault ?? {}
    if (early === undefined || late === undefined) return
    if (child.slot === late.slot) return
    const is_early = child.slot > late.slot && child.slot < early.slot
    this.settleOrder(is_early)
    if (!is_early) return
    this.before[depth] = late.slot
    this.last[depth] = late.slot
  }

  /** Reports the stored fault. */
  private settleOrder(is_early: boolean): void {
    const { fault } = this
    if (fault === null) return
    this.fault = null
    const { name, position, expected } = is_early ? fault.early : fault.late
    this.reportAt(position, 'STRUCT_ORDER', { found: name, expected })
  }

  close(text: string | null): void {
    if (this.skipped > 0) {
      this.skipped--
      return
    }
    const { node } = this
    if (this.fault !== null && this.fault.depth === this.depth) this.settleOrder(false)
    if (node.leaf === null) this.closeComplex(node, text)
    else if (text !== null && this.values.read(node, node.leaf, text) && node.on_text !== null) node.on_text(text)
    if (node.on_close !== null) node.on_close()
    this.depth--
    if (node.parent !== null) this.node = node.parent
  }

  private closeComplex(node: ElementNode, text: string | null): void {
    const { depth } = this
    if (text !== null && text.trim() !== '') this.report(node.unexpected ?? 'STRUCT_TEXT', { found: text.trim() })
    if (node.definition === null) {
      if (node.open_content && (this.counts[depth] ?? 0) === 0) this.report('STRUCT_MISSING', { expected: 'one element' })
      return
    }
    const { required_low, required_high, labels } = node.definition
    const low = required_low & ~(this.low[depth] ?? 0)
    const high = required_high & ~(this.high[depth] ?? 0)
    if ((low === 0 && high === 0) || this.options.partial === true) return
    labels.forEach((label, slot) => {
      const bits = slotBits(slot)
      if ((low & bits.low) === 0 && (high & bits.high) === 0) return
      this.report(this.nodes.absent(node, label) ?? node.missing ?? 'STRUCT_MISSING', { expected: label })
    })
  }

  /** Text next to elements. */
  mixed(text: string): void {
    if (this.skipped === 0) this.report('STRUCT_TEXT', { found: text.trim() })
  }

  has(child: string): boolean {
    const member = this.node.definition?.members.get(child)
    if (member === undefined || !this.isFilled(member)) return false
    return !member.alternative || this.chosen[this.depth]?.includes(child) === true
  }

  mayLack(child: string): boolean {
    const { definition } = this.node
    const member = definition?.members.get(child)
    if (definition === null || member === undefined) return false
    return (definition.required_low & member.low) === 0 && (definition.required_high & member.high) === 0
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
    let path = `${this.options.parent_path}/${this.options.root.name}`
    for (let level = 1; level <= this.depth; level++) {
      const node = this.open_nodes[level]
      if (node === undefined) break
      path += node.max > 1 ? `/${node.name}[${this.counts[level - 1] ?? 1}]` : `/${node.name}`
    }
    return { path, line: this.options.line() }
  }
}

function slotBits(slot: number): Pick<Member, 'low' | 'high'> {
  return slot < 31 ? { low: 1 << slot, high: 0 } : { low: 0, high: 1 << (slot - 31) }
}

/** The path of the element around. */
function pathOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'))
}
/** Names of elements for findings: those that are allowed at a place, and the one that a writer probably meant. */
import { editDistance } from '../edit-distance.ts'
import type { TypeDefinition } from './structure.ts'

const LISTED = 12
const LONGEST_NAME = 40
/** Names of earlier versions, and what replaced them. */
const RENAMED: ReadonlyMap<string, readonly string[]> = new Map([
  ['BIC', ['BICFI', 'AnyBIC']],
  ['BICFI', ['BIC']],
  ['BICOrBEI', ['AnyBIC']],
  ['BEI', ['AnyBIC']],
  ['AnyBIC', ['BICOrBEI']],
  ['TtlNetNtryAmt', ['TtlNetNtry']],
])

/**
 * The elements that may follow the slot `last`, as a schema validator lists them: up to and including the next required one. `repeatable`
 * also lists those of the slot itself, if they may come again. Slots that `filled` has are left out.
 */
function allowedNames(
  { members, required_low, required_high }: TypeDefinition,
  last: number,
  repeatable: boolean,
  filled: (slot: number) => boolean = () => false,
): string[] {
  const names: string[] = []
  let end = Infinity
  for (const { name, slot, max, low, high } of members.values()) {
    if (slot > end) break
    if (slot < last || (slot === last && !(repeatable && max > 1)) || (slot > last && filled(slot))) continue
    names.push(name)
    if (slot > last && ((required_low & low) !== 0 || (required_high & high) !== 0)) end = slot
  }
  return names
}

/** "Nm", "one of Nm, PstlAdr", or "no further element". */
function oneOf(names: readonly string[]): string {
  const [only = 'no further element', another] = names
  if (another === undefined) return only
  return `one of ${names.slice(0, LISTED).join(', ')}${names.length > LISTED ? ', …' : ''}`
}

/** The element of a type that has nearly this name; null if none has. */
function nearName({ members }: TypeDefinition, name: string): string | null {
  const renamed = RENAMED.get(name)?.find((other) => members.has(other))
  if (renamed !== undefined) return renamed
  if (name.length > LONGEST_NAME) return null
  const folded = name.toLowerCase()
  let best: string | null = null
  let distance = Math.min(3, Math.ceil(name.length / 3))
  for (const other of members.keys()) {
    const found = other.toLowerCase() === folded ? 0 : editDistance(name, other)
    if (found < distance) [best, distance] = [other, found]
  }
  return best
}
