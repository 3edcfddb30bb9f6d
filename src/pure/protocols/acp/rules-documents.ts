import { isDate, readDateTime } from '../kit/dates.ts'
import {
  expectType,
  expectItems,
  expectText,
  expectOneOf,
  expectTextForm,
  expectUnique,
  expectObject,
  expectStringIfPresent,
  expectItemTypes,
  expectUniqueMembers,
} from '../kit/expect.ts'
import { expectInteger } from '../kit/money.ts'
import { expectHttpsUrl } from '../kit/url.ts'
import type { JsonCursor } from '../json-cursor.ts'
import type { RuleTable, FindingReporter, ReportFinding } from '../protocol.ts'
import { SECRET_DESCRIPTIONS } from '../secrets.ts'
import { ERROR_TYPES, ALLOWANCE_SPEC, rfcSpec, schemaSpec, SESSION_TYPES, oldSpec } from './versions.ts'
import { type AcpView, isEventOrder } from './view.ts'

const HANDLER_TEXTS = ['id', 'name', 'version', 'spec', 'psp', 'config_schema']
const ACQUIRER_TEXTS = ['acquirer_bin', 'acquirer_country', 'acquirer_merchant_id', 'merchant_name']
const CARD_CODE = /^(?:cvc2?|cvv2?|cvn|card_verification(?:_code|_value)?|card_security_code|security_code)$/i

/** ACP-029…034, 041 and 045: payment, orders, secrets and payee. */
export const ACP_PAYMENT_RULES: RuleTable<AcpView> = {
  'ACP-029': {
    types: SESSION_TYPES,
    since: '2025-12-12',
    why: 'Without these the agent cannot have the buyer authenticated.',
    spec: rfcSpec('agentic_checkout', '8. Validation Rules'),
    hint: 'Send acquirer_details and directory_server together with the status.',
    good: { status: 'authentication_required', authentication_metadata: { directory_server: 'visa', acquirer_details: {} } },
    bad: { status: 'authentication_required' },
    check({ error }, { body, status }) {
      const metadata = body.get('authentication_metadata')
      if (!metadata.present && status !== 'authentication_required') return
      if (!expectObject(error, metadata)) return
      const details = metadata.get('acquirer_details')
      if (expectObject(error, details)) for (const name of ACQUIRER_TEXTS) expectText(error, details.get(name))
      if (expectType(error, metadata.get('directory_server'), 'string'))
        expectOneOf(error, metadata.get('directory_server'), ['american_express', 'mastercard', 'visa'])
    },
  },
  'ACP-030': {
    types: ['checkout_session', 'order'],
    why: 'The order is what the buyer has afterwards: its number, and the page to find it at.',
    spec: schemaSpec('Order'),
    hint: 'Send order with id, the checkout_session_id of this session, and permalink_url at an https address.',
    good: { id: 'cs_1', status: 'completed', order: { id: 'o_1', checkout_session_id: 'cs_1', permalink_url: 'https://…' } },
    bad: { id: 'cs_1', status: 'completed', order: { id: 'o_1', checkout_session_id: 'cs_2' } },
    check({ error }, { body, context, order, status }) {
      if (!order.present && status !== 'completed') return
      if (!expectObject(error, order)) return
      for (const name of isEventOrder(order) ? ['checkout_session_id'] : ['id', 'checkout_session_id']) expectText(error, order.get(name))
      const permalink = order.get('permalink_url')
      if (permalink.present) expectHttpsUrl(error, permalink)
      else error(permalink, 'is missing', { expected: 'an absolute https URL' })
      const [mine, its] = [body.text('id'), order.text('checkout_session_id')]
      if (context.type === 'checkout_session' && mine !== null && its !== null && its.trim() !== '' && mine !== its)
        error(order.get('checkout_session_id'), 'is not the id of the session', { expected: 'the id of the session' })
    },
  },
  'ACP-031': {
    severity: 'warning',
    types: SESSION_TYPES,
    why: 'An order says that all is done, and the status that it is not.',
    spec: schemaSpec('CheckoutSessionWithOrder'),
    hint: 'Send order with the status completed only.',
    good: { status: 'completed', order: {} },
    bad: { status: 'ready_for_payment', order: {} },
    check({ warning }, { order, status }) {
      if (order.present && status !== null && status !== 'completed') warning(order, 'is present, but the session is not completed')
    },
  },
  'ACP-032': {
    types: SESSION_TYPES,
    since: '2026-01-30',
    why: 'An agent picks a handler by name and version, and fills its form by these schemas.',
    spec: rfcSpec('payment_handlers', '5.1 Handler Declaration'),
    hint: 'Send all ten members, a date as version, and a unique id for each handler.',
    good: { id: 'card', name: 'dev.acp.tokenized.card', version: '2026-01-22', psp: 'stripe', config: {} },
    bad: { id: 'card', version: '1.0' },
    check({ error }, { body, handlers }) {
      const list = body.get('capabilities', 'payment', 'handlers')
      const payment = body.get('capabilities', 'payment')
      if (payment.present && expectObject(error, payment)) expectType(error, list, 'array')
      expectItemTypes(error, list, 'object')
      for (const handler of handlers) checkHandler(error, handler)
      expectUniqueMembers(error, handlers, 'id', 'the id of another handler')
    },
  },
  'ACP-033': {
    severity: 'warning',
    types: SESSION_TYPES,
    why: 'The session asks to be paid, and does not say how.',
    spec: schemaSpec('Payment'),
    hint: 'Offer a handler in capabilities.payment.handlers, or payment_provider in versions up to 2026-01-16.',
    good: { status: 'ready_for_payment', capabilities: { payment: { handlers: [{ id: 'card' }] } } },
    bad: { status: 'ready_for_payment', capabilities: {} },
    check({ warning }, { body, handlers, status, is_before_202601 }) {
      if (status !== 'ready_for_payment') return
      const provider = body.get('payment_provider')
      if (is_before_202601 && !provider.present) warning(provider, 'is missing, but the session is ready to be paid')
      const list = body.get('capabilities', 'payment', 'handlers')
      const isUnknown = [body.get('capabilities'), body.get('capabilities', 'payment'), list].some(({ redacted }) => redacted)
      if (!is_before_202601 && handlers.length === 0 && !isUnknown) warning(list, 'has no handler, but the session is ready to be paid')
    },
  },
  'ACP-034': {
    severity: 'both',
    types: SESSION_TYPES,
    since: '2026-01-16',
    until: '2026-01-16',
    why: 'The agent hands the payment to this provider, for this merchant.',
    spec: oldSpec('PaymentProvider'),
    hint: 'Send provider and merchant_id.',
    good: { payment_provider: { provider: 'stripe', merchant_id: 'acct_1' } },
    bad: { payment_provider: { provider: 'stripe' } },
    check(report, { body }) {
      const provider = body.get('payment_provider')
      if (provider.present) checkProvider(report, provider)
    },
  },
  'ACP-041': {
    severity: 'both',
    why: 'Card data belongs only with the payment provider; other secrets are compromised once they are sent.',
    spec: rfcSpec('agentic_checkout', '7. Security Considerations'),
    hint: 'Take the value out, and change the secret if it was a real one.',
    good: { payment_data: { token: 'vt_1' } },
    bad: { payment_data: { number: '4242…' } },
    check(report, view) {
      checkSecrets(report, view)
    },
  },
  'ACP-045': {
    severity: 'both',
    why: 'The money goes to the merchant that is named here, regardless of the shop name.',
    spec: rfcSpec('payment_handlers', '6.3 delegate_payment API Integration'),
    hint: 'Pay only when the merchant is the one you mean.',
    good: { expected_payee: 'acct_1', merchant_id: 'acct_1' },
    bad: { expected_payee: 'acct_1', merchant_id: 'acct_2' },
    check(report, view) {
      comparePayee(report, view)
    },
  },
}

function checkHandler(error: ReportFinding, handler: JsonCursor): void {
  for (const name of HANDLER_TEXTS) expectText(error, handler.get(name))
  for (const name of ['requires_delegate_payment', 'requires_pci_compliance']) expectType(error, handler.get(name), 'boolean')
  expectType(error, handler.get('instrument_schemas'), 'array')
  expectType(error, handler.get('config'), 'object')
  const version = handler.text('version')
  if (version !== null && version.trim() !== '' && !isDate(version))
    error(handler.get('version'), 'is not a day of the calendar', { expected: 'a day, such as 2026-01-22' })
}

function checkProvider({ error, warning }: FindingReporter, provider: JsonCursor): void {
  if (!expectObject(error, provider)) return
  expectText(error, provider.get('merchant_id'))
  const name = provider.get('provider')
  // The notes on the version name a second provider, its schema does not.
  if (name.text() === 'adyen') warning(name, 'is named in the notes on the version, and not in its schema', { expected: 'stripe' })
  else if (expectText(error, name) !== null) expectOneOf(error, name, ['stripe'])
}

/** Reports secrets; card data is allowed only in the request that sends a card to the vault. */
function checkSecrets({ error, warning }: FindingReporter, { context }: AcpView): void {
  const isRequest = context.type === 'allowance'
  const cardSay = isRequest ? warning : error
  for (const { cursor, kind } of context.secrets)
    (kind === 'card_number' ? cardSay : warning)(cursor, `looks like ${SECRET_DESCRIPTIONS[kind]}`)
  for (const cursor of context.document.descendants()) {
    const isCode = CARD_CODE.test(cursor.key) && (/^[0-9]{3,4}$/.test(cursor.text() ?? '') || cursor.integer() !== null)
    if (isCode) cardSay(cursor, 'looks like the security code of a card')
  }
}

function comparePayee({ error, warning }: FindingReporter, { context, body, handlers, allowance }: AcpView): void {
  const { expected_payee, type } = context
  if (expected_payee === null) return
  const named = [
    ...handlers.map((handler) => handler.get('config', 'merchant_id')),
    body.get('payment_provider', 'merchant_id'),
    ...(type === 'allowance' ? [allowance.get('merchant_id')] : []),
  ].filter((cursor) => cursor.text() !== null)
  if (named.length === 0) {
    warning(body, 'names no merchant to compare with the expected payee', { expected: 'a merchant_id' })
    return
  }
  const others = named.filter((cursor) => cursor.text() !== expected_payee)
  const isFound = others.length < named.length
  for (const other of others) {
    if (isFound) warning(other, 'is another merchant than the expected payee, which is offered too')
    else error(other, 'is not the expected payee', { expected: 'the expected payee' })
  }
}

const SERVICES = ['checkout', 'orders', 'delegate_payment', 'carts']
const ADDRESS_TEXTS = ['name', 'line_one', 'city', 'state', 'country', 'postal_code']
const DATED = ['checkout_session', 'order']

/** ACP-038, 040 and 042…044: times, addresses, and documents other than sessions. */
export const ACP_DOCUMENT_RULES: RuleTable<AcpView> = {
  'ACP-038': {
    severity: 'both',
    types: DATED,
    why: 'A time without offset means another moment to every reader, and what ran out can no longer be paid.',
    spec: schemaSpec('CheckoutSessionBase.expires_at'),
    hint: 'Write times like 2026-12-01T10:00:00Z, and renew a session that ran out.',
    good: { created_at: '2026-11-21T10:00:00Z', expires_at: '2026-11-21T11:00:00Z' },
    bad: { created_at: '2026-11-21 10:00', expires_at: '2026-11-20T11:00:00Z' },
    check(report, view) {
      for (const cursor of listTimes(view)) expectDateTime(report.error, cursor)
      checkExpiry(report, view)
    },
  },
  'ACP-040': {
    severity: 'both',
    types: [...DATED, 'allowance'],
    why: 'Taxes and carriers are chosen by the whole address, and mail goes to the buyer.',
    spec: schemaSpec('Address'),
    hint: 'Send name, line_one, city, state, country and postal_code, the country in two letters; and the e-mail address of the buyer.',
    hint_by_case: true,
    good: { name: 'A. Lee', line_one: '1 High St', city: 'Oslo', state: '', country: 'NO', postal_code: '0150' },
    bad: { name: 'A. Lee', country: 'Norway' },
    check({ error, warning }, view) {
      for (const address of listAddresses(view)) checkAddress({ error, warning }, address)
      const buyer = view.body.get('buyer')
      if (!buyer.present || !expectObject(error, buyer)) return
      for (const name of view.is_before_202601 ? ['first_name', 'last_name', 'email'] : ['email']) expectText(error, buyer.get(name))
    },
  },
  'ACP-042': {
    types: ['discovery'],
    why: 'Agents learn here where to call, in which version, and for what; anybody may read it.',
    spec: rfcSpec('discovery', '4.2 Response Schema'),
    hint: 'List versions oldest first, rest among the transports, at least one service, and no merchant.',
    hint_by_case: true,
    good: { protocol: { name: 'acp', version: '2026-04-17', supported_versions: ['2026-01-30', '2026-04-17'] }, transports: ['rest'] },
    bad: { protocol: { name: 'ACP', version: '2026-04-17', supported_versions: [] }, merchant_id: 'acct_1' },
    check({ error }, { body }) {
      if (expectType(error, body.get('protocol'), 'object')) checkVersions(error, body.get('protocol'))
      const url = body.get('api_base_url')
      if (url.present) expectHttpsUrl(error, url)
      else error(url, 'is missing', { expected: 'an absolute https URL' })
      const transports = expectClosedList(error, body.get('transports'), ['rest', 'mcp'])
      if (transports.length > 0 && !body.items('transports').some(({ redacted }) => redacted) && !transports.includes('rest'))
        error(body.get('transports'), 'does not contain rest', { expected: 'rest among them' })
      if (expectType(error, body.get('capabilities'), 'object')) expectClosedList(error, body.get('capabilities', 'services'), SERVICES)
      for (const cursor of body.descendants()) if (cursor.key === 'merchant_id') error(cursor, 'names a merchant in a public document')
    },
  },
  'ACP-043': {
    severity: 'both',
    types: ['error'],
    why: 'Agents decide by type and code at the top of the body whether to try again.',
    spec: schemaSpec('Error'),
    hint: 'Send type, code and message without an error around them.',
    good: { type: 'invalid_request', code: 'missing_currency', message: 'A currency is needed.' },
    bad: { error: { type: 'invalid_request', message: 'A currency is needed.' } },
    check(report, { body, context }) {
      const { error } = report
      const wrapped = body.get('error')
      if (wrapped.kind === 'object')
        return error(wrapped, 'wraps members that belong at the top level', { expected: 'type, code and message at the top' })
      for (const name of ['code', 'message']) expectText(error, body.get(name))
      checkErrorType(report, body.get('type'), context.version_source === 'assumed')
    },
  },
  'ACP-044': {
    types: ['allowance'],
    why: 'The holder of the token may charge up to this amount, for this merchant and session, until this time.',
    spec: ALLOWANCE_SPEC,
    hint: 'Send all six members, and a time that is still to come.',
    good: { reason: 'one_time', max_amount: 2000, currency: 'usd', expires_at: '2026-12-01T10:00:00Z' },
    bad: { reason: 'recurring', max_amount: '20.00', currency: 'USD' },
    check({ error }, { allowance, context }) {
      if (expectType(error, allowance.get('reason'), 'string')) expectOneOf(error, allowance.get('reason'), ['one_time'])
      if (!allowance.has('max_amount')) error(allowance.get('max_amount'), 'is missing', { expected: 'an integer of minor units' })
      expectInteger(error, allowance.get('max_amount'), { min: 0n })
      if (expectType(error, allowance.get('currency'), 'string'))
        expectTextForm(error, allowance.get('currency'), { pattern: /^[a-z]{3}$/, expected: 'three lower-case letters, such as usd' })
      expectText(error, allowance.get('checkout_session_id'))
      if (expectText(error, allowance.get('merchant_id')) !== null)
        expectTextForm(error, allowance.get('merchant_id'), { max_chars: 256, expected: 'at most 256 characters' })
      const end = allowance.get('expires_at')
      if (!expectType(error, end, 'string')) return
      expectDateTime(error, end)
      const end_s = readDateTime(end.text())
      if (end_s !== null && end_s <= context.now_s) error(end, 'has passed', { expected: 'a time to come' })
    },
  },
}

function expectDateTime(error: ReportFinding, cursor: JsonCursor): void {
  const text = expectStringIfPresent(error, cursor)
  if (text !== null && readDateTime(text) === null)
    error(cursor, 'is not a date and time with offset', { expected: 'a time like 2026-12-01T10:00:00Z' })
}

function listTimes({ body, options, lines, applied, order, context }: AcpView): JsonCursor[] {
  const own = ['created_at', 'updated_at', 'expires_at', 'quote_expires_at', 'exchange_rate_timestamp']
  const inOption = ['earliest_delivery_time', 'latest_delivery_time', 'ready_by', 'pickup_by']
  const fulfillments = order.objects('fulfillments')
  const events = [...order.objects('adjustments'), ...fulfillments.flatMap((one) => one.objects('events'))]
  const windows = options.map((option) => option.get('delivery_window'))
  const estimates = [order, ...fulfillments].map((one) => one.get('estimated_delivery'))
  return [
    ...(context.type === 'checkout_session' ? own.map((name) => body.get(name)) : []),
    ...options.flatMap((option) => inOption.map((name) => option.get(name))),
    ...windows.flatMap((window) => [window.get('start'), window.get('end')]),
    ...lines.map(({ cursor }) => cursor.get('fulfillable_on')),
    ...applied.flatMap((one) => [one.get('start'), one.get('end')]),
    ...events.map((event) => event.get('occurred_at')),
    ...estimates.flatMap((estimate) => [estimate.get('earliest'), estimate.get('latest')]),
  ]
}

/** Statuses that nothing follows. */
const FINAL_STATUSES: ReadonlySet<string> = new Set(['completed', 'canceled', 'expired'])

function checkExpiry({ error, warning }: FindingReporter, { body, context, status }: AcpView): void {
  if (context.type !== 'checkout_session') return
  const [created_s, expires_s] = [readDateTime(body.text('created_at')), readDateTime(body.text('expires_at'))]
  if (created_s !== null && expires_s !== null && expires_s <= created_s) {
    error(body.get('expires_at'), 'is not after created_at', { expected: 'a time after created_at' })
    return
  }
  if (status === null || FINAL_STATUSES.has(status)) return
  for (const name of ['expires_at', 'quote_expires_at']) {
    const end_s = readDateTime(body.text(name))
    if (end_s !== null && end_s <= context.now_s) warning(body.get(name), 'has passed, but the session is still open')
  }
}

function listAddresses({ body, options, order, version }: AcpView): JsonCursor[] {
  const details = [body, ...body.objects('fulfillment_groups')].map((one) => one.get('fulfillment_details', 'address'))
  return [
    ...(version === '2025-09-29' ? [body.get('fulfillment_address')] : []),
    body.get('billing_address'),
    ...details,
    ...options.map((option) => option.get('location', 'address')),
    ...order.objects('fulfillments').map((one) => one.get('destination')),
  ].filter(({ present }) => present)
}

function checkAddress({ error, warning }: FindingReporter, address: JsonCursor): void {
  if (!expectObject(error, address)) return
  for (const name of ADDRESS_TEXTS) expectType(error, address.get(name), 'string')
  const country = address.text('country')
  if (country !== null && !/^[A-Z]{2}$/.test(country))
    warning(address.get('country'), 'is not a country code of two letters', { expected: 'a code such as US' })
}

function checkVersions(error: ReportFinding, protocol: JsonCursor): void {
  if (protocol.redacted) return
  if (expectType(error, protocol.get('name'), 'string')) expectOneOf(error, protocol.get('name'), ['acp'])
  const version = protocol.get('version')
  if (expectType(error, version, 'string')) expectDay(error, version)
  const listed = expectItems(error, protocol.get('supported_versions'))
  for (const [index, one] of listed.entries()) {
    expectDay(error, one)
    const before = listed[index - 1]?.text() ?? null
    const text = one.text()
    if (before !== null && text !== null && text <= before)
      error(one, 'is not later than the one before it', { expected: 'the oldest version first' })
  }
  const text = version.text()
  if (text !== null && listed.length > 0 && !listed.some((one) => one.redacted || one.text() === text))
    error(protocol.get('supported_versions'), 'does not contain protocol.version', { expected: 'protocol.version among them' })
}

function expectDay(error: ReportFinding, cursor: JsonCursor): void {
  if (!cursor.redacted && !isDate(cursor.text() ?? ''))
    error(cursor, 'is not a day of the calendar', { expected: 'a day, such as 2026-04-17' })
}

/** A list of values of a closed set, not empty and each but once; its texts. */
function expectClosedList(error: ReportFinding, cursor: JsonCursor, values: readonly string[]): string[] {
  const items = expectItems(error, cursor)
  for (const item of items) expectOneOf(error, item, values)
  return [...expectUnique(error, items, 'another one')]
}

function checkErrorType({ error, warning }: FindingReporter, type: JsonCursor, isGuessed: boolean): void {
  if (expectText(error, type) === null) return
  if (type.text() !== 'request_not_idempotent') return void expectOneOf(error, type, ERROR_TYPES)
  const report = isGuessed ? warning : error
  report(type, 'was dropped by version 2026-04-17', { expected: 'invalid_request with a code of idempotency' })
}
