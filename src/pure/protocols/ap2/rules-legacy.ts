import { expectType, expectItems, expectText, expectTypeIfPresent, expectItemTypes, expectObject } from '../kit/expect.ts'
import { readBase64Url } from '../../receipts/base64url.ts'
import { readCompactJws, decodeJsonObject } from '../kit/keys.ts'
import { JsonCursor } from '../json-cursor.ts'
import type { RuleTable, FindingReporter, ReportFinding } from '../protocol.ts'
import { differByUnit, readDecimal, expectIsoTime } from './values.ts'
import { legacySpec, mandatesOfTypes, type Ap2View } from './view.ts'

/** About a quarter of an hour, and a minute for clocks. */
const LIFETIME_S = 960

/** AP2-039…043: mandates of version 0.1. */
export const LEGACY_RULES: RuleTable<Ap2View> = {
  'AP2-039': {
    severity: 'both',
    types: ['intent_mandate', 'mandates'],
    why: 'What the user wants, until when, and whether the agent may buy without asking, is the whole of an intent.',
    spec: legacySpec('IntentMandate'),
    hint: 'Send natural_language_description and intent_expiry; only a signed intent may do without the confirmation of the cart.',
    good: { natural_language_description: 'Red shoes', intent_expiry: '2026-12-01T00:00:00Z' },
    bad: { natural_language_description: 'Red shoes', intent_expiry: 'tomorrow' },
    check({ error, warning }, view) {
      for (const { claims, envelope } of mandatesOfTypes(view, 'intent_mandate')) {
        expectText(error, claims.get('natural_language_description'))
        if (expectText(error, claims.get('intent_expiry')) !== null) expectIsoTime(error, claims.get('intent_expiry'))
        const confirmed = claims.get('user_cart_confirmation_required')
        expectTypeIfPresent(error, confirmed, 'boolean')
        const refundable = claims.get('requires_refundability')
        if (refundable.kind !== 'null') expectTypeIfPresent(error, refundable, 'boolean')
        for (const list of ['merchants', 'skus'].map((name) => claims.get(name)))
          if (list.kind !== 'null' && expectTypeIfPresent(error, list, 'array')) expectItemTypes(error, list, 'string')
        const isSigned = envelope?.header.present === true || SIGNATURES.some((name) => claims.has(name))
        // The type of version 0.1 takes either value; its comment asks for the signature, which may travel apart from the claims.
        if (confirmed.boolean() === false && !isSigned) warning(confirmed, 'is false, but the intent has no user signature')
      }
    },
  },
  'AP2-040': {
    severity: 'error',
    types: ['cart_mandate', 'mandates'],
    why: 'The user confirms the cart as it is shown; items that do not add up hide a charge.',
    spec: legacySpec('CartContents'),
    hint: 'Send every member of contents, and display items in one currency that add up to the total.',
    hint_by_case: true,
    good: { display_items: [{ amount: { currency: 'USD', value: 120 } }], total: { amount: { currency: 'USD', value: 120 } } },
    bad: { display_items: [{ amount: { currency: 'USD', value: 120 } }], total: { amount: { currency: 'USD', value: 130 } } },
    check({ error }, view) {
      for (const { claims } of mandatesOfTypes(view, 'cart_mandate')) checkCartContents(error, claims.get('contents'))
    },
  },
  'AP2-041': {
    severity: 'both',
    types: ['cart_mandate', 'mandates'],
    why: 'Only the signature of the merchant makes a cart an offer, and a short life keeps it from being used again.',
    spec: legacySpec('CartMandate'),
    hint: 'Send a JWT with iss, sub, aud, iat, exp, jti and cart_hash that expires after 5 to 15 minutes.',
    good: { merchant_authorization: { payload: { iat: 1795262400, exp: 1795263000 } } },
    bad: { merchant_authorization: 'signed' },
    check(report, view) {
      for (const { claims } of mandatesOfTypes(view, 'cart_mandate'))
        checkMerchantAuthorization(report, claims.get('merchant_authorization'))
    },
  },
  'AP2-042': {
    severity: 'error',
    types: ['legacy_payment_mandate', 'mandates'],
    why: 'A payment that does not repeat the id and total of its cart pays for something else.',
    spec: legacySpec('PaymentMandateContents'),
    hint: 'Copy the id and total of the payment request of the cart, and its id once more as request_id.',
    good: { payment_details_id: 'order_1', payment_response: { request_id: 'order_1' } },
    bad: { payment_details_id: 'order_1', payment_response: { request_id: 'order_2' } },
    check({ error }, view) {
      const carts = mandatesOfTypes(view, 'cart_mandate').map(({ claims }) => claims.get('contents', 'payment_request', 'details'))
      const by_id = new Map(carts.map((details) => [details.text('id'), details]))
      for (const { claims } of mandatesOfTypes(view, 'legacy_payment_mandate'))
        checkPaymentContents(error, claims.get('payment_mandate_contents'), carts, by_id)
    },
  },
  'AP2-043': {
    severity: 'both',
    types: ['legacy_payment_mandate', 'mandates'],
    why: 'Without it nothing shows that the user approved the payment.',
    spec: legacySpec('PaymentMandate'),
    hint: 'Send user_authorization, or [REDACTED] for it.',
    good: { payment_mandate_contents: {}, user_authorization: '[REDACTED]' },
    bad: { payment_mandate_contents: {} },
    check({ error, warning }, view) {
      for (const { claims } of mandatesOfTypes(view, 'legacy_payment_mandate')) {
        const cursor = claims.get('user_authorization')
        if (!cursor.present || cursor.kind === 'null') warning(cursor, 'is missing')
        // A decoded presentation is an object.
        else if (cursor.kind !== 'object') expectTypeIfPresent(error, cursor, 'string')
      }
    },
  },
}

const SIGNATURES = ['user_authorization', 'user_signature', 'signature', 'authorization', 'proof']

function checkCartContents(error: ReportFinding, contents: JsonCursor): void {
  if (!expectObject(error, contents)) return
  for (const name of ['id', 'merchant_name']) expectText(error, contents.get(name))
  expectType(error, contents.get('user_cart_confirmation_required'), 'boolean')
  if (expectText(error, contents.get('cart_expiry')) !== null) expectIsoTime(error, contents.get('cart_expiry'))
  const request = contents.get('payment_request')
  if (!expectObject(error, request)) return
  for (const method of expectItems(error, request.get('method_data')))
    if (expectObject(error, method)) expectText(error, method.get('supported_methods'))
  const details = request.get('details')
  if (!expectObject(error, details)) return
  expectText(error, details.get('id'))
  const items = expectType(error, details.get('display_items'), 'array') ? details.items('display_items') : []
  const amounts = [...items, details.get('total')].map((item) => checkPaymentItem(error, item))
  expectOneCurrency(error, amounts)
  checkItemSum(error, details, items)
}

/** The amount of an item of the Payment Request API. */
function checkPaymentItem(error: ReportFinding, item: JsonCursor): JsonCursor {
  const amount = item.get('amount')
  if (!expectObject(error, item)) return amount
  expectText(error, item.get('label'))
  if (!expectObject(error, amount)) return amount
  expectText(error, amount.get('currency'))
  const value = amount.get('value')
  if (!value.present) error(value, 'is missing', { expected: 'a decimal number' })
  else if (!value.redacted && readDecimal(value) === null)
    error(value, 'is not a decimal number', { expected: 'a decimal number such as 120.00' })
  return amount
}

function expectOneCurrency(error: ReportFinding, amounts: readonly JsonCursor[]): void {
  const codes = amounts.map((amount) => amount.get('currency')).filter((cursor) => cursor.text() !== null)
  const [first] = codes
  for (const code of codes) if (code.text() !== first?.text()) error(code, 'is another currency than the first one of the cart')
}

/** Checks the sum; the selected shipping option may be among the items or in addition to them. */
function checkItemSum(error: ReportFinding, details: JsonCursor, items: readonly JsonCursor[]): void {
  const total = details.get('total', 'amount')
  const wanted = readDecimal(total.get('value'))
  const sum = sumItems(items)
  const shipping = sumItems(details.items('shipping_options').filter((option) => option.boolean('selected') === true))
  if (details.get('display_items').kind !== 'array' || wanted === null || sum === null || shipping === null) return
  const code = total.text('currency')
  if (differByUnit(sum, wanted, code) && differByUnit(sum + shipping, wanted, code))
    error(details.get('display_items'), 'do not add up to the total')
}

function sumItems(items: readonly JsonCursor[]): bigint | null {
  let sum = 0n
  for (const item of items) {
    const value = readDecimal(item.get('amount', 'value'))
    if (value === null) return null
    sum += value
  }
  return sum
}

const JWT_CLAIMS = ['iss', 'sub', 'aud', 'iat', 'exp', 'jti', 'cart_hash']

function checkMerchantAuthorization({ error, warning }: FindingReporter, cursor: JsonCursor): void {
  if (!cursor.present || cursor.kind === 'null') {
    warning(cursor, 'is missing')
    return
  }
  if (cursor.redacted) return
  const payload =
    cursor.kind === 'object' ? (cursor.get('payload').kind === 'object' ? cursor.get('payload') : cursor) : decodeTokenPayload(cursor)
  if (payload === null) {
    error(cursor, 'is not a compact token', { expected: 'header.payload.signature in base64url' })
    return
  }
  // Members of an encoded token have no place in the document.
  const at = (name: string) => (cursor.kind === 'object' ? payload.get(name) : cursor)
  for (const name of JWT_CLAIMS)
    if (!payload.has(name)) error(at(name), cursor.kind === 'object' ? 'is missing' : `lacks the claim ${name}`)
  const [iat, exp] = [payload.integer('iat'), payload.integer('exp')]
  if (iat !== null && exp !== null && exp - iat > BigInt(LIFETIME_S)) warning(at('exp'), 'is more than about 15 minutes after iat')
}

/** The claims of a compact token, also where the whole of it was encoded once more. */
function decodeTokenPayload(cursor: JsonCursor): JsonCursor | null {
  const text = cursor.text() ?? ''
  const token = text.includes('.') ? text : decodeBase64Text(text)
  const parts = readCompactJws(token) === null ? [] : token.split('.')
  const payload = decodeJsonObject(parts[1] ?? '')
  return payload === null ? null : JsonCursor.root(payload)
}

function decodeBase64Text(text: string): string {
  const bytes = text.length > 65_536 ? null : readBase64Url(text)
  return bytes === null ? '' : new TextDecoder().decode(bytes)
}

function checkPaymentContents(
  error: ReportFinding,
  contents: JsonCursor,
  carts: readonly JsonCursor[],
  by_id: ReadonlyMap<string | null, JsonCursor>,
): void {
  if (!expectObject(error, contents)) return
  for (const name of ['payment_mandate_id', 'merchant_agent']) expectText(error, contents.get(name))
  const id = contents.get('payment_details_id')
  expectText(error, id)
  expectIsoTime(error, contents.get('timestamp'))
  const total = checkPaymentItem(error, contents.get('payment_details_total'))
  const response = contents.get('payment_response')
  if (expectObject(error, response)) {
    for (const name of ['request_id', 'method_name']) expectText(error, response.get(name))
    const asked = response.text('request_id')
    if (asked !== null && id.text() !== null && asked !== id.text()) error(response.get('request_id'), 'is not payment_details_id')
  }
  const own = id.text() === null ? undefined : by_id.get(id.text())
  const [only, ...others] = carts
  const cart = own ?? (others.length === 0 ? only : undefined)
  if (cart === undefined) return
  if (own === undefined && id.text() !== null && cart.text('id') !== null) error(id, 'is not the id of the payment request of the cart')
  compareTotal(error, total, cart.get('total', 'amount'))
}

function compareTotal(error: ReportFinding, own: JsonCursor, other: JsonCursor): void {
  const [code, known] = [own.text('currency'), other.text('currency')]
  if (code !== null && known !== null && code !== known) error(own.get('currency'), 'is not the currency of the cart')
  const [value, total] = [readDecimal(own.get('value')), readDecimal(other.get('value'))]
  if (value !== null && total !== null && differByUnit(value, total, known)) error(own.get('value'), 'is not the total of the cart')
}
