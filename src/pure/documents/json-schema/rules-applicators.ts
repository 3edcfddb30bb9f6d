import { isObject } from '../../is-object.ts'
import {
  TICKS,
  type SchemaCall,
  type ChildSchemas,
  type InstanceLocation,
  type SchemaNode,
  type Truth,
  Evaluated,
  kleeneAnd,
  type SchemaRun,
} from './schema-model.ts'
import { printableExcerpt, type JsonRecord } from './json.ts'
import { equalityKey, lazyPattern, namesOf, matchesPattern, type ApplyKeyword, type LazyPattern } from './rules-assertions.ts'

/** Keywords on objects. Other values pass. */

function childLocation(parent: InstanceLocation, step: string, value: unknown): InstanceLocation {
  return { value, parent, step, names: null, key: null, active: null, target_outcomes: null }
}

function onObject(apply: (call: SchemaCall, object: JsonRecord) => Truth): ApplyKeyword {
  return (call) => (isObject(call.place.value) ? apply(call, call.place.value) : true)
}

function nodesByName(children: ChildSchemas | undefined): ReadonlyMap<string, SchemaNode> {
  return children?.kind === 'map' ? children.nodes : NO_SCHEMAS
}

const NO_SCHEMAS: ReadonlyMap<string, SchemaNode> = new Map()

export function applyRequired(names: unknown): ApplyKeyword {
  return onObject((call, object) => reportMissing(call, 'required', names as readonly string[], object))
}

function reportMissing(call: SchemaCall, keyword: string, names: readonly string[], object: JsonRecord): Truth {
  if (!call.run.budget.spend(names.length * TICKS.name)) return null
  let outcome: Truth = true
  for (const name of names) {
    if (Object.hasOwn(object, name)) continue
    outcome = call.run.reportError(
      call,
      keyword,
      'property_missing',
      () => `The property ${JSON.stringify(printableExcerpt(name))} is missing.`,
    )
    if (!call.run.reports_errors) break
  }
  return outcome
}

const TURNS_AT_ONCE = 8

export function applyDependentRequired(names: unknown, keyword = 'dependentRequired'): ApplyKeyword {
  const lists = Object.entries(names as JsonRecord).filter(([, list]) => Array.isArray(list))
  return onObject((call, object) => {
    return everyTruth(
      call.run,
      lists,
      ([name, list]) => !Object.hasOwn(object, name) || reportMissing(call, keyword, list as string[], object),
    )
  })
}

/**
 * True if all are true. Without error reports it stops at the first failure; when the budget is used up, the rest is undecided. Turns are
 * charged in groups of eight, because charging costs more than a turn.
 */
function everyTruth<Thing>({ budget, reports_errors: loud }: SchemaRun, things: Iterable<Thing>, judge: (thing: Thing) => Truth): Truth {
  let outcome: Truth = true
  let turns = 0
  for (const thing of things) {
    if (++turns === TURNS_AT_ONCE) {
      turns = 0
      budget.spend(TURNS_AT_ONCE * TICKS.turn)
    }
    if (budget.exhausted) return kleeneAnd(outcome, null)
    outcome = kleeneAnd(outcome, judge(thing))
    if (outcome === false && !loud) return false
  }
  return outcome
}

function markEvaluated({ evaluated, run }: SchemaCall, name: string): void {
  run.budget.spend(TICKS.name)
  evaluated?.addProperty(name)
}

/** Applies a schema to a property and marks it as evaluated. */
function applyTo(call: SchemaCall, node: SchemaNode, name: string, object: JsonRecord): Truth {
  markEvaluated(call, name)
  return call.run.evaluate(node, call, childLocation(call.place, name, object[name]), null)
}

export function applyProperties(node: SchemaNode): ApplyKeyword {
  const nodes = nodesByName(node.children.get('properties'))
  return onObject((call, object) => {
    // Iterates over the shorter side: the object's names or the schema's.
    const names = namesOf(call, object)
    return everyTruth<string>(call.run, names.length < nodes.size ? names : nodes.keys(), (name) => {
      const child = nodes.get(name)
      return child === undefined || !Object.hasOwn(object, name) ? true : applyTo(call, child, name, object)
    })
  })
}

interface NamedPattern {
  pattern: LazyPattern
  node: SchemaNode
}

function patternsOf(node: SchemaNode): NamedPattern[] {
  return [...nodesByName(node.children.get('patternProperties'))].map(([source, child]) => ({ pattern: lazyPattern(source), node: child }))
}

export function applyPatternProperties(node: SchemaNode): ApplyKeyword {
  const patterns = patternsOf(node)
  return onObject((call, object) =>
    everyTruth(call.run, namesOf(call, object), (name) =>
      everyTruth(call.run, patterns, ({ pattern, node: child }) => {
        const matched = matchesPattern(call, 'patternProperties', pattern, name)
        if (matched === null) return markPossiblyEvaluated(call, name)
        return matched ? applyTo(call, child, name, object) : true
      }),
    ),
  )
}

function markPossiblyEvaluated({ evaluated, run }: SchemaCall, name: string): null {
  run.budget.spend(TICKS.name)
  evaluated?.addPossibleProperty(name)
  return null
}

/** Properties that neither `properties` nor `patternProperties` of the same schema names. */
export function applyAdditionalProperties(node: SchemaNode, child: SchemaNode): ApplyKeyword {
  const named = nodesByName(node.children.get('properties'))
  const patterns = patternsOf(node)
  return onObject((call, object) =>
    everyTruth(call.run, namesOf(call, object), (name) => {
      const left = !named.has(name) && isAdditional(call, patterns, name)
      if (left === null) return markPossiblyEvaluated(call, name)
      return left ? applyTo(call, child, name, object) : true
    }),
  )
}

function isAdditional(call: SchemaCall, patterns: readonly NamedPattern[], name: string): Truth {
  let left: Truth = true
  for (const { pattern } of patterns) {
    const matched = matchesPattern(call, 'patternProperties', pattern, name)
    if (matched === true) return false
    if (matched === null) left = null
  }
  return left
}

export function applyPropertyNames(child: SchemaNode): ApplyKeyword {
  return onObject((call, object) =>
    everyTruth(call.run, namesOf(call, object), (name) => call.run.evaluate(child, call, childLocation(call.place, name, name), null)),
  )
}

/** `dependentSchemas`, and the schemas among the `dependencies` of draft-07. */
export function applyDependentSchemas(node: SchemaNode, keyword: 'dependentSchemas' | 'dependencies'): ApplyKeyword {
  const nodes = nodesByName(node.children.get(keyword))
  return onObject((call, object) =>
    everyTruth(
      call.run,
      nodes,
      ([name, child]) => !Object.hasOwn(object, name) || call.run.evaluate(child, call, call.place, call.evaluated),
    ),
  )
}

export function applyUnevaluatedProperties(child: SchemaNode): ApplyKeyword {
  return onObject((call, object) => {
    const { evaluated, run } = call
    if (evaluated === null || evaluated.allProperties) return true
    const names = namesOf(call, object)
    if (!run.budget.spend(names.length * TICKS.name)) return null
    const left = names.map((name) => ({ name, before: evaluated.hasProperty(name) })).filter(({ before }) => before !== true)
    evaluated.addAllProperties()
    return everyTruth(run, left, ({ name, before }) =>
      applyToRest(call, child, childLocation(call.place, name, object[name]), before === null),
    )
  })
}

/** Applies a schema to what no other has evaluated. If that is uncertain, a failure is undecided. */
function applyToRest(call: SchemaCall, child: SchemaNode, place: InstanceLocation, doubtful: boolean): Truth {
  const { run } = call
  if (!doubtful) return run.evaluate(child, call, place, null)
  const mark = run.mark()
  const outcome = run.evaluate(child, call, place, null)
  if (outcome !== false) return outcome
  run.reset(mark)
  return null
}

/** Keywords on arrays. Other values pass. */

function onArray(apply: (call: SchemaCall, items: readonly unknown[]) => Truth): ApplyKeyword {
  return (call) => (Array.isArray(call.place.value) ? apply(call, call.place.value) : true)
}

/** Linear: one key per item. */
export function applyUniqueItems(wanted: unknown): ApplyKeyword {
  if (wanted !== true) return () => true
  return onArray((call, items) => {
    const { run } = call
    const first = new Map<string, number>()
    for (const [index, item] of items.entries()) {
      const key = equalityKey(item, run.budget)
      if (key === null || !run.budget.spend(4 * TICKS.name)) return null
      const earlier = first.get(key)
      if (earlier !== undefined) {
        return run.reportError(call, 'uniqueItems', 'not_unique', () => `The items ${earlier} and ${index} are equal.`)
      }
      first.set(key, index)
    }
    return true
  })
}

/** `prefixItems`, and the list form of `items` in older drafts. */
export function applyItemList(nodes: readonly SchemaNode[]): ApplyKeyword {
  return onArray((call, items) => {
    markItemsEvaluated(call, Math.min(nodes.length, items.length))
    const met = nodes.slice(0, items.length).entries()
    return everyTruth(call.run, met, ([index, node]) => applyToItem(call, node, items, index))
  })
}

/** One schema for all items from an index. */
export function applyItems(node: SchemaNode, from: number): ApplyKeyword {
  return onArray((call, items) => {
    markItemsEvaluated(call, items.length)
    return everyTruth(call.run, items.keys(), (index) => index < from || applyToItem(call, node, items, index))
  })
}

function applyToItem(call: SchemaCall, node: SchemaNode, items: readonly unknown[], index: number): Truth {
  return call.run.evaluate(node, call, childLocation(call.place, String(index), items[index]), null)
}

function markItemsEvaluated({ evaluated }: SchemaCall, before: number): void {
  evaluated?.addItemsBefore(before)
}

export function listLength(children: ChildSchemas | undefined): number {
  return children?.kind === 'list' ? children.nodes.length : 0
}

/**
 * `contains` with its bounds. Matching items count as evaluated: 2020-12 says so; for 2019-09, which does not say, the official tests and
 * the implementations we compared agree.
 */
export function applyContains(node: SchemaNode, child: SchemaNode): ApplyKeyword {
  const { draft } = node.resource.dialect
  const bounded = draft !== 'draft-07' && node.resource.dialect.vocabularies.has('validation') && isObject(node.schema)
  const bound = (name: string) =>
    bounded && Object.hasOwn(node.schema as object, name) ? (node.schema as Record<string, number>)[name] : undefined
  const [least, most] = [bound('minContains') ?? 1, bound('maxContains') ?? Infinity]
  return onArray((call, items) => {
    const { matched, doubtful } = countMatches(call, child, items)
    const { run } = call
    if (matched > most) {
      return run.reportError(call, 'maxContains', 'too_many', `At most ${most} items may match, found ${matched}.`)
    }
    if (matched + doubtful < least) {
      const keyword = least === 1 ? 'contains' : 'minContains'
      return run.reportError(call, keyword, 'too_few', `At least ${least} of the items must match, found ${matched}.`)
    }
    return matched >= least && matched + doubtful <= most ? true : null
  })
}

function countMatches(call: SchemaCall, child: SchemaNode, items: readonly unknown[]): { matched: number; doubtful: number } {
  const { run, evaluated } = call
  const { reports_errors: loud } = run
  run.reports_errors = false
  let [matched, doubtful] = [0, 0]
  for (let index = 0; index < items.length && !run.budget.exhausted; index++) {
    const outcome = applyToItem(call, child, items, index)
    if (outcome === true) {
      matched++
      evaluated?.addItem(index)
    } else if (outcome === null) {
      doubtful++
      evaluated?.addPossibleItem(index)
    }
  }
  run.reports_errors = loud
  // Items not reached are undecided.
  if (run.budget.exhausted) doubtful = items.length - matched
  return { matched, doubtful }
}

export function applyUnevaluatedItems(child: SchemaNode): ApplyKeyword {
  return onArray((call, items) => {
    const { evaluated, run } = call
    if (evaluated === null) return true
    if (!run.budget.spend(items.length * TICKS.name)) return null
    const known = items.map((_, index) => evaluated.hasItem(index))
    evaluated.addItemsBefore(items.length)
    return everyTruth(run, items.keys(), (index) => {
      const before = known[index] ?? null
      return before === true || applyToRest(call, child, childLocation(call.place, String(index), items[index]), before === null)
    })
  })
}

/** Keywords that apply schemas to the same location. */

function applyInPlace(call: SchemaCall, node: SchemaNode): Truth {
  return call.run.evaluate(node, call, call.place, call.evaluated)
}

/** Without error reports: a failure here is not an error of the data. */
function applyQuietly(call: SchemaCall, node: SchemaNode): Truth {
  const { run } = call
  const { reports_errors: loud } = run
  run.reports_errors = false
  const outcome = applyInPlace(call, node)
  run.reports_errors = loud
  return outcome
}

export function applyAllOf(nodes: readonly SchemaNode[]): ApplyKeyword {
  return (call) => everyTruth(call.run, nodes, (node) => applyInPlace(call, node))
}

/** Tries all branches if evaluated locations are tracked; otherwise stops at the first that accepts. */
export function applyAnyOf(nodes: readonly SchemaNode[]): ApplyKeyword {
  return (call) => {
    const { run, evaluated } = call
    const mark = run.mark()
    let outcome: Truth = false
    for (const node of nodes) {
      if (outcome === true && evaluated === null) break
      const one = run.budget.exhausted ? null : applyInPlace(call, node)
      if (outcome !== true && one !== false) outcome = one
    }
    if (outcome !== false) run.reset(mark)
    if (outcome !== false) return outcome
    return run.reportError(call, 'anyOf', 'no_branch_matches', 'The value matches none of the schemas in anyOf.', mark)
  }
}

export function applyOneOf(nodes: readonly SchemaNode[]): ApplyKeyword {
  return (call) => {
    const { run } = call
    const mark = run.mark()
    let [accepted, doubtful] = [0, 0]
    for (const node of nodes) {
      const one = run.budget.exhausted ? null : applyInPlace(call, node)
      if (one === true) accepted++
      if (one === null) doubtful++
      if (accepted > 1) break
    }
    if (accepted + doubtful > 0) run.reset(mark)
    if (accepted > 1)
      return run.reportError(call, 'oneOf', 'several_branches_match', 'The value matches more than one of the schemas in oneOf.')
    if (accepted + doubtful > 0) return doubtful > 0 ? null : true
    return run.reportError(call, 'oneOf', 'no_branch_matches', 'The value matches none of the schemas in oneOf.', mark)
  }
}

/** A schema under `not` evaluates nothing for others. */
export function applyNot(node: SchemaNode): ApplyKeyword {
  return (call) => {
    const outcome = applyQuietly({ ...call, evaluated: null }, node)
    if (outcome === null) return null
    return !outcome || call.run.reportError(call, 'not', 'match_forbidden', 'The value matches the schema in not, which is forbidden.')
  }
}

export function applyIf(condition: SchemaNode, then: SchemaNode | null, otherwise: SchemaNode | null): ApplyKeyword {
  return (call) => {
    const condition_met = applyQuietly(call, condition)
    if (condition_met !== null) {
      const branch = condition_met ? then : otherwise
      return branch === null ? true : applyInPlace(call, branch)
    }
    // Undecided condition: only what both branches say is certain.
    const possible = call.evaluated === null ? null : new Evaluated(call.run.budget)
    const both = [then, otherwise].map((branch) => (branch === null ? true : applyQuietly({ ...call, evaluated: possible }, branch)))
    if (possible !== null) call.evaluated?.absorb(possible, false)
    if (both.every((one) => one === true)) return true
    return both.every((one) => one === false)
      ? call.run.reportError(call, 'if', 'no_branch_matches', 'The value matches neither then nor else.')
      : null
  }
}

export function applyBoth(first: ApplyKeyword, second: ApplyKeyword): ApplyKeyword {
  return (call) => kleeneAnd(first(call), second(call))
}
