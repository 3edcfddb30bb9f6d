import { isObject } from '../../is-object.ts'
import { TICKS } from './budget.ts'
import { shown, type JsonRecord } from './json.ts'
import type { Call, Children, Place, SchemaNode, Truth } from './nodes.ts'
import { every } from './nodes.ts'
import { lazyPattern, matches, type Apply, type LazyPattern } from './rules-values.ts'

/** Keywords on objects. Places that are no objects pass all of them. */

export function placeOf(parent: Place, step: string, value: unknown): Place {
  return { value, parent, step, names: null, key: null, active: null, told: null }
}

function onObject(apply: (call: Call, object: JsonRecord) => Truth): Apply {
  return (call) => (isObject(call.place.value) ? apply(call, call.place.value) : true)
}

/** Names of the object at the place of a call; listed and paid for once a place. */
function namesOf({ run, place }: Call, object: JsonRecord): readonly string[] {
  if (place.names === null) {
    place.names = Object.keys(object)
    run.budget.spend(place.names.length * TICKS.name)
  }
  return place.names
}

function nodesByName(children: Children | undefined): ReadonlyMap<string, SchemaNode> {
  return children?.kind === 'map' ? children.nodes : NONE
}

const NONE: ReadonlyMap<string, SchemaNode> = new Map()

export function applyRequired(names: unknown): Apply {
  return onObject((call, object) => missing(call, 'required', names as readonly string[], object))
}

function missing(call: Call, keyword: string, names: readonly string[], object: JsonRecord): Truth {
  if (!call.run.budget.spend(names.length * TICKS.name)) return null
  let outcome: Truth = true
  for (const name of names) {
    if (Object.hasOwn(object, name)) continue
    outcome = call.run.fail(call, keyword, 'property_missing', () => `The property ${JSON.stringify(shown(name))} is missing.`)
    if (!call.run.loud) break
  }
  return outcome
}

export function applyDependentRequired(names: unknown, keyword = 'dependentRequired'): Apply {
  const lists = Object.entries(names as JsonRecord).filter(([, list]) => Array.isArray(list))
  return onObject((call, object) => {
    return every(call.run, lists, ([name, list]) => !Object.hasOwn(object, name) || missing(call, keyword, list as string[], object))
  })
}

export function applyMaxProperties(bound: unknown): Apply {
  return onObject((call, object) => {
    const message = () => `The object must have at most ${String(bound)} properties.`
    return namesOf(call, object).length <= (bound as number) || call.run.fail(call, 'maxProperties', 'too_many', message)
  })
}

export function applyMinProperties(bound: unknown): Apply {
  return onObject((call, object) => {
    const message = () => `The object must have at least ${String(bound)} properties.`
    return namesOf(call, object).length >= (bound as number) || call.run.fail(call, 'minProperties', 'too_few', message)
  })
}

function see({ evaluated, run }: Call, name: string): void {
  run.budget.spend(TICKS.name)
  evaluated?.addProperty(name)
}

/** A schema on one property, which is looked at from now on. */
function applyTo(call: Call, node: SchemaNode, name: string, object: JsonRecord): Truth {
  see(call, name)
  return call.run.evaluate(node, call, placeOf(call.place, name, object[name]), null)
}

export function applyProperties(node: SchemaNode): Apply {
  const nodes = nodesByName(node.children.get('properties'))
  return onObject((call, object) => {
    // The shorter side is walked: a large object under a small schema, or the other way round.
    const names = namesOf(call, object)
    return every<string>(call.run, names.length < nodes.size ? names : nodes.keys(), (name) => {
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

export function applyPatternProperties(node: SchemaNode): Apply {
  const patterns = patternsOf(node)
  return onObject((call, object) =>
    every(call.run, namesOf(call, object), (name) =>
      every(call.run, patterns, ({ pattern, node: child }) => {
        const matched = matches(call, 'patternProperties', pattern, name)
        if (matched === null) return maybeEvaluated(call, name)
        return matched ? applyTo(call, child, name, object) : true
      }),
    ),
  )
}

/** It is not known whether the schema applies to the property. */
function maybeEvaluated({ evaluated, run }: Call, name: string): null {
  run.budget.spend(TICKS.name)
  evaluated?.addPossibleProperty(name)
  return null
}

/** What neither `properties` nor `patternProperties` of the same schema names. */
export function applyAdditionalProperties(node: SchemaNode, child: SchemaNode): Apply {
  const named = nodesByName(node.children.get('properties'))
  const patterns = patternsOf(node)
  return onObject((call, object) =>
    every(call.run, namesOf(call, object), (name) => {
      const left = !named.has(name) && isLeft(call, patterns, name)
      if (left === null) return maybeEvaluated(call, name)
      return left ? applyTo(call, child, name, object) : true
    }),
  )
}

function isLeft(call: Call, patterns: readonly NamedPattern[], name: string): Truth {
  let left: Truth = true
  for (const { pattern } of patterns) {
    const matched = matches(call, 'patternProperties', pattern, name)
    if (matched === true) return false
    if (matched === null) left = null
  }
  return left
}

export function applyPropertyNames(child: SchemaNode): Apply {
  return onObject((call, object) =>
    every(call.run, namesOf(call, object), (name) => call.run.evaluate(child, call, placeOf(call.place, name, name), null)),
  )
}

/** `dependentSchemas`, and the schemas among the `dependencies` of draft-07. */
export function applyDependentSchemas(node: SchemaNode, keyword: 'dependentSchemas' | 'dependencies'): Apply {
  const nodes = nodesByName(node.children.get(keyword))
  return onObject((call, object) =>
    every(call.run, nodes, ([name, child]) => !Object.hasOwn(object, name) || call.run.evaluate(child, call, call.place, call.evaluated)),
  )
}

export function applyUnevaluatedProperties(child: SchemaNode): Apply {
  return onObject((call, object) => {
    const { evaluated, run } = call
    if (evaluated === null || evaluated.allProperties) return true
    const names = namesOf(call, object)
    if (!run.budget.spend(names.length * TICKS.name)) return null
    const left = names.map((name) => ({ name, before: evaluated.hasProperty(name) })).filter(({ before }) => before !== true)
    evaluated.addAllProperties()
    return every(run, left, ({ name, before }) => applyToRest(call, child, placeOf(call.place, name, object[name]), before === null))
  })
}

/** Applies a schema to what no other has evaluated; where that is not known, a failure decides nothing. */
export function applyToRest(call: Call, child: SchemaNode, place: Place, doubtful: boolean): Truth {
  const { run } = call
  if (!doubtful) return run.evaluate(child, call, place, null)
  const mark = run.mark()
  const outcome = run.evaluate(child, call, place, null)
  if (outcome !== false) return outcome
  run.reset(mark)
  return null
}
