import { refersTo } from '../kit/expect.ts'
import type { Place } from '../place.ts'
import type { Context, Say } from '../rule.ts'
import { allowanceIn, bodyOf } from './detect.ts'
import { addedBy, type Added } from './extensions.ts'
import { ACP_VERSIONS, CLOSED_SETS, type AcpVersion, type ClosedSets } from './shape.ts'
import { tally, type Tallies } from './totals.ts'

export interface TotalsList {
  place: Place
  /** Entries that are objects. */
  entries: Place[]
  tallies: Tallies
}

export interface Line {
  place: Place
  /** Where the version keeps them: in `totals` since 2026-01-30; empty before. */
  tallies: Tallies
}

/** What was chosen for some items, whatever the version writes it like. */
interface Selection {
  /** null where 2025-09-29 names an id alone. */
  type: Place | null
  option_id: Place
  item_ids: Place
}

/** Places of a document that the rules are about, gathered once. */
export interface AcpView {
  context: Context
  version: AcpVersion
  sets: ClosedSets
  /** Version 2026-01-16 or older: amounts on the line, quantity on the item. */
  is_old: boolean
  body: Place
  /** Status of a session; null when there is none. */
  status: string | null
  lines: Line[]
  options: Place[]
  selections: Selection[]
  /** Totals of the session or order as a whole. */
  totals: TotalsList
  /** Totals of lines and fulfilment options. */
  inner_totals: TotalsList[]
  messages: Place[]
  links: Place[]
  handlers: Place[]
  applied: Place[]
  /** An order that stands alone or in a session. */
  order: Place
  allowance: Place
  added: Added
}

export function viewAcp(context: Context): AcpView {
  const body = bodyOf(context.document)
  const version = ACP_VERSIONS.find((one) => one === context.version) ?? ACP_VERSIONS[0]
  const isSession = context.type === 'checkout_session'
  const lines = objects(isSession ? body.get('line_items') : body.get('absent'))
  const options = objects(body.get('fulfillment_options'))
  const order = context.type === 'order' ? body : body.get('order')
  const totals = [...lines, ...options, ...objects(order.get('line_items'))].map((one) => one.get('totals'))
  if (isSession && order.has('totals')) totals.push(order.get('totals'))
  return {
    context,
    version,
    sets: CLOSED_SETS[version],
    is_old: !context.atLeast('2026-01-30'),
    body,
    status: isSession ? body.get('status').text() : null,
    lines: lines.map((place) => ({ place, tallies: tally(place.get('totals')) })),
    options,
    selections: selectionsIn(body),
    totals: listAt(body.get('totals')),
    inner_totals: totals.filter(({ present }) => present).map(listAt),
    messages: objects(body.get('messages')),
    links: objects(body.get('links')),
    handlers: objects(body.down('capabilities', 'payment', 'handlers')),
    applied: objects(body.down('discounts', 'applied')),
    order,
    allowance: allowanceIn(body),
    added: addedBy(body),
  }
}

/** Items of an array that are objects. */
export function objects(place: Place): Place[] {
  return place.items().filter(({ kind }) => kind === 'object')
}

/** Items of an array that are neither objects nor redacted. */
export function strays(place: Place): Place[] {
  return place.items().filter(({ kind }) => kind !== 'object' && kind !== 'redacted')
}

function listAt(place: Place): TotalsList {
  return { place, entries: objects(place), tallies: tally(place) }
}

function selectionsIn(body: Place): Selection[] {
  const selections: Selection[] = objects(body.get('selected_fulfillment_options')).map((one) => {
    const type = one.get('type')
    // A type that was taken out is told by the member that is there.
    const nested = type.redacted ? one.get(one.has('shipping') ? 'shipping' : 'digital') : one.get(type.text() ?? '')
    const holder = nested.kind === 'object' ? nested : one
    return { type, option_id: holder.get('option_id'), item_ids: holder.get('item_ids') }
  })
  const first = body.get('fulfillment_option_id')
  if (first.present) selections.push({ type: null, option_id: first, item_ids: first.get('item_ids') })
  return selections
}

/** Unit price and quantity of a line where its version keeps them. */
export function unitAmount(line: Place): Place {
  return line.has('unit_amount') ? line.get('unit_amount') : line.down('item', 'unit_amount')
}

/** Discounts that a line has of itself: `items_discount`, else `discount`; null when unreadable, undefined when it names none. */
export function lineDiscount({ tallies: { by_type, is_whole } }: Line): bigint | null | undefined {
  return is_whole ? (by_type.get('items_discount') ?? by_type.get('discount'))?.amount : null
}

/** Ids that may be referred to; null when one of them was taken out, so that nobody knows. */
export function idsOf(places: readonly Place[]): ReadonlySet<string> | null {
  return places.some(({ redacted }) => redacted) ? null : new Set(places.map((place) => place.text() ?? ''))
}

/** The text here must be one of these ids, where they are known. */
export function refers(say: Say, place: Place, ids: ReadonlySet<string> | null, what: string): void {
  if (ids !== null) refersTo(say, place, ids, what)
}
