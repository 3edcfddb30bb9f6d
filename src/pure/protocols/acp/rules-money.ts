import { expectType, expectText, expectOneOf, expectPresent, expectItemTypes, expectObject } from '../kit/expect.ts'
import { expectMinorUnits, sumIntegers } from '../kit/money.ts'
import type { JsonCursor } from '../json-cursor.ts'
import type { RuleTable, ReportFinding } from '../protocol.ts'
import { OLD_LINE_AMOUNTS, rfcSpec, schemaSpec, REJECTION_REASONS, SESSION_TYPES } from './versions.ts'
import { followJsonPath } from './json-path.ts'
import { sumOfType, sumOfTypes, absoluteAmount, singleAmount, type AcpView, type AcpTotals, listFeedPrices } from './view.ts'

const TOTAL = schemaSpec('Total')
const PRICED: string[] = ['checkout_session', 'order']
const ADDED = ['fulfillment', 'tax', 'fee', 'gift_wrap', 'tip']

/** Statuses in which the amount to pay must be known. */
const PRICED_STATUSES: ReadonlySet<string> = new Set([
  'ready_for_payment',
  'authentication_required',
  'pending_approval',
  'complete_in_progress',
  'in_progress',
  'completed',
])

/** ACP-008…013: money, and totals that add up. */
export const ACP_MONEY_RULES: RuleTable<AcpView> = {
  'ACP-008': {
    types: [...PRICED, 'feed_product'],
    why: 'Amounts count the minor unit of the currency; a decimal is charged a hundredfold too little, or refused.',
    spec: rfcSpec('agentic_checkout', '8. Validation Rules'),
    hint: 'Write 19.99 dollars as 1999.',
    good: { type: 'total', amount: 1999 },
    bad: { type: 'total', amount: 19.99 },
    check({ error }, view) {
      const bounds = view.context.type === 'feed_product' ? { min: 0n } : {}
      for (const cursor of listAmounts(view)) expectMinorUnits(error, cursor, bounds)
    },
  },
  'ACP-009': {
    types: PRICED,
    why: 'An agent shows these lines to the buyer and finds the amount to pay by their type.',
    spec: TOTAL,
    hint: 'Give each total a type of the version, display_text and amount.',
    good: { type: 'total', display_text: 'Total', amount: 1999 },
    bad: { type: 'grand_total', amount: 1999 },
    check({ error }, { totals, inner_totals, lines, sets, is_before_202601 }) {
      for (const { cursor, entries } of [totals, ...inner_totals]) {
        if (cursor.present && cursor !== totals.cursor) expectType(error, cursor, 'array')
        expectItemTypes(error, cursor, 'object')
        for (const entry of entries) {
          if (expectText(error, entry.get('type')) !== null) expectOneOf(error, entry.get('type'), sets.totals)
          expectType(error, entry.get('display_text'), 'string')
          if (!entry.has('amount')) error(entry.get('amount'), 'is missing', { expected: 'an integer of minor units' })
        }
      }
      if (is_before_202601) return
      for (const { cursor } of lines)
        if (!cursor.has('totals') && !cursor.has('base_amount')) error(cursor.get('totals'), 'is missing', { expected: 'an array' })
    },
  },
  'ACP-010': {
    severity: 'both',
    types: PRICED,
    why: 'The buyer agrees to one amount, and the agent must know which.',
    spec: TOTAL,
    hint: 'Send exactly one total, and at most one subtotal.',
    good: { status: 'ready_for_payment', totals: [{ type: 'total', amount: 1999 }] },
    bad: { status: 'ready_for_payment', totals: [] },
    check({ error, warning }, { totals, inner_totals, status }) {
      for (const { tallies } of [totals, ...inner_totals]) {
        for (const type of ['total', 'subtotal'])
          for (const again of tallies.by_type.get(type)?.cursors.slice(1) ?? [])
            error(again, `is a second ${type}`, { expected: `one ${type}` })
      }
      if (
        status !== null &&
        PRICED_STATUSES.has(status) &&
        totals.cursor.kind === 'array' &&
        totals.tallies.is_whole &&
        !totals.tallies.by_type.has('total')
      )
        warning(totals.cursor, 'has no total, but the session is ready to be paid')
    },
  },
  'ACP-011': {
    types: PRICED,
    why: 'The buyer is charged the total, and sees the parts.',
    spec: TOTAL,
    hint: 'Let total be subtotal, less discount and store_credit, plus fulfillment, tax, fee, gift_wrap and tip.',
    good: { subtotal: 1000, tax: 80, total: 1080 },
    bad: { subtotal: 1000, tax: 80, total: 1000 },
    check({ error }, { totals }) {
      const { tallies } = totals
      const [total, subtotal] = [singleAmount(tallies, 'total'), singleAmount(tallies, 'subtotal')]
      const added = sumOfTypes(tallies, ADDED)
      const discount = absoluteAmount(sumOfType(tallies, 'discount'))
      const credit = absoluteAmount(sumOfType(tallies, 'store_credit'))
      if (total === null || subtotal === null || added === null || discount === null || credit === null) return
      const gross = subtotal.amount + added - credit
      // The specification has no formula; in official examples the subtotal may or may not include the discount.
      if (total.amount !== gross && total.amount !== gross - discount)
        error(total.cursor, 'does not match the other totals', {
          expected: 'subtotal - discount + fulfillment + tax + fee + gift_wrap + tip - store_credit',
        })
    },
  },
  'ACP-012': {
    types: PRICED,
    why: 'The subtotal is what the items cost after their own discounts.',
    spec: rfcSpec('discount_extension', '8. Impact on Line Items and Totals'),
    hint: 'Let subtotal be items_base_amount less items_discount.',
    good: { items_base_amount: 1000, items_discount: 100, subtotal: 900 },
    bad: { items_base_amount: 1000, items_discount: 100, subtotal: 1100 },
    check({ error }, { totals }) {
      const { tallies } = totals
      const [subtotal, base] = [singleAmount(tallies, 'subtotal'), singleAmount(tallies, 'items_base_amount')]
      const reduction = absoluteAmount(sumOfType(tallies, 'items_discount'))
      const discount = absoluteAmount(sumOfType(tallies, 'discount'))
      if (!tallies.by_type.has('items_discount') || subtotal === null || base === null || reduction === null || discount === null) return
      const net = base.amount - reduction
      if (subtotal.amount !== net && subtotal.amount !== net - discount)
        error(subtotal.cursor, 'is not items_base_amount less items_discount', { expected: 'items_base_amount - items_discount' })
    },
  },
  'ACP-013': {
    severity: 'both',
    types: PRICED,
    why: 'Discounts are written positive and taken off; a negative one would be added, as would a negative tax be taken off.',
    spec: rfcSpec('discount_extension', '8.2 Invariants'),
    hint: 'Write every amount of totals as zero or more.',
    good: { type: 'discount', amount: 500 },
    bad: { type: 'discount', amount: -500 },
    check({ error, warning }, { totals, inner_totals, is_before_202601 }) {
      for (const { entries } of [totals, ...inner_totals]) {
        for (const entry of entries) {
          const amount = entry.get('amount')
          const type = entry.text('type') ?? ''
          if ((amount.integer() ?? 0n) >= 0n) continue
          if (type === 'discount' && !is_before_202601) error(amount, 'is a negative discount', { expected: 'zero or more' })
          else if (['discount', 'items_discount', 'tax', 'fee', 'fulfillment', 'total'].includes(type))
            warning(amount, 'is negative', { expected: 'zero or more' })
        }
      }
    },
  },
}

/** Every amount of money but those of an allowance. */
function listAmounts(view: AcpView): JsonCursor[] {
  const { context, body, totals, inner_totals, lines, options, applied, order } = view
  if (context.type === 'feed_product') return listFeedPrices(body).map((price) => price.get('amount'))
  const cursors = [totals, ...inner_totals].flatMap(listTotalsAmounts)
  for (const { cursor } of lines) {
    cursors.push(...OLD_LINE_AMOUNTS.map((name) => cursor.get(name)), cursor.get('unit_amount'), cursor.get('item', 'unit_amount'))
    cursors.push(...cursor.objects('discount_details').map((one) => one.get('amount')))
  }
  for (const option of options) cursors.push(...['subtotal', 'tax', 'total'].map((name) => option.get(name)))
  for (const one of applied) {
    cursors.push(one.get('amount'), one.get('coupon', 'amount_off'))
    cursors.push(...one.objects('allocations').map((allocation) => allocation.get('amount')))
  }
  for (const line of order.objects('line_items')) cursors.push(line.get('unit_price'), line.get('subtotal'))
  cursors.push(...order.objects('adjustments').map((one) => one.get('amount')))
  return cursors.filter(({ present }) => present)
}

function listTotalsAmounts({ entries }: AcpTotals): JsonCursor[] {
  return entries.flatMap((entry) => [
    entry.get('amount'),
    entry.get('presentment_amount'),
    ...entry.objects('breakdown').map((part) => part.get('amount')),
  ])
}

const JANUARY = '2026-01-30'

/** ACP-035…037 and 039: discounts, and prices in two currencies. */
export const ACP_DISCOUNT_RULES: RuleTable<AcpView> = {
  'ACP-035': {
    types: SESSION_TYPES,
    since: JANUARY,
    why: 'The agent shows the buyer what a code took off, and where.',
    spec: rfcSpec('discount_extension', '4.2 Applied Discount'),
    hint: 'Send id, coupon and amount; percent_off or amount_off; and allocations that come to the amount.',
    good: { id: 'd_1', coupon: { id: 'c_1', name: 'Ten', amount_off: 1000 }, amount: 1000 },
    bad: { id: 'd_1', coupon: { id: 'c_1', percent_off: 10, amount_off: 1000 } },
    check({ error }, { body, applied }) {
      expectItemTypes(error, body.get('discounts', 'applied'), 'object')
      for (const one of applied) {
        expectText(error, one.get('id'))
        if (expectObject(error, one.get('coupon'))) checkCoupon(error, one.get('coupon'))
        const amount = one.get('amount')
        if (expectPresent(error, amount) && (amount.integer() ?? 0n) < 0n) error(amount, 'is negative', { expected: 'zero or more' })
        checkAllocations(error, one, body)
      }
    },
  },
  'ACP-036': {
    severity: 'both',
    types: SESSION_TYPES,
    since: JANUARY,
    why: 'The agent explains to the buyer why a code did nothing.',
    spec: rfcSpec('discount_extension', '7.1 Error Codes'),
    hint: 'Use one of the eight reasons, and list a code either as applied or as rejected.',
    good: { code: 'OLD', reason: 'discount_code_expired' },
    bad: { code: 'OLD', reason: 'expired' },
    check({ error, warning }, { body, applied }) {
      const rejected = body.get('discounts', 'rejected')
      const used = new Set(applied.map((one) => one.text('code')?.toLowerCase()))
      expectItemTypes(error, rejected, 'object')
      for (const one of rejected.objects()) {
        const code = expectText(error, one.get('code'))
        if (expectType(error, one.get('reason'), 'string')) expectOneOf(error, one.get('reason'), REJECTION_REASONS)
        if (code !== null && used.has(code.toLowerCase())) warning(one.get('code'), 'is listed as applied too')
      }
    },
  },
  'ACP-037': {
    types: SESSION_TYPES,
    since: JANUARY,
    why: 'An amount in another currency cannot be taken off.',
    spec: schemaSpec('Coupon.currency'),
    hint: 'Write discounts and adjustments in the currency of the session.',
    good: { currency: 'usd', coupon: { amount_off: 1000, currency: 'usd' } },
    bad: { currency: 'usd', coupon: { amount_off: 1000, currency: 'eur' } },
    check({ error }, view) {
      const known = view.body.text('currency')?.toLowerCase()
      if (known === undefined) return
      for (const holder of objectsWithCurrency(view)) {
        const currency = holder.get('currency')
        if (currency.text() !== null && currency.text()?.toLowerCase() !== known)
          error(currency, 'is not the currency of the session', { expected: 'the currency of the session' })
      }
    },
  },
  'ACP-039': {
    types: SESSION_TYPES,
    since: JANUARY,
    why: 'A buyer who is shown prices in one currency and charged in another must see how they hang together.',
    spec: schemaSpec('CheckoutSessionBase.presentment_currency'),
    hint: 'Send exchange_rate, exchange_rate_timestamp, and presentment_amount on every total.',
    good: { presentment_currency: 'eur', exchange_rate: 1.08, exchange_rate_timestamp: '2026-11-21T12:00:00Z' },
    bad: { presentment_currency: 'eur' },
    check({ error }, { body, totals }) {
      if (!body.has('presentment_currency')) return
      const rate = body.get('exchange_rate')
      if (expectType(error, rate, 'number') && (rate.number() ?? 1) <= 0)
        error(rate, 'is not more than zero', { expected: 'more than zero' })
      expectPresent(error, body.get('exchange_rate_timestamp'), { expected: 'a date and time' })
      for (const entry of totals.entries) expectPresent(error, entry.get('presentment_amount'), { expected: 'an integer of minor units' })
    },
  },
}

/** Objects of an order or session that have their own currency. */
function objectsWithCurrency(view: AcpView): JsonCursor[] {
  return [...view.applied.map((one) => one.get('coupon')), ...view.order.objects('adjustments')]
}

function checkCoupon(error: ReportFinding, coupon: JsonCursor): void {
  for (const name of ['id', 'name']) expectText(error, coupon.get(name))
  const [percent, amount] = [coupon.get('percent_off'), coupon.get('amount_off')]
  if (percent.present && amount.present) error(percent, 'is combined with amount_off, which excludes it', { expected: 'one of the two' })
  if (percent.present && expectType(error, percent, 'number')) {
    const value = percent.number() ?? 0
    if (value < 0 || value > 100) error(percent, 'is not a percentage', { expected: '0 to 100' })
  }
  if (amount.present && !percent.present && !coupon.has('currency'))
    error(coupon.get('currency'), 'is missing', { expected: 'the currency of amount_off' })
}

function checkAllocations(error: ReportFinding, applied: JsonCursor, body: JsonCursor): void {
  const list = applied.objects('allocations')
  expectItemTypes(error, applied.get('allocations'), 'object')
  for (const one of list) {
    const path = one.get('path')
    expectPresent(error, one.get('amount'))
    // Places in totals are named by words in the proposal itself.
    if (!expectType(error, path, 'string') || path.text()?.startsWith('$.totals.') === true) continue
    const outcome = followJsonPath(path.text() ?? '$', body.value)
    if (outcome === 'malformed') error(path, 'is not a JSONPath', { expected: 'a path such as $.line_items[0]' })
    if (outcome === 'nothing') error(path, 'does not point to anything in the session', { expected: 'a path such as $.line_items[0]' })
  }
  const [sum, amount] = [sumIntegers(list.map((one) => one.get('amount'))), applied.integer('amount')]
  if (list.length > 0 && sum !== null && amount !== null && sum !== amount)
    error(applied.get('allocations'), 'does not add up to the amount of the discount', { expected: 'the sum of its allocations' })
}
