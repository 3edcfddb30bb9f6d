import { need, needText, oneOf, optional, refersTo, treeOf, unique } from '../kit/expect.ts'
import { integer } from '../kit/money.ts'
import type { Place } from '../place.ts'
import { rule, type Say } from '../rule.ts'
import { BASKETS } from './detect.ts'
import { expectShape } from '../kit/shape.ts'
import { CHECKOUT_FULFILLMENT, NEWEST_CHECKOUT_FULFILLMENT, NEWEST_ORDER_FULFILLMENT, ORDER_FULFILLMENT } from './shapes.ts'
import { ucpSpec } from './spec.ts'
import { objects, type UcpView } from './view.ts'

/** UCP-035 and 041: lines, and what refers to them. */
export const LINE_RULES = [
  rule<UcpView>(
    {
      code: 'UCP-035',
      severity: 'error',
      types: BASKETS,
      why: 'Fulfilment, discounts and refunds refer to lines by id and count their pieces.',
      spec: ucpSpec('reference', 'Line Item'),
      hint: 'Give each line its own id and a quantity from 1 up; in orders an object with total and fulfilled.',
      good: { id: 'li_1', quantity: 2 },
      bad: { id: 'li_1', quantity: 0 },
    },
    ({ error }, { lines, context }) => {
      const ids = lines.map((line) => line.get('id'))
      for (const line of lines) {
        needText(error, line.get('id'))
        if (context.type === 'order') orderedQuantity(error, line, context.atLeast('2026-04-08'))
        else if (need(error, line.get('quantity'), 'number')) integer(error, line.get('quantity'), { min: 1n })
        need(error, line.get('totals'), 'array')
        for (const entry of line.get('totals').items()) optional(error, entry, 'object')
        optional(error, line.get('parent_id'), 'string')
      }
      parents(error, lines, unique(error, ids, 'the id of another line'))
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-041',
      severity: 'error',
      types: BASKETS,
      why: 'A choice or a parcel that points at nothing cannot be shown, priced or shipped.',
      spec: ucpSpec('fulfillment', 'Schema'),
      hint: 'Refer to ids that the response itself has.',
      hint_by_case: true,
      good: { line_items: [{ id: 'li_1' }], fulfillment: { methods: [{ line_item_ids: ['li_1'] }] } },
      bad: { line_items: [{ id: 'li_1' }], fulfillment: { methods: [{ line_item_ids: ['li_2'] }] } },
    },
    ({ error }, view) => {
      const { body, lines, context, newest } = view
      const fulfillment = body.get('fulfillment')
      // Members of fulfilment differ between versions, so an unknown version says nothing about them.
      const isKnown = context.version_source !== 'assumed'
      if (context.type === 'order') {
        if (isKnown && fulfillment.kind === 'object') expectShape(error, fulfillment, newest ? NEWEST_ORDER_FULFILLMENT : ORDER_FULFILLMENT)
        movedQuantities(error, body)
      } else if (isKnown) expectShape(error, fulfillment, newest ? NEWEST_CHECKOUT_FULFILLMENT : CHECKOUT_FULFILLMENT)
      const ids = lines.map((line) => line.get('id').text()).filter((id) => id !== null)
      // Where a line or its id cannot be read, what refers to it proves nothing.
      if (body.get('line_items').kind !== 'array' || ids.length < body.get('line_items').items().length) return
      const known = new Set(ids)
      for (const place of lineReferences(body)) refersTo(error, place, known, 'a line')
      choices(error, fulfillment)
      allocations(error, body)
    },
  ),
]

function orderedQuantity(error: Say, line: Place, has_removed: boolean): void {
  const states = ['processing', 'partial', 'fulfilled', ...(has_removed ? ['removed'] : [])]
  if (need(error, line.get('status'), 'string')) oneOf(error, line.get('status'), states)
  const quantity = line.get('quantity')
  if (!need(error, quantity, 'object') || quantity.redacted) return
  const count = (name: string) => (need(error, quantity.get(name), 'number') ? integer(error, quantity.get(name), { min: 0n }) : null)
  const [total, fulfilled] = [count('total'), count('fulfilled')]
  integer(error, quantity.get('original'), { min: 0n })
  if (total !== null && fulfilled !== null && fulfilled > total) error(quantity.get('fulfilled'), 'is more than total')
}

function parents(error: Say, lines: readonly Place[], known: ReadonlySet<string>): void {
  const parent_of = new Map<string, string | null>()
  for (const line of lines) {
    const id = line.get('id').text()
    if (id !== null && !parent_of.has(id)) parent_of.set(id, line.get('parent_id').text())
    refersTo(error, line.get('parent_id'), known, 'a line')
  }
  const { in_cycle } = treeOf(parent_of)
  for (const line of lines) if (in_cycle.has(line.get('id').text() ?? '')) error(line.get('parent_id'), 'leads back to the line itself')
}

/** Lists of lines with quantities in an order; refunds count downwards, so only the type is asked for there. */
function movedQuantities(error: Say, body: Place): void {
  for (const part of [...objects(body.down('fulfillment', 'expectations')), ...objects(body.down('fulfillment', 'events'))]) {
    for (const line of objects(part.get('line_items')))
      if (need(error, line.get('quantity'), 'number')) integer(error, line.get('quantity'), { min: 0n })
  }
  for (const line of objects(body.get('adjustments')).flatMap((change) => objects(change.get('line_items'))))
    if (need(error, line.get('quantity'), 'number')) integer(error, line.get('quantity'))
}

/** Every place that holds the id of a line. */
function lineReferences(body: Place): Place[] {
  const fulfillment = body.get('fulfillment')
  const methods = objects(fulfillment.get('methods'))
  const holders = [
    ...methods,
    ...methods.flatMap((method) => objects(method.get('groups'))),
    ...objects(fulfillment.get('available_methods')),
  ]
  const parts = [...objects(fulfillment.get('expectations')), ...objects(fulfillment.get('events')), ...objects(body.get('adjustments'))]
  return [
    ...holders.flatMap((holder) => holder.get('line_item_ids').items()),
    ...parts.flatMap((part) => objects(part.get('line_items')).map((line) => line.get('id'))),
  ]
}

/** What the buyer chose must be among what is offered, where an offer is sent. */
function choices(error: Say, fulfillment: Place): void {
  const chosen = (place: Place, offers: Place, what: string) => {
    const offered = objects(offers).map((offer) => offer.get('id'))
    if (offers.kind !== 'array' || offered.some((id) => id.redacted)) return
    refersTo(error, place, new Set(offered.map((id) => id.text()).filter((id) => id !== null)), what)
  }
  for (const method of objects(fulfillment.get('methods'))) {
    chosen(method.get('selected_destination_id'), method.get('destinations'), 'a destination')
    for (const group of objects(method.get('groups'))) chosen(group.get('selected_option_id'), group.get('options'), 'an option')
  }
}

/** Only `$.line_items[n]` is looked up: other paths, such as `$.totals.shipping`, are written in more ways than one. */
function allocations(error: Say, body: Place): void {
  const list = body.get('line_items')
  const count = list.items().length
  const applied = objects(body.down('discounts', 'applied'))
  for (const path of applied.flatMap((discount) => objects(discount.get('allocations')).map((allocation) => allocation.get('path')))) {
    const index = /^\$\.line_items\[([0-9]{1,9})\]/.exec(path.text() ?? '')?.[1]
    if (index !== undefined && list.kind === 'array' && Number(index) >= count)
      error(path, 'refers to a line that the document does not have')
  }
}
