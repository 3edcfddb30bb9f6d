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
}

export interface WebhookSubscription {
  subscription_id: string
  /** Lower-case address of the account that signed, or the id of one invoice. */
  owner: string
  /** Keyed hash of the network that subscribed; changes every day. */
  network: string
  url: string
  events: readonly WebhookEventType[]
  /** Sealed; the store cannot read it. */
  secret: string
  created_ms: number
  /** Consecutive failed attempts. */
  failures: number
  /** No attempt before this time. */
  paused_until_ms: number
  /** Events that were not queued because the queue was full. */
  dropped: number
}

export type NewWebhookSubscription = Omit<WebhookSubscription, 'failures' | 'paused_until_ms' | 'dropped'>

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

/** Maximum number of subscriptions: of one owner, of one network in a day, of all. */
export interface WebhookBounds {
  owner_subscriptions: number
  network_subscriptions: number
  subscriptions: number
}

/** `exists`: this id is taken. The last three name the bound that is reached. */
export type SubscribeResult = 'created' | 'exists' | 'owner_full' | 'network_full' | 'full'

/** Result of an attempt, as it is stored. */
export interface AttemptRecord extends Pick<
  WebhookDelivery,
  'subscription_id' | 'event_id' | 'state' | 'attempts' | 'due_ms' | 'status' | 'fault'
> {
  attempted_ms: number
  /** Of the subscription, after the attempt. */
  failures: number
  paused_until_ms: number
}

export interface DeliveryFilter {
  state: DeliveryState | null
  /** Only deliveries with a lower number; null: from the newest. */
  before: number | null
  limit: number
}

export interface WebhookStore {
  subscribe(subscription: NewWebhookSubscription, bounds: WebhookBounds): Promise<SubscribeResult>
  subscription(subscription_id: string): Promise<WebhookSubscription | null>
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
  /** Gives up deliveries whose schedule began before `pending_since_ms`, and forgets those that ended before the other two times. */
  purge(times: { pending_since_ms: number; delivered_ms: number; dead_ms: number }): Promise<void>
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
}

/** `refused`: the address leads to where nothing may be sent. */
export type WebhookSent = { kind: 'answered'; status: number } | { kind: 'refused' | 'timeout' | 'unreachable' | 'too_long' }

export interface WebhookSender {
  /** True for an address that may be subscribed; where it leads is checked again with each message. */
  accepts(url: string): boolean
  /** Never rejects. */
  send(message: WebhookMessage, signal: AbortSignal): Promise<WebhookSent>
}
