import {
  expectType,
  expectText,
  expectOneOf,
  expectTypeIfPresent,
  expectItems,
  expectKnownMembers,
  expectTextForm,
  expectNotEmpty,
  expectObjectIfPresent,
} from '../kit/expect.ts'
import { isCurrencyCode } from '../kit/money.ts'
import { expectHttpsUrl, expectUriIfPresent } from '../kit/url.ts'
import type { JsonCursor } from '../json-cursor.ts'
import { rfc, type RuleTable, type ReportFinding } from '../protocol.ts'
import { BASKETS, type UcpView, ucpSpec } from './view.ts'
import { expectShape } from '../kit/shape.ts'
import { CATALOG, responseShapes } from './schemas.ts'
import { readDateTime } from '../kit/dates.ts'
import { readCompactJws } from '../kit/keys.ts'

const LIFECYCLE = ucpSpec('checkout', 'Checkout Status Lifecycle')
const CONTINUE = ucpSpec('checkout', 'Continue URL')

const STATES = ['incomplete', 'requires_escalation', 'ready_for_complete', 'complete_in_progress', 'completed', 'canceled'] as const

/** UCP-027…029, 037, 038 and 040: members of a response, and requirements of its state. */
export const UCP_CHECKOUT_RULES: RuleTable<UcpView> = {
  'UCP-027': {
    types: BASKETS,
    why: 'Platforms show and total a response by these members, and break where one is missing or of another type.',
    spec: ucpSpec('checkout', 'Capability Schema Definition'),
    hint: 'Send every required member: for a checkout ucp, id, line_items, status, currency, totals and links.',
    hint_by_case: true,
    good: { id: 'chk_1', status: 'incomplete', currency: 'EUR', line_items: [], totals: [], links: [] },
    bad: { id: 'chk_1', status: 'incomplete' },
    check({ error }, { context, body, ucp, is_first_version, is_newest_version }) {
      const type = BASKETS.find((one) => one === context.type)
      if (type !== undefined) expectShape(error, body, responseShapes(is_newest_version)[type])
      if (ucp.kind !== 'object') return
      if (is_first_version && !ucp.has('capabilities')) error(ucp.get('capabilities'), 'is missing', { expected: 'an array' })
      if (!is_first_version && type === 'checkout' && !ucp.has('payment_handlers'))
        error(ucp.get('payment_handlers'), 'is missing', { expected: 'an object, which may be empty' })
    },
  },
  'UCP-028': {
    types: ['checkout'],
    why: 'The platform decides by the state what to do next and cannot act on an unknown one.',
    spec: LIFECYCLE,
    hint: 'Use a state of the lifecycle; canceled has one l.',
    good: { status: 'ready_for_complete' },
    bad: { status: 'ready' },
    check({ error }, { body }) {
      if (body.get('status').kind === 'string') expectOneOf(error, body.get('status'), STATES)
    },
  },
  'UCP-029': {
    severity: 'both',
    types: BASKETS,
    why: 'The currency says how many digits of an amount are minor units.',
    spec: ucpSpec('checkout', 'Capability Schema Definition'),
    hint: 'Send the ISO 4217 code in upper case.',
    good: { currency: 'USD' },
    bad: { currency: 'US dollars' },
    check({ error, warning }, { body }) {
      const currency = body.get('currency')
      const text = currency.text()
      if (text === null) return
      if (!/^[A-Za-z]{3}$/.test(text)) error(currency, 'is not three letters', { expected: 'an ISO 4217 code' })
      else if (!isCurrencyCode(text)) warning(currency, 'is not an ISO 4217 code in upper case', { expected: 'an ISO 4217 code' })
    },
  },
  'UCP-037': {
    types: ['checkout'],
    why: 'The buyer must be handed over, and both sides must know where to and why.',
    spec: CONTINUE,
    hint: 'Add continue_url, and an error message of severity requires_buyer_input or requires_buyer_review.',
    good: {
      status: 'requires_escalation',
      continue_url: 'https://shop.example.com/c/1',
      messages: [{ severity: 'requires_buyer_review' }],
    },
    bad: { status: 'requires_escalation' },
    check({ error }, { body, messages }) {
      if (body.text('status') !== 'requires_escalation') return
      expectType(error, body.get('continue_url'), 'string')
      const explains = messages.some((message) => /^requires_buyer_(?:input|review)$/.test(message.text('severity') ?? ''))
      const isHidden = body.get('messages').redacted || messages.some((message) => message.get('severity').redacted)
      if (!explains && !isHidden)
        error(body.get('messages'), 'has no message about what the buyer must do', {
          expected: 'severity requires_buyer_input or requires_buyer_review',
        })
    },
  },
  'UCP-038': {
    severity: 'both',
    types: ['checkout', 'cart', 'error'],
    why: 'It hands the buyer over to the shop; after the end there is nothing to hand over.',
    spec: CONTINUE,
    hint: 'Send an absolute https URL while the checkout lives, and leave it out when it is completed or canceled.',
    good: { status: 'incomplete', continue_url: 'https://shop.example.com/c/1' },
    bad: { status: 'incomplete', continue_url: '/c/1' },
    check({ error, warning }, { body, context }) {
      const url = body.get('continue_url')
      const state = context.type === 'checkout' ? STATES.find((one) => one === body.text('status')) : undefined
      if (state !== 'requires_escalation' || url.kind === 'string') expectHttpsUrl(error, url)
      if (state === undefined || state === 'requires_escalation') return
      const isOver = state === 'completed' || state === 'canceled'
      if (isOver && url.present) warning(url, 'is present, but the checkout is completed or canceled')
      if (!isOver && !url.present) warning(url, 'is missing', { expected: 'an absolute https URL' })
    },
  },
  'UCP-040': {
    severity: 'both',
    types: ['checkout'],
    why: 'A completed checkout without its order leaves the buyer with nothing to point at; an order before the end may never be.',
    spec: ucpSpec('reference', 'Order Confirmation'),
    hint: 'Add order with id and permalink_url when completed, not before; and no error message when ready.',
    good: { status: 'completed', order: { id: 'ord_1', permalink_url: 'https://shop.example.com/orders/1' } },
    bad: { status: 'completed', order: { id: 'ord_1' } },
    check({ error, warning }, { body, messages, is_newest_version }) {
      const state = body.text('status')
      const order = body.get('order')
      const strict = is_newest_version ? error : warning
      if (state === 'completed' && !order.present)
        strict(order, 'is missing, but the checkout is completed', { expected: 'an object with id and permalink_url' })
      if (state === 'complete_in_progress' && order.present) strict(order, 'is present, but the checkout is not completed')
      if (expectObjectIfPresent(error, order)) {
        for (const name of ['id', 'permalink_url']) expectText(error, order.get(name))
        if (order.text('permalink_url')?.trim() !== '') expectUriIfPresent(error, order.get('permalink_url'))
      }
      if (state === 'ready_for_complete')
        for (const message of messages) if (message.text('type') === 'error') warning(message, 'is an error, but the checkout is ready')
    },
  },
}

const ERRORS = ucpSpec('checkout', 'Error Handling')
const SEVERITIES = ['recoverable', 'requires_buyer_input', 'requires_buyer_review', 'unrecoverable'] as const
const OVER: ReadonlySet<string> = new Set(['completed', 'canceled'])
const ERROR_MEMBERS: ReadonlySet<string> = new Set(['ucp', 'messages', 'continue_url'])

/** UCP-039 and 042…044: messages, mandates, errors and times. */
export const UCP_MESSAGE_RULES: RuleTable<UcpView> = {
  'UCP-039': {
    severity: 'both',
    why: 'The platform decides by type and severity who has to act.',
    spec: ERRORS,
    hint: 'Send type and content, for errors also code and severity; path is a JSONPath such as $.buyer.email.',
    hint_by_case: true,
    good: { type: 'error', code: 'missing', severity: 'recoverable', content: 'An e-mail address is needed', path: '$.buyer.email' },
    bad: { type: 'failure', content: 'An e-mail address is needed' },
    check({ error, warning }, { messages }) {
      for (const message of messages) {
        checkMessage(error, message)
        const path = message.get('path')
        expectTypeIfPresent(error, path, 'string')
        const text = path.text()
        if (text !== null && !text.startsWith('$')) warning(path, 'is not a JSONPath', { expected: 'a path that starts with $' })
      }
    },
  },
  'UCP-042': {
    severity: 'both',
    types: ['checkout'],
    why: 'The business signs its checkout, and the mandate of the buyer rests on that signature.',
    spec: ucpSpec('ap2-mandates', 'Business Authorization'),
    hint: 'Send ap2.merchant_authorization as header..signature, and a mandate as a JWS or SD-JWT.',
    good: { ap2: { merchant_authorization: 'eyJhbGciOiJFUzI1NiJ9..AAAA' } },
    bad: { ap2: { merchant_authorization: 'eyJhbGciOiJFUzI1NiJ9.e30.AAAA' } },
    check({ error, warning }, { body, entities }) {
      const ap2 = body.get('ap2')
      expectTypeIfPresent(error, ap2, 'object')
      const signature = ap2.get('merchant_authorization')
      if (expectTypeIfPresent(error, signature, 'string')) expectDetachedJws(error, signature)
      const mandate = ap2.get('checkout_mandate')
      if (expectTypeIfPresent(error, mandate, 'string')) expectMandate(error, mandate)
      const isNegotiated = entities.some(({ registry, name }) => registry === 'capabilities' && name === 'dev.ucp.shopping.ap2_mandate')
      if (isNegotiated && !ap2.redacted && !signature.present) warning(signature, 'is missing, but AP2 mandates are negotiated')
    },
  },
  'UCP-043': {
    types: ['error'],
    why: 'The member ucp.status marks the response as an error, which has only members that explain the error.',
    spec: ERRORS,
    hint: 'Send ucp with status error, at least one message, and continue_url if there is one; nothing else.',
    good: { ucp: { version: '2026-04-08', status: 'error' }, messages: [{ type: 'error' }] },
    bad: { ucp: { version: '2026-04-08', status: 'error' }, messages: [] },
    check({ error }, { body, ucp }) {
      const status = ucp.get('status')
      if (ucp.kind === 'object' && expectType(error, status, 'string') && !status.redacted && status.value !== 'error')
        error(status, 'is not error', { expected: 'error' })
      for (const item of expectItems(error, body.get('messages'))) expectTypeIfPresent(error, item, 'object')
      expectKnownMembers(error, body, ERROR_MEMBERS, 'does not belong to an error')
    },
  },
  'UCP-047': {
    types: ['business_profile', 'platform_profile', 'checkout', 'cart', 'order', 'catalog'],
    since: '2026-04-08',
    why: 'The member ucp.status says whether the response carries a resource or an error; readers know two values.',
    spec: ERRORS,
    hint: 'Send success, or leave ucp.status out, which means success; only error responses have error.',
    good: { ucp: { version: '2026-04-08', status: 'success' } },
    bad: { ucp: { version: '2026-04-08', status: 'banana' } },
    check({ error }, { ucp }) {
      expectOneOf(error, ucp.get('status'), ['success', 'error'])
    },
  },
  'UCP-044': {
    severity: 'both',
    why: 'After this time the other side may refuse; a time that cannot be read is none.',
    spec: rfc(3339, '5.6'),
    hint: 'Send a date-time with an offset, such as 2026-11-21T12:00:00Z.',
    good: { expires_at: '2026-11-21T18:00:00Z' },
    bad: { expires_at: '21.11.2026' },
    check({ error, warning }, { body, context }) {
      const times = [body.get('expires_at'), ...listTimes(body)]
      for (const cursor of times) {
        if (!expectTypeIfPresent(error, cursor, 'string') || cursor.redacted) continue
        if (readDateTime(cursor.text()) === null) error(cursor, 'is not a date-time with an offset', { expected: 'a time of RFC 3339' })
      }
      for (const change of listChanges(body))
        if (!change.has('occurred_at')) error(change.get('occurred_at'), 'is missing', { expected: 'a time of RFC 3339' })
      const expires_s = readDateTime(body.text('expires_at'))
      const isLive = !OVER.has(body.text('status') ?? '')
      if (expires_s !== null && expires_s <= context.now_s && isLive) warning(body.get('expires_at'), 'has passed')
    },
  },
}

function checkMessage(error: ReportFinding, message: JsonCursor): void {
  const type = expectType(error, message.get('type'), 'string')
    ? expectOneOf(error, message.get('type'), ['error', 'warning', 'info'])
    : null
  expectType(error, message.get('content'), 'string')
  const [code, severity] = [message.get('code'), message.get('severity')]
  if (type === 'error' || type === 'warning') expectText(error, code)
  if (type === 'error') {
    if (!severity.present) error(severity, 'is missing', { expected: `one of ${SEVERITIES.join(', ')}` })
  } else if (type !== 'warning') expectTypeIfPresent(error, code, 'string')
  expectOneOf(error, severity, SEVERITIES)
  expectOneOf(error, message.get('content_type'), ['plain', 'markdown'])
  for (const name of ['image_url', 'presentation', 'url']) expectTypeIfPresent(error, message.get(name), 'string')
}

function expectDetachedJws(error: ReportFinding, cursor: JsonCursor): void {
  const text = cursor.text()
  const jws = text === null ? null : readCompactJws(text)
  if (text !== null && (jws === null || !jws.detached || jws.header === null))
    error(cursor, 'is not a detached JWS', { expected: 'header..signature in base64url' })
}

/** A compact JWS, with disclosures and a key binding behind it where it is an SD-JWT. */
function expectMandate(error: ReportFinding, cursor: JsonCursor): void {
  const text = cursor.text()
  if (text === null) return
  const [jws = '', ...more] = text.split('~', 1_001)
  const last = more.at(-1) ?? ''
  const isBound = last === '' || readCompactJws(last) !== null || /^[\w-]+$/.test(last)
  const fits = (readCompactJws(jws)?.header ?? null) !== null && isBound && more.slice(0, -1).every((part) => /^[\w-]+$/.test(part))
  if (!fits || more.length > 1_000)
    error(cursor, 'is neither a JWS nor an SD-JWT', { expected: 'a compact JWS, with disclosures behind ~' })
}

/** Members of an order that say when something happened. */
function listChanges(body: JsonCursor): JsonCursor[] {
  return [...body.objects('fulfillment', 'events'), ...body.objects('adjustments')]
}

function listTimes(body: JsonCursor): JsonCursor[] {
  const groups = body.objects('fulfillment', 'methods').flatMap((method) => method.objects('groups'))
  const options = groups.flatMap((group) => group.objects('options'))
  return [
    ...listChanges(body).map((change) => change.get('occurred_at')),
    ...options.flatMap((option) => [option.get('earliest_fulfillment_time'), option.get('latest_fulfillment_time')]),
  ]
}

/** UCP-046: products of a catalogue. */
export const UCP_CATALOG_RULES: RuleTable<UcpView> = {
  'UCP-046': {
    severity: 'both',
    types: ['catalog'],
    since: '2026-04-08',
    why: 'Platforms show products by these members, and buy a variant by its id at its price.',
    spec: { url: 'https://ucp.dev/2026-04-08/specification/catalog/', section: 'Product' },
    hint: 'Send id, title, description, price_range and at least one variant with each product; prices with amount and currency.',
    hint_by_case: true,
    good: { products: [{ id: 'prod_1', variants: [{ id: 'sku_1', price: { amount: 1250, currency: 'USD' } }] }] },
    bad: { products: [{ id: 'prod_1', variants: [] }] },
    check({ error, warning }, { body }) {
      expectShape(error, body, CATALOG)
      for (const product of [...body.objects('products'), body.get('product')]) {
        const variants = product.get('variants')
        for (const cursor of [product, ...variants.objects()].map((one) => one.get('description')))
          if (cursor.kind === 'object' && cursor.members().length === 0) error(cursor, 'is empty', { expected: 'plain, html or markdown' })
        expectNotEmpty(error, variants, 'at least one variant')
        const prices = [
          ...listPriceRanges(product).flat(),
          ...variants.objects().flatMap((one) => [one.get('price'), one.get('list_price')]),
        ]
        for (const price of prices)
          expectTextForm(error, price.get('currency'), { pattern: /^[A-Z]{3}$/, expected: 'an ISO 4217 code such as USD' })
        for (const [min, max] of listPriceRanges(product)) {
          const [least, most] = [min.integer('amount'), max.integer('amount')]
          if (least !== null && most !== null && least > most) warning(min, 'is more than max')
        }
      }
    },
  },
}

function listPriceRanges(product: JsonCursor): [JsonCursor, JsonCursor][] {
  return ['price_range', 'list_price_range'].map((name) => [product.get(name, 'min'), product.get(name, 'max')])
}
