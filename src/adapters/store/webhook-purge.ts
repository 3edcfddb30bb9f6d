import type { WebhookStore } from '../../ports/webhooks.ts'
import { columns, count, key_type, parameter } from './columns.ts'
import type { Database } from './database.ts'
import { matched, sql, statement } from './statements.ts'

/** Deletion of deliveries and subscriptions whose time is over. */

const { state } = columns({ state: key_type })
const limit = parameter('limit', count)
const GIVE_UP = statement(
  'webhook_give_up',
  sql`update webhook_delivery set state = 'dead', fault = 'expired' where number in (
    select number from webhook_delivery where state = 'pending' and since_ms < ${parameter('pending_since_ms', count)} limit ${limit})
    returning number`,
)
const PURGE = statement(
  'webhook_purge',
  sql`delete from webhook_delivery where number in (
    select number from webhook_delivery where ${matched({ state })} and created_ms < ${parameter('ended_before_ms', count)}
    limit ${limit}) returning number`,
)

/** Subscriptions that ended are kept so that their owners can read for a while why. */
const PURGE_OF_ENDED = statement(
  'webhook_purge_of_ended',
  sql`delete from webhook_delivery where number in (select d.number from webhook_subscription s join webhook_delivery d on d.subscription_id = s.subscription_id
    where s.state in ('expired', 'refused') and s.challenge_until_ms < ${parameter('unverified_ms', count)} limit ${limit}) returning number`,
)
const PURGE_ENDED = statement(
  'webhook_purge_ended',
  sql`delete from webhook_subscription where subscription_id in (
    select subscription_id from webhook_subscription where state in ('expired', 'refused')
      and challenge_until_ms < ${parameter('unverified_ms', count)} limit ${limit}) returning subscription_id`,
)

/** Ends deliveries that were never attempted often enough, and deletes what is kept no longer. */
export async function purgeWebhooks(database: Database, times: Parameters<WebhookStore['purge']>[0]): Promise<void> {
  const { pending_since_ms, delivered_ms, dead_ms, unverified_ms } = times
  await database.purge(GIVE_UP, { pending_since_ms })
  await database.purge(PURGE, { state: 'delivered', ended_before_ms: delivered_ms })
  await database.purge(PURGE, { state: 'dead', ended_before_ms: dead_ms })
  await database.purge(PURGE_OF_ENDED, { unverified_ms })
  await database.purge(PURGE_ENDED, { unverified_ms })
}
