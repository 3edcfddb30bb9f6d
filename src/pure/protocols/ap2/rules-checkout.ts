import { need, needText, oneOf } from '../kit/expect.ts'
import { isWeakAlgorithm, readCompactJws } from '../kit/keys.ts'
import { minorUnits, sumOf } from '../kit/money.ts'
import type { Place } from '../place.ts'
import { rule, type Say } from '../rule.ts'
import { digestForm, isSha256Of } from './digests.ts'
import { ap2Spec } from './spec.ts'
import { algorithmOf, CHECKOUTS, CURRENT, ofTypes, type Ap2View, type ClosedPayment } from './view.ts'

const SCHEMA = ap2Spec('checkout_mandate', 'Mandate Schema')

/** AP2-004…006 and 038: the checkout that a mandate approves. */
export const CHECKOUT_RULES = [
  rule<Ap2View>(
    {
      code: 'AP2-004',
      severity: 'error',
      types: CHECKOUTS,
      why: 'The token is what was approved, and the hash ties the payment to it.',
      spec: SCHEMA,
      hint: 'Send checkout_jwt and checkout_hash.',
      good: { vct: 'mandate.checkout.1', checkout_jwt: '[REDACTED]', checkout_hash: '…' },
      bad: { vct: 'mandate.checkout.1', checkout_hash: '…' },
    },
    ({ error }, view) => {
      const { disclosed } = view
      for (const { claims } of ofTypes(view, 'checkout_mandate')) {
        // A decoded token is an object.
        if (disclosed.get(claims, 'checkout_jwt').kind !== 'object') disclosed.needText(error, claims, 'checkout_jwt')
        disclosed.needText(error, claims, 'checkout_hash')
      }
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-005',
      severity: 'error',
      types: CHECKOUTS,
      why: 'Without a signature of its own the merchant has offered nothing.',
      spec: ap2Spec('specification', 'Payment Mandate'),
      hint: 'Send the compact token that the merchant signed with its private key, such as with ES256.',
      good: { checkout_jwt: 'eyJhbGciOiJFUzI1NiJ9.e30.AAAA' },
      bad: { checkout_jwt: 'eyJhbGciOiJub25lIn0.e30.AAAA' },
    },
    ({ error }, view) => {
      const { disclosed } = view
      for (const { claims } of ofTypes(view, 'checkout_mandate')) {
        const token = disclosed.get(claims, 'checkout_jwt')
        if (token.kind === 'object') algorithm(error, token.down('header', 'alg'), token.down('header', 'alg').value)
        else signedToken(error, token)
      }
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-006',
      severity: 'error',
      types: CHECKOUTS,
      why: 'Every verifier must refuse a mandate whose hash is not that of its checkout.',
      spec: SCHEMA,
      hint: 'Hash the token exactly as it is sent, with the algorithm of _sd_alg or else SHA-256.',
      good: { checkout_hash: '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU' },
      bad: { checkout_hash: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' },
    },
    ({ error }, view) => {
      const { disclosed, context } = view
      for (const mandate of ofTypes(view, 'checkout_mandate')) {
        const [hash, token] = ['checkout_hash', 'checkout_jwt'].map((name) => disclosed.get(mandate.claims, name).text())
        const place = disclosed.get(mandate.claims, 'checkout_hash')
        const used = algorithmOf(mandate)
        if (!digestForm(error, place, used) || typeof hash !== 'string') continue
        const readable = typeof token === 'string' && readCompactJws(token) !== null
        if (!readable || used !== 'sha-256') context.notChecked('the hash of a checkout_jwt that is not sent as it was signed')
        else if (!isSha256Of(hash, token)) error(place, 'is not the SHA-256 of checkout_jwt')
      }
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-038',
      severity: 'error',
      types: CURRENT,
      why: 'The payment is approved for what the checkout costs, and for nothing else.',
      spec: ap2Spec('checkout_mandate', 'Mandate Schema'),
      hint: 'Send a checkout that keeps the rules of UCP, and its total and currency as payment_amount.',
      good: { payment_amount: { amount: 1999, currency: 'USD' }, checkout: { currency: 'USD', totals: [{ type: 'total', amount: 1999 }] } },
      bad: { payment_amount: { amount: 1999, currency: 'USD' }, checkout: { currency: 'USD', totals: [{ type: 'total', amount: 2099 }] } },
    },
    ({ error }, view) => {
      const { checkouts, payments, context } = view
      for (const { body, embedded } of checkouts) {
        if (!embedded || context.delegate('ucp', body)) continue
        if (body.has('totals') || body.has('status')) plainCheckout(error, body)
        else context.notChecked('checkouts of another form than that of UCP')
      }
      for (const payment of payments) paidTotal(error, payment, view)
    },
  ),
]

function signedToken(error: Say, place: Place): void {
  const text = place.text()
  if (text === null || text.trim() === '') return
  const token = readCompactJws(text)
  if (token === null || token.detached)
    error(place, 'is no signed token in compact form', { expected: 'header.payload.signature in base64url' })
  else if (token.header === null) error(place, 'does not start with the header of a token', { expected: 'base64url of a JSON object' })
  else algorithm(error, place, token.header['alg'])
}

function algorithm(error: Say, place: Place, alg: unknown): void {
  if (place.redacted) return
  if (typeof alg !== 'string') error(place, 'names no signature algorithm', { expected: 'an algorithm such as ES256' })
  else if (isWeakAlgorithm(alg)) error(place, 'is signed by nobody, or with a shared secret', { expected: 'an algorithm such as ES256' })
}

const STATES = ['incomplete', 'requires_escalation', 'ready_for_complete', 'complete_in_progress', 'completed', 'canceled']

/** A checkout of UCP without its `ucp` member, as the schemas of AP2 describe it. */
function plainCheckout(error: Say, body: Place): void {
  for (const name of ['id', 'currency']) needText(error, body.get(name))
  if (need(error, body.get('status'), 'string')) oneOf(error, body.get('status'), STATES)
  for (const name of ['line_items', 'links']) need(error, body.get(name), 'array')
  const totals = body.get('totals')
  if (!need(error, totals, 'array') || totals.redacted) return
  const entries = totals.items()
  for (const entry of entries) {
    if (!need(error, entry, 'object')) continue
    needText(error, entry.get('type'))
    if (need(error, entry.get('amount'), 'number')) minorUnits(error, entry.get('amount'))
  }
  if (entries.some((entry) => entry.get('type').text() === null)) return
  for (const type of ['subtotal', 'total']) {
    const count = entries.filter((entry) => entry.get('type').text() === type).length
    if (count !== 1) error(totals, `has ${count === 0 ? 'no' : 'more than one'} ${type}`, { expected: `exactly one ${type}` })
  }
  const sum = sumOf(entries.filter((entry) => entry.get('type').text() !== 'total').map((entry) => entry.get('amount')))
  const total = totalOf(body)
  if (sum !== null && total !== null && sum !== total) error(totals, 'do not add up to the total')
}

function totalOf(body: Place): bigint | null {
  const [entry, ...others] = body
    .get('totals')
    .items()
    .filter((one) => one.get('type').text() === 'total')
  return entry === undefined || others.length > 0 ? null : entry.get('amount').integer()
}

function paidTotal(error: Say, { claims, checkout }: ClosedPayment, { disclosed }: Ap2View): void {
  if (checkout === null) return
  const paid = disclosed.get(claims, 'payment_amount')
  const [amount, currency] = [disclosed.get(paid, 'amount'), disclosed.get(paid, 'currency')]
  const [total, priced] = [totalOf(checkout.body), checkout.body.get('currency').text()]
  const [own, code] = [amount.integer(), currency.text()]
  if (own !== null && total !== null && own !== total) error(amount, 'is not the total of the checkout')
  if (code !== null && priced !== null && code !== priced) error(currency, 'is not the currency of the checkout')
}
