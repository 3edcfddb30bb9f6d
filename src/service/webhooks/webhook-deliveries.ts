import type { Clock, SteadyClock } from '../../ports/clock.ts'
import type { InvoiceStore } from '../../ports/invoices.ts'
import type { Log } from '../../ports/log.ts'
import type { Sealer } from '../../ports/signer.ts'
import type { Gauge } from '../../ports/telemetry.ts'
import type { AttemptRecord, WebhookDelivery, WebhookSender, WebhookSent, WebhookStore, WebhookSubscription } from '../../ports/webhooks.ts'
import type { Job } from '../jobs/jobs.ts'
import { WEBHOOK_RULES } from '../limits.ts'
import { createRecentMap } from '../recent.ts'
import type { RateClass, ReceiverRate } from './receiver-rate.ts'
import type { WebhookChallenger } from './webhook-challenges.ts'
import { secretContext } from './secret-context.ts'

/** Sends queued events to receivers, and ends the subscriptions whose invoice is over or whose receiver is dead. */

interface DeliveryParts {
  store: WebhookStore
  invoices: Pick<InvoiceStore, 'note_expired'>
  sender: Pick<WebhookSender, 'send'>
  sealer: Pick<Sealer, 'open'>
  /** Begins the challenges that are due: in the same job, so that one process counts all requests to a receiver. */
  challenges: Pick<WebhookChallenger, 'round'>
  rate: Pick<ReceiverRate, 'wait_ms'>
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

  /** Begins turns; true when some subscriptions have to wait for the rate of their receivers, so that others may be ready. */
  async function beginReady(): Promise<boolean> {
    const ready = await store.ready(clock.now_ms(), 2 * WEBHOOK_RULES.concurrent + turns.size)
    const idle = ready.filter(({ subscription_id }) => !turns.has(subscription_id))
    const waits = idle.map((one) => ({ one, wait_ms: parts.rate.wait_ms(one.url, rateClass(one)) }))
    for (const { one, wait_ms } of waits) if (wait_ms === 0) begin(one)
    const waiting = waits.filter(({ wait_ms }) => wait_ms > 0)
    await Promise.all(waiting.map(({ one, wait_ms }) => store.pause(one.subscription_id, clock.now_ms() + wait_ms)))
    return waiting.length > 0
  }

  async function round(now_ms: number): Promise<void> {
    await parts.challenges.round()
    await parts.invoices.note_expired(now_ms, WEBHOOK_RULES.expired)
    for (let pass = 0; pass < WEBHOOK_RULES.passes && !stopping.signal.aborted; pass++) if (!(await beginReady())) break
    queue = await store.counts()
  }

  return {
    jobs: [
      { name: 'webhooks', every_ms: WEBHOOK_RULES.every_ms, run: round },
      { name: 'purge-webhooks', every_ms: WEBHOOK_RULES.purge_every_ms, run: (now_ms) => purge(store, now_ms) },
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

/** Ends subscriptions whose invoice is over, challenges receivers that fail for days, and deletes what ended. */
async function purge(store: WebhookStore, now_ms: number): Promise<void> {
  const { dead_ms, challenge } = WEBHOOK_RULES
  await store.end_with_invoices(now_ms)
  await store.challenge_failing({ failing_ms: now_ms - dead_ms, dead_ms, now_ms, challenge_until_ms: now_ms + challenge.expires_ms })
  await store.purge({
    pending_since_ms: now_ms - WEBHOOK_RULES.pending_ms,
    delivered_ms: now_ms - WEBHOOK_RULES.delivered_kept_ms,
    dead_ms: now_ms - WEBHOOK_RULES.dead_kept_ms,
    unverified_ms: now_ms - challenge.kept_ms,
  })
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
  let { failures, failing_since_ms } = subscription
  for (const delivery of await store.due(subscription_id, clock.now_ms(), WEBHOOK_RULES.turn_deliveries)) {
    if (state.stopping.aborted || clock.steady_ms() - began_ms > WEBHOOK_RULES.turn_ms) break
    const attempt_ms = clock.steady_ms()
    const sent = secret === null ? UNSEALED : await send(parts, { ...subscription, failures, secret }, delivery, state.stopping)
    if (sent === null) break
    if (sent.kind === 'limited') {
      await store.pause(subscription_id, clock.now_ms() + sent.wait_ms)
      break
    }
    if (clock.steady_ms() - attempt_ms > WEBHOOK_RULES.slow_ms) state.slow.set(subscription_id, true)
    else state.slow.delete(subscription_id)
    const result = resultOf(delivery, sent, { failures, failing_since_ms }, clock.now_ms())
    await store.record(result)
    state.results[result.state === 'pending' ? 'failed' : result.state] += 1
    if (isDead(result)) return store.end(subscription_id, 'receiver_dead', clock.now_ms())
    failures = result.failures
    failing_since_ms = result.failing_since_ms
    if (failures >= WEBHOOK_RULES.pause_failures) break
  }
  await store.end_turn(subscription_id)
}

function isDead({ failing_since_ms, attempted_ms }: AttemptRecord): boolean {
  return failing_since_ms !== null && attempted_ms - failing_since_ms >= WEBHOOK_RULES.dead_ms
}

/** Of a subscription, for the rate of its receiver. */
function rateClass({ failures, paid }: Pick<WebhookSubscription, 'failures' | 'paid'>): RateClass {
  return { healthy: failures === 0, paid }
}

/** The secret file of the deployment was replaced: the receiver could not verify anything. */
const UNSEALED = { kind: 'secret_lost' } as const

/** Null when the service stops: the attempt does not count. */
async function send(
  { sender, clock }: DeliveryParts,
  { url, network, secret, ...subscription }: WebhookSubscription,
  { event_id, body }: WebhookDelivery,
  stopping: AbortSignal,
): Promise<WebhookSent | null> {
  const timestamp_s = Math.floor(clock.now_ms() / 1_000)
  const message = { url, network, secret, event_id, timestamp_s, body, ...rateClass(subscription) }
  const sent = await sender.send(message, stopping)
  return stopping.aborted && sent.kind === 'timeout' ? null : sent
}

type Failing = Pick<WebhookSubscription, 'failures' | 'failing_since_ms'>

function resultOf(
  { subscription_id, event_id, attempts: before }: WebhookDelivery,
  sent: Exclude<WebhookSent, { kind: 'limited' }> | typeof UNSEALED,
  failing: Failing,
  now_ms: number,
): AttemptRecord {
  const attempts = before + 1
  const status = sent.kind === 'answered' ? sent.status : null
  const common = { subscription_id, event_id, attempts, status, attempted_ms: now_ms }
  if (status !== null && status >= 200 && status < 300) {
    return { ...common, state: 'delivered', due_ms: now_ms, fault: null, failures: 0, failing_since_ms: null, paused_until_ms: 0 }
  }
  const wait_s = WEBHOOK_RULES.retry_s[before]
  const failures = failing.failures + 1
  return {
    ...common,
    state: wait_s === undefined ? 'dead' : 'pending',
    due_ms: now_ms + (wait_s ?? 0) * 1_000,
    fault: sent.kind === 'answered' ? `status_${sent.status}` : sent.kind,
    failures,
    failing_since_ms: failing.failing_since_ms ?? now_ms,
    paused_until_ms: failures < WEBHOOK_RULES.pause_failures ? 0 : now_ms + pauseMs(failures - WEBHOOK_RULES.pause_failures),
  }
}

function pauseMs(more: number): number {
  return Math.min(WEBHOOK_RULES.pause_ms * 2 ** Math.min(more, 20), WEBHOOK_RULES.pause_max_ms)
}
