import type { Clock, SteadyClock } from '../../ports/clock.ts'
import type { InvoiceStore } from '../../ports/invoices.ts'
import type { Derivation, Sealer } from '../../ports/signer.ts'
import {
  WEBHOOK_EVENTS,
  type DeliveryFilter,
  type NewWebhookSubscription,
  type SubscribeResult,
  type WebhookDelivery,
  type WebhookEventType,
  type WebhookSender,
  type WebhookStore,
  type WebhookSubscription,
  type AttemptRecord,
  type WebhookSent,
} from '../../ports/webhooks.ts'
import { subscriptionDigest, subscriptionTypedData, type SubscriptionTerms } from '../../pure/webhooks/subscription.ts'
import { signRequest } from '../../pure/signing/sign-request.ts'
import { typedSigner } from '../../pure/payments/typed-data.ts'
import { toHex, type ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import type { NetworkHash } from '../clients.ts'
import type { ContractSignatures } from '../invoices/contract-signature.ts'
import { WEBHOOK_RULES } from '../limits.ts'
import { problem, type Problem } from '../problems.ts'
import type { Log } from '../../ports/log.ts'
import type { Gauge } from '../../ports/telemetry.ts'
import type { Job } from '../jobs/jobs.ts'
import { createRecentMap } from '../recent.ts'

export interface WebhookParts {
  store: WebhookStore
  invoices: Pick<InvoiceStore, 'find'>
  sender: Pick<WebhookSender, 'accepts'>
  clock: Clock
  crypto: ReceiptCrypto
  derive: Derivation
  sealer: Pick<Sealer, 'seal'>
  /** Null where there is no chain to ask. */
  contracts: ContractSignatures | null
  networkHash: NetworkHash
  /** 32 bytes from the system's generator as 0x-prefixed hex. */
  random(): string
  /** Public origin of the API, which a signed subscription names. */
  service(): string
}

interface Asked {
  url: string
  /** Null: all types. */
  events: readonly WebhookEventType[] | null
  client: string
}

/** By an account that signs, for everything about it, or by the creator of an invoice, for that invoice. */
export type SubscriptionRequest =
  | (Asked & { by: 'account'; account: string; issued_at: number; signature: string | null })
  | (Asked & { by: 'invoice'; invoice_id: string; invoice_token: string })

export type WebhookEnd<Value> = { ok: true; value: Value } | { ok: false; problem: Problem }

interface Subscribed {
  subscription: Record<string, unknown>
  secret: string
  token: string
}

export interface WebhookService {
  subscribe(request: SubscriptionRequest): Promise<WebhookEnd<Subscribed>>
  read(subscription_id: string, token: string | null): Promise<WebhookEnd<Record<string, unknown>>>
  deliveries(subscription_id: string, token: string | null, filter: DeliveryFilter): Promise<WebhookEnd<Record<string, unknown>>>
  redeliver(subscription_id: string, token: string | null, event_id: string): Promise<WebhookEnd<Record<string, unknown>>>
  unsubscribe(subscription_id: string, token: string | null): Promise<WebhookEnd<Record<string, unknown>>>
  /** Time in seconds since 1970. */
  now_s(): number
  /** Token by which the creator of an invoice subscribes to it; given once, in the answer to its creation. */
  invoiceToken(invoice_id: string): string
}

/** Context under which the secret of a subscription is sealed. */
function secretContext(subscription_id: string): string {
  return `webhook secret ${subscription_id}`
}

export function createWebhookService(parts: WebhookParts): WebhookService {
  const { store, derive } = parts
  const invoiceToken = (invoice_id: string) => `wht_${derive.hmac('webhook invoice', invoice_id)}`
  const tokenOf = (subscription_id: string) => `wht_${derive.hmac('webhook subscription', subscription_id)}`
  /** Compares hashes, so that the time of the comparison says nothing about the token. */
  const isToken = (given: string | null, expected: string) =>
    given !== null && parts.crypto.keccak256Hex(given) === parts.crypto.keccak256Hex(expected)

  async function authorised<Value>(
    subscription_id: string,
    token: string | null,
    act: (found: WebhookSubscription) => Promise<Value | null>,
  ): Promise<WebhookEnd<Value>> {
    if (!isToken(token, tokenOf(subscription_id))) return { ok: false, problem: unknownSubscription() }
    const found = await store.subscription(subscription_id)
    const value = found === null ? null : await act(found)
    return value === null ? { ok: false, problem: unknownSubscription() } : { ok: true, value }
  }

  return {
    invoiceToken,
    now_s: () => Math.floor(parts.clock.now_ms() / 1_000),
    async subscribe(request) {
      if (!parts.sender.accepts(request.url)) return { ok: false, problem: unusableUrl(request.url) }
      const owner = await ownerOf(parts, request, (invoice_id) =>
        isToken(request.by === 'invoice' ? request.invoice_token : null, invoiceToken(invoice_id)),
      )
      if (!owner.ok) return owner
      const now_ms = parts.clock.now_ms()
      const { subscription_id } = owner.value
      const secret = `whsec_${Buffer.from(parts.random().slice(2), 'hex').toString('base64')}`
      const subscription: NewWebhookSubscription = {
        ...owner.value,
        network: parts.networkHash(Math.floor(now_ms / 86_400_000), request.client),
        url: request.url,
        events: request.events ?? WEBHOOK_EVENTS,
        secret: parts.sealer.seal(secret, secretContext(subscription_id)),
        created_ms: now_ms,
      }
      const result = await store.subscribe(subscription, WEBHOOK_RULES)
      if (result !== 'created') return { ok: false, problem: notSubscribed(result) }
      const view = subscriptionView({ ...subscription, failures: 0, paused_until_ms: 0, dropped: 0 })
      return { ok: true, value: { subscription: view, secret, token: tokenOf(subscription_id) } }
    },
    read: (subscription_id, token) => authorised(subscription_id, token, (found) => Promise.resolve(subscriptionView(found))),
    deliveries: (subscription_id, token, filter) =>
      authorised(subscription_id, token, async () => {
        const found = await store.deliveries(subscription_id, filter)
        const next = found.length < filter.limit ? null : (found.at(-1)?.number ?? null)
        return { deliveries: found.map(deliveryView), next_before: next }
      }),
    redeliver: async (subscription_id, token, event_id) => {
      const end = await authorised(subscription_id, token, async () => ({
        queued: await store.redeliver(subscription_id, event_id, parts.clock.now_ms()),
      }))
      if (end.ok && !end.value.queued)
        return { ok: false, problem: problem('WEBHOOK_NOT_FOUND', 'This subscription has no such delivery.') }
      return end
    },
    unsubscribe: (subscription_id, token) =>
      authorised(subscription_id, token, async () => ({ deleted: await store.unsubscribe(subscription_id) })),
  }
}

type Owner = Pick<WebhookSubscription, 'subscription_id' | 'owner'>

/** Account or invoice that the request has proved to act for. */
async function ownerOf(
  parts: WebhookParts,
  request: SubscriptionRequest,
  isInvoiceToken: (invoice_id: string) => boolean,
): Promise<WebhookEnd<Owner>> {
  if (request.by === 'account') return signedOwner(parts, request)
  const { invoice_id } = request
  if (!isInvoiceToken(invoice_id) || (await parts.invoices.find(invoice_id)) === null) {
    const detail = 'invoice_token must be the webhook_token of the answer in which this invoice was created.'
    return { ok: false, problem: problem('WEBHOOK_NOT_AUTHORISED', detail) }
  }
  const subscription_id = `whs_${parts.derive.hmac('webhook id', parts.random()).slice(0, 32)}`
  return { ok: true, value: { subscription_id, owner: invoice_id } }
}

async function signedOwner(parts: WebhookParts, request: Extract<SubscriptionRequest, { by: 'account' }>): Promise<WebhookEnd<Owner>> {
  const { url, issued_at, signature, client } = request
  const account = request.account.toLowerCase()
  const terms: SubscriptionTerms = { service: parts.service(), account, url, events: request.events ?? [], issued_at }
  const sign = signRequest({
    kind: 'webhook-subscription',
    origin: terms.service,
    signer: account,
    signable: { method: 'eth_signTypedData_v4', typed_data: subscriptionTypedData(terms) },
    values: { issued_at: String(issued_at) },
  })
  const unsigned = (detail: string) => ({
    ok: false as const,
    problem: problem('WEBHOOK_NOT_AUTHORISED', detail, { extra: { sign } }),
  })
  if (signature === null)
    return unsigned('Sign sign.typed_data with eth_signTypedData_v4 as this account and send it again as sign.submit says.')
  const age_s = Math.floor(parts.clock.now_ms() / 1_000) - issued_at
  if (Math.abs(age_s) > WEBHOOK_RULES.signed_s) {
    return unsigned(`issued_at is ${age_s} s before the time of this service; expected within ${WEBHOOK_RULES.signed_s} s. Sign it again.`)
  }
  const digest = subscriptionDigest(terms, parts.crypto)
  if (typedSigner(digest, signature, parts.crypto) !== account) {
    const wrong = problem('WEBHOOK_NOT_AUTHORISED', 'signature was not made by this account over sign.typed_data.', {
      extra: { sign },
    })
    if (parts.contracts === null) return { ok: false, problem: wrong }
    const asked = { wallet: account, digest, signature, client, wrong, rate_code: 'WEBHOOK_RATE_LIMITED' as const }
    const refusal = await parts.contracts.refusal(asked)
    if (refusal !== null) return { ok: false, problem: refusal }
  }
  // From the digest, so that a signature subscribes once: a repeated request gets no secret.
  const subscription_id = `whs_${parts.derive.hmac('webhook id', toHex(digest)).slice(0, 32)}`
  return { ok: true, value: { subscription_id, owner: account } }
}

function subscriptionView(subscription: WebhookSubscription): Record<string, unknown> {
  const { subscription_id, owner, url, events, failures, dropped, created_ms, paused_until_ms } = subscription
  return {
    subscription_id,
    owner,
    url,
    events,
    failures,
    dropped,
    created_at: instant(created_ms),
    paused_until: paused_until_ms === 0 ? null : instant(paused_until_ms),
  }
}

function deliveryView(delivery: WebhookDelivery): Record<string, unknown> {
  const { event_id, type, state, attempts, status, fault, created_ms, due_ms, attempted_ms, body } = delivery
  return {
    event_id,
    type,
    state,
    attempts,
    last_status: status,
    last_fault: fault,
    created_at: instant(created_ms),
    last_attempt_at: attempted_ms === null ? null : instant(attempted_ms),
    next_attempt_at: state === 'pending' ? instant(due_ms) : null,
    body,
  }
}

function instant(at_ms: number): string {
  return new Date(at_ms).toISOString()
}

function unknownSubscription(): Problem {
  return problem('WEBHOOK_NOT_FOUND', 'No subscription has this id and token. Send the token as "Authorization: Bearer wht_…".')
}

function unusableUrl(url: string): Problem {
  const message = 'Must be an https address on port 443, such as https://example.com/hooks, without user, password or fragment.'
  const errors = [{ pointer: '/url', code: 'url', message }]
  return problem('INPUT_SCHEMA_INVALID', `url is ${url.slice(0, 80)}; expected an https address on port 443.`, { errors })
}

const FULL = {
  owner_full: `This account or invoice has ${WEBHOOK_RULES.owner_subscriptions} subscriptions, which is the maximum. Delete one.`,
  network_full: `This network has made ${WEBHOOK_RULES.network_subscriptions} subscriptions today, which is the maximum.`,
  full: `The service has ${WEBHOOK_RULES.subscriptions} subscriptions, which is the maximum.`,
} as const

function notSubscribed(result: Exclude<SubscribeResult, 'created'>): Problem {
  if (result === 'exists') {
    return problem(
      'WEBHOOK_EXISTS',
      'This signature has subscribed already, and the secret is shown once. Sign again with a new issued_at.',
    )
  }
  return problem('WEBHOOK_LIMIT', FULL[result], { retry_after_s: 3_600 })
}

interface DeliveryParts {
  store: WebhookStore
  invoices: Pick<InvoiceStore, 'note_expired'>
  sender: Pick<WebhookSender, 'send'>
  sealer: Pick<Sealer, 'open'>
  clock: Clock & SteadyClock
  log: Log
}

export interface WebhookDeliveries {
  jobs: Job[]
  gauges: Gauge[]
  /** Aborts the attempts under way and waits until their results are stored; each is repeated later. */
  stop(): Promise<void>
}

type Attempted = 'delivered' | 'failed' | 'dead'

/**
 * Delivers events at least once, in the order of each subscription's queue as far as attempts succeed. Each round starts a turn for every
 * subscription that is ready and has none: receivers that failed or were slow share a part of the turns, so that they never delay the others.
 */
export function createWebhookDeliveries(parts: DeliveryParts): WebhookDeliveries {
  const { store, clock, log } = parts
  const stopping = new AbortController()
  const turns = new Map<string, { slow: boolean; ended: Promise<void> }>()
  const slow = createRecentMap<true>(WEBHOOK_RULES.concurrent * 10)
  const results: Record<Attempted, number> = { delivered: 0, failed: 0, dead: 0 }
  let queue: { pending: number; dead: number } | null = null

  function begin(subscription: WebhookSubscription): void {
    const { subscription_id, failures } = subscription
    const is_slow = failures > 0 || slow.get(subscription_id) === true
    const slow_turns = [...turns.values()].filter((turn) => turn.slow).length
    if (turns.has(subscription_id) || turns.size >= WEBHOOK_RULES.concurrent) return
    if (is_slow && slow_turns >= WEBHOOK_RULES.concurrent_slow) return
    const ended = turnOf(parts, subscription, { stopping: stopping.signal, slow, results })
      .catch((error: unknown) => log.error({ error: String(error) }, 'a turn of a webhook subscription failed'))
      .finally(() => turns.delete(subscription_id))
    turns.set(subscription_id, { slow: is_slow, ended })
  }

  async function round(now_ms: number): Promise<void> {
    await parts.invoices.note_expired(now_ms, WEBHOOK_RULES.expired)
    if (stopping.signal.aborted) return
    const ready = await store.ready(clock.now_ms(), 2 * WEBHOOK_RULES.concurrent + turns.size)
    for (const subscription of ready) begin(subscription)
    queue = await store.counts()
  }

  const purge = (now_ms: number) =>
    store.purge({
      pending_since_ms: now_ms - WEBHOOK_RULES.pending_ms,
      delivered_ms: now_ms - WEBHOOK_RULES.delivered_kept_ms,
      dead_ms: now_ms - WEBHOOK_RULES.dead_kept_ms,
    })

  return {
    jobs: [
      { name: 'webhooks', every_ms: WEBHOOK_RULES.every_ms, run: round },
      { name: 'purge-webhooks', every_ms: 3_600_000, run: purge },
    ],
    gauges: [
      {
        name: 'assay_webhook_attempts_total',
        help: 'Webhook attempts of this process by result; dead: the last attempt of a delivery failed.',
        kind: 'counter',
        read: () => Object.entries(results).map(([result, value]) => ({ labels: { result }, value })),
      },
      {
        name: 'assay_webhook_deliveries',
        help: 'Webhook deliveries in the store that wait (pending) or were given up (dead).',
        kind: 'gauge',
        operator: true,
        read: () => Object.entries(queue ?? {}).map(([state, value]) => ({ labels: { state }, value })),
      },
    ],
    stop: async () => {
      stopping.abort()
      await Promise.all([...turns.values()].map(({ ended }) => ended))
    },
  }
}

interface TurnState {
  stopping: AbortSignal
  slow: ReturnType<typeof createRecentMap<true>>
  results: Record<Attempted, number>
}

/** Sends what is due to one subscription, one delivery after the other, until the turn is over or the receiver is paused. */
async function turnOf(parts: DeliveryParts, subscription: WebhookSubscription, state: TurnState): Promise<void> {
  const { store, clock } = parts
  const { subscription_id } = subscription
  const secret = parts.sealer.open(subscription.secret, secretContext(subscription_id))
  const began_ms = clock.steady_ms()
  let { failures } = subscription
  for (const delivery of await store.due(subscription_id, clock.now_ms(), WEBHOOK_RULES.turn_deliveries)) {
    if (state.stopping.aborted || clock.steady_ms() - began_ms > WEBHOOK_RULES.turn_ms) break
    const attempt_ms = clock.steady_ms()
    const sent = secret === null ? UNSEALED : await send(parts, { ...subscription, secret }, delivery, state.stopping)
    if (sent === null) break
    if (clock.steady_ms() - attempt_ms > WEBHOOK_RULES.slow_ms) state.slow.set(subscription_id, true)
    else state.slow.delete(subscription_id)
    const result = resultOf(delivery, sent, failures, clock.now_ms())
    await store.record(result)
    state.results[result.state === 'pending' ? 'failed' : result.state] += 1
    failures = result.failures
    if (failures >= WEBHOOK_RULES.pause_failures) break
  }
  await store.end_turn(subscription_id)
}

/** The secret file of the deployment was replaced: the receiver could not verify anything. */
const UNSEALED = { kind: 'secret_lost' } as const

/** Null when the service stops: the attempt does not count. */
async function send(
  { sender, clock }: DeliveryParts,
  { url, network, secret }: Pick<WebhookSubscription, 'url' | 'network' | 'secret'>,
  { event_id, body }: WebhookDelivery,
  stopping: AbortSignal,
): Promise<WebhookSent | null> {
  const timestamp_s = Math.floor(clock.now_ms() / 1_000)
  const sent = await sender.send({ url, network, secret, event_id, timestamp_s, body }, stopping)
  return stopping.aborted && sent.kind === 'timeout' ? null : sent
}

function resultOf(
  { subscription_id, event_id, attempts: before }: WebhookDelivery,
  sent: WebhookSent | typeof UNSEALED,
  failed_before: number,
  now_ms: number,
): AttemptRecord {
  const attempts = before + 1
  const status = sent.kind === 'answered' ? sent.status : null
  const common = { subscription_id, event_id, attempts, status, attempted_ms: now_ms }
  if (status !== null && status >= 200 && status < 300) {
    return { ...common, state: 'delivered', due_ms: now_ms, fault: null, failures: 0, paused_until_ms: 0 }
  }
  const wait_s = WEBHOOK_RULES.retry_s[before]
  const failures = failed_before + 1
  return {
    ...common,
    state: wait_s === undefined ? 'dead' : 'pending',
    due_ms: now_ms + (wait_s ?? 0) * 1_000,
    fault: sent.kind === 'answered' ? `status_${sent.status}` : sent.kind,
    failures,
    paused_until_ms: failures < WEBHOOK_RULES.pause_failures ? 0 : now_ms + pauseMs(failures - WEBHOOK_RULES.pause_failures),
  }
}

function pauseMs(more: number): number {
  return Math.min(WEBHOOK_RULES.pause_ms * 2 ** Math.min(more, 20), WEBHOOK_RULES.pause_max_ms)
}
