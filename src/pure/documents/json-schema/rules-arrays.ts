import { isObject } from '../../is-object.ts'
import { TICKS } from './budget.ts'
import { equalityKey } from './json.ts'
import type { Call, Children, SchemaNode, Truth } from './nodes.ts'
import { every } from './nodes.ts'
import { applyToRest, placeOf } from './rules-objects.ts'
import type { Apply } from './rules-values.ts'

/** Keywords on arrays. Places that are no arrays pass all of them. */

function onArray(apply: (call: Call, items: readonly unknown[]) => Truth): Apply {
  return (call) => (Array.isArray(call.place.value) ? apply(call, call.place.value) : true)
}

export function applyMaxItems(bound: unknown): Apply {
  return onArray((call, items) => {
    const message = () => `The array must have at most ${String(bound)} items.`
    return items.length <= (bound as number) || call.run.fail(call, 'maxItems', 'too_many', message)
  })
}

export function applyMinItems(bound: unknown): Apply {
  return onArray((call, items) => {
    const message = () => `The array must have at least ${String(bound)} items.`
    return items.length >= (bound as number) || call.run.fail(call, 'minItems', 'too_few', message)
  })
}

/** Linear: each item once, by its text. */
export function applyUniqueItems(wanted: unknown): Apply {
  if (wanted !== true) return () => true
  return onArray((call, items) => {
    const { run } = call
    const first = new Map<string, number>()
    for (const [index, item] of items.entries()) {
      const key = equalityKey(item, run.budget)
      if (key === null || !run.budget.spend(4 * TICKS.name)) return null
      const earlier = first.get(key)
      if (earlier !== undefined) {
        return run.fail(call, 'uniqueItems', 'not_unique', () => `The items ${earlier} and ${index} are equal.`)
      }
      first.set(key, index)
    }
    return true
  })
}

/** `prefixItems`, and the list form of `items` in the older drafts. */
export function applyItemList(nodes: readonly SchemaNode[]): Apply {
  return onArray((call, items) => {
    seeItems(call, Math.min(nodes.length, items.length))
    const met = nodes.slice(0, items.length).entries()
    return every(call.run, met, ([index, node]) => judgeItem(call, node, items, index))
  })
}

/** One schema for every item from an index on. */
export function applyItems(node: SchemaNode, from: number): Apply {
  return onArray((call, items) => {
    seeItems(call, items.length)
    return every(call.run, items.keys(), (index) => index < from || judgeItem(call, node, items, index))
  })
}

function judgeItem(call: Call, node: SchemaNode, items: readonly unknown[], index: number): Truth {
  return call.run.evaluate(node, call, placeOf(call.place, String(index), items[index]), null)
}

function seeItems({ evaluated }: Call, before: number): void {
  evaluated?.addItemsBefore(before)
}

export function listLength(children: Children | undefined): number {
  return children?.kind === 'list' ? children.nodes.length : 0
}

/**
 * `contains` with its bounds. The items that it accepts count as looked at: 2020-12 says so, and for 2019-09, whose text is silent, the
 * official tests and the implementations that we compared agree on it.
 */
export function applyContains(node: SchemaNode, child: SchemaNode): Apply {
  const { draft } = node.resource.dialect
  const bounded = draft !== 'draft-07' && node.resource.dialect.vocabularies.has('validation') && isObject(node.schema)
  const bound = (name: string) =>
    bounded && Object.hasOwn(node.schema as object, name) ? (node.schema as Record<string, number>)[name] : undefined
  const [least, most] = [bound('minContains') ?? 1, bound('maxContains') ?? Infinity]
  return onArray((call, items) => {
    const { matched, doubtful } = countMatches(call, child, items)
    const { run } = call
    if (matched > most) {
      return run.fail(call, 'maxContains', 'too_many', `At most ${most} items may match, found ${matched}.`)
    }
    if (matched + doubtful < least) {
      const keyword = least === 1 ? 'contains' : 'minContains'
      return run.fail(call, keyword, 'too_few', `At least ${least} of the items must match, found ${matched}.`)
    }
    return matched >= least && matched + doubtful <= most ? true : null
  })
}

function countMatches(call: Call, child: SchemaNode, items: readonly unknown[]): { matched: number; doubtful: number } {
  const { run, evaluated } = call
  const { loud } = run
  run.loud = false
  let [matched, doubtful] = [0, 0]
  for (let index = 0; index < items.length && !run.budget.exhausted; index++) {
    const outcome = judgeItem(call, child, items, index)
    if (outcome === true) {
      matched++
      evaluated?.addItem(index)
    } else if (outcome === null) {
      doubtful++
      evaluated?.addPossibleItem(index)
    }
  }
  run.loud = loud
  // Items that were not reached any more.
  if (run.budget.exhausted) doubtful = items.length - matched
  return { matched, doubtful }
}

export function applyUnevaluatedItems(child: SchemaNode): Apply {
  return onArray((call, items) => {
    const { evaluated, run } = call
    if (evaluated === null) return true
    if (!run.budget.spend(items.length * TICKS.name)) return null
    const known = items.map((_, index) => evaluated.hasItem(index))
    evaluated.addItemsBefore(items.length)
    return every(run, items.keys(), (index) => {
      const before = known[index] ?? null
      return before === true || applyToRest(call, child, placeOf(call.place, String(index), items[index]), before === null)
    })
  })
}
