import type { Clock, SteadyClock } from '../../ports/clock.ts'
import type { InvoiceStore } from '../../ports/invoices.ts'
import type { Log } from '../../ports/log.ts'
import type { Sealer } from '../../ports/signer.ts'
import type { Gauge } from '../../ports/telemetry.ts'
import type { AttemptRecord, WebhookDelivery, WebhookSender, WebhookSent, WebhookStore, WebhookSubscription } from '../../ports/webhooks.ts'
import type { Job } from '../jobs/jobs.ts'
import { WEBHOOK_RULES } from '../limits.ts'
import { createRecentMap } from '../recent.ts'
import { secretContext } from './webhook-service.ts'

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
    const sent = secret === null ? UNSEALED : await send(parts, subscription.url, secret, delivery, state.stopping)
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
  url: string,
  secret: string,
  { event_id, body }: WebhookDelivery,
  stopping: AbortSignal,
): Promise<WebhookSent | null> {
  const timestamp_s = Math.floor(clock.now_ms() / 1_000)
  const sent = await sender.send({ url, secret, event_id, timestamp_s, body }, stopping)
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
