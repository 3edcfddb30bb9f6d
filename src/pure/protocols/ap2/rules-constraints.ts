import { need, oneOf, unique } from '../kit/expect.ts'
import { integer, minorUnits } from '../kit/money.ts'
import type { Place } from '../place.ts'
import { rule, type Report, type Say } from '../rule.ts'
import type { Disclosed } from './disclosed.ts'
import type { Party } from './limits.ts'
import { allowedParties } from './parts.ts'
import { ap2Spec, ISSUE_BUDGET } from './spec.ts'
import { isoTime } from './times.ts'
import { OPEN, OPEN_CHECKOUTS, OPEN_PAYMENTS, type Ap2View } from './view.ts'

/** AP2-024…029: the members of each type of constraint. */
export const CONSTRAINT_RULES = [
  rule<Ap2View>(
    {
      code: 'AP2-024',
      severity: 'error',
      types: OPEN_CHECKOUTS,
      why: 'A verifier counts what is bought against these requirements.',
      spec: ap2Spec('checkout_mandate', 'Line Items'),
      hint: 'Give each requirement its own id, at least one acceptable item with id and title, and a quantity from 1 up.',
      good: { items: [{ id: 'shoes', acceptable_items: [{ id: 'sku_1', title: 'Shoes' }], quantity: 1 }] },
      bad: { items: [{ id: 'shoes', acceptable_items: [], quantity: 1 }] },
    },
    ({ error }, view) => {
      for (const place of constraintsOf(view, 'checkout.line_items')) requirements(error, place, view.disclosed)
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-025',
      severity: 'error',
      types: OPEN,
      why: 'An empty list allows nobody, and an item without its members is never met.',
      spec: ap2Spec('payment_mandate', 'Allowed Payees'),
      hint: 'List at least one, with id and name; instruments have id and type, initiation services their three names.',
      good: { type: 'payment.allowed_payees', allowed: [{ id: 'merchant_1', name: 'Demo Merchant' }] },
      bad: { type: 'payment.allowed_payees', allowed: [] },
    },
    ({ error }, view) => {
      for (const [type, party] of LISTS) for (const place of constraintsOf(view, type)) allowedParties(error, place, party, view.disclosed)
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-026',
      severity: 'error',
      types: OPEN_PAYMENTS,
      why: 'A limit that cannot be read is either no limit, or one that nothing meets.',
      spec: ap2Spec('payment_mandate', 'Amount Range'),
      hint: 'Send currency and max, in minor units from 0 up, and min where there is one, no more than max.',
      good: { type: 'payment.amount_range', currency: 'USD', min: 100, max: 5000 },
      bad: { type: 'payment.amount_range', currency: 'USD', max: 50.5 },
    },
    ({ error }, view) => {
      const { disclosed } = view
      for (const place of constraintsOf(view, 'payment.amount_range')) {
        disclosed.needText(error, place, 'currency')
        const high = disclosed.get(place, 'max')
        const max = disclosed.need(error, place, 'max', 'number') ? minorUnits(error, high, { min: 0n }) : null
        const min = minorUnits(error, disclosed.get(place, 'min'))
        if (min !== null && max !== null && min > max) error(disclosed.get(place, 'min'), 'is more than max')
      }
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-027',
      severity: 'both',
      types: OPEN_PAYMENTS,
      why: 'A budget counts repeated payments, in whole units of its currency, while every other amount counts minor units.',
      spec: ISSUE_BUDGET,
      hint: 'Send max in major units, such as 1000.00, with currency, beside a payment.agent_recurrence.',
      good: [
        { type: 'payment.budget', max: 1000.5, currency: 'USD' },
        { type: 'payment.agent_recurrence', frequency: 'MONTHLY' },
      ],
      bad: { type: 'payment.budget', max: -1, currency: 'USD' },
    },
    (report, view) => {
      for (const place of constraintsOf(view, 'payment.budget')) budget(report, place, view.disclosed)
      for (const { is_payment, constraints, hides } of view.open) {
        if (!is_payment || hides) continue
        const [budgets, recurrences] = ['payment.budget', 'payment.agent_recurrence'].map((type) =>
          constraints.find((one) => one.type === type),
        )
        if (budgets !== undefined && recurrences === undefined)
          report.warning(budgets.place, 'is a budget without payment.agent_recurrence')
        if (recurrences !== undefined && budgets === undefined) report.warning(recurrences.place, 'is a recurrence without payment.budget')
      }
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-028',
      severity: 'error',
      types: OPEN_PAYMENTS,
      why: 'A frequency that is not known cannot be counted.',
      spec: ap2Spec('payment_mandate', 'Agent Recurrence'),
      hint: 'Send one of the seven frequencies in upper case, and max_occurrences from 1 up.',
      good: { type: 'payment.agent_recurrence', frequency: 'MONTHLY', max_occurrences: 12 },
      bad: { type: 'payment.agent_recurrence', frequency: 'monthly' },
    },
    ({ error }, view) => {
      const { disclosed } = view
      for (const place of constraintsOf(view, 'payment.agent_recurrence')) {
        if (disclosed.need(error, place, 'frequency', 'string')) oneOf(error, disclosed.get(place, 'frequency'), FREQUENCIES)
        integer(error, disclosed.get(place, 'max_occurrences'), { min: 1n })
      }
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-029',
      severity: 'error',
      types: OPEN_PAYMENTS,
      why: 'No payment can be made in a window that is closed or upside down.',
      spec: ap2Spec('payment_mandate', 'Execution Date'),
      hint: 'Send not_before no later than not_after, and not_after in the future.',
      good: { type: 'payment.execution_date', not_before: '2026-12-01T00:00:00Z', not_after: '2026-12-31T23:59:59Z' },
      bad: { type: 'payment.execution_date', not_before: '2026-12-31T00:00:00Z', not_after: '2026-12-01T00:00:00Z' },
    },
    ({ error }, view) => {
      const { disclosed, context } = view
      for (const place of constraintsOf(view, 'payment.execution_date')) {
        const [first, last] = [disclosed.get(place, 'not_before'), disclosed.get(place, 'not_after')]
        const [start, end] = [isoTime(error, first), isoTime(error, last)]
        if (start !== null && end !== null && start.from_s > end.to_s) error(first, 'is later than not_after')
        else if (end !== null && end.to_s < context.now_s) error(last, 'is past')
      }
    },
  ),
]

const FREQUENCIES = ['ON_DEMAND', 'DAILY', 'WEEKLY', 'BIWEEKLY', 'MONTHLY', 'QUARTERLY', 'ANNUALLY']

const LISTS: readonly [string, Party][] = [
  ['checkout.allowed_merchants', 'merchant'],
  ['payment.allowed_payees', 'merchant'],
  ['payment.allowed_payment_instruments', 'instrument'],
  ['payment.allowed_pisps', 'pisp'],
]

/** Constraints of one type in all open mandates. */
function constraintsOf({ open }: Ap2View, type: string): Place[] {
  return open.flatMap(({ constraints }) => constraints.filter((one) => one.type === type).map(({ place }) => place))
}

function requirements(error: Say, place: Place, disclosed: Disclosed): void {
  const list = disclosed.get(place, 'items')
  if (!disclosed.need(error, place, 'items', 'array') || list.redacted) return
  if (list.items().length === 0) error(list, 'is empty', { expected: 'at least one requirement' })
  const items = disclosed.items(list).filter((item) => !disclosed.isSealed(item) && need(error, item, 'object') && !item.redacted)
  unique(
    error,
    items.map((item) => disclosed.get(item, 'id')),
    'the id of another requirement',
  )
  for (const item of items) {
    disclosed.needText(error, item, 'id')
    if (disclosed.need(error, item, 'quantity', 'number')) integer(error, disclosed.get(item, 'quantity'), { min: 1n })
    if (disclosed.need(error, item, 'acceptable_items', 'array')) acceptable(error, disclosed.get(item, 'acceptable_items'), disclosed)
  }
}

function acceptable(error: Say, list: Place, disclosed: Disclosed): void {
  if (list.kind === 'array' && list.items().length === 0) error(list, 'is empty', { expected: 'at least one item' })
  for (const item of disclosed.items(list)) {
    if (disclosed.isSealed(item) || !need(error, item, 'object') || item.redacted) continue
    for (const name of ['id', 'title']) disclosed.needText(error, item, name)
  }
}

/** A fraction can only be of major units; an integer has been read as either. */
function budget({ error, warning }: Report, place: Place, disclosed: Disclosed): void {
  const max = disclosed.get(place, 'max')
  disclosed.needText(error, place, 'currency')
  if (!disclosed.need(error, place, 'max', 'number')) return
  const value = max.number()
  if (value === null) return
  if (!(value >= 0)) error(max, 'is less than 0', { expected: 'a number from 0 up' })
  else if (max.literal() === null) warning(max, 'is an integer, which may be meant in major or in minor units', { expected: 'major units' })
}
