import { z } from 'zod'
import { DELIVERY_STATES, SUBSCRIPTION_STATES, WEBHOOK_EVENTS } from '../../ports/webhooks.ts'
import type { ReadBounds } from '../../service/catalogue/define.ts'
import { WEBHOOK_RULES } from '../../service/limits.ts'
import { problem } from '../../service/problems.ts'
import type { SubscriptionRequest, WebhookEnd, WebhookService } from '../../service/webhooks/webhook-service.ts'
import { anyObject, endpointsOf, named, wholeNumber, type EndpointResult, type Rate } from '../endpoint.ts'
import { jsonReply } from '../http/reply.ts'

const defineEndpoint = endpointsOf<WebhookService>()

const BOUNDS: ReadBounds = { body_bytes: WEBHOOK_RULES.body_bytes, depth: 4, nodes: 50, unsafe_numbers: 'refuse' }
const RATE: Rate = { code: 'WEBHOOK_RATE_LIMITED', per_minute: WEBHOOK_RULES.per_minute }
/** Challenges are requests to servers of others. */
const VERIFY_RATE: Rate = { code: 'WEBHOOK_RATE_LIMITED', per_minute: WEBHOOK_RULES.challenge.asked_per_minute }
const PRIVATE = { 'cache-control': 'private, no-store' }

const ID = { id: z.string().max(64).describe('Id of the subscription.') }
const BEARER = {
  Authorization: z.string().max(200).optional().describe('"Bearer " and the token of the subscription.'),
}

const REQUEST = named(
  'webhook-request',
  z.strictObject({
    url: z.string().max(WEBHOOK_RULES.url_chars).describe('Address that receives the events: https, port 443, a public host.'),
    events: z.array(z.enum(WEBHOOK_EVENTS)).min(1).max(WEBHOOK_EVENTS.length).optional().describe('Types of events; all if absent.'),
    invoice_id: z.string().max(64).optional().describe('Subscribes to one invoice; with invoice_token.'),
    invoice_token: z
      .string()
      .regex(/^wht_[0-9a-f]{64}$/)
      .optional()
      .describe('The webhook_token of the answer in which the invoice was created.'),
    account: z
      .string()
      .regex(/^0x[0-9a-fA-F]{40}$/)
      .optional()
      .describe('Subscribes to all events of an account, such as a merchant whose invoices it signed; with issued_at and signature.'),
    issued_at: z
      .string()
      .regex(/^[0-9]{1,15}$/)
      .optional()
      .describe('Time of the signature in seconds since 1970; the time now if absent.'),
    replaces: z
      .string()
      .regex(/^whs_[0-9a-f]{32}$/)
      .optional()
      .describe('Id of the subscription of the same owner and url whose secret, events and token are replaced; its queue stays.'),
    signature: z
      .string()
      .regex(/^0x(?:[0-9a-fA-F]{2}){1,4096}$/)
      .optional()
      .describe('EIP-712 of the account over sign.typed_data of the answer to the same request without signature.'),
  }),
)

const SUBSCRIPTION = named(
  'webhook-subscription',
  z.looseObject({
    subscription_id: z.string().describe('Id of the subscription.'),
    owner: z.string().describe('Account or invoice whose events are delivered.'),
    url: z.string().describe('Address that receives the events.'),
    events: z.array(z.string()).describe('Types of events.'),
    state: z
      .enum(SUBSCRIPTION_STATES)
      .describe(
        'pending: the receiver has not answered a challenge, and events wait; verified: events are delivered; expired: it did not answer in time, ' +
          'its invoice is over, or it failed for days (challenge.last_fault has the reason); ' +
          'refused: its name leads to an address that is not public.',
      ),
    challenge: z
      .looseObject({
        attempts: z.int().describe('Number of challenges that were sent.'),
        last_fault: z
          .string()
          .nullable()
          .describe('Reason why the last one failed, such as wrong_answer or status_401, or of the end: invoice_over, receiver_dead.'),
        last_attempt_at: z.string().nullable().describe('Time of the last one, RFC 3339.'),
        next_attempt_at: z.string().nullable().describe('Time of the next one, RFC 3339; null if none follows unless asked for.'),
        expires_at: z.string().describe('Time at which a pending subscription expires, RFC 3339.'),
      })
      .nullable()
      .describe('Challenges so far; null once the receiver is verified.'),
    failures: z.int().describe('Number of consecutive failed attempts.'),
    paused_until: z.string().nullable().describe('No attempt before this time; null if the receiver is not paused.'),
    dropped: z.int().describe('Number of events that were not queued because too many waited.'),
    created_at: z.string().describe('RFC 3339.'),
  }),
)

const SUBSCRIBED = named(
  'webhook-subscribed',
  z.looseObject({
    subscription: SUBSCRIPTION,
    secret: z.string().describe('whsec_ and base64: the signing secret of Standard Webhooks. Shown once.'),
    token: z.string().describe('Bearer token that reads, redelivers and deletes. Shown once.'),
  }),
)

const DELIVERIES = named(
  'webhook-deliveries',
  z.looseObject({
    deliveries: z.array(
      z.looseObject({
        event_id: z.string().describe('The webhook-id, the same for every attempt.'),
        type: z.enum(WEBHOOK_EVENTS).describe('Type of the event.'),
        state: z.enum(DELIVERY_STATES).describe('dead: given up after the last attempt.'),
        attempts: z.int().describe('Number of attempts in the present schedule.'),
        last_status: z.int().nullable().describe('HTTP status of the last attempt; null without a response.'),
        last_fault: z.string().nullable().describe('Reason why the last attempt failed.'),
        next_attempt_at: z.string().nullable().describe('Earliest time of the next attempt, RFC 3339; null if there is none.'),
        body: z.string().describe('JSON text as it is sent.'),
      }),
    ),
    next_before: z.int().nullable().describe('Value of `before` for the next page; null after the last one.'),
  }),
)

const subscribe = defineEndpoint({
  id: 'subscribe-webhook',
  method: 'post',
  path: '/v1/webhooks',
  summary: 'Subscribe an https address to events of an account or of one invoice.',
  description:
    'With invoice_id and invoice_token: events of that invoice, also of an unsigned one. With account: events of every invoice that the account signed, of ' +
    'its policies and disputes; send it without signature first, sign the typed data of its member sign and send it again. Events are signed and ' +
    'delivered by Standard Webhooks, at least once, after the receiver has returned the text of a challenge.',
  rate: RATE,
  body: {
    schema: REQUEST,
    bounds: BOUNDS,
    example: { url: 'https://example.com/hooks', invoice_id: 'inv_000000000000', invoice_token: `wht_${'0'.repeat(64)}` },
  },
  answers: { 201: { description: 'The subscription with its secret and token.', json: SUBSCRIBED } },
  problems: [
    'WEBHOOK_NOT_AUTHORISED',
    'WEBHOOK_NOT_FOUND',
    'WEBHOOK_EXISTS',
    'WEBHOOK_LIMIT',
    'UPSTREAM_RPC_UNAVAILABLE',
    'STORE_UNAVAILABLE',
  ],
  async run({ body, caller }, service) {
    const request = requestOf(body, caller, service.now_s())
    if (request === null) {
      const message = 'Give either invoice_id and invoice_token, or account.'
      return problem('INPUT_SCHEMA_INVALID', message, { errors: [{ pointer: '', code: 'missing', message }] })
    }
    const end = await service.subscribe(request)
    return end.ok ? jsonReply(201, JSON.stringify(end.value), PRIVATE) : end.problem
  },
})

function requestOf(body: z.output<typeof REQUEST>, client: string, now_s: number): SubscriptionRequest | null {
  const { url, events = null, replaces = null, invoice_id, invoice_token, account, issued_at = String(now_s), signature = null } = body
  const asked = { url, events, replaces, client }
  if (account !== undefined && invoice_id === undefined)
    return { ...asked, by: 'account', account, issued_at: Number(issued_at), signature }
  if (account !== undefined || invoice_id === undefined || invoice_token === undefined) return null
  return { ...asked, by: 'invoice', invoice_id, invoice_token }
}

function reply(end: WebhookEnd<unknown>): EndpointResult {
  return end.ok ? jsonReply(200, JSON.stringify(end.value), PRIVATE) : end.problem
}

const bearer = (headers: { Authorization?: string | undefined }) =>
  /^Bearer (wht_[0-9a-f]{64})$/.exec(headers.Authorization ?? '')?.[1] ?? null

const read = defineEndpoint({
  id: 'read-webhook',
  method: 'get',
  path: '/v1/webhooks/{id}',
  summary: 'One subscription.',
  parts: ID,
  headers: BEARER,
  rate: RATE,
  answers: { 200: { description: 'The subscription.', json: SUBSCRIPTION } },
  problems: ['WEBHOOK_NOT_FOUND', 'STORE_UNAVAILABLE'],
  run: async ({ parts, headers }, service) => reply(await service.read(parts.id, bearer(headers))),
})

const verify = defineEndpoint({
  id: 'verify-webhook',
  method: 'post',
  path: '/v1/webhooks/{id}/verify',
  summary: 'Send the receiver of a pending subscription its next challenge now.',
  description:
    'The challenge is sent within seconds after the answer; read the subscription for its result. At most ' +
    `${WEBHOOK_RULES.challenge.most} challenges in all. A body is not needed, and ignored.`,
  parts: ID,
  headers: BEARER,
  rate: VERIFY_RATE,
  raw_body: { media: 'application/json', bytes: 1_024 },
  answers: { 200: { description: 'The subscription.', json: SUBSCRIPTION } },
  problems: ['WEBHOOK_NOT_FOUND', 'WEBHOOK_ENDED', 'WEBHOOK_LIMIT', 'STORE_UNAVAILABLE'],
  run: async ({ parts, headers }, service) => reply(await service.verify(parts.id, bearer(headers))),
})

const list = defineEndpoint({
  id: 'list-webhook-deliveries',
  method: 'get',
  path: '/v1/webhooks/{id}/deliveries',
  summary: 'Deliveries of a subscription, newest first; state=dead is the dead-letter list.',
  parts: ID,
  headers: BEARER,
  query: {
    state: z.enum(DELIVERY_STATES).optional().describe('Only deliveries in this state.'),
    before: wholeNumber(1, Number.MAX_SAFE_INTEGER).optional().describe('next_before of the page before.'),
    limit: wholeNumber(1, WEBHOOK_RULES.page_max).optional().describe('Length of the page.'),
  },
  rate: RATE,
  answers: { 200: { description: 'The deliveries.', json: DELIVERIES } },
  problems: ['WEBHOOK_NOT_FOUND', 'STORE_UNAVAILABLE'],
  async run({ parts, headers, query }, service) {
    const { state = null, before = null, limit = WEBHOOK_RULES.page } = query
    return reply(await service.deliveries(parts.id, bearer(headers), { state, before, limit }))
  },
})

const redeliver = defineEndpoint({
  id: 'redeliver-webhook',
  method: 'post',
  path: '/v1/webhooks/{id}/redeliver',
  summary: 'Queue one delivery again, with the same webhook-id.',
  parts: ID,
  headers: BEARER,
  rate: RATE,
  body: {
    schema: named('webhook-redelivery', z.strictObject({ event_id: z.string().max(64).describe('The webhook-id of the event.') })),
    bounds: BOUNDS,
    example: { event_id: `evt_${'0'.repeat(40)}` },
  },
  answers: { 200: { description: 'The delivery waits again.', json: anyObject('{"queued": true}') } },
  problems: ['WEBHOOK_NOT_FOUND', 'WEBHOOK_ENDED', 'STORE_UNAVAILABLE'],
  run: async ({ parts, headers, body }, service) => reply(await service.redeliver(parts.id, bearer(headers), body.event_id)),
})

const unsubscribe = defineEndpoint({
  id: 'delete-webhook',
  method: 'post',
  path: '/v1/webhooks/{id}/delete',
  summary: 'Delete a subscription and its deliveries.',
  description: 'A body is not needed, and ignored.',
  parts: ID,
  headers: BEARER,
  rate: RATE,
  raw_body: { media: 'application/json', bytes: 1_024 },
  answers: { 200: { description: 'The subscription is deleted.', json: anyObject('{"deleted": true}') } },
  problems: ['WEBHOOK_NOT_FOUND', 'STORE_UNAVAILABLE'],
  run: async ({ parts, headers }, service) => reply(await service.unsubscribe(parts.id, bearer(headers))),
})

/** Endpoints of webhooks: subscribe, verify, inspect, redeliver, delete. */
export const WEBHOOK_ENDPOINTS = [subscribe, read, verify, list, redeliver, unsubscribe]
