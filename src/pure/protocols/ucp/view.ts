import type { Place } from '../place.ts'
import type { Context } from '../rule.ts'
import { bodyOf, TRANSPORTS, type Transport } from './detect.ts'

export type Registry = 'services' | 'capabilities' | 'payment_handlers'

/** One version of a service, a capability or a payment handler. */
export interface Entity {
  registry: Registry
  place: Place
  /** Where its name stands: the member of a map, or `name` of an item in 2026-01-11. */
  name_place: Place
  name: string | null
}

/** One way to reach a service. */
interface Binding {
  entity: Entity
  /** The object with endpoint and schema. */
  place: Place
  transport: Transport | null
}

/** A list of totals. `document` and `line` follow the rules of a basket, `option` prices a choice, `adjustment` moves money either way. */
export interface TotalsList {
  place: Place
  of: 'document' | 'line' | 'option' | 'adjustment'
  entries: Place[]
}

/** What the rules of UCP are about, gathered once. */
export interface UcpView {
  context: Context
  /** The UCP body, out of an MCP answer where one wraps it. */
  body: Place
  ucp: Place
  /** Whether the shapes of 2026-01-11 apply: an array of capabilities, one object a service, handlers under `payment`. */
  first: boolean
  /** Whether the newest rules known here apply, those of 2026-08-25. */
  newest: boolean
  is_profile: boolean
  is_platform: boolean
  entities: Entity[]
  bindings: Binding[]
  /** Keys in both fields that a profile may have. */
  keys: Place[]
  lines: Place[]
  totals: TotalsList[]
  messages: Place[]
}

export function viewUcp(context: Context): UcpView {
  const body = bodyOf(context.document)
  const first = !context.atLeast('2026-01-23')
  const entities = entitiesOf(body, first)
  const is_profile = context.type === 'business_profile' || context.type === 'platform_profile'
  return {
    context,
    body,
    ucp: body.get('ucp'),
    first,
    newest: context.atLeast('2026-08-25'),
    is_profile,
    is_platform: context.type === 'platform_profile',
    entities,
    bindings: bindingsOf(entities, first),
    keys: ['signing_keys', 'keys'].flatMap((name) => objects(body.get(name))),
    lines: objects(body.get('line_items')),
    totals: totalsOf(body),
    messages: objects(body.get('messages')),
  }
}

/** The items of an array that are objects; rules about shape speak of the others. */
export function objects(list: Place): Place[] {
  return list.items().filter(({ kind }) => kind === 'object')
}

/** Where a registry stands in a version. */
export function registryPlace(body: Place, registry: Registry, first: boolean): Place {
  return first && registry === 'payment_handlers' ? body.down('payment', 'handlers') : body.down('ucp', registry)
}

function entitiesOf(body: Place, first: boolean): Entity[] {
  return (['services', 'capabilities', 'payment_handlers'] as const).flatMap((registry): Entity[] => {
    const holder = registryPlace(body, registry, first)
    if (!first)
      return holder.members().flatMap((name) => objects(name).map((place) => ({ registry, place, name_place: name, name: name.key })))
    if (registry !== 'services')
      return objects(holder).map((place) => ({ registry, place, name_place: place.get('name'), name: place.get('name').text() }))
    return holder
      .members()
      .filter(({ kind }) => kind === 'object')
      .map((place) => ({ registry, place, name_place: place, name: place.key }))
  })
}

function bindingsOf(entities: readonly Entity[], first: boolean): Binding[] {
  const services = entities.filter(({ registry }) => registry === 'services')
  if (!first) {
    return services.map((entity) => {
      const said = entity.place.get('transport').text()
      return { entity, place: entity.place, transport: TRANSPORTS.find((one) => one === said) ?? null }
    })
  }
  return services.flatMap((entity) =>
    TRANSPORTS.map((transport) => ({ entity, place: entity.place.get(transport), transport })).filter(
      ({ place }) => place.kind === 'object',
    ),
  )
}

function totalsOf(body: Place): TotalsList[] {
  const groups = objects(body.down('fulfillment', 'methods')).flatMap((method) => objects(method.get('groups')))
  const list = (of: TotalsList['of'], holder: Place) => {
    const place = holder.get('totals')
    return { place, of, entries: objects(place) }
  }
  return [
    list('document', body),
    ...objects(body.get('line_items')).map((line) => list('line', line)),
    ...groups.flatMap((group) => objects(group.get('options'))).map((option) => list('option', option)),
    ...objects(body.get('adjustments')).map((adjustment) => list('adjustment', adjustment)),
  ]
}

/** The own field of a version for public keys, and the one that another version uses. */
export function keyFields({ newest }: Pick<UcpView, 'newest'>): ['keys' | 'signing_keys', 'keys' | 'signing_keys'] {
  return newest ? ['keys', 'signing_keys'] : ['signing_keys', 'keys']
}

export function isCapability({ registry }: Entity): boolean {
  return registry === 'capabilities'
}

/** The amount of the entries of one type; null unless exactly one has it, as an integer. */
export function amountOfType(entries: readonly Place[], type: string): bigint | null {
  const found = entries.filter((entry) => entry.get('type').text() === type)
  return found.length === 1 ? (found[0]?.get('amount').integer() ?? null) : null
}
