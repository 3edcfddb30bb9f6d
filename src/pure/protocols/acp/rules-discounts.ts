import { need, needText, oneOf, present } from '../kit/expect.ts'
import { sumOf } from '../kit/money.ts'
import type { Place } from '../place.ts'
import { rule, type Say } from '../rule.ts'
import { follow } from './json-path.ts'
import { pricedIn } from './rules-payment.ts'
import { onlyObjects } from './rules-session.ts'
import { REJECTION_REASONS } from './shape.ts'
import { rfcSpec, schemaSpec } from './spec.ts'
import { objects, type AcpView } from './view.ts'

const SESSION = ['checkout_session']
const JANUARY = '2026-01-30'

/** ACP-035…037 and 039: discounts, and prices in two currencies. */
export const DISCOUNT_RULES = [
  rule<AcpView>(
    {
      code: 'ACP-035',
      severity: 'error',
      types: SESSION,
      since: JANUARY,
      why: 'The agent tells the buyer what a code has brought, and where.',
      spec: rfcSpec('discount_extension', '4.2 Applied Discount'),
      hint: 'Send id, coupon and amount; percent_off or amount_off; and allocations that come to the amount.',
      good: { id: 'd_1', coupon: { id: 'c_1', name: 'Ten', amount_off: 1000 }, amount: 1000 },
      bad: { id: 'd_1', coupon: { id: 'c_1', percent_off: 10, amount_off: 1000 } },
    },
    ({ error }, { body, applied }) => {
      onlyObjects(error, body.down('discounts', 'applied'))
      for (const one of applied) {
        needText(error, one.get('id'))
        if (need(error, one.get('coupon'), 'object') && !one.get('coupon').redacted) couponForm(error, one.get('coupon'))
        const amount = one.get('amount')
        if (present(error, amount) && (amount.integer() ?? 0n) < 0n) error(amount, 'is negative', { expected: 'zero or more' })
        allocations(error, one, body)
      }
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-036',
      severity: 'both',
      types: SESSION,
      since: JANUARY,
      why: 'The agent explains to the buyer why a code did nothing.',
      spec: rfcSpec('discount_extension', '7.1 Error Codes'),
      hint: 'Use one of the eight reasons, and list a code either as applied or as rejected.',
      good: { code: 'OLD', reason: 'discount_code_expired' },
      bad: { code: 'OLD', reason: 'expired' },
    },
    ({ error, warning }, { body, applied }) => {
      const rejected = body.down('discounts', 'rejected')
      const used = new Set(applied.map((one) => one.get('code').text()?.toLowerCase()))
      onlyObjects(error, rejected)
      for (const one of objects(rejected)) {
        const code = needText(error, one.get('code'))
        if (need(error, one.get('reason'), 'string')) oneOf(error, one.get('reason'), REJECTION_REASONS)
        if (code !== null && used.has(code.toLowerCase())) warning(one.get('code'), 'is listed as applied too')
      }
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-037',
      severity: 'error',
      types: SESSION,
      since: JANUARY,
      why: 'An amount in another currency cannot be taken off.',
      spec: schemaSpec('Coupon.currency'),
      hint: 'Write discounts and adjustments in the currency of the session.',
      good: { currency: 'usd', coupon: { amount_off: 1000, currency: 'usd' } },
      bad: { currency: 'usd', coupon: { amount_off: 1000, currency: 'eur' } },
    },
    ({ error }, view) => {
      const known = view.body.get('currency').text()?.toLowerCase()
      if (known === undefined) return
      for (const holder of pricedIn(view)) {
        const currency = holder.get('currency')
        if (currency.text() !== null && currency.text()?.toLowerCase() !== known)
          error(currency, 'is not the currency of the session', { expected: 'the currency of the session' })
      }
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-039',
      severity: 'error',
      types: SESSION,
      since: JANUARY,
      why: 'A buyer who is shown prices in one currency and charged in another must see how they hang together.',
      spec: schemaSpec('CheckoutSessionBase.presentment_currency'),
      hint: 'Send exchange_rate, exchange_rate_timestamp, and presentment_amount on every total.',
      good: { presentment_currency: 'eur', exchange_rate: 1.08, exchange_rate_timestamp: '2026-11-21T12:00:00Z' },
      bad: { presentment_currency: 'eur' },
    },
    ({ error }, { body, totals }) => {
      if (!body.has('presentment_currency')) return
      const rate = body.get('exchange_rate')
      if (need(error, rate, 'number') && (rate.number() ?? 1) <= 0) error(rate, 'is not more than zero', { expected: 'more than zero' })
      present(error, body.get('exchange_rate_timestamp'), { expected: 'a date and time' })
      for (const entry of totals.entries) present(error, entry.get('presentment_amount'), { expected: 'an integer of minor units' })
    },
  ),
]

function couponForm(error: Say, coupon: Place): void {
  for (const name of ['id', 'name']) needText(error, coupon.get(name))
  const [percent, amount] = [coupon.get('percent_off'), coupon.get('amount_off')]
  if (percent.present && amount.present) error(percent, 'stands beside amount_off, which excludes it', { expected: 'one of the two' })
  if (percent.present && need(error, percent, 'number')) {
    const value = percent.number() ?? 0
    if (value < 0 || value > 100) error(percent, 'is not a percentage', { expected: '0 to 100' })
  }
  if (amount.present && !percent.present && !coupon.has('currency'))
    error(coupon.get('currency'), 'is missing', { expected: 'the currency of amount_off' })
}

function allocations(error: Say, applied: Place, body: Place): void {
  const list = objects(applied.get('allocations'))
  onlyObjects(error, applied.get('allocations'))
  for (const one of list) {
    const path = one.get('path')
    present(error, one.get('amount'))
    // Places in totals are named by words in the proposal itself.
    if (!need(error, path, 'string') || path.text()?.startsWith('$.totals.') === true) continue
    const outcome = follow(path.text() ?? '$', body.value)
    if (outcome === 'malformed') error(path, 'is not a JSONPath', { expected: 'a path such as $.line_items[0]' })
    if (outcome === 'nothing') error(path, 'points to nothing in the session', { expected: 'a path such as $.line_items[0]' })
  }
  const [sum, amount] = [sumOf(list.map((one) => one.get('amount'))), applied.get('amount').integer()]
  if (list.length > 0 && sum !== null && amount !== null && sum !== amount)
    error(applied.get('allocations'), 'does not come to the amount of the discount', { expected: 'the sum of its allocations' })
}
