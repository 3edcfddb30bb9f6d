import { createHash } from 'node:crypto'
import {
  DELIVERY_STATES,
  SUBSCRIPTION_STATES,
  WEBHOOK_EVENTS,
  type AttemptRecord,
  type ChallengeBegin,
  type ChallengeResult,
  type DeliveryFilter,
  type EndReason,
  type NewWebhookSubscription,
  type SubscribeResult,
  type WebhookBounds,
  type WebhookDelivery,
  type WebhookEvent,
  type WebhookStore,
  type WebhookSubscription,
} from '../../ports/webhooks.ts'
import { WEBHOOK_RULES } from '../../service/limits.ts'
import { columns, count, flag, key_type, nullable, parameter, pick, text_type, type ValuesOf, word_type } from './columns.ts'
import { assigned, expression, inserted, matched, raw, selected, sql, statement } from './statements.ts'
import { assertStorable, execute, readAll, readFirst, readOne, type Work } from './database.ts'
import { CONTEXTS, SealedStore, type SealedText } from './sealed-text.ts'
import { findPlace, wasPaid } from './webhook-places.ts'
import { purgeWebhooks } from './webhook-purge.ts'

/** Subscriptions and the queue of their deliveries, which is the outbox of the changes that become events. */

const subscription_key = columns({ subscription_id: key_type })
const subscription_content = columns({
  owner: key_type,
  network: key_type,
  provider: key_type,
  url: text_type,
  events: text_type,
  secret: text_type,
  created_ms: count,
  issued_s: count,
})
const subscription_state = columns({ state: word_type(...SUBSCRIPTION_STATES) })
const challenge_until = columns({ challenge_until_ms: count })
const challenge_due = columns({ challenge_due_ms: nullable(count) })
const challenge_fault = columns({ challenge_fault: nullable(text_type) })
const challenge_count = columns({ challenges: count, challenged_ms: nullable(count) })
const challenge = { ...subscription_state, ...challenge_count, ...challenge_due, ...challenge_until, ...challenge_fault }
const rotation = columns({ rotation: count })
const paid = columns({ paid: flag })
const attempted = columns({ failures: count, failing_since_ms: nullable(count), paused_until_ms: count })
const progress = { ...attempted, ...columns({ dropped: count }) }
const subscription = { ...subscription_key, ...subscription_content, ...challenge, ...rotation, ...paid, ...progress }
const { owner } = subscription_content
const SUBSCRIPTION = matched(subscription_key)
const now = parameter('now_ms', count)
const limit = parameter('limit', count)

const event_key = columns({ event_id: key_type })
const delivery_key = { ...subscription_key, ...event_key }
const delivery_content = columns({ type: word_type(...WEBHOOK_EVENTS), body: text_type, created_ms: count })
const attempt = columns({
  state: word_type(...DELIVERY_STATES),
  attempts: count,
  due_ms: count,
  status: nullable(count),
  fault: nullable(key_type),
  attempted_ms: nullable(count),
})
const delivery_number = columns({ number: count })
const since = columns({ since_ms: count })
const delivery = { ...delivery_number, ...delivery_key, ...delivery_content, ...since, ...attempt }
const DELIVERY = matched(delivery_key)

const SUBSCRIBE = statement(
  'webhook_subscribe',
  sql`insert into webhook_subscription ${inserted(
    { ...subscription_key, ...subscription_content, ...challenge_until, ...paid },
    { state: raw(`'pending'`), challenge_due_ms: subscription_content.created_ms, sealed: raw('1') },
  )}
    on conflict (subscription_id) do nothing returning subscription_id`,
)

const FIND = statement('webhook_find', sql`select ${selected(subscription)} from webhook_subscription where ${SUBSCRIPTION}`)

/** Events and attempts of one subscription are written one after the other, so that `next_ms` never misses a delivery. */
const LOCK = statement(
  'webhook_lock',
  sql`select ${selected(subscription_key)} from webhook_subscription where ${SUBSCRIPTION}`,
  'for update',
)

const PAGE = statement(
  'webhook_page',
  sql`select ${selected(subscription)} from webhook_subscription where subscription_id > ${parameter('after_id', text_type)}
    order by subscription_id limit ${limit}`,
)

const END = sql`update webhook_subscription set state = 'expired', challenge_due_ms = null, next_ms = null, challenge_until_ms = ${now}, challenge_fault =`
const END_ONE = statement(
  'webhook_end',
  sql`${END} ${parameter('reason', text_type)} where ${SUBSCRIPTION} and state in ('pending', 'verified') returning subscription_id`,
)
/** An invoice that was evicted is over too. */
const END_WITH_INVOICES = statement(
  'webhook_end_with_invoices',
  sql`${END} 'invoice_over' where subscription_id in (
    select s.subscription_id from webhook_subscription s left join invoice i on i.invoice_id = s.owner
    where s.state in ('pending', 'verified') and s.owner not like '0x%'
      and (i.invoice_id is null or i.voided_ms is not null or i.watch_until_s < ${parameter('now_s', count)} or (i.closed = 1
        and not exists (select 1 from invoice_payment p where p.invoice_id = i.invoice_id and p.final = 0)))
      and not exists (select 1 from webhook_delivery d where d.subscription_id = s.subscription_id and d.state = 'pending')
    limit ${limit}) returning subscription_id`,
)
const FORGET_WAITING = statement('webhook_forget_waiting', sql`delete from webhook_delivery where ${SUBSCRIPTION} and state = 'pending'`)

/** A receiver is challenged again once in a time of failures: after a later challenge it is not. */
const CHALLENGE_FAILING = statement(
  'webhook_challenge_failing',
  sql`update webhook_subscription set state = 'pending', challenges = 0, challenge_due_ms = ${now}, ${assigned(challenge_until)}, challenge_fault = 'receiver_dead'
    where subscription_id in (select subscription_id from webhook_subscription where failing_since_ms <= ${parameter('failing_ms', count)}
      and state = 'verified' and challenge_until_ms < failing_since_ms + ${parameter('dead_ms', count)} limit ${limit})
    returning subscription_id`,
)
const PAUSE = statement(
  'webhook_pause',
  sql`update webhook_subscription set paused_until_ms = ${parameter('until_ms', count)}
    where ${SUBSCRIPTION} and paused_until_ms < ${parameter('until_ms', count)}`,
)

const UNSUBSCRIBE = statement('webhook_unsubscribe', sql`delete from webhook_subscription where ${SUBSCRIPTION} returning subscription_id`)
const FORGET_DELIVERIES = statement('webhook_forget_deliveries', sql`delete from webhook_delivery where ${SUBSCRIPTION}`)

const OF_OWNER = statement(
  'webhook_of_owner',
  sql`select ${selected({ ...subscription_key, ...pick(subscription_content, 'events') })} from webhook_subscription
    where ${matched({ owner })} and state in ('pending', 'verified') order by subscription_id`,
)

/** Of an owner, also those that ended; a few, for each address one. */
const ALL_OF_OWNER = statement(
  'webhook_all_of_owner',
  sql`select ${selected(subscription)} from webhook_subscription where ${matched({ owner })} order by subscription_id`,
)

const REPLACE = statement(
  'webhook_replace',
  sql`update webhook_subscription set ${assigned(pick(subscription_content, 'events', 'secret', 'issued_s'))}, rotation = rotation + 1,
    failures = 0, failing_since_ms = null, paused_until_ms = 0 where ${SUBSCRIPTION} returning subscription_id`,
)
/** A receiver that waits for its verification gets the time and the challenges of a new one. */
const RESTART_CHALLENGES = statement(
  'webhook_restart_challenges',
  sql`update webhook_subscription set challenges = 0, challenge_due_ms = ${subscription_content.created_ms}, ${assigned(challenge_until)}
    where ${SUBSCRIPTION} and state = 'pending'`,
)

const CHALLENGES_DUE = statement(
  'webhook_challenges_due',
  sql`select ${selected(subscription)} from webhook_subscription where challenge_due_ms <= ${now} and state = 'pending'
    order by case when challenges = 0 then 0 else 1 end, paid desc, row_number() over (partition by network order by challenge_due_ms),
      challenge_due_ms, subscription_id limit ${limit}`,
)
const BEGIN_CHALLENGE = statement(
  'webhook_begin_challenge',
  sql`update webhook_subscription set challenges = challenges + 1, challenged_ms = ${now}, challenge_due_ms = ${parameter('due_ms', count)}
    where ${SUBSCRIPTION} and state = 'pending' and ${matched(pick(challenge_count, 'challenges'))} returning subscription_id`,
)
const STAY_PENDING = statement(
  'webhook_challenge_failed',
  sql`update webhook_subscription set ${assigned(challenge_fault)} where ${SUBSCRIPTION} and state = 'pending' and ${matched(rotation)}`,
)
const END_CHALLENGE = statement(
  'webhook_end_challenge',
  sql`update webhook_subscription set ${assigned({ ...subscription_state, ...challenge_fault })}, challenge_due_ms = null
    where ${SUBSCRIPTION} and state = 'pending' and ${matched(rotation)} returning subscription_id`,
)
const RESUME = statement('webhook_resume', sql`update webhook_subscription set failures = 0, paused_until_ms = 0 where ${SUBSCRIPTION}`)
const POSTPONE = statement(
  'webhook_postpone_challenge',
  sql`update webhook_subscription set challenge_due_ms = ${parameter('due_ms', count)}, ${assigned(challenge_fault)}
    where ${SUBSCRIPTION} and state = 'pending'`,
)
const RETURN_CHALLENGE = statement(
  'webhook_return_challenge',
  sql`update webhook_subscription set challenges = challenges - 1, challenge_due_ms = ${parameter('due_ms', count)}, ${assigned(challenge_fault)}
    where ${SUBSCRIPTION} and state = 'pending' and challenges > 0`,
)

const COUNT_QUEUED = statement(
  'webhook_count_queued',
  sql`select ${expression('queued', count, 'count(*)')} from webhook_delivery where ${SUBSCRIPTION} and state = 'pending'`,
)

const DROP = statement('webhook_drop', sql`update webhook_subscription set dropped = dropped + 1 where ${SUBSCRIPTION}`)

/** The unique key makes an event that is noted again the same delivery. */
const QUEUE = statement(
  'webhook_queue',
  sql`insert into webhook_delivery ${inserted(
    { ...delivery_key, ...delivery_content, ...columns({ invoice_id: nullable(key_type) }) },
    {
      sealed: raw('1'),
      since_ms: delivery_content.created_ms,
      due_ms: delivery_content.created_ms,
      state: raw(`'pending'`),
      attempts: raw('0'),
    },
  )} on conflict (subscription_id, event_id) do nothing returning event_id`,
)

const WAKE = statement(
  'webhook_wake',
  sql`update webhook_subscription set next_ms = case when next_ms < ${now} then next_ms else ${now} end
    where ${SUBSCRIPTION} and state = 'verified'`,
)

const LIST = statement(
  'webhook_list',
  sql`select ${selected(delivery)} from webhook_delivery where ${SUBSCRIPTION} and number < ${parameter('before', count)}
    order by number desc limit ${limit}`,
)
const LIST_STATE = statement(
  'webhook_list_state',
  sql`select ${selected(delivery)} from webhook_delivery
    where ${SUBSCRIPTION} and ${matched(pick(attempt, 'state'))} and number < ${parameter('before', count)} order by number desc limit ${limit}`,
)

const REDELIVER = statement(
  'webhook_redeliver',
  sql`update webhook_delivery set state = 'pending', attempts = 0, since_ms = ${now}, due_ms = ${now} where ${DELIVERY} returning event_id`,
)

const READY = statement(
  'webhook_ready',
  sql`select ${selected(subscription)} from webhook_subscription
    where next_ms <= ${now} and paused_until_ms <= ${now} and state = 'verified'
    order by case when failures = 0 then 0 else 1 end, paid desc, next_ms, subscription_id limit ${limit}`,
)

const DUE = statement(
  'webhook_due',
  sql`select ${selected(delivery)} from webhook_delivery where ${SUBSCRIPTION} and state = 'pending' and due_ms <= ${now}
    order by number limit ${limit}`,
)

const RECORD = statement('webhook_record', sql`update webhook_delivery set ${assigned(attempt)} where ${DELIVERY} returning event_id`)
const RECORD_SUBSCRIPTION = statement(
  'webhook_record_subscription',
  sql`update webhook_subscription set ${assigned(attempted)} where ${SUBSCRIPTION}`,
)

const END_TURN = statement(
  'webhook_end_turn',
  sql`update webhook_subscription set next_ms = (select min(due_ms) from webhook_delivery d
      where d.subscription_id = webhook_subscription.subscription_id and d.state = 'pending')
    where ${SUBSCRIPTION}`,
)

const COUNT_STATE = statement(
  'webhook_count_state',
  sql`select ${expression('deliveries', count, 'count(*)')} from webhook_delivery where ${matched(pick(attempt, 'state'))}`,
)

/** Subscriptions follow one another, so that no bound is exceeded. */
const ALONE = `0x${'7'.repeat(40)}`

export class SqlWebhookStore extends SealedStore implements WebhookStore {
  async subscribe(given: NewWebhookSubscription, replaces: string | null, bounds: WebhookBounds): Promise<SubscribeResult> {
    const row = { ...given, events: given.events.join(',') }
    assertStorable(SUBSCRIBE, { ...row, paid: false })
    return this.database.atomically(() => subscribe(this.texts, row, replaces, bounds), { alone_with: ALONE })
  }

  async challenges_due(now_ms: number, most: number): Promise<WebhookSubscription[]> {
    return (await this.database.readAll(CHALLENGES_DUE, { now_ms, limit: most })).map((row) => subscriptionOf(this.texts, row))
  }

  begin_challenge(challenged: ChallengeBegin): Promise<boolean> {
    return this.database.execute(BEGIN_CHALLENGE, challenged)
  }

  async end_challenge({ fault, ...result }: ChallengeResult): Promise<void> {
    const row = { ...result, challenge_fault: fault }
    await this.database.atomically(() => endChallenge(row))
  }

  async postpone_challenge(subscription_id: string, due_ms: number, fault: string | null): Promise<void> {
    await this.database.execute(POSTPONE, { subscription_id, due_ms, challenge_fault: fault })
  }

  async return_challenge(subscription_id: string, due_ms: number, fault: string): Promise<void> {
    await this.database.execute(RETURN_CHALLENGE, { subscription_id, due_ms, challenge_fault: fault })
  }

  async subscription(subscription_id: string): Promise<WebhookSubscription | null> {
    const found = await this.database.readFirst(FIND, { subscription_id })
    return found === null ? null : subscriptionOf(this.texts, found)
  }

  was_paid(account: string): Promise<boolean> {
    return this.database.atomically(() => wasPaid(account))
  }

  async subscriptions(after_id: string, most: number): Promise<WebhookSubscription[]> {
    return (await this.database.readAll(PAGE, { after_id, limit: most })).map((row) => subscriptionOf(this.texts, row))
  }

  end_with_invoices(now_ms: number): Promise<number> {
    return this.database.purge(END_WITH_INVOICES, { now_ms, now_s: Math.floor(now_ms / 1_000) })
  }

  async end(subscription_id: string, reason: EndReason, now_ms: number): Promise<void> {
    await this.database.atomically(function* (): Work<void> {
      yield* execute(LOCK, { subscription_id })
      if (yield* execute(END_ONE, { subscription_id, reason, now_ms })) yield* execute(FORGET_WAITING, { subscription_id })
    })
  }

  challenge_failing(times: { failing_ms: number; dead_ms: number; now_ms: number; challenge_until_ms: number }): Promise<number> {
    return this.database.purge(CHALLENGE_FAILING, times)
  }

  async pause(subscription_id: string, until_ms: number): Promise<void> {
    await this.database.execute(PAUSE, { subscription_id, until_ms })
  }

  unsubscribe(subscription_id: string): Promise<boolean> {
    return this.database.atomically(function* (): Work<boolean> {
      return yield* forget(subscription_id)
    })
  }

  deliveries(subscription_id: string, { state, before, limit: most }: DeliveryFilter): Promise<WebhookDelivery[]> {
    const params = { subscription_id, before: before ?? Number.MAX_SAFE_INTEGER, limit: most }
    return this.#opened(state === null ? this.database.readAll(LIST, params) : this.database.readAll(LIST_STATE, { ...params, state }))
  }

  redeliver(subscription_id: string, event_id: string, now_ms: number): Promise<boolean> {
    return this.database.atomically(function* (): Work<boolean> {
      yield* execute(LOCK, { subscription_id })
      if (!(yield* execute(REDELIVER, { subscription_id, event_id, now_ms }))) return false
      yield* execute(WAKE, { subscription_id, now_ms })
      return true
    })
  }

  async ready(now_ms: number, most: number): Promise<WebhookSubscription[]> {
    return (await this.database.readAll(READY, { now_ms, limit: most })).map((row) => subscriptionOf(this.texts, row))
  }

  due(subscription_id: string, now_ms: number, most: number): Promise<WebhookDelivery[]> {
    return this.#opened(this.database.readAll(DUE, { subscription_id, now_ms, limit: most }))
  }

  async #opened(found: Promise<WebhookDelivery[]>): Promise<WebhookDelivery[]> {
    return (await found).map((row) => ({
      ...row,
      body: this.texts.open(row.body, CONTEXTS.webhook_body(row.subscription_id, row.event_id)),
    }))
  }

  record(result: AttemptRecord): Promise<void> {
    return this.database.atomically(function* (): Work<void> {
      yield* execute(LOCK, result)
      yield* execute(RECORD, result)
      yield* execute(RECORD_SUBSCRIPTION, result)
    })
  }

  end_turn(subscription_id: string): Promise<void> {
    return this.database.atomically(function* (): Work<void> {
      yield* execute(LOCK, { subscription_id })
      yield* execute(END_TURN, { subscription_id })
    })
  }

  async counts(): Promise<{ pending: number; dead: number }> {
    const [pending, dead] = await Promise.all((['pending', 'dead'] as const).map((state) => this.database.readOne(COUNT_STATE, { state })))
    return { pending: pending?.deliveries ?? 0, dead: dead?.deliveries ?? 0 }
  }

  purge(times: Parameters<WebhookStore['purge']>[0]): Promise<void> {
    return purgeWebhooks(this.database, times)
  }
}

function subscriptionOf(texts: SealedText, { events, url, ...row }: ValuesOf<typeof subscription>): WebhookSubscription {
  const opened = texts.open(url, CONTEXTS.webhook_url(row.subscription_id))
  return { ...row, url: opened, events: WEBHOOK_EVENTS.filter((type) => events.split(',').includes(type)) }
}

type SubscriptionRow = ValuesOf<typeof subscription_key & typeof subscription_content & typeof challenge_until>

function* subscribe(texts: SealedText, row: SubscriptionRow, replaces: string | null, bounds: WebhookBounds): Work<SubscribeResult> {
  const of_owner = (yield* readAll(ALL_OF_OWNER, row)).map((one) => subscriptionOf(texts, one))
  // Addresses of before the first challenges are stored as they were written.
  const same = of_owner.filter(({ url }) => URL.parse(url)?.href === row.url)
  const is_live = ({ state }: WebhookSubscription) => state === 'pending' || state === 'verified'
  if (replaces !== null)
    return yield* replace(
      texts,
      row,
      same.find((one) => one.subscription_id === replaces && is_live(one)),
    )
  const known = same.find(is_live)
  if (known !== undefined) return { kind: 'exists', subscription: known }
  const live = of_owner.filter(is_live)
  if (live.length >= bounds.owner_subscriptions) return { kind: 'owner_full', subscriptions: live }
  const place = yield* findPlace(row, bounds)
  if (place.kind !== 'place') return place
  if (place.victim !== null) yield* forget(place.victim)
  // What ended makes room: that of this address, and all of an owner whose receivers keep failing.
  const ended = of_owner.filter((one) => !is_live(one))
  for (const one of ended) if (same.includes(one) || ended.length > bounds.owner_subscriptions) yield* forget(one.subscription_id)
  const sealed = { ...row, paid: place.paid, url: texts.seal(row.url, CONTEXTS.webhook_url(row.subscription_id)) }
  const created = yield* execute(SUBSCRIBE, sealed)
  return { kind: created ? 'created' : 'exists', subscription: subscriptionOf(texts, yield* readOne(FIND, row)) }
}

function* replace(texts: SealedText, row: SubscriptionRow, known: WebhookSubscription | undefined): Work<SubscribeResult> {
  if (known === undefined) return { kind: 'unknown' }
  // A signature that was used, or that is older than the one in use, gets no secret.
  if (row.issued_s !== 0 && row.issued_s <= known.issued_s) return { kind: 'not_later', subscription: known }
  const { subscription_id } = known
  yield* execute(LOCK, { subscription_id })
  if (!(yield* execute(REPLACE, { ...row, subscription_id }))) return { kind: 'unknown' }
  yield* execute(RESTART_CHALLENGES, { ...row, subscription_id })
  return { kind: 'replaced', subscription: subscriptionOf(texts, yield* readOne(FIND, { subscription_id })) }
}

/** Deletes the subscriptions of an owner and their deliveries; returns how many there were. */
export function* forgetOfOwner(owner_id: string): Work<number> {
  const found = yield* readAll(ALL_OF_OWNER, { owner: owner_id })
  for (const { subscription_id } of found) yield* forget(subscription_id)
  return found.length
}

/** Deletes a subscription and its deliveries. */
function* forget(subscription_id: string): Work<boolean> {
  const found = yield* execute(UNSUBSCRIBE, { subscription_id })
  yield* execute(FORGET_DELIVERIES, { subscription_id })
  return found
}

/** Of a receiver that does not take part, nothing waits any longer. */
function* endChallenge(
  row: ValuesOf<typeof subscription_key & typeof subscription_state & typeof challenge_fault & typeof rotation>,
): Work<void> {
  const { subscription_id, state } = row
  yield* execute(LOCK, { subscription_id })
  if (state === 'pending') return void (yield* execute(STAY_PENDING, row))
  if (!(yield* execute(END_CHALLENGE, row))) return
  if (state !== 'verified') return void (yield* execute(FORGET_WAITING, { subscription_id }))
  yield* execute(RESUME, { subscription_id })
  yield* execute(END_TURN, { subscription_id })
}

/** True when a subscription of one of the owners asks for one of the types. */
export function* hasSubscribers(owners: readonly string[]): Work<boolean> {
  for (const one of owners) if ((yield* readFirst(OF_OWNER, { owner: one })) !== undefined) return true
  return false
}

/** Queues an event for its subscriptions, as a part of the work that makes the change. Without a subscription nothing is written. */
export function* noteEvent(texts: SealedText, event: WebhookEvent): Work<void> {
  const { type, key, at_ms, invoice_id = null } = event
  const subscribed: string[] = []
  for (const one of new Set(event.owners)) {
    const found = yield* readAll(OF_OWNER, { owner: one })
    subscribed.push(...found.filter(({ events }) => events.split(',').includes(type)).map(({ subscription_id }) => subscription_id))
  }
  if (subscribed.length === 0) return
  const event_id = `evt_${createHash('sha256').update(`${type}|${key}`).digest('hex').slice(0, 40)}`
  const body = JSON.stringify({ type, timestamp: new Date(at_ms).toISOString(), data: event.data })
  // In one order everywhere, so that two works never wait for each other.
  for (const subscription_id of subscribed.toSorted()) {
    if (!(yield* execute(LOCK, { subscription_id }))) continue
    if ((yield* readOne(COUNT_QUEUED, { subscription_id })).queued >= WEBHOOK_RULES.queued) {
      yield* execute(DROP, { subscription_id })
      continue
    }
    const sealed = texts.seal(body, CONTEXTS.webhook_body(subscription_id, event_id))
    if (!(yield* execute(QUEUE, { subscription_id, event_id, type, body: sealed, created_ms: at_ms, invoice_id }))) continue
    yield* execute(WAKE, { subscription_id, now_ms: at_ms })
  }
}
