import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { Derivation, Sealer } from '../../ports/signer.ts'
import type { Store } from '../../ports/store.ts'
import type { WebhookSender, WebhookSent, WebhookStore, WebhookSubscription } from '../../ports/webhooks.ts'
import { WEBHOOK_RULES } from '../limits.ts'
import { takeEach } from '../payments/allowance.ts'
import type { ReceiverRate } from './receiver-rate.ts'
import { secretContext } from './secret-context.ts'

/**
 * A receiver answers a challenge before its first event: a request as those of events, with a random text that its answer must return. So a client cannot
 * have events sent to a server of others, and a subscription that cannot work says so before a payment depends on it.
 */

const { challenge: RULES } = WEBHOOK_RULES
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

interface ChallengeParts {
  store: WebhookStore
  budgets: Pick<Store, 'take' | 'give_back'>
  sender: Pick<WebhookSender, 'send'>
  rate: Pick<ReceiverRate, 'wait_ms'>
  sealer: Pick<Sealer, 'open'>
  derive: Derivation
  clock: Clock
  log: Log
  /** 32 bytes from the system's generator as 0x-prefixed hex. */
  random(): string
}

export interface WebhookChallenger {
  /** Begins the challenges that are due. */
  round(): Promise<void>
  /** Aborts the challenges under way. Each was counted, and the next one follows on schedule. */
  stop(): Promise<void>
}

export function createWebhookChallenger(parts: ChallengeParts): WebhookChallenger {
  const stopping = new AbortController()
  const attempts = new Map<string, { repeated: boolean; ended: Promise<void> }>()

  function begin(subscription: WebhookSubscription): void {
    const { subscription_id, challenges } = subscription
    const repeated = challenges > 0
    if (attempts.has(subscription_id) || attempts.size >= RULES.concurrent) return
    // Receivers that never answer must not delay the first challenge of others.
    if (repeated && [...attempts.values()].filter((attempt) => attempt.repeated).length >= RULES.concurrent_repeated) return
    const ended = challenge(parts, subscription, stopping.signal)
      .catch((error: unknown) => parts.log.error({ error: String(error) }, 'a challenge of a webhook receiver failed'))
      .finally(() => attempts.delete(subscription_id))
    attempts.set(subscription_id, { repeated, ended })
  }

  async function round(): Promise<void> {
    const due = await parts.store.challenges_due(parts.clock.now_ms(), RULES.concurrent + attempts.size)
    if (stopping.signal.aborted) return
    for (const subscription of due) begin(subscription)
  }

  return {
    round,
    stop: async () => {
      stopping.abort()
      await Promise.all([...attempts.values()].map(({ ended }) => ended))
    },
  }
}

/** Sends one challenge and stores its result, or ends a subscription whose time is over. */
async function challenge(parts: ChallengeParts, subscription: WebhookSubscription, stopping: AbortSignal): Promise<void> {
  const { store, clock, sealer } = parts
  const { subscription_id, rotation, challenges, challenge_until_ms, challenge_fault } = subscription
  const now_ms = clock.now_ms()
  if (now_ms >= challenge_until_ms) {
    return store.end_challenge({ subscription_id, rotation, state: 'expired', fault: challenge_fault ?? 'not_challenged' })
  }
  const wait_ms = parts.rate.wait_ms(subscription.url, { healthy: false, paid: subscription.paid })
  if (wait_ms > 0) return store.postpone_challenge(subscription_id, Math.min(now_ms + wait_ms, challenge_until_ms), 'host_rate')
  const { spent, give_back } = await takeBudgets(parts, subscription, now_ms)
  if (spent !== null) {
    const next_hour_ms = (Math.floor(now_ms / HOUR_MS) + 1) * HOUR_MS
    return store.postpone_challenge(subscription_id, Math.min(next_hour_ms, challenge_until_ms), spent)
  }
  const wait_s = RULES.retry_s[challenges]
  const due_ms = wait_s === undefined ? challenge_until_ms : Math.min(now_ms + wait_s * 1_000, challenge_until_ms)
  if (!(await store.begin_challenge({ subscription_id, challenges, now_ms, due_ms }))) return
  const secret = sealer.open(subscription.secret, secretContext(subscription_id))
  const fault = secret === null ? 'secret_lost' : await faultOf(parts, subscription, secret, stopping)
  if (stopping.aborted) return
  if (typeof fault === 'object' && fault !== null) {
    await give_back()
    return store.return_challenge(subscription_id, Math.min(clock.now_ms() + fault.wait_ms, challenge_until_ms), 'host_rate')
  }
  const state = fault === null ? 'verified' : fault === 'not_public' ? 'refused' : 'pending'
  return store.end_challenge({ subscription_id, rotation, state, fault })
}

/** Sends a challenge. Null when the receiver returned its text, otherwise the reason, or the time to wait where nothing was sent. */
async function faultOf(
  { sender, clock, random }: ChallengeParts,
  { url, network, subscription_id, paid }: WebhookSubscription,
  secret: string,
  stopping: AbortSignal,
): Promise<string | Limited | null> {
  const now_ms = clock.now_ms()
  const text = random().slice(2)
  const event_id = `chl_${random().slice(2, 42)}`
  const data = { challenge: text, subscription_id }
  const body = JSON.stringify({ type: 'webhook.challenge', timestamp: new Date(now_ms).toISOString(), data })
  const message = { url, network, secret, event_id, timestamp_s: Math.floor(now_ms / 1_000), body, healthy: false, paid }
  const sent = await sender.send(message, stopping)
  return sent.kind === 'limited' ? sent : challengeFault(sent, text)
}

type Limited = Extract<WebhookSent, { kind: 'limited' }>

/** The answer is the text alone, or JSON with it as `challenge`. A server that echoes its requests has not agreed to anything. */
export function challengeFault(sent: Exclude<WebhookSent, Limited>, challenge_text: string): string | null {
  if (sent.kind !== 'answered') return sent.kind
  if (sent.status < 200 || sent.status > 299) return `status_${sent.status}`
  const answer = sent.text.trim()
  return answer === challenge_text || memberOf(answer) === challenge_text ? null : 'wrong_answer'
}

function memberOf(answer: string): unknown {
  try {
    const value: unknown = JSON.parse(answer)
    return typeof value === 'object' && value !== null && 'challenge' in value ? value.challenge : null
  } catch {
    return null
  }
}

/** Takes a challenge from the budgets of the network that subscribed and of the receiving host; names the one that is used up, null for none. */
async function takeBudgets(
  { budgets, derive }: ChallengeParts,
  { url, network }: WebhookSubscription,
  now_ms: number,
): Promise<{ spent: 'host_budget' | 'network_budget' | null; give_back(): Promise<void> }> {
  const day = Math.floor(now_ms / DAY_MS)
  const hour = Math.floor(now_ms / HOUR_MS) % 24
  const { host } = new URL(url)
  const hashed = (name: string) => derive.hmac('webhook challenge', `${day}|${name}`).slice(0, 32)
  const { granted, grants, give_back } = await takeEach(budgets, [
    { day, bucket: 'webhook-challenge-network', client: network, limit: RULES.network_daily },
    { day, bucket: `webhook-challenge-share-${hour}`, client: hashed(`${network}|${host}`), limit: RULES.network_host_hourly },
    { day, bucket: `webhook-challenge-host-${hour}`, client: hashed(host), limit: RULES.host_hourly },
  ])
  if (granted) return { spent: null, give_back }
  return { spent: grants.length === 3 ? 'host_budget' : 'network_budget', give_back }
}
