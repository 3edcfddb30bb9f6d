import { need, needText, oneOf } from '../kit/expect.ts'
import { minorUnits } from '../kit/money.ts'
import type { Place } from '../place.ts'
import { rule } from '../rule.ts'
import { feedPrices, onlyObjects } from './rules-session.ts'
import { OLD_LINE_AMOUNTS, PRICED_STATUSES } from './shape.ts'
import { rfcSpec, schemaSpec } from './spec.ts'
import { amountOf, amountsOf, magnitude, onlyOne } from './totals.ts'
import { objects, type AcpView, type TotalsList } from './view.ts'

const TOTAL = schemaSpec('Total')
const PRICED: string[] = ['checkout_session', 'order']
const ADDED = ['fulfillment', 'tax', 'fee', 'gift_wrap', 'tip']

/** ACP-008…013: money, and totals that add up. */
export const MONEY_RULES = [
  rule<AcpView>(
    {
      code: 'ACP-008',
      severity: 'error',
      types: [...PRICED, 'feed_product'],
      why: 'Amounts count the minor unit of the currency; a decimal is charged a hundredfold too little, or refused.',
      spec: rfcSpec('agentic_checkout', '8. Validation Rules'),
      hint: 'Write 19.99 dollars as 1999.',
      good: { type: 'total', amount: 1999 },
      bad: { type: 'total', amount: 19.99 },
    },
    ({ error }, view) => {
      const bounds = view.context.type === 'feed_product' ? { min: 0n } : {}
      for (const place of moneyIn(view)) minorUnits(error, place, bounds)
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-009',
      severity: 'error',
      types: PRICED,
      why: 'An agent shows these lines to the buyer and finds the amount to pay by their type.',
      spec: TOTAL,
      hint: 'Give each total a type of the version, display_text and amount.',
      good: { type: 'total', display_text: 'Total', amount: 1999 },
      bad: { type: 'grand_total', amount: 1999 },
    },
    ({ error }, { totals, inner_totals, lines, sets, is_old }) => {
      for (const { place, entries } of [totals, ...inner_totals]) {
        if (place.present && place !== totals.place) need(error, place, 'array')
        onlyObjects(error, place)
        for (const entry of entries) {
          if (needText(error, entry.get('type')) !== null) oneOf(error, entry.get('type'), sets.totals)
          need(error, entry.get('display_text'), 'string')
          if (!entry.has('amount')) error(entry.get('amount'), 'is missing', { expected: 'an integer of minor units' })
        }
      }
      if (is_old) return
      for (const { place } of lines)
        if (!place.has('totals') && !place.has('base_amount')) error(place.get('totals'), 'is missing', { expected: 'an array' })
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-010',
      severity: 'both',
      types: PRICED,
      why: 'The buyer agrees to one amount, and the agent must know which.',
      spec: TOTAL,
      hint: 'Send exactly one total, and at most one subtotal.',
      good: { status: 'ready_for_payment', totals: [{ type: 'total', amount: 1999 }] },
      bad: { status: 'ready_for_payment', totals: [] },
    },
    ({ error, warning }, { totals, inner_totals, status }) => {
      for (const { tallies } of [totals, ...inner_totals]) {
        for (const type of ['total', 'subtotal'])
          for (const again of tallies.by_type.get(type)?.places.slice(1) ?? [])
            error(again, `is a second ${type}`, { expected: `one ${type}` })
      }
      if (
        status !== null &&
        PRICED_STATUSES.has(status) &&
        totals.place.kind === 'array' &&
        totals.tallies.is_whole &&
        !totals.tallies.by_type.has('total')
      )
        warning(totals.place, 'has no total, although the session can be paid')
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-011',
      severity: 'error',
      types: PRICED,
      why: 'The buyer is charged the total, and sees the parts.',
      spec: TOTAL,
      hint: 'Let total be subtotal, less discount and store_credit, plus fulfillment, tax, fee, gift_wrap and tip.',
      good: { subtotal: 1000, tax: 80, total: 1080 },
      bad: { subtotal: 1000, tax: 80, total: 1000 },
    },
    ({ error }, { totals }) => {
      const { tallies } = totals
      const [total, subtotal] = [onlyOne(tallies, 'total'), onlyOne(tallies, 'subtotal')]
      const added = amountsOf(tallies, ADDED)
      const discount = magnitude(amountOf(tallies, 'discount'))
      const credit = magnitude(amountOf(tallies, 'store_credit'))
      if (total === null || subtotal === null || added === null || discount === null || credit === null) return
      const gross = subtotal.amount + added - credit
      // No formula is written; official examples have the discount inside the subtotal as well as beside it.
      if (total.amount !== gross && total.amount !== gross - discount)
        error(total.place, 'is not what the other totals come to', {
          expected: 'subtotal - discount + fulfillment + tax + fee + gift_wrap + tip - store_credit',
        })
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-012',
      severity: 'error',
      types: PRICED,
      why: 'The subtotal is what the items cost after their own discounts.',
      spec: rfcSpec('discount_extension', '8. Impact on Line Items and Totals'),
      hint: 'Let subtotal be items_base_amount less items_discount.',
      good: { items_base_amount: 1000, items_discount: 100, subtotal: 900 },
      bad: { items_base_amount: 1000, items_discount: 100, subtotal: 1100 },
    },
    ({ error }, { totals }) => {
      const { tallies } = totals
      const [subtotal, base] = [onlyOne(tallies, 'subtotal'), onlyOne(tallies, 'items_base_amount')]
      const reduction = magnitude(amountOf(tallies, 'items_discount'))
      const discount = magnitude(amountOf(tallies, 'discount'))
      if (!tallies.by_type.has('items_discount') || subtotal === null || base === null || reduction === null || discount === null) return
      const net = base.amount - reduction
      if (subtotal.amount !== net && subtotal.amount !== net - discount)
        error(subtotal.place, 'is not items_base_amount less items_discount', { expected: 'items_base_amount - items_discount' })
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-013',
      severity: 'both',
      types: PRICED,
      why: 'Discounts are written positive and taken off; a negative one would be added, as would a negative tax be taken off.',
      spec: rfcSpec('discount_extension', '8.2 Invariants'),
      hint: 'Write every amount of totals as zero or more.',
      good: { type: 'discount', amount: 500 },
      bad: { type: 'discount', amount: -500 },
    },
    ({ error, warning }, { totals, inner_totals, is_old }) => {
      for (const { entries } of [totals, ...inner_totals]) {
        for (const entry of entries) {
          const amount = entry.get('amount')
          const type = entry.get('type').text() ?? ''
          if ((amount.integer() ?? 0n) >= 0n) continue
          if (type === 'discount' && !is_old) error(amount, 'is a negative discount', { expected: 'zero or more' })
          else if (['discount', 'items_discount', 'tax', 'fee', 'fulfillment', 'total'].includes(type))
            warning(amount, 'is negative', { expected: 'zero or more' })
        }
      }
    },
  ),
]

/** Every amount of money but those of an allowance. */
function moneyIn(view: AcpView): Place[] {
  const { context, body, totals, inner_totals, lines, options, applied, order } = view
  if (context.type === 'feed_product') return feedPrices(body).map((price) => price.get('amount'))
  const places = [totals, ...inner_totals].flatMap(amountsIn)
  for (const { place } of lines) {
    places.push(...OLD_LINE_AMOUNTS.map((name) => place.get(name)), place.get('unit_amount'), place.down('item', 'unit_amount'))
    places.push(...objects(place.get('discount_details')).map((one) => one.get('amount')))
  }
  for (const option of options) places.push(...['subtotal', 'tax', 'total'].map((name) => option.get(name)))
  for (const one of applied) {
    places.push(one.get('amount'), one.down('coupon', 'amount_off'))
    places.push(...objects(one.get('allocations')).map((allocation) => allocation.get('amount')))
  }
  for (const line of objects(order.get('line_items'))) places.push(line.get('unit_price'), line.get('subtotal'))
  places.push(...objects(order.get('adjustments')).map((one) => one.get('amount')))
  return places.filter(({ present }) => present)
}

function amountsIn({ entries }: TotalsList): Place[] {
  return entries.flatMap((entry) => [
    entry.get('amount'),
    entry.get('presentment_amount'),
    ...objects(entry.get('breakdown')).map((part) => part.get('amount')),
  ])
}
