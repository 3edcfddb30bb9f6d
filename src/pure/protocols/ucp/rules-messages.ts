import { readDateTime } from '../kit/dates.ts'
import { need, needItems, needText, oneOf, onlyMembers, optional } from '../kit/expect.ts'
import { readCompactJws } from '../kit/keys.ts'
import type { Place } from '../place.ts'
import { rule, type Say } from '../rule.ts'
import { rfc, ucpSpec } from './spec.ts'
import { objects, type UcpView } from './view.ts'

const ERRORS = ucpSpec('checkout', 'Error Handling')
const SEVERITIES = ['recoverable', 'requires_buyer_input', 'requires_buyer_review', 'unrecoverable'] as const
const OVER: ReadonlySet<string> = new Set(['completed', 'canceled'])
const ERROR_MEMBERS: ReadonlySet<string> = new Set(['ucp', 'messages', 'continue_url'])

/** UCP-039 and 042…044: messages, mandates, errors and times. */
export const MESSAGE_RULES = [
  rule<UcpView>(
    {
      code: 'UCP-039',
      severity: 'both',
      why: 'The platform decides by type and severity who has to act.',
      spec: ERRORS,
      hint: 'Send type and content, for errors also code and severity; path is a JSONPath such as $.buyer.email.',
      hint_by_case: true,
      good: { type: 'error', code: 'missing', severity: 'recoverable', content: 'An e-mail address is needed', path: '$.buyer.email' },
      bad: { type: 'failure', content: 'An e-mail address is needed' },
    },
    ({ error, warning }, { messages }) => {
      for (const message of messages) {
        messageForm(error, message)
        const path = message.get('path')
        optional(error, path, 'string')
        const text = path.text()
        if (text !== null && !text.startsWith('$')) warning(path, 'is no JSONPath', { expected: 'a path that starts with $' })
      }
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-042',
      severity: 'both',
      types: ['checkout'],
      why: 'The business signs its checkout, and the mandate of the buyer rests on that signature.',
      spec: ucpSpec('ap2-mandates', 'Business Authorization'),
      hint: 'Send ap2.merchant_authorization as header..signature, and a mandate as a JWS or SD-JWT.',
      good: { ap2: { merchant_authorization: 'eyJhbGciOiJFUzI1NiJ9..AAAA' } },
      bad: { ap2: { merchant_authorization: 'eyJhbGciOiJFUzI1NiJ9.e30.AAAA' } },
    },
    ({ error, warning }, { body, entities }) => {
      const ap2 = body.get('ap2')
      optional(error, ap2, 'object')
      const signature = ap2.get('merchant_authorization')
      if (optional(error, signature, 'string')) detachedJws(error, signature)
      const mandate = ap2.get('checkout_mandate')
      if (optional(error, mandate, 'string')) mandateForm(error, mandate)
      const isNegotiated = entities.some(({ registry, name }) => registry === 'capabilities' && name === 'dev.ucp.shopping.ap2_mandate')
      if (isNegotiated && !ap2.redacted && !signature.present) warning(signature, 'is missing though AP2 mandates are negotiated')
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-043',
      severity: 'error',
      types: ['error'],
      why: 'The member ucp.status tells an error from a resource; beside it there is only what explains the error.',
      spec: ERRORS,
      hint: 'Send ucp with status error, at least one message, and continue_url if there is one; nothing else.',
      good: { ucp: { version: '2026-04-08', status: 'error' }, messages: [{ type: 'error' }] },
      bad: { ucp: { version: '2026-04-08', status: 'error' }, messages: [] },
    },
    ({ error }, { body, ucp }) => {
      const status = ucp.get('status')
      if (ucp.kind === 'object' && need(error, status, 'string') && !status.redacted && status.value !== 'error')
        error(status, 'is not error', { expected: 'error' })
      for (const item of needItems(error, body.get('messages'))) optional(error, item, 'object')
      onlyMembers(error, body, ERROR_MEMBERS, 'does not belong to an error')
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-047',
      severity: 'error',
      types: ['business_profile', 'platform_profile', 'checkout', 'cart', 'order', 'catalog'],
      since: '2026-04-08',
      why: 'The member ucp.status says whether the response carries a resource or an error; readers know two values.',
      spec: ERRORS,
      hint: 'Send success, or leave ucp.status out, which means success; error stands in error responses alone.',
      good: { ucp: { version: '2026-04-08', status: 'success' } },
      bad: { ucp: { version: '2026-04-08', status: 'banana' } },
    },
    ({ error }, { ucp }) => {
      oneOf(error, ucp.get('status'), ['success', 'error'])
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-044',
      severity: 'both',
      why: 'After this time the other side may refuse; a time that cannot be read is none.',
      spec: rfc(3339, '5.6'),
      hint: 'Send a date-time with an offset, such as 2026-11-21T12:00:00Z.',
      good: { expires_at: '2026-11-21T18:00:00Z' },
      bad: { expires_at: '21.11.2026' },
    },
    ({ error, warning }, { body, context }) => {
      const times = [body.get('expires_at'), ...timesOf(body)]
      for (const place of times) {
        if (!optional(error, place, 'string') || place.redacted) continue
        if (readDateTime(place.text()) === null) error(place, 'is no date-time with an offset', { expected: 'a time of RFC 3339' })
      }
      for (const change of dated(body))
        if (!change.has('occurred_at')) error(change.get('occurred_at'), 'is missing', { expected: 'a time of RFC 3339' })
      const expires_s = readDateTime(body.get('expires_at').text())
      const isLive = !OVER.has(body.get('status').text() ?? '')
      if (expires_s !== null && expires_s <= context.now_s && isLive) warning(body.get('expires_at'), 'has passed')
    },
  ),
]

function messageForm(error: Say, message: Place): void {
  const type = need(error, message.get('type'), 'string') ? oneOf(error, message.get('type'), ['error', 'warning', 'info']) : null
  need(error, message.get('content'), 'string')
  const [code, severity] = [message.get('code'), message.get('severity')]
  if (type === 'error' || type === 'warning') needText(error, code)
  if (type === 'error') {
    if (!severity.present) error(severity, 'is missing', { expected: `one of ${SEVERITIES.join(', ')}` })
  } else if (type !== 'warning') optional(error, code, 'string')
  oneOf(error, severity, SEVERITIES)
  oneOf(error, message.get('content_type'), ['plain', 'markdown'])
  for (const name of ['image_url', 'presentation', 'url']) optional(error, message.get(name), 'string')
}

function detachedJws(error: Say, place: Place): void {
  const text = place.text()
  const jws = text === null ? null : readCompactJws(text)
  if (text !== null && (jws === null || !jws.detached || jws.header === null))
    error(place, 'is no detached JWS', { expected: 'header..signature in base64url' })
}

/** A compact JWS, with disclosures and a key binding behind it where it is an SD-JWT. */
function mandateForm(error: Say, place: Place): void {
  const text = place.text()
  if (text === null) return
  const [jws = '', ...more] = text.split('~', 1_001)
  const last = more.at(-1) ?? ''
  const isBound = last === '' || readCompactJws(last) !== null || /^[\w-]+$/.test(last)
  const fits = (readCompactJws(jws)?.header ?? null) !== null && isBound && more.slice(0, -1).every((part) => /^[\w-]+$/.test(part))
  if (!fits || more.length > 1_000) error(place, 'is neither a JWS nor an SD-JWT', { expected: 'a compact JWS, with disclosures behind ~' })
}

/** Members of an order that say when something happened. */
function dated(body: Place): Place[] {
  return [...objects(body.down('fulfillment', 'events')), ...objects(body.get('adjustments'))]
}

function timesOf(body: Place): Place[] {
  const groups = objects(body.down('fulfillment', 'methods')).flatMap((method) => objects(method.get('groups')))
  const options = groups.flatMap((group) => objects(group.get('options')))
  return [
    ...dated(body).map((change) => change.get('occurred_at')),
    ...options.flatMap((option) => [option.get('earliest_fulfillment_time'), option.get('latest_fulfillment_time')]),
  ]
}
