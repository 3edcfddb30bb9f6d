import {
  expectType,
  expectText,
  expectOneOf,
  expectTypeIfPresent,
  reportSecrets,
  expectObjectIfPresent,
  expectTextForm,
} from '../kit/expect.ts'
import { isWeakAlgorithm, readCompactJws } from '../kit/keys.ts'
import { expectMinorUnits, sumIntegers, expectInteger, isCurrencyCode, minorUnitDigits } from '../kit/money.ts'
import type { JsonCursor } from '../json-cursor.ts'
import type { RuleTable, ReportFinding, FindingReporter } from '../protocol.ts'
import {
  ap2Spec,
  CURRENT,
  mandatesOfTypes,
  type Ap2View,
  type ClosedPayment,
  cnfKeys,
  expectPartyMembers,
  expectIsoTime,
  DIGEST_CHARS,
} from './view.ts'
import { readUrl } from '../kit/url.ts'
import type { Ap2Mandate, Ap2Type } from './mandates.ts'
import { isLuhn } from '../../checks/luhn.ts'
import { readBase64Url } from '../../receipts/base64url.ts'
import { sha256 } from '@noble/hashes/sha2.js'

const CHECKOUT_SCHEMA = ap2Spec('checkout_mandate', 'Mandate Schema')

const SCHEMA = ap2Spec('payment_mandate', 'Mandate Schema')

const CHECKOUTS = ['checkout_mandate', 'mandates'] as const satisfies Ap2Type[]
const PAYMENTS = ['payment_mandate', 'mandates'] as const satisfies Ap2Type[]
const ANY_PAYMENTS = ['payment_mandate', 'open_payment_mandate', 'mandates'] as const satisfies Ap2Type[]
const RECEIPTS = ['checkout_receipt', 'payment_receipt', 'mandates'] as const satisfies Ap2Type[]

/** Digits of a card in a text, written together or in groups. */
const CARD_DIGITS = /(?<![0-9])[2-6][0-9]{3}(?:[ -]?[0-9]){9,15}(?![0-9])/

export const AP2_CLOSED_RULES: RuleTable<Ap2View> = {
  // AP2-004…006 and 038: the checkout that a mandate approves.
  'AP2-004': {
    types: CHECKOUTS,
    why: 'The token is what was approved, and the hash ties the payment to it.',
    spec: CHECKOUT_SCHEMA,
    hint: 'Send checkout_jwt and checkout_hash.',
    good: { vct: 'mandate.checkout.1', checkout_jwt: '[REDACTED]', checkout_hash: '…' },
    bad: { vct: 'mandate.checkout.1', checkout_hash: '…' },
    check({ error }, view) {
      const { disclosed } = view
      for (const { claims } of mandatesOfTypes(view, 'checkout_mandate')) {
        // A decoded token is an object.
        if (disclosed.get(claims, 'checkout_jwt').kind !== 'object') disclosed.needText(error, claims, 'checkout_jwt')
        disclosed.needText(error, claims, 'checkout_hash')
      }
    },
  },
  'AP2-005': {
    types: CHECKOUTS,
    why: 'Without its signature the merchant has offered nothing.',
    spec: ap2Spec('specification', 'Payment Mandate'),
    hint: 'Send the compact token that the merchant signed with its private key, such as with ES256.',
    good: { checkout_jwt: 'eyJhbGciOiJFUzI1NiJ9.e30.AAAA' },
    bad: { checkout_jwt: 'eyJhbGciOiJub25lIn0.e30.AAAA' },
    check({ error }, view) {
      const { disclosed } = view
      for (const { claims } of mandatesOfTypes(view, 'checkout_mandate')) {
        const token = disclosed.get(claims, 'checkout_jwt')
        if (token.kind === 'object') checkAlgorithm(error, token.get('header', 'alg'), token.get('header', 'alg').value)
        else checkSignedToken(error, token)
      }
    },
  },
  'AP2-006': {
    types: CHECKOUTS,
    why: 'Every verifier must refuse a mandate whose hash is not that of its checkout.',
    spec: CHECKOUT_SCHEMA,
    hint: 'Hash the token exactly as it is sent, with the algorithm of _sd_alg or else SHA-256.',
    good: { checkout_hash: '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU' },
    bad: { checkout_hash: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' },
    check({ error }, view) {
      const { disclosed, context } = view
      for (const mandate of mandatesOfTypes(view, 'checkout_mandate')) {
        const [hash, token] = ['checkout_hash', 'checkout_jwt'].map((name) => disclosed.get(mandate.claims, name).text())
        const cursor = disclosed.get(mandate.claims, 'checkout_hash')
        const used = algorithmOf(mandate)
        if (!expectDigest(error, cursor, used) || typeof hash !== 'string') continue
        const readable = typeof token === 'string' && readCompactJws(token) !== null
        if (!readable || used !== 'sha-256') context.addNotChecked('the hash of a checkout_jwt that is not sent as it was signed')
        else if (!isSha256Of(hash, token)) error(cursor, 'is not the SHA-256 of checkout_jwt')
      }
    },
  },
  'AP2-038': {
    types: CURRENT,
    why: 'The payment is approved for what the checkout costs, and for nothing else.',
    spec: ap2Spec('checkout_mandate', 'Mandate Schema'),
    hint: 'Send a checkout that keeps the rules of UCP, and its total and currency as payment_amount.',
    good: { payment_amount: { amount: 1999, currency: 'USD' }, checkout: { currency: 'USD', totals: [{ type: 'total', amount: 1999 }] } },
    bad: { payment_amount: { amount: 1999, currency: 'USD' }, checkout: { currency: 'USD', totals: [{ type: 'total', amount: 2099 }] } },
    check({ error }, view) {
      const { checkouts, payments, context } = view
      for (const { body, embedded } of checkouts) {
        if (!embedded || context.delegate('ucp', body)) continue
        if (body.has('totals') || body.has('status')) checkPlainCheckout(error, body)
        else context.addNotChecked('checkouts of another form than that of UCP')
      }
      for (const payment of payments) comparePaidTotal(error, payment, view)
    },
  },
  // AP2-007…013 and 016: members of payments, in closed mandates and preset in open ones.
  'AP2-007': {
    types: PAYMENTS,
    why: 'Without one of these it is unknown which payment was approved.',
    spec: SCHEMA,
    hint: 'Send transaction_id, payee, payment_amount and payment_instrument.',
    good: { transaction_id: '…', payee: {}, payment_amount: {}, payment_instrument: {} },
    bad: { transaction_id: '…', payee: {}, payment_amount: {} },
    check({ error }, { payments, disclosed }) {
      for (const { claims } of payments) {
        disclosed.needText(error, claims, 'transaction_id')
        for (const name of ['payee', 'payment_amount', 'payment_instrument']) disclosed.need(error, claims, name, 'object')
        expectTypeIfPresent(error, disclosed.get(claims, 'risk_data'), 'object')
      }
    },
  },
  'AP2-008': {
    types: PAYMENTS,
    why: 'It is the hash of the checkout that is paid; with another value the payment is for something else.',
    spec: SCHEMA,
    hint: 'Send the checkout_hash of the checkout mandate.',
    good: { checkout_hash: '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU', transaction_id: '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU' },
    bad: { transaction_id: 'tx_1' },
    check({ error }, view) {
      const { payments, disclosed } = view
      const hashes = mandatesOfTypes(view, 'checkout_mandate').map(({ claims }) => disclosed.get(claims, 'checkout_hash').text())
      const known = new Set(hashes)
      for (const { mandate, claims } of payments) {
        const cursor = disclosed.get(claims, 'transaction_id')
        const isFormed = expectDigest(error, cursor, algorithmOf(mandate))
        if (isFormed && hashes.length > 0 && !known.has(null) && !known.has(cursor.text()))
          error(cursor, 'is not the checkout_hash of a checkout mandate in this document', { expected: 'the same hash in both mandates' })
      }
    },
  },
  'AP2-009': {
    severity: 'both',
    types: ANY_PAYMENTS,
    why: 'An amount in major units is read as a hundredth of itself, or refused.',
    spec: SCHEMA,
    hint: 'Send minor units as an integer: 27999 for 279.99.',
    good: { payment_amount: { amount: 27999, currency: 'USD' } },
    bad: { payment_amount: { amount: 279.99, currency: 'USD' } },
    check(report, view) {
      for (const cursor of paymentObjects(report.error, view, 'payment_amount')) checkAmount(report, view.disclosed.get(cursor, 'amount'))
    },
  },
  'AP2-010': {
    severity: 'both',
    types: ANY_PAYMENTS,
    why: 'An amount means nothing without its currency, and not every currency has cents.',
    spec: SCHEMA,
    hint: 'Send the three-letter code of ISO 4217 in upper case.',
    good: { currency: 'USD' },
    bad: { currency: 'usd' },
    check(report, view) {
      for (const cursor of paymentObjects(() => undefined, view, 'payment_amount')) {
        const code = view.disclosed.get(cursor, 'currency')
        if (view.disclosed.need(report.error, cursor, 'currency', 'string')) expectCurrencyCode(report, code)
      }
      for (const { cursor, type } of view.open.flatMap(({ constraints }) => constraints)) {
        // A member that is missing or not a string is reported with the other members of the constraint.
        const isPriced = type === 'payment.amount_range' || type === 'payment.budget'
        const code = view.disclosed.get(cursor, 'currency')
        if (isPriced && code.text() !== null) expectCurrencyCode(report, code)
      }
    },
  },
  'AP2-011': {
    severity: 'both',
    types: ANY_PAYMENTS,
    why: 'Verifiers recognise the payee by its id, and people by its name and website.',
    spec: SCHEMA,
    hint: 'Send id, name, and the https website of the payee.',
    good: { payee: { id: 'merchant_1', name: 'Demo Merchant', website: 'https://demo-merchant.example' } },
    bad: { payee: { name: 'Demo Merchant' } },
    check({ error, warning }, view) {
      const { disclosed } = view
      for (const payee of paymentObjects(error, view, 'payee')) {
        expectPartyMembers(error, payee, 'merchant', disclosed)
        const website = disclosed.get(payee, 'website')
        const text = website.text()
        if (!website.present && !disclosed.hides(payee)) warning(website, 'is missing', { expected: 'an https URL' })
        else if (text !== null && readUrl(text)?.protocol !== 'https:')
          warning(website, 'is not an https URL', { expected: 'an https URL' })
      }
    },
  },
  'AP2-012': {
    severity: 'both',
    why: 'The instrument is named by a reference; a card number or another secret in a mandate is shown to all who verify it.',
    spec: SCHEMA,
    hint: 'Send id and type, with a reference in place of the card number, and [REDACTED] for secrets.',
    good: { payment_instrument: { id: 'pi_1', type: 'card', description: 'Card ending in 4242' } },
    bad: { payment_instrument: { id: '4242424242424242', type: 'card' } },
    check({ error, warning }, view) {
      const { disclosed, context } = view
      const reported = new Set(cnfKeys(view).flatMap(({ secrets }) => secrets.map((cursor) => cursor.path())))
      const lists = view.open.flatMap(({ constraints }) => constraints).filter(({ type }) => type === 'payment.allowed_payment_instruments')
      const own = paymentObjects(error, view, 'payment_instrument')
      for (const instrument of own) expectPartyMembers(error, instrument, 'instrument', disclosed)
      for (const instrument of [...own, ...lists.flatMap(({ cursor }) => disclosed.items(disclosed.get(cursor, 'allowed')))]) {
        for (const member of instrument.members()) {
          if (!containsCardNumber(member.text() ?? '')) continue
          reported.add(member.path())
          warning(member, 'looks like a card number')
        }
      }
      reportSecrets(warning, context.secrets, reported)
    },
  },
  'AP2-013': {
    types: ANY_PAYMENTS,
    why: 'A payment initiation service is recognised by all three of its names.',
    spec: SCHEMA,
    hint: 'Send legal_name, brand_name and domain_name.',
    good: { pisp: { legal_name: 'Example Payments Ltd', brand_name: 'ExamplePay', domain_name: 'examplepay.com' } },
    bad: { pisp: { brand_name: 'ExamplePay' } },
    check({ error }, view) {
      const { disclosed } = view
      for (const { claims } of mandatesOfTypes(view, 'payment_mandate', 'open_payment_mandate')) {
        const pisp = disclosed.get(claims, 'pisp')
        if (expectObjectIfPresent(error, pisp)) expectPartyMembers(error, pisp, 'pisp', disclosed)
      }
    },
  },
  'AP2-016': {
    types: ANY_PAYMENTS,
    why: 'A payment without a date is executed immediately, so an unreadable date must not be treated as absent.',
    spec: ap2Spec('payment_mandate', 'Execution Date'),
    hint: 'Send an ISO 8601 date, such as 2026-12-01T00:00:00Z, or leave it out for immediate execution.',
    good: { execution_date: '2026-12-01T00:00:00Z' },
    bad: { execution_date: '01/12/2026' },
    check({ error }, view) {
      for (const { claims } of mandatesOfTypes(view, 'payment_mandate', 'open_payment_mandate'))
        expectIsoTime(error, view.disclosed.get(claims, 'execution_date'))
    },
  },
}

/** Expects a hash of this algorithm, or of any if it is null. Returns false for other values and for unreadable ones. */
function expectDigest(error: ReportFinding, cursor: JsonCursor, algorithm: string | null): boolean {
  if (!expectTypeIfPresent(error, cursor, 'string')) return false
  const text = cursor.text()
  if (text === null || text.trim() === '') return false
  const known = algorithm !== null && Object.hasOwn(DIGEST_CHARS, algorithm)
  const lengths = known ? [DIGEST_CHARS[algorithm]] : Object.values(DIGEST_CHARS)
  if (lengths.includes(text.length) && /^[\w-]+$/.test(text)) return true
  error(cursor, `is not a base64url ${known ? algorithm : 'hash'}`, { expected: `${lengths.join(', ')} characters of base64url` })
  return false
}

/** Returns whether a hash is the SHA-256 of an ASCII text. */
function isSha256Of(hash: string, text: string): boolean {
  const bytes = readBase64Url(hash)
  const own = sha256(new TextEncoder().encode(text))
  return bytes !== null && bytes.length === own.length && bytes.every((byte, index) => byte === own[index])
}

/** Returns whether the first 512 characters of a text contain a card number. */
function containsCardNumber(text: string): boolean {
  const digits = CARD_DIGITS.exec(text.slice(0, 512))?.[0].replace(/[ -]/g, '')
  return digits !== undefined && isLuhn(digits)
}

/** The code here; silent about absent and redacted values. */
function expectCurrencyCode({ error, warning }: FindingReporter, cursor: JsonCursor): void {
  const code = expectTextForm(error, cursor, { pattern: /^[A-Z]{3}$/, expected: 'three upper-case letters of ISO 4217' })
  if (code === null) return
  if (!isCurrencyCode(code)) {
    warning(cursor, 'is not a current ISO 4217 code')
    return
  }
  const digits = minorUnitDigits(code)
  if (digits === 2) return
  const [words, hint] =
    digits === null
      ? ['has no minor unit', 'Make sure that both sides count it alike.']
      : [
          `counts ${digits === 0 ? 'no' : digits} digits behind the point, not two`,
          `One whole unit of it is ${digits === 0 ? 'the amount 1' : `the amount 1${'0'.repeat(digits)}`}.`,
        ]
  warning(cursor, words, { hint })
}

/** The hash algorithm of the token that carries a mandate; null if unreadable. */
function algorithmOf({ claims, envelope }: Ap2Mandate): string | null {
  const own = claims.get('_sd_alg')
  const cursor = own.present ? own : (envelope?.payload.get('_sd_alg') ?? own)
  return cursor.present ? cursor.text() : 'sha-256'
}

/** Claims of this name in closed and open payment mandates, where they are objects; says which preset ones are none. */
function paymentObjects(error: ReportFinding, view: Ap2View, name: string): JsonCursor[] {
  return mandatesOfTypes(view, 'payment_mandate', 'open_payment_mandate').flatMap(({ type, claims }) => {
    const cursor = view.disclosed.get(claims, name)
    // A closed mandate must have it, and another rule says so.
    if (type === 'open_payment_mandate') expectTypeIfPresent(error, cursor, 'object')
    return cursor.kind === 'object' ? [cursor] : []
  })
}

function checkSignedToken(error: ReportFinding, cursor: JsonCursor): void {
  const text = cursor.text()
  if (text === null || text.trim() === '') return
  const token = readCompactJws(text)
  if (token === null || token.detached)
    error(cursor, 'is not a signed compact token', { expected: 'header.payload.signature in base64url' })
  else if (token.header === null) error(cursor, 'does not start with a token header', { expected: 'base64url of a JSON object' })
  else checkAlgorithm(error, cursor, token.header['alg'])
}

function checkAlgorithm(error: ReportFinding, cursor: JsonCursor, alg: unknown): void {
  if (cursor.redacted) return
  if (typeof alg !== 'string') error(cursor, 'names no signature algorithm', { expected: 'an algorithm such as ES256' })
  else if (isWeakAlgorithm(alg)) error(cursor, 'is unsigned or signed with a shared secret', { expected: 'an algorithm such as ES256' })
}

const STATES = ['incomplete', 'requires_escalation', 'ready_for_complete', 'complete_in_progress', 'completed', 'canceled']

/** A checkout of UCP without its `ucp` member, as the schemas of AP2 describe it. */
function checkPlainCheckout(error: ReportFinding, body: JsonCursor): void {
  for (const name of ['id', 'currency']) expectText(error, body.get(name))
  if (expectType(error, body.get('status'), 'string')) expectOneOf(error, body.get('status'), STATES)
  for (const name of ['line_items', 'links']) expectType(error, body.get(name), 'array')
  const totals = body.get('totals')
  if (!expectType(error, totals, 'array') || totals.redacted) return
  const entries = totals.items()
  for (const entry of entries) {
    if (!expectType(error, entry, 'object')) continue
    expectText(error, entry.get('type'))
    if (expectType(error, entry.get('amount'), 'number')) expectMinorUnits(error, entry.get('amount'))
  }
  if (entries.some((entry) => entry.text('type') === null)) return
  for (const type of ['subtotal', 'total']) {
    const count = entries.filter((entry) => entry.text('type') === type).length
    if (count !== 1) error(totals, `has ${count === 0 ? 'no' : 'more than one'} ${type}`, { expected: `exactly one ${type}` })
  }
  const sum = sumIntegers(entries.filter((entry) => entry.text('type') !== 'total').map((entry) => entry.get('amount')))
  const total = readTotal(body)
  if (sum !== null && total !== null && sum !== total) error(totals, 'do not add up to the total')
}

function readTotal(body: JsonCursor): bigint | null {
  const [entry, ...others] = body.items('totals').filter((one) => one.text('type') === 'total')
  return entry === undefined || others.length > 0 ? null : entry.integer('amount')
}

function comparePaidTotal(error: ReportFinding, { claims, checkout }: ClosedPayment, { disclosed }: Ap2View): void {
  if (checkout === null) return
  const paid = disclosed.get(claims, 'payment_amount')
  const [amount, currency] = [disclosed.get(paid, 'amount'), disclosed.get(paid, 'currency')]
  const [total, priced] = [readTotal(checkout.body), checkout.body.text('currency')]
  const [own, code] = [amount.integer(), currency.text()]
  if (own !== null && total !== null && own !== total) error(amount, 'is not the total of the checkout')
  if (code !== null && priced !== null && code !== priced) error(currency, 'is not the currency of the checkout')
}

function checkAmount({ error, warning }: FindingReporter, cursor: JsonCursor): void {
  if (!expectType(error, cursor, 'number')) return
  const value = expectMinorUnits(error, cursor, { min: 0n })
  if (value === 0n) warning(cursor, 'is 0')
  else if (value !== null && /^[^eE]*\.[^eE]*$/.test(cursor.literal() ?? ''))
    warning(cursor, 'is written with a point, as major units are', { expected: 'an integer such as 27999 for 279.99' })
}

/** Beyond it, a time is not in seconds. */
const MOST_SECONDS = 100_000_000_000n

/** AP2-037: receipts of checkouts and payments. */
export const AP2_RECEIPT_RULES: RuleTable<Ap2View> = {
  'AP2-037': {
    severity: 'both',
    types: RECEIPTS,
    why: 'A receipt is evidence only if it names the mandate and its outcome.',
    spec: ap2Spec('payment_mandate', 'Payment Receipt'),
    hint: 'Send status Success or Error, iss, iat and reference, and what belongs to that status.',
    good: { status: 'Success', iss: 'merchant', iat: 1795262400, reference: '…', order_id: 'ord_1' },
    bad: { status: 'Success', iss: 'merchant', iat: 1795262400, reference: '…', error: 'declined' },
    check(report, view) {
      for (const receipt of mandatesOfTypes(view, 'checkout_receipt', 'payment_receipt')) checkReceipt(report, receipt)
    },
  },
}

function checkReceipt(report: FindingReporter, { type, claims }: Ap2Mandate): void {
  const { error } = report
  for (const name of ['iss', 'reference']) expectText(error, claims.get(name))
  const iat = claims.get('iat')
  const issued = expectType(error, iat, 'number') ? expectInteger(error, iat, { min: 0n }) : null
  if (issued !== null && issued > MOST_SECONDS) error(iat, 'is not in seconds', { expected: 'seconds since 1970, not milliseconds' })
  const isPayment = type === 'payment_receipt'
  if (isPayment) expectText(error, claims.get('payment_id'))
  switch (readStatus(report, claims.get('status'))) {
    case 'Success':
      for (const name of isPayment ? ['psp_confirmation_id', 'network_confirmation_id'] : ['order_id']) expectText(error, claims.get(name))
      for (const name of ['error', 'error_description'])
        if (claims.has(name)) error(claims.get(name), 'does not belong in a receipt of success')
      return
    case 'Error':
      for (const name of ['error', 'error_description']) expectText(error, claims.get(name))
      return
    case null:
  }
}

/** One page of the specification writes it small, the schema does not. */
function readStatus({ error, warning }: FindingReporter, cursor: Ap2Mandate['claims']): 'Success' | 'Error' | null {
  if (!expectType(error, cursor, 'string')) return null
  const text = cursor.text()
  if (text === 'success' || text === 'error') {
    warning(cursor, 'is written in lower case', { expected: 'Success or Error' })
    return text === 'success' ? 'Success' : 'Error'
  }
  return expectOneOf(error, cursor, ['Success', 'Error'])
}
