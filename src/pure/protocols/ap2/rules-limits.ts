import { readIso8601 } from '../kit/dates.ts'
import type { JsonCursor } from '../json-cursor.ts'
import type { RuleTable, ReportFinding } from '../protocol.ts'
import type { Disclosed } from './mandates.ts'
import {
  ap2Spec,
  OPEN_PAYMENTS,
  type Ap2View,
  type ClosedPayment,
  type OpenMandate,
  areDifferentParties,
  isOutsideAllowed,
  type MandateLimits,
} from './view.ts'
import { sameAccount } from '../kit/addresses.ts'
import { isHostWithin, hostOfPayee } from '../kit/url.ts'

const PROCESSING = ap2Spec('agent_authorization', 'Verification and Processing Rules')

/** AP2-030…033: payments compared with the limits of open mandates. */
export const AP2_LIMIT_RULES: RuleTable<Ap2View> = {
  'AP2-030': {
    types: OPEN_PAYMENTS,
    why: 'A payment has one currency, so constraints in two currencies can never both be met.',
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
    check({ error }, { open, disclosed }) {
      for (const { is_payment, claims, constraints } of open) {
        if (!is_payment) continue
        const priced = constraints.filter(({ type }) => type === 'payment.amount_range' || type === 'payment.budget')
        const cursors = [disclosed.get(claims, 'payment_amount'), ...priced.map(({ cursor }) => cursor)].map((cursor) =>
          disclosed.get(cursor, 'currency'),
        )
        const first = cursors.find((cursor) => isCurrencyForm(cursor))
        for (const cursor of cursors)
          if (isCurrencyForm(cursor) && cursor.text() !== first?.text())
            error(cursor, 'is another currency than the first one of the mandate')
      }
    },
  },
  'AP2-031': {
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
    check({ error }, { open, disclosed }) {
      for (const { is_payment, claims, limits } of open) if (is_payment) checkLimits(error, claims, limits, disclosed)
    },
  },
  'AP2-032': {
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
    check({ error }, view) {
      const { payments, disclosed } = view
      for (const payment of payments) {
        if (payment.open === null) continue
        comparePresets(error, payment, payment.open, disclosed)
        compareCurrencies(error, payment, payment.open.limits, disclosed)
        checkLimits(error, payment.claims, payment.open.limits, disclosed)
      }
      checkMerchants(error, view)
    },
  },
  'AP2-033': {
    severity: 'warning',
    types: OPEN_PAYMENTS,
    why: 'The agent may pay any amount, or any payee.',
    spec: ap2Spec('payment_mandate', 'Payment Mandate Constraints'),
    hint: 'Add payment.amount_range and payment.allowed_payees, or preset payment_amount and payee.',
    good: { constraints: [{ type: 'payment.amount_range' }, { type: 'payment.allowed_payees' }] },
    bad: { constraints: [{ type: 'payment.reference' }] },
    check({ warning }, { open, disclosed }) {
      for (const { is_payment, claims, list, constraints, hides } of open) {
        if (!is_payment || hides || constraints.length === 0) continue
        const has = (...types: string[]) => constraints.some(({ type }) => type !== null && types.includes(type))
        const isPreset = (name: string) => disclosed.get(claims, name).present || disclosed.hides(claims)
        if (!has('payment.amount_range', 'payment.budget') && !isPreset('payment_amount')) warning(list, 'do not limit the amount')
        if (!has('payment.allowed_payees') && !isPreset('payee')) warning(list, 'allow any payee')
      }
    },
  },
}

function isCurrencyForm(cursor: JsonCursor): boolean {
  return /^[A-Z]{3}$/.test(cursor.text() ?? '')
}

/** Reports members of a payment that are certainly outside the limits; AP2-030 and AP2-032 report other currencies. */
function checkLimits(error: ReportFinding, claims: JsonCursor, limits: MandateLimits, disclosed: Disclosed): void {
  const of = (name: string) => disclosed.get(claims, name)
  if (limits.payees.some((one) => isOutsideAllowed(of('payee'), 'merchant', one, disclosed))) error(of('payee'), 'is not an allowed payee')
  if (limits.instruments.some((one) => isOutsideAllowed(of('payment_instrument'), 'instrument', one, disclosed)))
    error(of('payment_instrument'), 'is not an allowed instrument')
  if (limits.pisps.some((one) => isOutsideAllowed(of('pisp'), 'pisp', one, disclosed))) error(of('pisp'), 'is not an allowed service')
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
  const date = readIso8601(of('execution_date').text())
  for (const { not_before, not_after } of date === null ? [] : limits.windows) {
    const isEarly = date !== null && not_before !== null && date.to_s < not_before.from_s
    const isLate = date !== null && not_after !== null && date.from_s > not_after.to_s
    if (isEarly || isLate) error(of('execution_date'), `is ${isEarly ? 'before' : 'after'} the window of payment.execution_date`)
  }
}

function compareCurrencies(error: ReportFinding, { claims }: ClosedPayment, { ranges }: MandateLimits, disclosed: Disclosed): void {
  const cursor = disclosed.get(disclosed.get(claims, 'payment_amount'), 'currency')
  for (const { currency } of ranges)
    if (currency !== null && isCurrencyForm(cursor) && cursor.text() !== currency)
      error(cursor, 'is another currency than that of payment.amount_range')
}

/** Values that the open mandate presets must come back; redacted ones cannot be compared. */
function comparePresets(error: ReportFinding, { claims }: ClosedPayment, { claims: open }: OpenMandate, disclosed: Disclosed): void {
  const pair = (name: string): [JsonCursor, JsonCursor] => [disclosed.get(claims, name), disclosed.get(open, name)]
  const said = (cursor: JsonCursor) => error(cursor, 'differs from the value preset in the open mandate')
  const [payee, preset] = pair('payee')
  if (areDifferentParties(payee, preset, 'merchant', disclosed)) said(payee)
  const [instrument, known] = pair('payment_instrument')
  if (areDifferentParties(instrument, known, 'instrument', disclosed)) said(instrument)
  const [pisp, service] = pair('pisp')
  if (areDifferentParties(pisp, service, 'pisp', disclosed)) said(pisp)
  const [paid, agreed] = pair('payment_amount')
  for (const name of ['amount', 'currency']) {
    const [own, other] = [disclosed.get(paid, name), disclosed.get(agreed, name)]
    if (isReadable(own) && isReadable(other) && own.value !== other.value) said(own)
  }
  const [date, day] = pair('execution_date')
  const [own, other] = [readIso8601(date.text()), readIso8601(day.text())]
  if (own !== null && other !== null && (own.to_s < other.from_s || own.from_s > other.to_s)) said(date)
}

function isReadable(cursor: JsonCursor): boolean {
  return cursor.text() !== null || cursor.integer() !== null
}

/** The merchant of a decoded checkout must be one that the open checkout mandate allows. */
function checkMerchants(error: ReportFinding, { open, checkouts, disclosed }: Ap2View): void {
  const allowed = open.find(({ is_payment }) => !is_payment)?.limits.merchants ?? []
  for (const { body, embedded } of checkouts) {
    const merchant = body.get('merchant')
    if (embedded && allowed.some((one) => isOutsideAllowed(merchant, 'merchant', one, disclosed)))
      error(merchant, 'is not an allowed merchant')
  }
}

/** AP2-044: the payee. */
export const AP2_PAYEE_RULES: RuleTable<Ap2View> = {
  'AP2-044': {
    severity: 'both',
    why: 'A mandate for another merchant looks just like one for the merchant you mean to pay.',
    spec: ap2Spec('payment_mandate', 'Allowed Payees'),
    hint: 'Compare the payee with your intended payee before you sign.',
    good: { payee: { id: 'the expected payee', name: 'Demo Merchant' } },
    bad: { payee: { id: 'another payee', name: 'Demo Merchant' } },
    check({ error, warning }, view) {
      const expected = view.context.expected_payee
      if (expected === null) return
      const answers = [...compareParties(view, expected), ...comparePayeeLists(view, expected)]
      for (const { cursor, is, words } of answers) if (is === 'other') error(cursor, words)
      if (!answers.some(({ is }) => is !== 'unknown'))
        warning(view.context.document, 'names no payee that could be compared with the expected one')
    },
  },
}

type Is = 'expected' | 'other' | 'unknown'

interface Answer {
  cursor: JsonCursor
  is: Is
  words: string
}

/** Payees and merchants that the document names, one at a time. */
function compareParties(view: Ap2View, expected: string): Answer[] {
  const { mandates, checkouts, disclosed } = view
  const words = 'is not the expected payee'
  const answers: Answer[] = []
  for (const { type, claims } of mandates) {
    const payee = disclosed.get(claims, 'payee')
    const isPayment = type === 'payment_mandate' || type === 'open_payment_mandate'
    if (isPayment && payee.present) answers.push({ cursor: payee, is: matchParty(payee, expected, disclosed), words })
    const named =
      type === 'cart_mandate' ? claims.get('contents', 'merchant_name') : claims.get('payment_mandate_contents', 'merchant_agent')
    if ((type === 'cart_mandate' || type === 'legacy_payment_mandate') && named.present)
      answers.push({ cursor: named, is: matchName(named.text(), expected), words })
  }
  for (const { body, embedded, mandate } of checkouts) {
    const merchant = body.get('merchant')
    const cursor = embedded || mandate === null ? merchant : disclosed.get(mandate.claims, 'checkout_jwt')
    const is = matchParty(merchant, expected, disclosed)
    if (merchant.kind === 'object')
      answers.push({ cursor, is, words: embedded ? words : 'belongs to another merchant than the expected payee' })
  }
  return answers
}

/** Lists of those who may be paid: each must have the expected one. */
function comparePayeeLists({ open, mandates, disclosed }: Ap2View, expected: string): Answer[] {
  const words = 'do not contain the expected payee'
  const lists = open.flatMap(({ constraints }) =>
    constraints
      .filter(({ type }) => type === 'payment.allowed_payees' || type === 'checkout.allowed_merchants')
      .map(({ cursor }) => disclosed.get(cursor, 'allowed')),
  )
  const answers = lists.map((cursor) => ({
    cursor,
    is: combineMatches(disclosed.items(cursor).map((item) => matchParty(item, expected, disclosed))),
    words,
  }))
  for (const { type, claims } of mandates) {
    const merchants = claims.get('merchants')
    if (type !== 'intent_mandate' || merchants.items().length === 0) continue
    answers.push({ cursor: merchants, is: combineMatches(merchants.items().map((item) => matchName(item.text(), expected))), words })
  }
  return answers
}

function combineMatches(answers: readonly Is[]): Is {
  if (answers.includes('expected')) return 'expected'
  return answers.length === 0 || answers.includes('unknown') ? 'unknown' : 'other'
}

/** Compares id, website host and name: the caller may expect any of them. */
function matchParty(party: JsonCursor, expected: string, disclosed: Disclosed): Is {
  if (party.kind !== 'object') return 'unknown'
  const [id, name, website] = ['id', 'name', 'website'].map((member) => disclosed.get(party, member))
  const answers = [id, name, website].map((cursor) => matchName(cursor?.text() ?? null, expected))
  if (answers.includes('expected')) return 'expected'
  const isHidden = disclosed.hides(party) || [id, name, website].some((cursor) => cursor?.redacted === true)
  return isHidden || !answers.includes('other') ? 'unknown' : 'other'
}

function matchName(text: string | null, expected: string): Is {
  if (text === null || text.trim() === '') return 'unknown'
  if (sameAccount(text, expected) || text.trim().toLowerCase() === expected.trim().toLowerCase()) return 'expected'
  const [own, wanted] = [hostOfPayee(text), hostOfPayee(expected)]
  return own !== null && wanted !== null && isHostWithin(own, wanted) ? 'expected' : 'other'
}
