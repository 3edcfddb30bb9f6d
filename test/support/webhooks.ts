import { randomBytes } from 'node:crypto'
import { WEBHOOK_EVENTS, type NewWebhookSubscription, type WebhookEvent } from '../../src/ports/webhooks.ts'

/** Event that a change brings along, for tests of the change alone. */
export const ANY_EVENT: WebhookEvent = {
  type: 'policy.bound',
  key: 'pol_1',
  owners: [`0x${'1'.repeat(40)}`],
  at_ms: 1_795_262_400_123,
  data: { policy_id: 'pol_1' },
}

/** Bounds that no test reaches, to be replaced by those that it is about. */
export const WIDE_BOUNDS = {
  owner_subscriptions: 1_000,
  network_subscriptions: 1_000,
  provider_subscriptions: 1_000,
  unpaid_subscriptions: 1_000,
  subscriptions: 1_000,
}

/** A subscription of an account at the time of `ANY_EVENT`. */
export function subscriptionOf(change: Partial<NewWebhookSubscription> = {}): NewWebhookSubscription {
  const random = (bytes: number) => randomBytes(bytes).toString('hex')
  const { at_ms } = ANY_EVENT
  return {
    subscription_id: `whs_${random(8)}`,
    owner: `0x${random(20)}`,
    network: random(8),
    provider: random(8),
    url: `https://example.com/${random(8)}`,
    events: [...WEBHOOK_EVENTS],
    secret: 'sealed',
    created_ms: at_ms,
    issued_s: Math.floor(at_ms / 1_000),
    challenge_until_ms: at_ms + 3_600_000,
    ...change,
  }
}
