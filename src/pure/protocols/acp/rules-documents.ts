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
} from '../kit/expect.ts'
import { expectInteger } from '../kit/money.ts'
import { expectHttpsUrl } from '../kit/url.ts'
import type { JsonCursor } from '../json-cursor.ts'
import type { RuleTable, FindingReporter, ReportFinding } from '../protocol.ts'
import { ERROR_TYPES, ALLOWANCE_SPEC, rfcSpec, schemaSpec } from './versions.ts'
import { type AcpView } from './view.ts'

const SERVICES = ['checkout', 'orders', 'delegate_payment', 'carts']
const ADDRESS_TEXTS = ['name', 'line_one', 'city', 'state', 'country', 'postal_code']
const DATED = ['checkout_session', 'order']

/** ACP-038, 040 and 042…044: times, addresses, and documents other than sessions. */
export const DOCUMENT_RULES: RuleTable<AcpView> = {
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
    severity: 'error',
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
      for (const cursor of listMerchantIds(body)) error(cursor, 'names a merchant in a public document')
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
    severity: 'error',
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

function listMerchantIds(body: JsonCursor): JsonCursor[] {
  return [...body.descendants()].filter(({ key }) => key === 'merchant_id')
}

function checkErrorType({ error, warning }: FindingReporter, type: JsonCursor, isGuessed: boolean): void {
  if (expectText(error, type) === null) return
  if (type.text() !== 'request_not_idempotent') return void expectOneOf(error, type, ERROR_TYPES)
  const report = isGuessed ? warning : error
  report(type, 'was dropped by version 2026-04-17', { expected: 'invalid_request with a code of idempotency' })
}
