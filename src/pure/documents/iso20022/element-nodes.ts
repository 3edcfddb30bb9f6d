/** The elements of one message and the calls that rules bind to them. */
import type { RuleCode } from './rules.ts'
import { hasCurrency, type Leaf, leafOf, type Member, type Schema, type TypeDefinition, typeFamily } from './structure.ts'

type TextCall = (text: string) => void

export interface Watcher {
  readonly open?: Readonly<Record<string, () => void>>
  readonly text?: Readonly<Record<string, TextCall>>
  readonly close?: Readonly<Record<string, () => void>>
}

/**
 * Rules that replace the general ones, by path: STRUCT_MISSING of the element (`absent`) or of one inside it, STRUCT_UNEXPECTED inside it,
 * STRUCT_LEXICAL for a blank value (`empty`) and for any other malformed value (`lexical`).
 */
export type RuleOverrides = Readonly<
  Partial<Record<'absent' | 'missing' | 'unexpected' | 'empty' | 'lexical', Readonly<Record<string, RuleCode>>>>
>

/** An element of one run, with its structure and its watchers, so that the walk looks nothing up by path. */
export class ElementNode {
  readonly name: string
  readonly family: string
  readonly path: string
  readonly parent: ElementNode | null
  readonly slot: number
  readonly max: number
  readonly alternative: boolean
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
    this.family = typeFamily(member.type)
    this.slot = member.slot
    this.max = member.max
    this.alternative = member.alternative
    this.path = parent === null ? '' : parent.path === '' ? member.name : `${parent.path}/${member.name}`
    this.low = member.low
    this.high = member.high
    const content = schema.contentOf(member.type)
    this.leaf = content.kind === 'leaf' ? leafOf(content.leaf, parent?.name ?? '', member.name) : null
    this.has_currency = hasCurrency(this.leaf)
    this.open_content = content.kind === 'any'
    this.definition = content.kind === 'complex' ? content.type : null
  }
}

/** Creates nodes when they are first needed and binds their watchers. */
export class NodeFactory {
  private readonly schema: Schema
  private readonly opens: WatcherCalls<() => void>
  private readonly texts: WatcherCalls<TextCall>
  private readonly closes: WatcherCalls<() => void>
  private readonly overrides: RuleOverrides

  constructor(schema: Schema, overrides: RuleOverrides, watchers: readonly Watcher[]) {
    this.schema = schema
    this.opens = new WatcherCalls(watchers.map(({ open }) => open))
    this.texts = new WatcherCalls(watchers.map(({ text }) => text))
    this.closes = new WatcherCalls(watchers.map(({ close }) => close))
    this.overrides = overrides
  }

  root(name: string, type: string): ElementNode {
    return this.bind(new ElementNode(null, { name, type, slot: 0, max: 1, alternative: false, low: 1, high: 0 }, this.schema))
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

  /** The rule for a missing child; null where no rule replaces the general one. */
  absent({ path }: ElementNode, child: string): RuleCode | null {
    return this.overrides.absent?.[path === '' ? child : `${path}/${child}`] ?? null
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
  forNode({ path, family, name, parent }: ElementNode): Call[] {
    const keys = [path, `:${family}`, ...(parent === null ? [] : [`:${parent.family}/${name}`])]
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
