import type { Clock } from '../../ports/clock.ts'
import type { InvoiceStore } from '../../ports/invoices.ts'
import type { Derivation, Sealer } from '../../ports/signer.ts'
import {
  WEBHOOK_EVENTS,
  type DeliveryFilter,
  type NewWebhookSubscription,
  type ReceiverUrl,
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
import { secretContext } from './secret-context.ts'

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
  providerHash: NetworkHash
  /** 32 bytes from the system's generator as 0x-prefixed hex. */
  random(): string
  /** Public origin of the API, which a signed subscription names. */
  service(): string
}

interface Asked {
  url: string
  /** Null: all types. */
  events: readonly WebhookEventType[] | null
  /** Id of the subscription of this owner and address that gets new secret, events and token. */
  replaces: string | null
  client: string
}

type AccountRequest = Asked & { by: 'account'; account: string; issued_at: number; signature: string | null }

/** By an account that signs, for everything about it, or by the creator of an invoice, for that invoice. */
export type SubscriptionRequest = AccountRequest | (Asked & { by: 'invoice'; invoice_id: string; invoice_token: string })

export type WebhookEnd<Value> = { ok: true; value: Value } | { ok: false; problem: Problem }

interface Subscribed {
  subscription: Record<string, unknown>
  secret: string
  token: string
}

export interface WebhookService {
  subscribe(request: SubscriptionRequest): Promise<WebhookEnd<Subscribed>>
  read(subscription_id: string, token: string | null): Promise<WebhookEnd<Record<string, unknown>>>
  /** Has the next challenge sent now. */
  verify(subscription_id: string, token: string | null): Promise<WebhookEnd<Record<string, unknown>>>
  deliveries(subscription_id: string, token: string | null, filter: DeliveryFilter): Promise<WebhookEnd<Record<string, unknown>>>
  redeliver(subscription_id: string, token: string | null, event_id: string): Promise<WebhookEnd<Record<string, unknown>>>
  unsubscribe(subscription_id: string, token: string | null): Promise<WebhookEnd<Record<string, unknown>>>
  /** Time in seconds since 1970. */
  now_s(): number
  /** Token by which the creator of an invoice subscribes to it; given once, in the answer to its creation. */
  invoiceToken(invoice_id: string): string
}

export function createWebhookService(parts: WebhookParts): WebhookService {
  const { store, derive } = parts
  const invoiceToken = (invoice_id: string) => `wht_${derive.hmac('webhook invoice', invoice_id)}`
  const tokenOf = ({ subscription_id, rotation }: Pick<WebhookSubscription, 'subscription_id' | 'rotation'>) =>
    `wht_${derive.hmac('webhook subscription', rotation === 0 ? subscription_id : `${subscription_id}|${rotation}`)}`
  /** Compares hashes, so that the time of the comparison says nothing about the token. */
  const isToken = (given: string | null, expected: string) =>
    given !== null && parts.crypto.keccak256Hex(given) === parts.crypto.keccak256Hex(expected)

  async function authorised<Value>(
    subscription_id: string,
    token: string | null,
    act: (found: WebhookSubscription) => Promise<Value | null>,
  ): Promise<WebhookEnd<Value>> {
    const found = token === null ? null : await store.subscription(subscription_id)
    if (found === null || !isToken(token, tokenOf(found))) return { ok: false, problem: unknownSubscription() }
    const value = await act(found)
    return value === null ? { ok: false, problem: unknownSubscription() } : { ok: true, value }
  }

  return {
    invoiceToken,
    now_s: () => Math.floor(parts.clock.now_ms() / 1_000),
    async subscribe(request) {
      const receiver = parts.sender.accepts(request.url)
      if (!receiver.ok) return { ok: false, problem: unusableUrl(request.url, receiver) }
      const owner = await ownerOf(parts, request, (invoice_id) =>
        isToken(request.by === 'invoice' ? request.invoice_token : null, invoiceToken(invoice_id)),
      )
      if (!owner.ok) return owner
      const secret = `whsec_${Buffer.from(parts.random().slice(2), 'hex').toString('base64')}`
      const subscription = { ...owner.value, url: receiver.url, ...newSubscription(parts, request, secret, owner.value.subscription_id) }
      const result = await store.subscribe(subscription, request.replaces, WEBHOOK_RULES)
      if (result.kind !== 'created' && result.kind !== 'replaced') return { ok: false, problem: notSubscribed(parts, request, result) }
      const made = result.subscription
      return { ok: true, value: { subscription: subscriptionView(made), secret, token: tokenOf(made) } }
    },
    read: (subscription_id, token) => authorised(subscription_id, token, (found) => Promise.resolve(subscriptionView(found))),
    verify: async (subscription_id, token) => {
      const end = await authorised(subscription_id, token, (found) => Promise.resolve(found))
      if (!end.ok) return end
      const refused = await askChallenge(parts, end.value)
      if (refused !== null) return { ok: false, problem: refused }
      return authorised(subscription_id, token, (found) => Promise.resolve(subscriptionView(found)))
    },
    deliveries: (subscription_id, token, filter) =>
      authorised(subscription_id, token, async () => {
        const found = await store.deliveries(subscription_id, filter)
        const next = found.length < filter.limit ? null : (found.at(-1)?.number ?? null)
        return { deliveries: found.map(deliveryView), next_before: next }
      }),
    redeliver: async (subscription_id, token, event_id) => {
      const end = await authorised(subscription_id, token, async (found) => ({
        ended: endedProblem(found),
        queued: endedProblem(found) === null && (await store.redeliver(subscription_id, event_id, parts.clock.now_ms())),
      }))
      if (end.ok && end.value.ended !== null) return { ok: false, problem: end.value.ended }
      if (end.ok && !end.value.queued)
        return { ok: false, problem: problem('WEBHOOK_NOT_FOUND', 'This subscription has no such delivery.') }
      return end.ok ? { ok: true, value: { queued: true } } : end
    },
    unsubscribe: (subscription_id, token) =>
      authorised(subscription_id, token, async () => ({ deleted: await store.unsubscribe(subscription_id) })),
  }
}

function newSubscription(
  { clock, sealer, networkHash, providerHash }: WebhookParts,
  { client, events, replaces }: SubscriptionRequest,
  secret: string,
  subscription_id: string,
): Omit<NewWebhookSubscription, keyof Owner | 'url'> {
  const now_ms = clock.now_ms()
  const day = Math.floor(now_ms / 86_400_000)
  return {
    network: networkHash(day, client),
    provider: providerHash(day, client),
    events: events ?? WEBHOOK_EVENTS,
    // A subscription whose secret is replaced keeps its id.
    secret: sealer.seal(secret, secretContext(replaces ?? subscription_id)),
    created_ms: now_ms,
    challenge_until_ms: now_ms + WEBHOOK_RULES.challenge.expires_ms,
  }
}

type Owner = Pick<WebhookSubscription, 'subscription_id' | 'owner' | 'issued_s'>

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
  return { ok: true, value: { subscription_id, owner: invoice_id, issued_s: 0 } }
}

/** Terms that an account signs to subscribe, and how it signs them. */
function signing(parts: WebhookParts, { account, url, events, issued_at }: AccountRequest) {
  const terms: SubscriptionTerms = { service: parts.service(), account: account.toLowerCase(), url, events: events ?? [], issued_at }
  const sign = signRequest({
    kind: 'webhook-subscription',
    origin: terms.service,
    signer: terms.account,
    signable: { method: 'eth_signTypedData_v4', typed_data: subscriptionTypedData(terms) },
    values: { issued_at: String(issued_at) },
  })
  return { terms, sign }
}

async function signedOwner(parts: WebhookParts, request: AccountRequest): Promise<WebhookEnd<Owner>> {
  const { issued_at, signature, client } = request
  const { terms, sign } = signing(parts, request)
  const { account } = terms
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
  return { ok: true, value: { subscription_id, owner: account, issued_s: issued_at } }
}

/** Has the next challenge sent now; the problem says why none will be. */
async function askChallenge({ store, clock }: WebhookParts, subscription: WebhookSubscription): Promise<Problem | null> {
  const { subscription_id, state, challenges, challenged_ms, challenge_fault } = subscription
  if (state === 'verified') return null
  const ended = endedProblem(subscription)
  if (ended !== null) return ended
  const { most, ask_ms } = WEBHOOK_RULES.challenge
  if (challenges >= most)
    return problem('WEBHOOK_LIMIT', `The receiver got ${challenges} challenges, which is the maximum.`, { retry_after_s: 3_600 })
  const now_ms = clock.now_ms()
  if (challenged_ms === null || now_ms - challenged_ms >= ask_ms) await store.postpone_challenge(subscription_id, now_ms, challenge_fault)
  return null
}

/** Null for a subscription that has not ended. */
function endedProblem({ state, challenge_fault, challenge_until_ms }: WebhookSubscription): Problem | null {
  if (state === 'pending' || state === 'verified') return null
  const at = instant(challenge_until_ms)
  switch (challenge_fault ?? 'no answer') {
    case 'invoice_over':
      return problem('WEBHOOK_ENDED', `The subscription ended at ${at}: its invoice is void, paid for good or no longer watched.`)
    case 'receiver_dead': {
      const days = WEBHOOK_RULES.dead_ms / 86_400_000
      return problem('WEBHOOK_ENDED', `The subscription ended at ${at}: its receiver accepted nothing for ${days} days. Subscribe again.`)
    }
    default: {
      const detail = `The subscription is ${state}: the last challenge ended with ${challenge_fault ?? 'no answer'}. Subscribe again.`
      return problem('WEBHOOK_ENDED', detail)
    }
  }
}

function subscriptionView(subscription: WebhookSubscription): Record<string, unknown> {
  const { subscription_id, owner, url, events, state, failures, dropped, created_ms, paused_until_ms } = subscription
  return {
    subscription_id,
    owner,
    url,
    events,
    state,
    challenge: challengeView(subscription),
    failures,
    dropped,
    created_at: instant(created_ms),
    paused_until: paused_until_ms === 0 ? null : instant(paused_until_ms),
  }
}

/** Null for a receiver that is verified. */
function challengeView({ state, challenges, challenged_ms, challenge_due_ms, challenge_until_ms, challenge_fault }: WebhookSubscription) {
  if (state === 'verified') return null
  const next_ms = challenge_due_ms !== null && challenge_due_ms < challenge_until_ms ? challenge_due_ms : null
  return {
    attempts: challenges,
    last_fault: challenge_fault,
    last_attempt_at: challenged_ms === null ? null : instant(challenged_ms),
    next_attempt_at: next_ms === null ? null : instant(next_ms),
    expires_at: instant(challenge_until_ms),
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

function unusableUrl(url: string, { found, expected }: Extract<ReceiverUrl, { ok: false }>): Problem {
  const message = `It ${found}; expected ${expected}.`
  const errors = [{ pointer: '/url', code: 'url', message }]
  return problem('INPUT_SCHEMA_INVALID', `url is ${JSON.stringify(url.slice(0, 80))}, which ${found}; expected ${expected}.`, { errors })
}

const FULL = {
  owner_full: `This account or invoice has ${WEBHOOK_RULES.owner_subscriptions} subscriptions, which is the maximum; see subscriptions. Delete one with its token; subscribe with replaces and its url for a new token.`,
  network_full: `Your network (/24, /48) has ${WEBHOOK_RULES.network_subscriptions} subscriptions that it made today, which is the maximum. It does not count for accounts whose invoices were paid here.`,
  provider_full: `Your provider's network (/16, /32) has ${WEBHOOK_RULES.provider_subscriptions} subscriptions that it made today, which is the maximum. It does not count for accounts whose invoices were paid here.`,
  full: `The service has all ${WEBHOOK_RULES.unpaid_subscriptions} subscriptions that it has for owners that were never paid here, and your network has as many of them as others. This limit is the service's, not yours. Try again later, or delete one of yours.`,
} as const

type NotSubscribed = Exclude<SubscribeResult, { kind: 'created' | 'replaced' }>

function notSubscribed(parts: WebhookParts, request: SubscriptionRequest, result: NotSubscribed): Problem {
  if (result.kind === 'unknown') {
    const detail = `replaces is ${String(request.replaces)}; expected the id of the subscription of this owner and url.`
    return problem('WEBHOOK_NOT_FOUND', detail)
  }
  if (!('subscription' in result)) {
    const extra = result.kind === 'owner_full' ? { subscriptions: result.subscriptions.map(subscriptionView) } : {}
    return problem('WEBHOOK_LIMIT', FULL[result.kind], { retry_after_s: 3_600, extra })
  }
  const { subscription } = result
  const { subscription_id, issued_s } = subscription
  const reason =
    result.kind === 'exists'
      ? `Subscription ${subscription_id} of this owner has this url, and its secret was shown once.`
      : `issued_at is ${request.by === 'account' ? request.issued_at : ''}; to replace the secret of ${subscription_id} it must be after ${issued_s}.`
  const next = `To replace secret, events and token, send ${request.by === 'account' ? 'a later signature' : 'the request'} with replaces.`
  const extra = { subscription: subscriptionView(subscription), ...replacement(parts, request, subscription) }
  return problem('WEBHOOK_EXISTS', `${reason} ${next}`, { extra })
}

/** Returns the typed data with which an account replaces its subscription; nothing for the creator of an invoice. */
function replacement(parts: WebhookParts, request: SubscriptionRequest, { subscription_id, issued_s }: WebhookSubscription) {
  if (request.by !== 'account') return {}
  const issued_at = Math.max(Math.floor(parts.clock.now_ms() / 1_000), issued_s + 1)
  const { sign } = signing(parts, { ...request, issued_at })
  const body = { ...(sign.submit.body as Record<string, unknown>), replaces: subscription_id }
  return { sign: { ...sign, submit: { ...sign.submit, body } } }
}
