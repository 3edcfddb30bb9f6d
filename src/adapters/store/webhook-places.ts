import type { WebhookBounds } from '../../ports/webhooks.ts'
import { columns, count, key_type, parameter } from './columns.ts'
import { execute, readFirst, readOne, type Work } from './database.ts'
import { expression, matched, selected, sql, statement } from './statements.ts'

/** Places for subscriptions: when they are scarce, owners that were paid here come first, then the networks that have the fewest. */

const key = columns({ subscription_id: key_type })
const { owner, network, provider } = columns({ owner: key_type, network: key_type, provider: key_type })
const PLACES = expression('places', count, 'count(*)')

const COUNT_NETWORK = statement(
  'webhook_count_network',
  sql`select ${PLACES} from webhook_subscription where ${matched({ network })} and paid = 0`,
)
const COUNT_PROVIDER = statement(
  'webhook_count_provider',
  sql`select ${PLACES} from webhook_subscription where ${matched({ provider })} and paid = 0`,
)
const COUNT_NETWORK_OF_PROVIDER = statement(
  'webhook_count_network_of_provider',
  sql`select ${PLACES} from webhook_subscription where ${matched({ provider, network })} and paid = 0`,
)
const COUNT_UNPAID = statement('webhook_count_unpaid', sql`select ${PLACES} from webhook_subscription where paid = 0`)
const COUNT_ALL = statement('webhook_count_all', sql`select ${PLACES} from webhook_subscription`)

const LARGEST_PROVIDER = statement(
  'webhook_largest_provider',
  sql`select ${selected({ provider })}, ${PLACES} from webhook_subscription where paid = 0 group by provider order by count(*) desc, provider limit 1`,
)
const LARGEST_NETWORK = statement(
  'webhook_largest_network',
  sql`select ${selected({ network })}, ${PLACES} from webhook_subscription where ${matched({ provider })} and paid = 0
    group by network order by count(*) desc, network limit 1`,
)

/** Of a network: what ended first, then what is not confirmed, then what fails, then the newest. */
const VICTIM = statement(
  'webhook_victim',
  sql`select ${selected({ ...key, owner })} from webhook_subscription where ${matched({ provider, network })} and paid = 0
    order by case state when 'verified' then 2 when 'pending' then 1 else 0 end, case when failures > 0 then 0 else 1 end, created_ms desc,
      subscription_id limit 1`,
)
const ENDED = statement(
  'webhook_oldest_ended',
  sql`select ${selected({ ...key, owner })} from webhook_subscription where state in ('expired', 'refused') order by challenge_until_ms limit 1`,
)

/** An invoice of the account with a payment that the chain confirmed. Bank transfers do not count, because the merchant confirms them. */
const PAID = statement(
  'webhook_owner_paid',
  sql`select ${expression('invoice_id', key_type, 'i.invoice_id')} from invoice i join invoice_payment p on p.invoice_id = i.invoice_id
    where i.merchant = ${parameter('merchant', key_type)} and p.confirmed = 1 limit 1`,
)
const MARK_PAID = statement(
  'webhook_mark_paid',
  sql`update webhook_subscription set paid = 1 where ${matched({ owner })} and paid = 0 returning ${selected(key)}`,
)

export function* wasPaid(merchant: string): Work<boolean> {
  return (yield* readFirst(PAID, { merchant })) !== undefined
}

type PlaceRequest = { owner: string; network: string; provider: string }

/** `victim`: the subscription that gives way, to be deleted; null where a place is free. */
type PlaceFound = { kind: 'place'; victim: string | null; paid: boolean } | { kind: 'network_full' | 'provider_full' | 'full' }

/** Finds a place for a subscription. Runs alone, so that no bound is exceeded. */
export function* findPlace(request: PlaceRequest, bounds: WebhookBounds): Work<PlaceFound> {
  const paid = yield* wasPaid(request.owner)
  if (paid) yield* execute(MARK_PAID, request)
  else {
    if ((yield* readOne(COUNT_NETWORK, request)).places >= bounds.network_subscriptions) return { kind: 'network_full' }
    if ((yield* readOne(COUNT_PROVIDER, request)).places >= bounds.provider_subscriptions) return { kind: 'provider_full' }
  }
  const is_full =
    (!paid && (yield* readOne(COUNT_UNPAID, {})).places >= bounds.unpaid_subscriptions) ||
    (yield* readOne(COUNT_ALL, {})).places >= bounds.subscriptions
  if (!is_full) return { kind: 'place', victim: null, paid }
  const victim = yield* findVictim(paid ? null : request)
  return victim === null ? { kind: 'full' } : { kind: 'place', victim, paid }
}

/** Owners found to have been paid, after which the search ends. */
const MARKS = 20

/**
 * The subscription that gives way; null if none does. The network of the request must have at least two fewer than the one that gives way, so that
 * two networks do not take turns; an owner that was paid (null) has no such condition.
 */
function* findVictim(request: PlaceRequest | null): Work<string | null> {
  const ended = yield* readFirst(ENDED, {})
  if (ended !== undefined) return ended.subscription_id
  for (let marks = 0; marks < MARKS; marks++) {
    const from = yield* givingWay(request)
    const victim = from === null ? undefined : yield* readFirst(VICTIM, from)
    if (victim === undefined) return null
    if (!(yield* wasPaid(victim.owner))) return victim.subscription_id
    yield* execute(MARK_PAID, victim)
  }
  return null
}

function* givingWay(request: PlaceRequest | null): Work<{ provider: string; network: string } | null> {
  const largest = yield* readFirst(LARGEST_PROVIDER, {})
  if (largest === undefined) return null
  const is_smaller = request === null || (yield* readOne(COUNT_PROVIDER, request)).places + 1 < largest.places
  const of = is_smaller ? largest.provider : request.provider
  const found = yield* readFirst(LARGEST_NETWORK, { provider: of })
  if (found === undefined) return null
  if (!is_smaller && (yield* readOne(COUNT_NETWORK_OF_PROVIDER, request)).places + 1 >= found.places) return null
  return { provider: of, network: found.network }
}
