/** The elements of one run, made as they are met: structure and watchers bound together, so that the walk looks nothing up by path. */
import { hasCurrency, type Leaf } from './leaves.ts'
import type { MessageDefinition, Overrides, Watcher } from './rule-engine.ts'
import type { RuleCode } from './rule-table.ts'
import { contentOf, type Member, type Schema, type TypeDefinition } from './schema.ts'

export class Node {
  readonly name: string
  readonly type: string
  readonly path: string
  readonly parent: Node | null
  readonly slot: number
  readonly max: number
  /** The bit of its slot among those of its parent, in two words of 31. */
  readonly low: number
  readonly high: number
  readonly leaf: Leaf | null
  /** Whether it must have the attribute Ccy. */
  readonly has_currency: boolean
  /** Whether its content is not looked at. */
  readonly open_content: boolean
  readonly definition: TypeDefinition | null
  required_low = 0
  required_high = 0
  children: ReadonlyMap<string, Node> = NO_CHILDREN
  /** Whether `children` has been filled. */
  expanded = false
  on_open: (() => void) | null = null
  on_text: ((text: string) => void) | null = null
  on_close: (() => void) | null = null
  missing: RuleCode | null = null
  unexpected: RuleCode | null = null
  empty: RuleCode | null = null
  lexical: RuleCode | null = null

  constructor(parent: Node | null, member: Member, schema: Schema) {
    this.parent = parent
    this.name = member.name
    this.type = member.type
    this.slot = member.slot
    this.max = member.max
    this.path = parent === null ? '' : parent.path === '' ? member.name : `${parent.path}/${member.name}`
    this.low = member.slot < 31 ? 1 << member.slot : 0
    this.high = member.slot < 31 ? 0 : 1 << (member.slot - 31)
    const content = contentOf(schema, member.type)
    this.leaf = content.kind === 'leaf' ? content.leaf : null
    this.has_currency = hasCurrency(this.leaf)
    this.open_content = content.kind === 'any'
    this.definition = content.kind === 'complex' ? content.type : null
    this.definition?.required.forEach((required, slot) => {
      if (!required) return
      if (slot < 31) this.required_low |= 1 << slot
      else this.required_high |= 1 << (slot - 31)
    })
  }
}

const NO_CHILDREN: ReadonlyMap<string, Node> = new Map()

/** Makes nodes and gives them their watchers. */
export class NodeMaker {
  private readonly schema: Schema
  private readonly opens: Calls<() => void>
  private readonly texts: Calls<(text: string) => void>
  private readonly closes: Calls<() => void>
  private readonly overrides: Overrides

  constructor({ types, overrides, versions }: MessageDefinition, version: number, watchers: readonly Watcher[]) {
    this.schema = { types, version, generation: versions.get(version) ?? 9 }
    this.opens = new Calls(watchers.map(({ open }) => open))
    this.texts = new Calls(watchers.map(({ text }) => text))
    this.closes = new Calls(watchers.map(({ close }) => close))
    this.overrides = overrides
  }

  root(name: string): Node {
    return this.bound(new Node(null, { name, type: 'Root', slot: 0, max: 1 }, this.schema))
  }

  expand(node: Node): void {
    node.expanded = true
    if (node.definition === null) return
    const children = new Map<string, Node>()
    for (const [name, member] of node.definition.members) children.set(name, this.bound(new Node(node, member, this.schema)))
    node.children = children
  }

  private bound(node: Node): Node {
    node.on_open = joined(this.opens.of(node))
    node.on_text = joinedText(this.texts.of(node))
    node.on_close = joined(this.closes.of(node))
    node.missing = this.overrides.missing?.[node.path] ?? null
    node.unexpected = this.overrides.unexpected?.[node.path] ?? null
    node.empty = this.overrides.empty?.[node.path] ?? null
    node.lexical = this.overrides.lexical?.[node.path] ?? null
    return node
  }
}

/** The calls of all watchers for one event, by key: nearly every key is one exact text, so that a node finds its own without looking at all. */
class Calls<Call> {
  private readonly exact = new Map<string, { order: number; call: Call }[]>()
  private readonly endings: { end: string; order: number; call: Call }[] = []

  constructor(all: readonly (Readonly<Record<string, Call>> | undefined)[]) {
    const entries = all.flatMap((calls) => Object.entries(calls ?? {}))
    for (const [order, [key, call]] of entries.entries()) {
      if (key.startsWith('**')) this.endings.push({ end: key.slice(2), order, call })
      else this.exact.set(key, [...(this.exact.get(key) ?? []), { order, call }])
    }
  }

  /** Those that a node is told to, in the order of the watchers. */
  of({ path, type, name, parent }: Node): Call[] {
    const keys = [path, `:${type}`, ...(parent === null ? [] : [`:${parent.type}/${name}`])]
    const named = keys.flatMap((key) => this.exact.get(key) ?? [])
    const ending = this.endings.filter(({ end }) => `/${path}`.endsWith(end))
    return [...named, ...ending].toSorted((one, other) => one.order - other.order).map(({ call }) => call)
  }
}

function joined(calls: (() => void)[]): (() => void) | null {
  const [first = null, ...others] = calls
  if (first === null || others.length === 0) return first
  return () => {
    for (const call of calls) call()
  }
}

function joinedText(calls: ((text: string) => void)[]): ((text: string) => void) | null {
  const [first = null, ...others] = calls
  if (first === null || others.length === 0) return first
  return (text) => {
    for (const call of calls) call(text)
  }
}
