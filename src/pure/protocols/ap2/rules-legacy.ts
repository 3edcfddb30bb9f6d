import { need, needItems, needText, optional } from '../kit/expect.ts'
import { readCompactJws, readBase64Url, readEncodedObject } from '../kit/keys.ts'
import { Place } from '../place.ts'
import { rule, type Report, type Say } from '../rule.ts'
import { differsBy, readDecimal } from './decimals.ts'
import { legacySpec } from './spec.ts'
import { isoTime } from './times.ts'
import { ofTypes, type Ap2View } from './view.ts'

/** About a quarter of an hour, and a minute for clocks. */
const LIFETIME_S = 960

/** AP2-039…043: mandates of version 0.1. */
export const LEGACY_RULES = [
  rule<Ap2View>(
    {
      code: 'AP2-039',
      severity: 'both',
      types: ['intent_mandate', 'mandates'],
      why: 'What the user wants, until when, and whether the agent may buy without asking, is the whole of an intent.',
      spec: legacySpec('IntentMandate'),
      hint: 'Send natural_language_description and intent_expiry; only a signed intent may do without the confirmation of the cart.',
      good: { natural_language_description: 'Red shoes', intent_expiry: '2026-12-01T00:00:00Z' },
      bad: { natural_language_description: 'Red shoes', intent_expiry: 'tomorrow' },
    },
    ({ error, warning }, view) => {
      for (const { claims, envelope } of ofTypes(view, 'intent_mandate')) {
        needText(error, claims.get('natural_language_description'))
        if (needText(error, claims.get('intent_expiry')) !== null) isoTime(error, claims.get('intent_expiry'))
        const confirmed = claims.get('user_cart_confirmation_required')
        optional(error, confirmed, 'boolean')
        const refundable = claims.get('requires_refundability')
        if (refundable.kind !== 'null') optional(error, refundable, 'boolean')
        for (const list of ['merchants', 'skus'].map((name) => claims.get(name)))
          if (list.kind !== 'null' && optional(error, list, 'array')) for (const item of list.items()) optional(error, item, 'string')
        const isSigned = envelope?.header.present === true || SIGNATURES.some((name) => claims.has(name))
        // The type of version 0.1 takes either value; its comment asks for the signature, which may travel apart from the claims.
        if (confirmed.boolean() === false && !isSigned) warning(confirmed, 'is false though nothing shows that the user signed')
      }
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-040',
      severity: 'error',
      types: ['cart_mandate', 'mandates'],
      why: 'The user confirms the cart as it is shown; items that do not add up hide a charge.',
      spec: legacySpec('CartContents'),
      hint: 'Send every member of contents, and display items in one currency that add up to the total.',
      hint_by_case: true,
      good: { display_items: [{ amount: { currency: 'USD', value: 120 } }], total: { amount: { currency: 'USD', value: 120 } } },
      bad: { display_items: [{ amount: { currency: 'USD', value: 120 } }], total: { amount: { currency: 'USD', value: 130 } } },
    },
    ({ error }, view) => {
      for (const { claims } of ofTypes(view, 'cart_mandate')) cartContents(error, claims.get('contents'))
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-041',
      severity: 'both',
      types: ['cart_mandate', 'mandates'],
      why: 'Only the signature of the merchant makes a cart an offer, and a short life keeps it from being used again.',
      spec: legacySpec('CartMandate'),
      hint: 'Send a JWT with iss, sub, aud, iat, exp, jti and cart_hash that holds for 5 to 15 minutes.',
      good: { merchant_authorization: { payload: { iat: 1795262400, exp: 1795263000 } } },
      bad: { merchant_authorization: 'signed' },
    },
    (report, view) => {
      for (const { claims } of ofTypes(view, 'cart_mandate')) merchantAuthorization(report, claims.get('merchant_authorization'))
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-042',
      severity: 'error',
      types: ['legacy_payment_mandate', 'mandates'],
      why: 'A payment that does not repeat the id and total of its cart pays for something else.',
      spec: legacySpec('PaymentMandateContents'),
      hint: 'Copy the id and total of the payment request of the cart, and its id once more as request_id.',
      good: { payment_details_id: 'order_1', payment_response: { request_id: 'order_1' } },
      bad: { payment_details_id: 'order_1', payment_response: { request_id: 'order_2' } },
    },
    ({ error }, view) => {
      const carts = ofTypes(view, 'cart_mandate').map(({ claims }) => claims.down('contents', 'payment_request', 'details'))
      const by_id = new Map(carts.map((details) => [details.get('id').text(), details]))
      for (const { claims } of ofTypes(view, 'legacy_payment_mandate'))
        paymentContents(error, claims.get('payment_mandate_contents'), carts, by_id)
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-043',
      severity: 'both',
      types: ['legacy_payment_mandate', 'mandates'],
      why: 'Without it nothing shows that the user approved the payment.',
      spec: legacySpec('PaymentMandate'),
      hint: 'Send user_authorization, or [REDACTED] for it.',
      good: { payment_mandate_contents: {}, user_authorization: '[REDACTED]' },
      bad: { payment_mandate_contents: {} },
    },
    ({ error, warning }, view) => {
      for (const { claims } of ofTypes(view, 'legacy_payment_mandate')) {
        const place = claims.get('user_authorization')
        if (!place.present || place.kind === 'null') warning(place, 'is missing')
        // A decoded presentation is an object.
        else if (place.kind !== 'object') optional(error, place, 'string')
      }
    },
  ),
]

const SIGNATURES = ['user_authorization', 'user_signature', 'signature', 'authorization', 'proof']

function cartContents(error: Say, contents: Place): void {
  if (!need(error, contents, 'object') || contents.redacted) return
  for (const name of ['id', 'merchant_name']) needText(error, contents.get(name))
  need(error, contents.get('user_cart_confirmation_required'), 'boolean')
  if (needText(error, contents.get('cart_expiry')) !== null) isoTime(error, contents.get('cart_expiry'))
  const request = contents.get('payment_request')
  if (!need(error, request, 'object') || request.redacted) return
  for (const method of needItems(error, request.get('method_data')))
    if (need(error, method, 'object') && !method.redacted) needText(error, method.get('supported_methods'))
  const details = request.get('details')
  if (!need(error, details, 'object') || details.redacted) return
  needText(error, details.get('id'))
  const items = need(error, details.get('display_items'), 'array') ? details.get('display_items').items() : []
  const amounts = [...items, details.get('total')].map((item) => paymentItem(error, item))
  oneCurrency(error, amounts)
  sumOfItems(error, details, items)
}

/** The amount of an item of the Payment Request API. */
function paymentItem(error: Say, item: Place): Place {
  const amount = item.get('amount')
  if (!need(error, item, 'object') || item.redacted) return amount
  needText(error, item.get('label'))
  if (!need(error, amount, 'object') || amount.redacted) return amount
  needText(error, amount.get('currency'))
  const value = amount.get('value')
  if (!value.present) error(value, 'is missing', { expected: 'a decimal number' })
  else if (!value.redacted && readDecimal(value) === null)
    error(value, 'is no decimal number', { expected: 'a decimal number such as 120.00' })
  return amount
}

function oneCurrency(error: Say, amounts: readonly Place[]): void {
  const codes = amounts.map((amount) => amount.get('currency')).filter((place) => place.text() !== null)
  const [first] = codes
  for (const code of codes) if (code.text() !== first?.text()) error(code, 'is another currency than the first one of the cart')
}

/** The chosen way of shipping may be among the items or beside them. */
function sumOfItems(error: Say, details: Place, items: readonly Place[]): void {
  const total = details.down('total', 'amount')
  const wanted = readDecimal(total.get('value'))
  const sum = sumOf(items)
  const shipping = sumOf(
    details
      .get('shipping_options')
      .items()
      .filter((option) => option.get('selected').boolean() === true),
  )
  if (details.get('display_items').kind !== 'array' || wanted === null || sum === null || shipping === null) return
  const code = total.get('currency').text()
  if (differsBy(sum, wanted, code) && differsBy(sum + shipping, wanted, code))
    error(details.get('display_items'), 'do not add up to the total')
}

function sumOf(items: readonly Place[]): bigint | null {
  let sum = 0n
  for (const item of items) {
    const value = readDecimal(item.down('amount', 'value'))
    if (value === null) return null
    sum += value
  }
  return sum
}

const JWT_CLAIMS = ['iss', 'sub', 'aud', 'iat', 'exp', 'jti', 'cart_hash']

function merchantAuthorization({ error, warning }: Report, place: Place): void {
  if (!place.present || place.kind === 'null') {
    warning(place, 'is missing')
    return
  }
  if (place.redacted) return
  const payload = place.kind === 'object' ? (place.get('payload').kind === 'object' ? place.get('payload') : place) : encodedPayload(place)
  if (payload === null) {
    error(place, 'is no token in compact form', { expected: 'header.payload.signature in base64url' })
    return
  }
  // Members of an encoded token have no place in the document.
  const at = (name: string) => (place.kind === 'object' ? payload.get(name) : place)
  for (const name of JWT_CLAIMS) if (!payload.has(name)) error(at(name), place.kind === 'object' ? 'is missing' : `lacks the claim ${name}`)
  const [iat, exp] = [payload.get('iat').integer(), payload.get('exp').integer()]
  if (iat !== null && exp !== null && exp - iat > BigInt(LIFETIME_S))
    warning(at('exp'), 'lets the cart hold for more than about 15 minutes')
}

/** The claims of a compact token, also where the whole of it was encoded once more. */
function encodedPayload(place: Place): Place | null {
  const text = place.text() ?? ''
  const token = text.includes('.') ? text : decodedText(text)
  const parts = readCompactJws(token) === null ? [] : token.split('.')
  const payload = readEncodedObject(parts[1] ?? '')
  return payload === null ? null : Place.root(payload)
}

function decodedText(text: string): string {
  const bytes = text.length > 65_536 ? null : readBase64Url(text)
  return bytes === null ? '' : new TextDecoder().decode(bytes)
}

function paymentContents(error: Say, contents: Place, carts: readonly Place[], by_id: ReadonlyMap<string | null, Place>): void {
  if (!need(error, contents, 'object') || contents.redacted) return
  for (const name of ['payment_mandate_id', 'merchant_agent']) needText(error, contents.get(name))
  const id = contents.get('payment_details_id')
  needText(error, id)
  isoTime(error, contents.get('timestamp'))
  const total = paymentItem(error, contents.get('payment_details_total'))
  const response = contents.get('payment_response')
  if (need(error, response, 'object') && !response.redacted) {
    for (const name of ['request_id', 'method_name']) needText(error, response.get(name))
    const asked = response.get('request_id').text()
    if (asked !== null && id.text() !== null && asked !== id.text()) error(response.get('request_id'), 'is not payment_details_id')
  }
  const own = id.text() === null ? undefined : by_id.get(id.text())
  const [only, ...others] = carts
  const cart = own ?? (others.length === 0 ? only : undefined)
  if (cart === undefined) return
  if (own === undefined && id.text() !== null && cart.get('id').text() !== null)
    error(id, 'is not the id of the payment request of the cart')
  sameTotal(error, total, cart.down('total', 'amount'))
}

function sameTotal(error: Say, own: Place, other: Place): void {
  const [code, known] = [own.get('currency').text(), other.get('currency').text()]
  if (code !== null && known !== null && code !== known) error(own.get('currency'), 'is not the currency of the cart')
  const [value, total] = [readDecimal(own.get('value')), readDecimal(other.get('value'))]
  if (value !== null && total !== null && differsBy(value, total, known)) error(own.get('value'), 'is not the total of the cart')
}
