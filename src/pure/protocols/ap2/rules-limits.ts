import { readIso } from '../kit/dates.ts'
import type { Place } from '../place.ts'
import { rule, type Say } from '../rule.ts'
import { differs, isOutside, type Limits } from './limits.ts'
import type { Disclosed } from './disclosed.ts'
import { ap2Spec } from './spec.ts'
import { OPEN_PAYMENTS, type Ap2View, type ClosedPayment, type OpenMandate } from './view.ts'

const PROCESSING = ap2Spec('agent_authorization', 'Verification and Processing Rules')

/** AP2-030…033: whether the amounts, dates and parties of payments keep within what was allowed. */
export const LIMIT_RULES = [
  rule<Ap2View>(
    {
      code: 'AP2-030',
      severity: 'error',
      types: OPEN_PAYMENTS,
      why: 'A payment has one currency, so constraints in two can never hold together.',
      spec: ap2Spec('payment_mandate', 'Amount Range'),
      hint: 'Use one currency in payment_amount, payment.amount_range and payment.budget.',
      good: {
        constraints: [
          { currency: 'USD', max: 5000 },
          { currency: 'USD', max: 1000.5 },
        ],
      },
      bad: {
        constraints: [
          { currency: 'USD', max: 5000 },
          { currency: 'EUR', max: 1000.5 },
        ],
      },
    },
    ({ error }, { open, disclosed }) => {
      for (const { is_payment, claims, constraints } of open) {
        if (!is_payment) continue
        const priced = constraints.filter(({ type }) => type === 'payment.amount_range' || type === 'payment.budget')
        const places = [disclosed.get(claims, 'payment_amount'), ...priced.map(({ place }) => place)].map((place) =>
          disclosed.get(place, 'currency'),
        )
        const first = places.find((place) => isCode(place))
        for (const place of places)
          if (isCode(place) && place.text() !== first?.text()) error(place, 'is another currency than the first one of the mandate')
      }
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-031',
      severity: 'error',
      types: OPEN_PAYMENTS,
      why: 'Closed mandates must repeat what is preset, and then no payment can meet the constraints.',
      spec: PROCESSING,
      hint: 'Preset only what the constraints of the same mandate allow.',
      good: {
        payment_amount: { amount: 4000, currency: 'USD' },
        constraints: [{ type: 'payment.amount_range', currency: 'USD', max: 5000 }],
      },
      bad: {
        payment_amount: { amount: 6000, currency: 'USD' },
        constraints: [{ type: 'payment.amount_range', currency: 'USD', max: 5000 }],
      },
    },
    ({ error }, { open, disclosed }) => {
      for (const { is_payment, claims, limits } of open) if (is_payment) withinLimits(error, claims, limits, disclosed)
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-032',
      severity: 'error',
      types: ['mandates'],
      why: 'The agent may only close what the user left open; everything else the verifier refuses.',
      spec: PROCESSING,
      hint: 'Repeat what the open mandate presets, and keep within its constraints.',
      good: [
        { constraints: [{ type: 'payment.amount_range', currency: 'USD', max: 5000 }] },
        { payment_amount: { amount: 4000, currency: 'USD' } },
      ],
      bad: [
        { constraints: [{ type: 'payment.amount_range', currency: 'USD', max: 5000 }] },
        { payment_amount: { amount: 6000, currency: 'USD' } },
      ],
    },
    ({ error }, view) => {
      const { payments, disclosed } = view
      for (const payment of payments) {
        if (payment.open === null) continue
        samePresets(error, payment, payment.open, disclosed)
        currencies(error, payment, payment.open.limits, disclosed)
        withinLimits(error, payment.claims, payment.open.limits, disclosed)
      }
      merchants(error, view)
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-033',
      severity: 'warning',
      types: OPEN_PAYMENTS,
      why: 'The agent may pay any sum, or anybody.',
      spec: ap2Spec('payment_mandate', 'Payment Mandate Constraints'),
      hint: 'Add payment.amount_range and payment.allowed_payees, or preset payment_amount and payee.',
      good: { constraints: [{ type: 'payment.amount_range' }, { type: 'payment.allowed_payees' }] },
      bad: { constraints: [{ type: 'payment.reference' }] },
    },
    ({ warning }, { open, disclosed }) => {
      for (const { is_payment, claims, list, constraints, hides } of open) {
        if (!is_payment || hides || constraints.length === 0) continue
        const has = (...types: string[]) => constraints.some(({ type }) => type !== null && types.includes(type))
        const isPreset = (name: string) => disclosed.get(claims, name).present || disclosed.hides(claims)
        if (!has('payment.amount_range', 'payment.budget') && !isPreset('payment_amount')) warning(list, 'have no limit of the amount')
        if (!has('payment.allowed_payees') && !isPreset('payee')) warning(list, 'allow any payee')
      }
    },
  ),
]

function isCode(place: Place): boolean {
  return /^[A-Z]{3}$/.test(place.text() ?? '')
}

/** What of a payment is certainly outside the limits; amounts in another currency are left to others. */
function withinLimits(error: Say, claims: Place, limits: Limits, disclosed: Disclosed): void {
  const of = (name: string) => disclosed.get(claims, name)
  if (limits.payees.some((one) => isOutside(of('payee'), 'merchant', one, disclosed))) error(of('payee'), 'is none of the allowed payees')
  if (limits.instruments.some((one) => isOutside(of('payment_instrument'), 'instrument', one, disclosed)))
    error(of('payment_instrument'), 'is none of the allowed instruments')
  if (limits.pisps.some((one) => isOutside(of('pisp'), 'pisp', one, disclosed))) error(of('pisp'), 'is none of the allowed services')
  const [amount, currency] = ['amount', 'currency'].map((name) => disclosed.get(of('payment_amount'), name))
  for (const range of limits.ranges) {
    const value = amount?.integer() ?? null
    if (amount === undefined || value === null || currency?.text() !== range.currency) continue
    if (range.max !== null && value > range.max) error(amount, 'is more than payment.amount_range allows')
    if (range.min !== null && value < range.min) error(amount, 'is less than payment.amount_range allows')
  }
  for (const { currency: counted, max } of limits.budgets) {
    const value = amount?.integer() ?? null
    if (amount === undefined || value === null || max === null || currency?.text() !== counted) continue
    if (value > max) error(amount, 'is more than payment.budget allows for all payments together')
  }
  const date = readIso(of('execution_date').text())
  for (const { not_before, not_after } of date === null ? [] : limits.windows) {
    const isEarly = date !== null && not_before !== null && date.to_s < not_before.from_s
    const isLate = date !== null && not_after !== null && date.from_s > not_after.to_s
    if (isEarly || isLate) error(of('execution_date'), `is ${isEarly ? 'before' : 'after'} the window of payment.execution_date`)
  }
}

function currencies(error: Say, { claims }: ClosedPayment, { ranges }: Limits, disclosed: Disclosed): void {
  const place = disclosed.get(disclosed.get(claims, 'payment_amount'), 'currency')
  for (const { currency } of ranges)
    if (currency !== null && isCode(place) && place.text() !== currency)
      error(place, 'is another currency than that of payment.amount_range')
}

/** Values that the open mandate presets must come back; redacted ones cannot be compared. */
function samePresets(error: Say, { claims }: ClosedPayment, { claims: open }: OpenMandate, disclosed: Disclosed): void {
  const pair = (name: string): [Place, Place] => [disclosed.get(claims, name), disclosed.get(open, name)]
  const said = (place: Place) => error(place, 'is not what the open mandate presets')
  const [payee, preset] = pair('payee')
  if (differs(payee, preset, 'merchant', disclosed)) said(payee)
  const [instrument, known] = pair('payment_instrument')
  if (differs(instrument, known, 'instrument', disclosed)) said(instrument)
  const [pisp, service] = pair('pisp')
  if (differs(pisp, service, 'pisp', disclosed)) said(pisp)
  const [paid, agreed] = pair('payment_amount')
  for (const name of ['amount', 'currency']) {
    const [own, other] = [disclosed.get(paid, name), disclosed.get(agreed, name)]
    if (isReadable(own) && isReadable(other) && own.value !== other.value) said(own)
  }
  const [date, day] = pair('execution_date')
  const [own, other] = [readIso(date.text()), readIso(day.text())]
  if (own !== null && other !== null && (own.to_s < other.from_s || own.from_s > other.to_s)) said(date)
}

function isReadable(place: Place): boolean {
  return place.text() !== null || place.integer() !== null
}

/** The merchant of a decoded checkout must be one that the open checkout mandate allows. */
function merchants(error: Say, { open, checkouts, disclosed }: Ap2View): void {
  const allowed = open.find(({ is_payment }) => !is_payment)?.limits.merchants ?? []
  for (const { body, embedded } of checkouts) {
    const merchant = body.get('merchant')
    if (embedded && allowed.some((one) => isOutside(merchant, 'merchant', one, disclosed)))
      error(merchant, 'is none of the allowed merchants')
  }
}
