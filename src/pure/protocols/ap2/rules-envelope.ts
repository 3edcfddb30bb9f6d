import { readBase64Url } from '../../receipts/base64url.ts'
import { expectText, expectTypeIfPresent, expectItemTypes, expectObject, expectType, expectItems } from '../kit/expect.ts'
import { isWeakAlgorithm, readCompactJws, decodeJsonObject } from '../kit/keys.ts'
import { JsonCursor } from '../json-cursor.ts'
import { rfc, type RuleTable, type FindingReporter, type ReportFinding } from '../protocol.ts'
import { isOfV01, VCT, type Ap2Mandate } from './mandates.ts'
import {
  ap2Spec,
  ISSUE_BUDGET,
  CURRENT,
  type Ap2View,
  legacySpec,
  mandatesOfTypes,
  DIGEST_CHARS,
  expectIsoTime,
  readDecimal,
  differByUnit,
} from './view.ts'
import { expectInteger } from '../kit/money.ts'

/** AP2-001…003, 034…036 and 045: types, tokens and disclosures around the claims. */
export const AP2_ENVELOPE_RULES: RuleTable<Ap2View> = {
  'AP2-001': {
    severity: 'both',
    why: 'A verifier applies the rules of the type; without one it must refuse.',
    spec: ap2Spec('specification', 'Mandates'),
    hint: 'Send the decoded claims of a mandate or receipt of version 0.2.',
    good: { vct: 'mandate.payment.1', transaction_id: '…' },
    bad: { mandate: 'pay for it' },
    check({ error, warning }, { mandates, tokens, context }) {
      if (mandates.length === 0 && tokens.length === 0) error(context.document, 'contains no known mandate or receipt')
      for (const mandate of mandates) {
        if (isOfV01(mandate)) warning(mandate.claims, 'is a mandate of version 0.1, which was replaced by 0.2', { expected: 'version 0.2' })
      }
    },
  },
  'AP2-002': {
    why: 'Types are compared as a whole, including the number at the end.',
    spec: ap2Spec('specification', 'Mandate Versioning'),
    hint: 'Send mandate.payment.1, mandate.payment.open.1, mandate.checkout.1 or mandate.checkout.open.1.',
    good: { vct: 'mandate.payment.1' },
    bad: { vct: 'mandate.payment' },
    check({ error }, { mandates, disclosed }) {
      for (const { type, claims } of mandates) {
        const vct = claims.get('vct')
        const expected = expectedVct(type)
        if (expected === null && !vct.present) continue
        if (!vct.present ? disclosed.hides(claims) : vct.redacted || vct.text() === expected) continue
        error(vct, vct.present ? 'is not exactly a type of version 0.2' : 'is missing', { expected: expected ?? 'a type of version 0.2' })
      }
    },
  },
  'AP2-003': {
    why: 'What is inside an encoded token is not looked at here.',
    spec: ap2Spec('agent_authorization', 'Mandates using SD-JWT VCs'),
    hint: 'Decode the token, and send its claims with signatures left out or redacted.',
    good: { mandate: { vct: 'mandate.payment.1' } },
    bad: { mandate: 'eyJhbGciOiJFUzI1NiJ9.eyJ2Y3QiOiJtYW5kYXRlLnBheW1lbnQuMSJ9.AAAA~' },
    check({ error }, { tokens, mandates }) {
      // A token next to its decoded claims is harmless; a token in a list replaces a mandate.
      const missing = mandates.length === 0 ? tokens : tokens.filter(({ parent }) => parent?.kind === 'array')
      for (const token of missing) error(token, 'is an encoded token', { expected: 'an object of decoded claims' })
    },
  },
  'AP2-034': {
    severity: 'warning',
    types: CURRENT,
    why: 'A constraint that is not disclosed is not evaluated, so that nothing was violated proves nothing.',
    spec: ISSUE_BUDGET,
    hint: 'Disclose every constraint of the open mandate before you rely on it.',
    good: { constraints: [{ type: 'payment.amount_range' }] },
    bad: { constraints: [{ '...': '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU' }] },
    check({ warning }, { disclosed }) {
      for (const cursor of disclosed.undisclosed()) {
        const vct = cursor.text('vct')
        // The credential of the user may hide what it likes.
        if (vct === null || vct.startsWith('mandate.'))
          warning(cursor, cursor.has('...') ? 'is not disclosed' : 'has members that are not disclosed')
      }
    },
  },
  'AP2-035': {
    types: CURRENT,
    why: 'Every hash of the mandate is computed with it.',
    spec: rfc(9901, 'Hash Function Claim'),
    hint: 'Send sha-256, or leave it out.',
    good: { _sd_alg: 'sha-256' },
    bad: { _sd_alg: 'SHA256' },
    check({ error }, { disclosed }) {
      const expected = `one of ${Object.keys(DIGEST_CHARS).join(', ')}`
      for (const cursor of disclosed.algorithms) {
        const isKnown = Object.hasOwn(DIGEST_CHARS, cursor.text() ?? '')
        if (!isKnown && !cursor.redacted) error(cursor, 'is not a supported hash algorithm', { expected })
      }
    },
  },
  'AP2-036': {
    severity: 'warning',
    types: ['checkout_mandate', 'payment_mandate', 'mandates'],
    why: 'Without them a closed mandate can be cut from its chain and shown to another verifier.',
    spec: ap2Spec('agent_authorization', 'Mandates using SD-JWT VCs'),
    hint: 'Bind the token to the open mandate by sd_hash, and to its verifier by aud and nonce.',
    good: { typ: 'kb+sd-jwt', sd_hash: '…', aud: 'merchant', nonce: '…' },
    bad: { typ: 'kb+sd-jwt', aud: 'merchant' },
    check({ warning }, { mandates, disclosed }) {
      const reported = new Set<unknown>()
      for (const mandate of mandates) {
        const { type, claims, envelope } = mandate
        if ((type !== 'checkout_mandate' && type !== 'payment_mandate') || !isDelegated(mandate)) continue
        const holder = envelope?.payload ?? claims
        if (reported.has(holder.value) || disclosed.hides(holder)) continue
        reported.add(holder.value)
        for (const name of BINDING)
          if (!holder.has(name) && !claims.has(name)) warning(holder.get(name), 'is missing in a delegated mandate')
      }
    },
  },
  'AP2-045': {
    why: 'Only the signature makes a mandate evidence; a verifier who shares the secret could have made it.',
    spec: ap2Spec('agent_authorization', 'Mandates using SD-JWT VCs'),
    hint: 'Sign the token with a private key, such as with ES256, and name the algorithm in alg of its header.',
    good: { header: { alg: 'ES256', typ: 'kb+sd-jwt' } },
    bad: { header: { alg: 'none' } },
    check({ error }, { mandates }) {
      const reported = new Set<unknown>()
      for (const { envelope } of mandates) {
        const header = envelope?.header
        if (header?.kind !== 'object' || reported.has(header.value)) continue
        reported.add(header.value)
        const alg = header.get('alg')
        if (expectText(error, alg) !== null && isWeakAlgorithm(alg.value))
          error(alg, 'is not an algorithm with a public key', { expected: 'an algorithm such as ES256' })
      }
    },
  },
}

const BINDING = ['sd_hash', 'aud', 'nonce']

/** Returns whether the token states that it continues another one. */
function isDelegated({ claims, envelope }: Ap2Mandate): boolean {
  const holders: JsonCursor[] = envelope === null ? [claims] : [claims, envelope.payload]
  const typ = envelope?.header.text('typ') ?? ''
  return typ.startsWith('kb') || holders.some((holder) => BINDING.some((name) => holder.has(name)))
}

function expectedVct(type: Ap2Mandate['type']): string | null {
  switch (type) {
    case 'checkout_mandate':
    case 'open_checkout_mandate':
    case 'payment_mandate':
    case 'open_payment_mandate':
      return VCT[type]
    case 'checkout_receipt':
    case 'payment_receipt':
    case 'intent_mandate':
    case 'cart_mandate':
    case 'legacy_payment_mandate':
    case 'unknown':
      return null
  }
}

/** Clocks of two parties differ by less. */
const SKEW_S = 300n
/** Seconds stay below it for three thousand years. */
const MOST_SECONDS = 100_000_000_000n
const DAY_S = 86_400n
/** A leap year. */
const YEAR_S = 366n * DAY_S

/** AP2-014 and 015: validity of mandates. */
export const AP2_TIME_RULES: RuleTable<Ap2View> = {
  'AP2-014': {
    severity: 'both',
    types: CURRENT,
    why: 'A mandate that never ends, or that starts in the future, is refused or misused.',
    spec: rfc(7519, '4.1'),
    hint: 'Send iat and exp in whole seconds since 1970, exp after iat and not yet past.',
    good: { iat: 1795262400, exp: 1795266000 },
    bad: { iat: 1795262400000 },
    check(report, { mandates, disclosed, context }) {
      const reported = new Set<unknown>()
      for (const mandate of mandates.filter(isOfV02)) {
        for (const cursor of ['iat', 'exp'].flatMap((name) => listTimes(mandate, name))) {
          if (reported.has(cursor.parent?.value)) continue
          expectSeconds(report, cursor)
        }
        for (const holder of objectsWithTimes(mandate)) reported.add(holder.value)
        checkValidity(report, mandate, BigInt(context.now_s))
        const exp = findTime(mandate, 'exp')
        if (!exp.present && !disclosed.hides(mandate.claims)) report.warning(exp, 'is missing, so the mandate never ends')
      }
    },
  },
  'AP2-015': {
    severity: 'warning',
    types: CURRENT,
    why: 'The longer a mandate holds, the more can be done with a stolen one.',
    spec: ap2Spec('specification', 'Autonomous (Human Not Present)'),
    hint: 'Let a closed mandate end within a day, and an open one when its task is done.',
    good: { vct: 'mandate.payment.1', iat: 1795262400, exp: 1795263300 },
    bad: { vct: 'mandate.payment.1', iat: 1795262400, exp: 1798000000 },
    check({ warning }, { mandates }) {
      for (const mandate of mandates.filter(isOfV02)) {
        const [iat, exp] = [readSeconds(mandate, 'iat'), readSeconds(mandate, 'exp')]
        const isOpen = mandate.type === 'open_checkout_mandate' || mandate.type === 'open_payment_mandate'
        if (iat === null || exp === null || exp - iat <= (isOpen ? YEAR_S : DAY_S)) continue
        warning(findTime(mandate, 'exp'), `is more than ${isOpen ? 'a year' : 'a day'} after iat`)
      }
    },
  },
}

function isOfV02({ type }: Ap2Mandate): boolean {
  return type in VCT
}

/** Objects with iat and exp: the claims, and the payload of the token that carries them. */
function objectsWithTimes({ claims, envelope }: Ap2Mandate): JsonCursor[] {
  return envelope === null || envelope.payload.value === claims.value ? [claims] : [claims, envelope.payload]
}

function listTimes(mandate: Ap2Mandate, name: string): JsonCursor[] {
  return objectsWithTimes(mandate)
    .map((holder) => holder.get(name))
    .filter(({ present }) => present)
}

/** The claims come first. */
function findTime(mandate: Ap2Mandate, name: string): JsonCursor {
  return listTimes(mandate, name)[0] ?? mandate.claims.get(name)
}

/** Seconds; null if they cannot be read. */
function readSeconds(mandate: Ap2Mandate, name: string): bigint | null {
  const value = findTime(mandate, name).integer()
  return value === null || value < 0n || value > MOST_SECONDS ? null : value
}

function expectSeconds({ error }: FindingReporter, cursor: JsonCursor): void {
  const value = expectInteger(error, cursor, { min: 0n })
  if (value !== null && value > MOST_SECONDS) error(cursor, 'is not in seconds', { expected: 'seconds since 1970, not milliseconds' })
}

function checkValidity({ error, warning }: FindingReporter, mandate: Ap2Mandate, now_s: bigint): void {
  const [iat, exp] = [readSeconds(mandate, 'iat'), readSeconds(mandate, 'exp')]
  const [issued, ends] = [findTime(mandate, 'iat'), findTime(mandate, 'exp')]
  if (iat !== null && iat > now_s + SKEW_S) error(issued, 'is in the future')
  if (iat !== null && exp !== null && exp <= iat) error(ends, 'is not after iat')
  else if (exp !== null && exp < now_s) warning(ends, 'is past')
}

/** About a quarter of an hour, and a minute for clocks. */
const LIFETIME_S = 960

/** AP2-039…043: mandates of version 0.1. */
export const AP2_LEGACY_RULES: RuleTable<Ap2View> = {
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
