/** Subscriptions to events, and the deliveries that are due to them. Times are milliseconds since 1970 unless they end in `_s`. */

export const WEBHOOK_EVENTS = [
  'invoice.created',
  'invoice.paid',
  'invoice.underpaid',
  'invoice.voided',
  'invoice.expired',
  'payment.settled',
  'policy.bound',
  'dispute.ruled',
] as const
export type WebhookEventType = (typeof WEBHOOK_EVENTS)[number]

/** An event, written together with the change that it reports. */
export interface WebhookEvent {
  type: WebhookEventType
  /** With the type, the identity of the event: the same change never becomes two events. */
  key: string
  /** Lower-case addresses and invoice ids whose subscriptions receive it. */
  owners: readonly string[]
  at_ms: number
  data: Readonly<Record<string, unknown>>
  /** Invoice that it reports, with whose personal details it is erased; left out for any other event. */
  invoice_id?: string
}

/**
 * `pending`: the receiver has not answered a challenge yet, and events wait. `expired`: it did not answer in time, its invoice is over, or it failed for
 * days. `refused`: its name leads to an address to which nothing may be sent. The last two receive nothing any more.
 */
export const SUBSCRIPTION_STATES = ['pending', 'verified', 'expired', 'refused'] as const
export type SubscriptionState = (typeof SUBSCRIPTION_STATES)[number]

/** Proof that a receiver takes part: it returns a random text that was sent to it. */
interface WebhookChallenges {
  state: SubscriptionState
  /** Number of challenges that were sent, and time of the last one. */
  challenges: number
  challenged_ms: number | null
  /** Time of the next challenge, or of the expiry; null unless `pending`. */
  challenge_due_ms: number | null
  /** Time at which a pending subscription expires, or at which another one ended. */
  challenge_until_ms: number
  /** Reason why the last challenge failed, or why the subscription ended. */
  challenge_fault: string | null
}

/** Reasons for which a subscription ends although its receiver answered a challenge. */
export type EndReason = 'invoice_over' | 'receiver_dead'

export interface WebhookSubscription extends WebhookChallenges {
  subscription_id: string
  /** Lower-case address of the account that signed, or the id of one invoice. */
  owner: string
  /** Keyed hash of the network that subscribed; changes every day. */
  network: string
  /** Keyed hash of the provider network (/16, /32) that subscribed; changes every day. */
  provider: string
  url: string
  events: readonly WebhookEventType[]
  /** Sealed; the store cannot read it. */
  secret: string
  created_ms: number
  /** Time of the account's signature in seconds; only a later one replaces secret and token. 0 without a signature. */
  issued_s: number
  /** Number of replacements of secret and token. */
  rotation: number
  /** The owner was paid here when it subscribed or when its place was needed: it gives way to no other. */
  paid: boolean
  /** Consecutive failed attempts, and time of the first of them. */
  failures: number
  failing_since_ms: number | null
  /** No attempt before this time. */
  paused_until_ms: number
  /** Events that were not queued because the queue was full. */
  dropped: number
}

/** A subscription begins as `pending`. */
export type NewWebhookSubscription = Omit<
  WebhookSubscription,
  'failures' | 'failing_since_ms' | 'paused_until_ms' | 'dropped' | 'paid' | 'rotation' | keyof WebhookChallenges
> &
  Pick<WebhookChallenges, 'challenge_until_ms'>

/** `dead`: given up after the last attempt; only a manual redelivery sends it again. */
export const DELIVERY_STATES = ['pending', 'delivered', 'dead'] as const
type DeliveryState = (typeof DELIVERY_STATES)[number]

export interface WebhookDelivery {
  /** Place in the queue; later deliveries have higher numbers. */
  number: number
  subscription_id: string
  /** The webhook-id, the same for every attempt and every subscription. */
  event_id: string
  type: WebhookEventType
  /** JSON text as it is sent. */
  body: string
  created_ms: number
  state: DeliveryState
  attempts: number
  /** First attempt of the present schedule: creation, or the last manual redelivery. */
  since_ms: number
  due_ms: number
  /** HTTP status of the last attempt; null without a response. */
  status: number | null
  /** Reason why the last attempt failed; null after a success and before the first attempt. */
  fault: string | null
  /** Time of the last attempt. */
  attempted_ms: number | null
}

/**
 * Maximum number of subscriptions: of one owner, of one network and of one provider network in a day, of owners that were never paid, of all. The
 * bounds of networks do not count for owners that were paid.
 */
export interface WebhookBounds {
  owner_subscriptions: number
  network_subscriptions: number
  provider_subscriptions: number
  unpaid_subscriptions: number
  subscriptions: number
}

/** `exists`: the owner has a subscription of this address, or this signature made one. */
export type SubscribeResult =
  | { kind: 'created' | 'replaced' | 'exists'; subscription: WebhookSubscription }
  /** The signature is not later than that of the subscription that it would replace. */
  | { kind: 'not_later'; subscription: WebhookSubscription }
  /** No subscription of this owner and address has the id that is to be replaced. */
  | { kind: 'unknown' }
  /** All subscriptions of the owner. */
  | { kind: 'owner_full'; subscriptions: WebhookSubscription[] }
  /** The bound that is reached. */
  | { kind: 'network_full' | 'provider_full' | 'full' }

export interface ChallengeBegin {
  subscription_id: string
  /** Challenges that were sent before. */
  challenges: number
  now_ms: number
  /** Time of the next challenge, should this one fail. */
  due_ms: number
}

export interface ChallengeResult {
  subscription_id: string
  /** Of the secret with which the challenge was signed. */
  rotation: number
  state: SubscriptionState
  fault: string | null
}

/** Result of an attempt, as it is stored. */
export interface AttemptRecord extends Pick<
  WebhookDelivery,
  'subscription_id' | 'event_id' | 'state' | 'attempts' | 'due_ms' | 'status' | 'fault'
> {
  attempted_ms: number
  /** Of the subscription, after the attempt. */
  failures: number
  failing_since_ms: number | null
  paused_until_ms: number
}

export interface DeliveryFilter {
  state: DeliveryState | null
  /** Only deliveries with a lower number; null: from the newest. */
  before: number | null
  limit: number
}

export interface WebhookStore {
  /**
   * Adds a subscription, one for an owner and address. When all places are taken, one of the network with the most gives way, of owners that
   * were never paid only. With `replaces`, the id of that subscription, it gets new secret, events and token instead, and
   * keeps its queue and state.
   */
  subscribe(subscription: NewWebhookSubscription, replaces: string | null, bounds: WebhookBounds): Promise<SubscribeResult>
  subscription(subscription_id: string): Promise<WebhookSubscription | null>
  /** Pending subscriptions whose next challenge, or whose expiry, is due; those without a challenge so far come first. */
  challenges_due(now_ms: number, limit: number): Promise<WebhookSubscription[]>
  /** Counts a challenge before it is sent; false when the subscription changed since it was read. */
  begin_challenge(challenge: ChallengeBegin): Promise<boolean>
  /** Stores the result of a challenge: `pending` while further ones may follow, or the final state, with which waiting events are due or deleted. */
  end_challenge(result: ChallengeResult): Promise<void>
  /** Takes back a challenge that was counted and not sent, and moves it. */
  return_challenge(subscription_id: string, due_ms: number, fault: string): Promise<void>
  /** Moves the next challenge; without effect unless `pending`. */
  postpone_challenge(subscription_id: string, due_ms: number, fault: string | null): Promise<void>
  /** True for an account with an invoice that was paid on the chain. */
  was_paid(account: string): Promise<boolean>
  /** Subscriptions in the order of their ids, for the operator. */
  subscriptions(after_id: string, limit: number): Promise<WebhookSubscription[]>
  /** Ends subscriptions of invoices that are over, voided, paid for good or no longer watched, once nothing waits for them; returns how many. */
  end_with_invoices(now_ms: number): Promise<number>
  /** Ends a subscription: what waits is deleted, what was sent stays for a while. */
  end(subscription_id: string, reason: EndReason, now_ms: number): Promise<void>
  /** Lets receivers that have failed since before `failing_ms` answer a challenge again; returns how many. */
  challenge_failing(times: { failing_ms: number; dead_ms: number; now_ms: number; challenge_until_ms: number }): Promise<number>
  /** No attempt for a subscription before that time. */
  pause(subscription_id: string, until_ms: number): Promise<void>
  /** Deletes the subscription and its deliveries; false when there is none. */
  unsubscribe(subscription_id: string): Promise<boolean>
  /** Deliveries of a subscription, newest first. */
  deliveries(subscription_id: string, filter: DeliveryFilter): Promise<WebhookDelivery[]>
  /** Queues a delivery again with its event id, in any state; false for an unknown one. */
  redeliver(subscription_id: string, event_id: string, now_ms: number): Promise<boolean>
  /** Subscriptions with a delivery that is due, those without failures first, then the one that waits longest. */
  ready(now_ms: number, limit: number): Promise<WebhookSubscription[]>
  /** Deliveries of a subscription that are due, in the order of their events. */
  due(subscription_id: string, now_ms: number, limit: number): Promise<WebhookDelivery[]>
  /** Stores the result of an attempt; no change when the delivery was deleted. */
  record(attempt: AttemptRecord): Promise<void>
  /** Ends a turn of a subscription: it is ready again when its next delivery is due. */
  end_turn(subscription_id: string): Promise<void>
  /** Number of deliveries that wait, and of those that were given up. */
  counts(): Promise<{ pending: number; dead: number }>
  /**
   * Gives up deliveries whose schedule began before `pending_since_ms`, and forgets those that ended before the next two times, and subscriptions that
   * were not verified until the last one.
   */
  purge(times: { pending_since_ms: number; delivered_ms: number; dead_ms: number; unverified_ms: number }): Promise<void>
}

/** A message to a receiver, to be signed with the secret of its subscription. */
export interface WebhookMessage {
  url: string
  /** Hash of the network that subscribed: host names of one network are resolved one after the other. */
  network: string
  /** `whsec_` and base64. */
  secret: string
  event_id: string
  timestamp_s: number
  body: string
  /** The receiver accepted its last request, and the owner was paid here: what others get refused does not delay it. */
  healthy: boolean
  paid: boolean
}

/** `not_public`: the address leads to where nothing may be sent. `limited`: nothing was sent, because the receiver got enough requests for now. */
export type WebhookSent =
  | { kind: 'answered'; status: number; text: string }
  | { kind: 'limited'; wait_ms: number }
  | { kind: 'not_public' | 'redirect' | 'timeout' | 'unreachable' | 'too_long' }

/** Address of a receiver in its standard spelling, or what was found instead of it. */
export type ReceiverUrl = { ok: true; url: string } | { ok: false; found: string; expected: string }

export interface WebhookSender {
  /** Reads an address that may be subscribed; where its name leads is checked with each message. */
  accepts(url: string): ReceiverUrl
  /** Never rejects. */
  send(message: WebhookMessage, signal: AbortSignal): Promise<WebhookSent>
}
