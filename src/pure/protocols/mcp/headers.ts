import type { Place } from '../place.ts'

/** A schema that asks a client to copy its value into a header. */
interface HeaderMark {
  /** The schema of the property. */
  place: Place
  /** Its `x-mcp-header`. */
  mark: Place
  /** Whether only `properties` lead to it from the root. */
  is_reachable: boolean
}

interface Open {
  place: Place
  is_reachable: boolean
}

/** Keywords with one schema, a list of them, or a map of them. Values of `const`, `enum`, `default` and `examples` are data. */
const ONE = [
  'items',
  'contains',
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
]
const LISTS = ['items', 'prefixItems', 'oneOf', 'anyOf', 'allOf']
const MAPS = ['patternProperties', 'dependentSchemas', '$defs', 'definitions']

/** Every mark in a schema, wherever it stands; for schemas whose size is bounded. */
export function headersIn(schema: Place): HeaderMark[] {
  const found: HeaderMark[] = []
  const open: Open[] = [{ place: schema, is_reachable: true }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { place, is_reachable } = next
    if (place.kind !== 'object') continue
    const mark = place.get('x-mcp-header')
    if (mark.present) found.push({ place, mark, is_reachable: is_reachable && place !== schema })
    // Taken from the end, so that marks are found in the order of the document.
    open.push(...within(place, is_reachable).toReversed())
  }
  return found
}

function within(place: Place, is_reachable: boolean): Open[] {
  const elsewhere = [
    ...ONE.map((name) => place.get(name)),
    ...LISTS.flatMap((name) => place.get(name).items()),
    ...MAPS.flatMap((name) => place.get(name).members()),
  ]
  return [
    ...place
      .get('properties')
      .members()
      .map((one) => ({ place: one, is_reachable })),
    ...elsewhere.map((one) => ({ place: one, is_reachable: false })),
  ]
}
