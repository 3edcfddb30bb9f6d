import { need, optional } from '../kit/expect.ts'
import { minorUnits } from '../kit/money.ts'
import { readUrl } from '../kit/url.ts'
import type { Place } from '../place.ts'
import { rule, type Report } from '../rule.ts'
import { SECRET_WORDS } from '../secrets.ts'
import { digestForm } from './digests.ts'
import { cnfKeys } from './keys.ts'
import { currencyCode, holdsCardNumber, partyMembers, paymentObjects } from './parts.ts'
import { ap2Spec } from './spec.ts'
import { isoTime } from './times.ts'
import { algorithmOf, ANY_PAYMENTS, ofTypes, PAYMENTS, type Ap2View } from './view.ts'

const SCHEMA = ap2Spec('payment_mandate', 'Mandate Schema')

/** AP2-007…013 and 016: what a payment is made of, in closed mandates and preset in open ones. */
export const PAYMENT_RULES = [
  rule<Ap2View>(
    {
      code: 'AP2-007',
      severity: 'error',
      types: PAYMENTS,
      why: 'Without one of these nobody knows which payment was approved.',
      spec: SCHEMA,
      hint: 'Send transaction_id, payee, payment_amount and payment_instrument.',
      good: { transaction_id: '…', payee: {}, payment_amount: {}, payment_instrument: {} },
      bad: { transaction_id: '…', payee: {}, payment_amount: {} },
    },
    ({ error }, { payments, disclosed }) => {
      for (const { claims } of payments) {
        disclosed.needText(error, claims, 'transaction_id')
        for (const name of ['payee', 'payment_amount', 'payment_instrument']) disclosed.need(error, claims, name, 'object')
        optional(error, disclosed.get(claims, 'risk_data'), 'object')
      }
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-008',
      severity: 'error',
      types: PAYMENTS,
      why: 'It is the hash of the checkout that is paid; with another value the payment is for something else.',
      spec: SCHEMA,
      hint: 'Send the checkout_hash of the checkout mandate.',
      good: { checkout_hash: '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU', transaction_id: '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU' },
      bad: { transaction_id: 'tx_1' },
    },
    ({ error }, view) => {
      const { payments, disclosed } = view
      const hashes = ofTypes(view, 'checkout_mandate').map(({ claims }) => disclosed.get(claims, 'checkout_hash').text())
      const known = new Set(hashes)
      for (const { mandate, claims } of payments) {
        const place = disclosed.get(claims, 'transaction_id')
        const isFormed = digestForm(error, place, algorithmOf(mandate))
        if (isFormed && hashes.length > 0 && !known.has(null) && !known.has(place.text()))
          error(place, 'is not the checkout_hash of a checkout mandate beside it', { expected: 'the same hash in both mandates' })
      }
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-009',
      severity: 'both',
      types: ANY_PAYMENTS,
      why: 'An amount in major units is read as a hundredth of itself, or refused.',
      spec: SCHEMA,
      hint: 'Send minor units as an integer: 27999 for 279.99.',
      good: { payment_amount: { amount: 27999, currency: 'USD' } },
      bad: { payment_amount: { amount: 279.99, currency: 'USD' } },
    },
    (report, view) => {
      for (const place of paymentObjects(report.error, view, 'payment_amount')) amount(report, view.disclosed.get(place, 'amount'))
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-010',
      severity: 'both',
      types: ANY_PAYMENTS,
      why: 'An amount means nothing without its currency, and not every currency has cents.',
      spec: SCHEMA,
      hint: 'Send the three-letter code of ISO 4217 in upper case.',
      good: { currency: 'USD' },
      bad: { currency: 'usd' },
    },
    (report, view) => {
      for (const place of paymentObjects(() => undefined, view, 'payment_amount')) {
        const code = view.disclosed.get(place, 'currency')
        if (view.disclosed.need(report.error, place, 'currency', 'string')) currencyCode(report, code)
      }
      for (const { place, type } of view.open.flatMap(({ constraints }) => constraints)) {
        // What is missing there, or no text, is said with the other members of the constraint.
        const isPriced = type === 'payment.amount_range' || type === 'payment.budget'
        const code = view.disclosed.get(place, 'currency')
        if (isPriced && code.text() !== null) currencyCode(report, code)
      }
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-011',
      severity: 'both',
      types: ANY_PAYMENTS,
      why: 'Verifiers recognise the payee by its id, and people by its name and website.',
      spec: SCHEMA,
      hint: 'Send id, name, and the https website of the payee.',
      good: { payee: { id: 'merchant_1', name: 'Demo Merchant', website: 'https://demo-merchant.example' } },
      bad: { payee: { name: 'Demo Merchant' } },
    },
    ({ error, warning }, view) => {
      const { disclosed } = view
      for (const payee of paymentObjects(error, view, 'payee')) {
        partyMembers(error, payee, 'merchant', disclosed)
        const website = disclosed.get(payee, 'website')
        const text = website.text()
        if (!website.present && !disclosed.hides(payee)) warning(website, 'is missing', { expected: 'an https URL' })
        else if (text !== null && readUrl(text)?.protocol !== 'https:')
          warning(website, 'is not an https URL', { expected: 'an https URL' })
      }
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-012',
      severity: 'both',
      why: 'The instrument is named by a reference; a card number or another secret in a mandate is shown to all who verify it.',
      spec: SCHEMA,
      hint: 'Send id and type, with a reference in place of the card number, and [REDACTED] for secrets.',
      good: { payment_instrument: { id: 'pi_1', type: 'card', description: 'Card ending in 4242' } },
      bad: { payment_instrument: { id: '4242424242424242', type: 'card' } },
    },
    ({ error, warning }, view) => {
      const { disclosed, context } = view
      const told = new Set(cnfKeys(view).flatMap(({ secrets }) => secrets.map((place) => place.path())))
      const lists = view.open.flatMap(({ constraints }) => constraints).filter(({ type }) => type === 'payment.allowed_payment_instruments')
      const own = paymentObjects(error, view, 'payment_instrument')
      for (const instrument of own) partyMembers(error, instrument, 'instrument', disclosed)
      for (const instrument of [...own, ...lists.flatMap(({ place }) => disclosed.items(disclosed.get(place, 'allowed')))]) {
        for (const member of instrument.members()) {
          if (!holdsCardNumber(member.text() ?? '')) continue
          told.add(member.path())
          warning(member, 'looks like a card number')
        }
      }
      for (const { place, kind } of context.secrets) if (!told.has(place.path())) warning(place, `looks like ${SECRET_WORDS[kind]}`)
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-013',
      severity: 'error',
      types: ANY_PAYMENTS,
      why: 'A payment initiation service is recognised by all three of its names.',
      spec: SCHEMA,
      hint: 'Send legal_name, brand_name and domain_name.',
      good: { pisp: { legal_name: 'Example Payments Ltd', brand_name: 'ExamplePay', domain_name: 'examplepay.com' } },
      bad: { pisp: { brand_name: 'ExamplePay' } },
    },
    ({ error }, view) => {
      const { disclosed } = view
      for (const { claims } of ofTypes(view, 'payment_mandate', 'open_payment_mandate')) {
        const pisp = disclosed.get(claims, 'pisp')
        if (optional(error, pisp, 'object') && !pisp.redacted) partyMembers(error, pisp, 'pisp', disclosed)
      }
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-016',
      severity: 'error',
      types: ANY_PAYMENTS,
      why: 'A payment without a date is made at once, so a date that cannot be read must not pass for none.',
      spec: ap2Spec('payment_mandate', 'Execution Date'),
      hint: 'Send a date of ISO 8601, or leave it out for a payment at once.',
      good: { execution_date: '2026-12-01T00:00:00Z' },
      bad: { execution_date: '01/12/2026' },
    },
    ({ error }, view) => {
      for (const { claims } of ofTypes(view, 'payment_mandate', 'open_payment_mandate'))
        isoTime(error, view.disclosed.get(claims, 'execution_date'))
    },
  ),
]

function amount({ error, warning }: Report, place: Place): void {
  if (!need(error, place, 'number')) return
  const value = minorUnits(error, place, { min: 0n })
  if (value === 0n) warning(place, 'is 0')
  else if (value !== null && /^[^eE]*\.[^eE]*$/.test(place.literal() ?? ''))
    warning(place, 'is written with a point, as major units are', { expected: 'an integer such as 27999 for 279.99' })
}
