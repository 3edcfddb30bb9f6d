import { need, needText, oneOf, unique } from '../kit/expect.ts'
import { readDateTime } from '../kit/dates.ts'
import type { Place } from '../place.ts'
import { rule, type Say } from '../rule.ts'
import { onlyObjects } from './rules-session.ts'
import { rfcSpec, schemaSpec } from './spec.ts'
import { amountOf, onlyOne, tally } from './totals.ts'
import { idsOf, objects, refers, type AcpView } from './view.ts'

const SESSION = ['checkout_session']
const SELECTED = schemaSpec('SelectedFulfillmentOption')

/** ACP-020…023: how what is bought gets to the buyer. */
export const FULFILLMENT_RULES = [
  rule<AcpView>(
    {
      code: 'ACP-020',
      severity: 'error',
      types: SESSION,
      why: 'The buyer chooses among these options by title and price, and the agent by id.',
      spec: schemaSpec('FulfillmentOptionShipping'),
      hint: 'Give each option a type of the version, an id of its own, a title, and its price where the version keeps it.',
      good: { type: 'shipping', id: 'standard', title: 'Standard', totals: [] },
      bad: { type: 'courier', id: 'standard' },
    },
    ({ error }, view) => {
      const { body, options } = view
      onlyObjects(error, body.get('fulfillment_options'))
      for (const option of options) optionForm(error, option, view)
      unique(
        error,
        options.map((option) => option.get('id')),
        'the id of another option',
      )
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-021',
      severity: 'error',
      types: ['checkout_session', 'order'],
      why: 'A window that ends before it begins cannot be kept.',
      spec: schemaSpec('FulfillmentOptionShipping'),
      hint: 'Put the earlier time first.',
      good: { earliest_delivery_time: '2026-12-01T00:00:00Z', latest_delivery_time: '2026-12-03T00:00:00Z' },
      bad: { earliest_delivery_time: '2026-12-03T00:00:00Z', latest_delivery_time: '2026-12-01T00:00:00Z' },
    },
    ({ error }, { options, order }) => {
      for (const option of options) {
        ordered(error, option, ['earliest_delivery_time', 'latest_delivery_time'])
        ordered(error, option, ['ready_by', 'pickup_by'])
        ordered(error, option.get('delivery_window'), ['start', 'end'], true)
      }
      for (const holder of [order, ...objects(order.get('fulfillments'))])
        ordered(error, holder.get('estimated_delivery'), ['earliest', 'latest'])
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-022',
      severity: 'error',
      types: SESSION,
      why: 'An option that is not offered, or an item that is not bought, cannot be sent.',
      spec: rfcSpec('agentic_checkout', '8. Validation Rules'),
      hint: 'Select an id out of fulfillment_options with its type, and name lines of the session.',
      good: { fulfillment_options: [{ id: 'standard' }], selected_fulfillment_options: [{ option_id: 'standard' }] },
      bad: { fulfillment_options: [{ id: 'standard' }], selected_fulfillment_options: [{ option_id: 'express' }] },
    },
    ({ error }, view) => {
      selected(error, view)
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-023',
      severity: 'warning',
      types: SESSION,
      why: 'A total that lacks the price of the chosen delivery is too low, and changes at payment.',
      spec: SELECTED,
      hint: 'Let the fulfillment total be the price of the selected option.',
      good: { totals: [{ type: 'fulfillment', amount: 500 }], selected: 500 },
      bad: { totals: [{ type: 'tax', amount: 80 }], selected: 500 },
    },
    ({ warning }, view) => {
      price(warning, view)
    },
  ),
]

function optionForm(error: Say, option: Place, { sets, version }: AcpView): void {
  if (needText(error, option.get('type')) !== null) oneOf(error, option.get('type'), sets.options)
  needText(error, option.get('id'))
  need(error, option.get('title'), 'string')
  const asked = version === '2025-09-29' ? ['subtotal', 'tax', 'total'] : version === '2025-12-12' ? ['total'] : ['totals']
  // Prices in the form of another version are reported as such.
  if (['subtotal', 'tax', 'total', 'totals'].some((name) => option.has(name) && !asked.includes(name)) && version !== '2025-12-12') return
  for (const name of asked)
    if (!option.has(name)) error(option.get(name), 'is missing', { expected: name === 'totals' ? 'an array' : 'an integer of minor units' })
}

function ordered(error: Say, holder: Place, [first, last]: readonly [string, string], strictly = false): void {
  const [from, to] = [readDateTime(holder.get(first).text()), readDateTime(holder.get(last).text())]
  if (from === null || to === null) return
  if (from > to || (strictly && from === to)) error(holder.get(last), `is not after ${first}`, { expected: `a time after ${first}` })
}

function selected(error: Say, { body, options, selections, lines, sets }: AcpView): void {
  const types = new Map(options.map((option) => [option.get('id').text() ?? '', option.get('type').text()]))
  const ids = idsOf(options.map((option) => option.get('id')))
  // Official examples name items by the id of the item as well as by that of its line.
  const items = idsOf(lines.flatMap(({ place }) => [place.get('id'), place.down('item', 'id')]))
  onlyObjects(error, body.get('selected_fulfillment_options'))
  for (const { type, option_id, item_ids } of selections) {
    needText(error, option_id)
    refers(error, option_id, ids, 'an option')
    if (type === null) continue
    if (needText(error, type) !== null) oneOf(error, type, sets.options)
    const offered = types.get(option_id.text() ?? '')
    const isKnown = [type.text(), offered].every((one) => typeof one === 'string' && sets.options.includes(one))
    if (isKnown && typeof offered === 'string' && offered !== type.text())
      error(type, 'is not the type of the option', { expected: offered })
    if (need(error, item_ids, 'array')) for (const id of item_ids.items()) refers(error, id, items, 'a line')
  }
  for (const group of objects(body.get('fulfillment_groups')))
    for (const id of group.get('item_ids').items()) refers(error, id, items, 'a line')
}

interface Price {
  /** Its fulfillment entry or subtotal, else its total. */
  net: bigint
  total: bigint
}

function priceOf(option: Place): Price | null {
  const list = option.get('totals')
  const tallies = tally(list)
  const [total, fulfillment, subtotal] = list.present
    ? ['total', 'fulfillment', 'subtotal'].map((type) => onlyOne(tallies, type)?.amount ?? null)
    : [option.get('total').integer(), null, option.get('subtotal').integer()]
  const net = fulfillment ?? subtotal ?? total ?? null
  return net === null ? null : { net, total: total ?? net }
}

function price(warning: Say, { options, selections, totals }: AcpView): void {
  const chosen = new Set(selections.map(({ option_id }) => option_id.text()))
  const prices = options.filter((option) => chosen.has(option.get('id').text() ?? '')).map(priceOf)
  const isUnknown = idsOf([...selections.map(({ option_id }) => option_id), ...options.map((option) => option.get('id'))]) === null
  if (prices.length === 0 || isUnknown || !totals.tallies.by_type.has('total')) return
  let [net, total] = [0n, 0n]
  for (const one of prices) {
    if (one === null) return
    net += one.net
    total += one.total
  }
  const amount = amountOf(totals.tallies, 'fulfillment')
  if (amount === null || amount === net || amount === total) return
  warning(
    totals.tallies.by_type.get('fulfillment')?.places[0]?.get('amount') ?? totals.place,
    'does not have the price of the selected fulfilment',
    {
      expected: 'a fulfillment total of the price of the selected option',
    },
  )
}
