import { isDate, readDateTime } from '../kit/dates.ts'
import { need, needItems, needText, oneOf, optional, textForm, unique } from '../kit/expect.ts'
import { integer } from '../kit/money.ts'
import { httpsUrl } from '../kit/url.ts'
import type { Place } from '../place.ts'
import { rule, type Report, type Say } from '../rule.ts'
import { ERROR_TYPES, FINAL_STATUSES } from './shape.ts'
import { ALLOWANCE_SPEC, rfcSpec, schemaSpec } from './spec.ts'
import { objects, type AcpView } from './view.ts'

const SERVICES = ['checkout', 'orders', 'delegate_payment', 'carts']
const ADDRESS_TEXTS = ['name', 'line_one', 'city', 'state', 'country', 'postal_code']
const DATED = ['checkout_session', 'order']

/** ACP-038, 040 and 042…044: times, addresses, and the documents beside the session. */
export const DOCUMENT_RULES = [
  rule<AcpView>(
    {
      code: 'ACP-038',
      severity: 'both',
      types: DATED,
      why: 'A time without offset means another moment to every reader, and what ran out can no longer be paid.',
      spec: schemaSpec('CheckoutSessionBase.expires_at'),
      hint: 'Write times like 2026-12-01T10:00:00Z, and renew a session that ran out.',
      good: { created_at: '2026-11-21T10:00:00Z', expires_at: '2026-11-21T11:00:00Z' },
      bad: { created_at: '2026-11-21 10:00', expires_at: '2026-11-20T11:00:00Z' },
    },
    (report, view) => {
      for (const place of timesIn(view)) timeForm(report.error, place)
      expiry(report, view)
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-040',
      severity: 'both',
      types: [...DATED, 'allowance'],
      why: 'Taxes and carriers are chosen by the whole address, and mail goes to the buyer.',
      spec: schemaSpec('Address'),
      hint: 'Send name, line_one, city, state, country and postal_code, the country in two letters; and the e-mail address of the buyer.',
      hint_by_case: true,
      good: { name: 'A. Lee', line_one: '1 High St', city: 'Oslo', state: '', country: 'NO', postal_code: '0150' },
      bad: { name: 'A. Lee', country: 'Norway' },
    },
    ({ error, warning }, view) => {
      for (const address of addressesIn(view)) addressForm({ error, warning }, address)
      const buyer = view.body.get('buyer')
      if (!buyer.present || !need(error, buyer, 'object') || buyer.redacted) return
      for (const name of view.is_old ? ['first_name', 'last_name', 'email'] : ['email']) needText(error, buyer.get(name))
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-042',
      severity: 'error',
      types: ['discovery'],
      why: 'Agents learn here where to call, in which version, and for what; anybody may read it.',
      spec: rfcSpec('discovery', '4.2 Response Schema'),
      hint: 'List versions oldest first, rest among the transports, at least one service, and no merchant.',
      hint_by_case: true,
      good: { protocol: { name: 'acp', version: '2026-04-17', supported_versions: ['2026-01-30', '2026-04-17'] }, transports: ['rest'] },
      bad: { protocol: { name: 'ACP', version: '2026-04-17', supported_versions: [] }, merchant_id: 'acct_1' },
    },
    ({ error }, { body }) => {
      if (need(error, body.get('protocol'), 'object')) versions(error, body.get('protocol'))
      const url = body.get('api_base_url')
      if (url.present) httpsUrl(error, url)
      else error(url, 'is missing', { expected: 'an absolute https URL' })
      const transports = closedList(error, body.get('transports'), ['rest', 'mcp'])
      if (
        transports.length > 0 &&
        !body
          .get('transports')
          .items()
          .some(({ redacted }) => redacted) &&
        !transports.includes('rest')
      )
        error(body.get('transports'), 'lacks rest', { expected: 'rest among them' })
      if (need(error, body.get('capabilities'), 'object')) closedList(error, body.down('capabilities', 'services'), SERVICES)
      for (const place of merchantsIn(body)) error(place, 'names a merchant to everybody who asks')
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-043',
      severity: 'both',
      types: ['error'],
      why: 'Agents decide by type and code at the top of the body whether to try again.',
      spec: schemaSpec('Error'),
      hint: 'Send type, code and message without an error around them.',
      good: { type: 'invalid_request', code: 'missing_currency', message: 'A currency is needed.' },
      bad: { error: { type: 'invalid_request', message: 'A currency is needed.' } },
    },
    (report, { body, context }) => {
      const { error } = report
      const wrapped = body.get('error')
      if (wrapped.kind === 'object')
        return error(wrapped, 'wraps the members that belong at the top', { expected: 'type, code and message at the top' })
      for (const name of ['code', 'message']) needText(error, body.get(name))
      errorType(report, body.get('type'), context.version_source === 'assumed')
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-044',
      severity: 'error',
      types: ['allowance'],
      why: 'Whoever holds the token may charge up to this amount, for this merchant and session, until this time.',
      spec: ALLOWANCE_SPEC,
      hint: 'Send all six members, and a time that is still to come.',
      good: { reason: 'one_time', max_amount: 2000, currency: 'usd', expires_at: '2026-12-01T10:00:00Z' },
      bad: { reason: 'recurring', max_amount: '20.00', currency: 'USD' },
    },
    ({ error }, { allowance, context }) => {
      if (need(error, allowance.get('reason'), 'string')) oneOf(error, allowance.get('reason'), ['one_time'])
      if (!allowance.has('max_amount')) error(allowance.get('max_amount'), 'is missing', { expected: 'an integer of minor units' })
      integer(error, allowance.get('max_amount'), { min: 0n })
      if (need(error, allowance.get('currency'), 'string'))
        textForm(error, allowance.get('currency'), { pattern: /^[a-z]{3}$/, expected: 'three lower-case letters, such as usd' })
      needText(error, allowance.get('checkout_session_id'))
      if (needText(error, allowance.get('merchant_id')) !== null)
        textForm(error, allowance.get('merchant_id'), { max_chars: 256, expected: 'at most 256 characters' })
      const end = allowance.get('expires_at')
      if (!need(error, end, 'string')) return
      timeForm(error, end)
      const end_s = readDateTime(end.text())
      if (end_s !== null && end_s <= context.now_s) error(end, 'has passed', { expected: 'a time to come' })
    },
  ),
]

function timeForm(error: Say, place: Place): void {
  if (!optional(error, place, 'string')) return
  const text = place.text()
  if (text !== null && readDateTime(text) === null)
    error(place, 'is not a date and time with offset', { expected: 'a time like 2026-12-01T10:00:00Z' })
}

function timesIn({ body, options, lines, applied, order, context }: AcpView): Place[] {
  const own = ['created_at', 'updated_at', 'expires_at', 'quote_expires_at', 'exchange_rate_timestamp']
  const inOption = ['earliest_delivery_time', 'latest_delivery_time', 'ready_by', 'pickup_by']
  const fulfillments = objects(order.get('fulfillments'))
  const events = [...objects(order.get('adjustments')), ...fulfillments.flatMap((one) => objects(one.get('events')))]
  const windows = options.map((option) => option.get('delivery_window'))
  const estimates = [order, ...fulfillments].map((one) => one.get('estimated_delivery'))
  return [
    ...(context.type === 'checkout_session' ? own.map((name) => body.get(name)) : []),
    ...options.flatMap((option) => inOption.map((name) => option.get(name))),
    ...windows.flatMap((window) => [window.get('start'), window.get('end')]),
    ...lines.map(({ place }) => place.get('fulfillable_on')),
    ...applied.flatMap((one) => [one.get('start'), one.get('end')]),
    ...events.map((event) => event.get('occurred_at')),
    ...estimates.flatMap((estimate) => [estimate.get('earliest'), estimate.get('latest')]),
  ]
}

function expiry({ error, warning }: Report, { body, context, status }: AcpView): void {
  if (context.type !== 'checkout_session') return
  const [created_s, expires_s] = [readDateTime(body.get('created_at').text()), readDateTime(body.get('expires_at').text())]
  if (created_s !== null && expires_s !== null && expires_s <= created_s) {
    error(body.get('expires_at'), 'is not after created_at', { expected: 'a time after created_at' })
    return
  }
  if (status === null || FINAL_STATUSES.has(status)) return
  for (const name of ['expires_at', 'quote_expires_at']) {
    const end_s = readDateTime(body.get(name).text())
    if (end_s !== null && end_s <= context.now_s) warning(body.get(name), 'has passed, although the session goes on')
  }
}

function addressesIn({ body, options, order, version }: AcpView): Place[] {
  const details = [body, ...objects(body.get('fulfillment_groups'))].map((one) => one.down('fulfillment_details', 'address'))
  return [
    ...(version === '2025-09-29' ? [body.get('fulfillment_address')] : []),
    body.get('billing_address'),
    ...details,
    ...options.map((option) => option.down('location', 'address')),
    ...objects(order.get('fulfillments')).map((one) => one.get('destination')),
  ].filter(({ present }) => present)
}

function addressForm({ error, warning }: Report, address: Place): void {
  if (!need(error, address, 'object') || address.redacted) return
  for (const name of ADDRESS_TEXTS) need(error, address.get(name), 'string')
  const country = address.get('country').text()
  if (country !== null && !/^[A-Z]{2}$/.test(country))
    warning(address.get('country'), 'is not a country code of two letters', { expected: 'a code such as US' })
}

function versions(error: Say, protocol: Place): void {
  if (protocol.redacted) return
  if (need(error, protocol.get('name'), 'string')) oneOf(error, protocol.get('name'), ['acp'])
  const version = protocol.get('version')
  if (need(error, version, 'string')) dayForm(error, version)
  const listed = needItems(error, protocol.get('supported_versions'))
  for (const [index, one] of listed.entries()) {
    dayForm(error, one)
    const before = listed[index - 1]?.text() ?? null
    const text = one.text()
    if (before !== null && text !== null && text <= before)
      error(one, 'is not later than the one before it', { expected: 'the oldest version first' })
  }
  const text = version.text()
  if (text !== null && listed.length > 0 && !listed.some((one) => one.redacted || one.text() === text))
    error(protocol.get('supported_versions'), 'lacks the version itself', { expected: 'protocol.version among them' })
}

function dayForm(error: Say, place: Place): void {
  if (!place.redacted && !isDate(place.text() ?? ''))
    error(place, 'is not a day of the calendar', { expected: 'a day, such as 2026-04-17' })
}

/** A list of values of a closed set, not empty and each but once; its texts. */
function closedList(error: Say, place: Place, values: readonly string[]): string[] {
  const items = needItems(error, place)
  for (const item of items) oneOf(error, item, values)
  return [...unique(error, items, 'another one')]
}

function merchantsIn(body: Place): Place[] {
  const found: Place[] = []
  const open: Place[] = [body]
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    if (place.key === 'merchant_id') found.push(place)
    for (const inner of place.kind === 'array' ? place.items() : place.members()) open.push(inner)
  }
  return found
}

function errorType({ error, warning }: Report, type: Place, isGuessed: boolean): void {
  if (needText(error, type) === null) return
  if (type.text() !== 'request_not_idempotent') return void oneOf(error, type, ERROR_TYPES)
  const say = isGuessed ? warning : error
  say(type, 'was dropped by version 2026-04-17', { expected: 'invalid_request with a code of idempotency' })
}
