import type { Clock } from '../../ports/clock.ts'
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
} from '../../ports/webhooks.ts'
import { subscriptionDigest, subscriptionTypedData, type SubscriptionTerms } from '../../pure/webhooks/subscription.ts'
import { signRequest } from '../../pure/signing/sign-request.ts'
import { typedSigner } from '../../pure/payments/typed-data.ts'
import { toHex, type ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import type { NetworkHash } from '../clients.ts'
import type { ContractSignatures } from '../invoices/contract-signature.ts'
import { WEBHOOK_RULES } from '../limits.ts'
import { problem, type Problem } from '../problems.ts'

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
export function secretContext(subscription_id: string): string {
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
