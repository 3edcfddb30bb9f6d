import { TICKS } from './budget.ts'
import { member, type JsonRecord } from './json.ts'
import { isBareReference, type Loaded } from './load.ts'
import type { Call, Children, Rule, SchemaNode, Truth } from './nodes.ts'
import { dynamicTarget, findTarget, recursiveTarget, type Target } from './references.ts'
import { KEYWORDS } from './keywords.ts'
import * as arrays from './rules-arrays.ts'
import * as logic from './rules-logic.ts'
import * as objects from './rules-objects.ts'
import * as values from './rules-values.ts'
import type { Apply } from './rules-values.ts'

/** From a schema's keywords to what they do. */

const ON_VALUE: Readonly<Record<string, (value: unknown) => Apply>> = {
  type: values.applyType,
  enum: values.applyEnum,
  const: values.applyConst,
  multipleOf: values.applyMultipleOf,
  maximum: values.applyMaximum,
  exclusiveMaximum: values.applyExclusiveMaximum,
  minimum: values.applyMinimum,
  exclusiveMinimum: values.applyExclusiveMinimum,
  maxLength: values.applyMaxLength,
  minLength: values.applyMinLength,
  pattern: values.applyPattern,
  required: objects.applyRequired,
  dependentRequired: objects.applyDependentRequired,
  maxProperties: objects.applyMaxProperties,
  minProperties: objects.applyMinProperties,
  maxItems: arrays.applyMaxItems,
  minItems: arrays.applyMinItems,
  uniqueItems: arrays.applyUniqueItems,
}

const ON_LIST: Readonly<Record<string, (nodes: readonly SchemaNode[]) => Apply>> = {
  allOf: logic.applyAllOf,
  anyOf: logic.applyAnyOf,
  oneOf: logic.applyOneOf,
  prefixItems: arrays.applyItemList,
  items: arrays.applyItemList,
}

const ON_SCHEMA: Readonly<Record<string, (node: SchemaNode, child: SchemaNode) => Apply>> = {
  not: (_node, child) => logic.applyNot(child),
  if: (node, child) => logic.applyIf(child, only(node, 'then'), only(node, 'else')),
  additionalProperties: objects.applyAdditionalProperties,
  propertyNames: (_node, child) => objects.applyPropertyNames(child),
  contains: arrays.applyContains,
  items: (node, child) => arrays.applyItems(child, arrays.listLength(node.children.get('prefixItems'))),
  additionalItems: (node, child) => {
    const items = node.children.get('items')
    return items?.kind === 'list' ? arrays.applyItems(child, items.nodes.length) : () => true
  },
  unevaluatedProperties: (_node, child) => objects.applyUnevaluatedProperties(child),
  unevaluatedItems: (_node, child) => arrays.applyUnevaluatedItems(child),
}

const ON_MAP: Readonly<Record<string, (node: SchemaNode) => Apply>> = {
  properties: objects.applyProperties,
  patternProperties: objects.applyPatternProperties,
  dependentSchemas: (node) => objects.applyDependentSchemas(node, 'dependentSchemas'),
}

function only(node: SchemaNode, keyword: string): SchemaNode | null {
  const children = node.children.get(keyword)
  return children?.kind === 'one' ? children.node : null
}

/** The rules of a schema object, in the order in which they must be applied. */
export function rulesOf(load: Loaded, node: SchemaNode, schema: JsonRecord): Rule[] {
  const { draft, vocabularies } = node.resource.dialect
  const names = isBareReference(schema, node.resource.dialect) ? ['$ref'] : Object.keys(schema)
  const rules: Rule[] = []
  for (const keyword of names) {
    const row = KEYWORDS[draft][keyword]
    if (row === undefined || !vocabularies.has(row.vocabulary)) continue
    const apply = applyOf(load, node, keyword, member(schema, keyword))
    if (apply !== null) rules.push({ keyword, last: keyword.startsWith('unevaluated'), apply })
  }
  return rules.sort((a, b) => Number(a.last) - Number(b.last))
}

function applyOf(load: Loaded, node: SchemaNode, keyword: string, value: unknown): Apply | null {
  const children = node.children.get(keyword)
  if (children !== undefined) return applyOfChildren(node, keyword, children, value)
  switch (keyword) {
    case '$ref':
      return applyReference(load, node, keyword, value, ({ node: target }) => target)
    case '$dynamicRef':
      return applyReference(load, node, keyword, value, (target, call) => dynamicTarget(target, call.scope))
    case '$recursiveRef':
      return applyReference(load, node, keyword, value, ({ node: target }, call) => recursiveTarget(target, call.scope))
    default:
      return ON_VALUE[keyword]?.(value) ?? null
  }
}

function applyOfChildren(node: SchemaNode, keyword: string, children: Children, value: unknown): Apply | null {
  switch (children.kind) {
    case 'one':
      return ON_SCHEMA[keyword]?.(node, children.node) ?? null
    case 'list':
      return ON_LIST[keyword]?.(children.nodes) ?? null
    case 'map':
      return keyword === 'dependencies' ? applyDependencies(node, value) : (ON_MAP[keyword]?.(node) ?? null)
  }
}

function applyDependencies(node: SchemaNode, value: unknown): Apply {
  const names = objects.applyDependentRequired(value, 'dependencies')
  const schemas = objects.applyDependentSchemas(node, 'dependencies')
  return logic.applyBoth(names, schemas)
}

function applyReference(
  load: Loaded,
  node: SchemaNode,
  keyword: string,
  value: unknown,
  settle: (target: Target, call: Call) => SchemaNode,
): Apply {
  const target = typeof value === 'string' ? findTarget(load, node, value) : null
  return (call) => {
    if (target === null) {
      call.evaluated?.addUnknown()
      return load.budget.exhausted ? null : call.run.doubt(node, keyword, 'ref_unresolvable')
    }
    return follow(load, call, keyword, settle(target, call))
  }
}

/** Turns that a list and a table of a place cost. */
const KEPT_TURNS = 8

/**
 * Applies a target to the place. A target that is under way at the same place would never end. What a target has said of a place is
 * kept, so that schemas which refer to each other many times over do not multiply; not where it depends on the way, or where somebody asks
 * what was looked at, or where the reasons of a failure are wanted.
 */
function follow(load: Loaded, call: Call, keyword: string, target: SchemaNode): Truth {
  const { run, place, evaluated } = call
  const active = (place.active ??= [])
  if (!run.budget.spend(TICKS.turn * (KEPT_TURNS + active.length + (load.dynamic ? call.scope.depth : 0)))) {
    evaluated?.addUnknown()
    return null
  }
  if (active.includes(target)) {
    evaluated?.addUnknown()
    return run.doubt(call.node, keyword, 'reference_loop')
  }
  const kept = load.dynamic || evaluated !== null ? null : (place.told ??= new Map())
  const told = kept?.get(target)
  if (told !== undefined && (told !== false || !run.loud)) return told
  active.push(target)
  const outcome = run.evaluate(target, call, place, evaluated)
  active.pop()
  kept?.set(target, outcome)
  return outcome
}
