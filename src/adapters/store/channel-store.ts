import type { Channel, ChannelCharge, ChannelStore, MirroredState, StaleRules } from '../../ports/channels.ts'
import {
  address,
  amount,
  bytes32,
  columns,
  count,
  flag,
  hash_type,
  key_type,
  nullable,
  parameter,
  pick,
  text_type,
  uint256,
} from './columns.ts'
import { assigned, expression, inserted, insertedFrom, matched, raw, selected, sql, statement } from './statements.ts'
import { execute, readFirst, type Work, workStep, DatabaseStore } from './database.ts'
import { answer, charge_row, COUNT_SALE, FREE_IDENTIFIER, READ_BY_IDENTIFIER, sumOf, totalOf } from './payment-statements.ts'

/** Payment channels in the SQL that both databases share. */

const channel_key = columns({ channel_id: bytes32 })
const config = columns({
  asset: nullable(key_type),
  payer: address,
  payer_authorizer: address,
  receiver: address,
  receiver_authorizer: address,
  token: address,
  withdraw_delay_s: count,
  salt: bytes32,
})
const mirrored = columns({
  balance_minor: amount,
  claimed_minor: amount,
  withdraw_minor: amount,
  withdraw_requested_s: count,
  refund_nonce: uint256,
})
const progress = columns({
  opened_minor: amount,
  charged_minor: amount,
  signature: text_type,
  refund_minor: amount,
  synced_ms: count,
  created_ms: count,
  used_ms: count,
  last_nonce: nullable(bytes32),
  last_network_hash: nullable(hash_type),
})
const channel = { ...channel_key, ...config, ...mirrored, ...progress }
const CHANNEL_KEY = matched(channel_key)
const limit = parameter('limit', count)
/** Empty text is the null of USDC on the network of the deployment. */
const OF_ASSET = sql`coalesce(asset, '') = ${parameter('of_asset', text_type)}`

const FIND = statement('find_channel', sql`select ${selected(channel)} from channel where ${CHANNEL_KEY}`)

const ADD = statement(
  'add_channel',
  sql`insert into channel ${inserted(channel, {
    unclaimed: sql`case when cast(${progress.charged_minor} as bigint) > cast(${mirrored.claimed_minor} as bigint) then 1 else 0 end`,
  })} on conflict (channel_id) do nothing`,
)

/** The number of refunds is stored as text, so that only a difference can be seen: it counts up, and a reorganisation takes it back. */
const MIRROR = statement(
  'mirror_channel',
  sql`update channel set refund_minor = case when refund_nonce <> ${mirrored.refund_nonce} then 0 else refund_minor end,
      unclaimed = case when charged_minor > ${mirrored.claimed_minor} then 1 else 0 end,
      ${assigned({ ...mirrored, synced_ms: progress.synced_ms })}
    where ${CHANNEL_KEY} and synced_ms <= ${progress.synced_ms}`,
)

/** The request that the client network of the channel is known by. */
const LAST_REQUEST = sql`last_nonce = ${parameter('nonce', bytes32)}, last_network_hash = ${parameter('network_hash', nullable(hash_type))}`

const [base, total] = [parameter('base_minor', amount), parameter('cumulative_minor', amount)]
const CHARGED_CHANNEL = sql`charged_minor = ${total}, ${assigned(pick(progress, 'signature'))}, used_ms = ${parameter('settled_ms', count)}, ${LAST_REQUEST}
    where ${CHANNEL_KEY} and charged_minor = ${base} and refund_minor = 0 and balance_minor - withdraw_minor >= ${total}
      and claimed_minor < ${total}`

/** SQLite writes the index of an assigned column even if its value stays, so `unclaimed` is set only where it was not. */
const CHARGE = statement('charge_channel', sql`update channel set ${CHARGED_CHANNEL} returning ${selected(columns({ unclaimed: flag }))}`)
const MARK_UNCLAIMED = statement('mark_unclaimed', sql`update channel set unclaimed = 1 where ${CHANNEL_KEY}`)

/** The answer of the payment that was inserted just before, for SQLite. */
const WRITE_ANSWER_OF_LAST = statement(
  'write_answer_of_last',
  sql`insert into payment_answer ${inserted(answer, { payment: raw('last_insert_rowid()') })}`,
)

const CHARGED_ROW = {
  purpose: raw(`'call'`),
  valid_after_s: raw('0'),
  valid_before_s: raw('0'),
  contract_payer: raw('0'),
  state: raw(`'settled'`),
  fence: raw('1'),
  method: raw(`'channel'`),
  final: raw('1'),
}

/** The charge in one statement, for PostgreSQL: the channel, the payment, its answer and the sale. */
const CHARGE_JOINED = statement(
  'charge_joined',
  sql`with charged as (update channel set unclaimed = 1, ${CHARGED_CHANNEL} returning channel_id),
    paid as (insert into payment ${insertedFrom(charge_row, CHARGED_ROW)} from charged returning number),
    kept as (insert into payment_answer ${insertedFrom(answer, { payment: raw('number') })} from paid),
    sold as (insert into sale ${insertedFrom(columns({ epoch: count, price_class: text_type, payer: text_type }))} from charged
      on conflict (epoch, price_class, payer) do nothing)
    select number from paid`,
)

const INSERT_CHARGE = statement('insert_charge', sql`insert into payment ${inserted(charge_row, CHARGED_ROW)}`)

const NOTE_DEPOSIT = statement(
  'note_deposit',
  sql`update channel set ${LAST_REQUEST} where ${CHANNEL_KEY} returning ${selected(channel_key)}`,
)

const BEGIN_REFUND = statement(
  'begin_refund',
  sql`update channel set ${assigned(pick(progress, 'refund_minor'))}
    where ${CHANNEL_KEY} and ${matched(pick(progress, 'charged_minor'))} and refund_minor = 0
    returning ${selected(channel_key)}`,
)

const END_REFUND = statement(
  'end_refund',
  sql`update channel set refund_minor = 0 where ${CHANNEL_KEY} and ${matched(pick(mirrored, 'refund_nonce'))}`,
)

const CLAIMABLE = statement(
  'claimable_channels',
  sql`select ${selected(channel)} from channel where unclaimed = 1 and charged_minor > claimed_minor and ${OF_ASSET}
    order by case when withdraw_minor > 0 then 0 else 1 end, charged_minor - claimed_minor desc, channel_id limit ${limit}`,
)

const REFUNDING = statement(
  'refunding_channels',
  sql`select ${selected(channel)} from channel where refund_minor > 0 and ${OF_ASSET} order by channel_id limit ${limit}`,
)

const STALE = statement(
  'stale_channels',
  sql`select ${selected(channel)} from channel
    where ${OF_ASSET} and ((synced_ms < ${parameter('watched_ms', count)} and (charged_minor > claimed_minor or refund_minor > 0))
      or (synced_ms < ${parameter('idle_ms', count)} and used_ms > ${parameter('used_after_ms', count)}))
    order by synced_ms, channel_id limit ${limit}`,
)

const LIST = statement(
  'list_channels',
  sql`select ${selected(channel)} from channel where channel_id > ${parameter('after_id', text_type)} and ${OF_ASSET} order by channel_id limit ${limit}`,
)

const CHARGED = sumOf('charged_minor')
const SUM_CHARGED = statement('sum_charged', sql`select ${expression('channels', count, 'count(*)')}, ${CHARGED} from channel`)
const SUM_CLAIMED = statement('sum_claimed', sql`select ${sumOf('claimed_minor')} from channel`)
const SUM_CHARGES = statement(
  'sum_charges',
  sql`select ${sumOf('value_minor')} from payment where payer = ${config.payer} and settler = ${channel.channel_id} and method = 'channel'`,
)

const FORGET_CHANNEL_NETWORKS = statement(
  'forget_channel_networks',
  sql`update channel set last_network_hash = null where channel_id in (select channel_id from channel
      where last_network_hash is not null and used_ms < ${parameter('used_before_ms', count)} and created_ms < ${parameter('used_before_ms', count)}
      limit ${limit})
    returning ${selected(channel_key)}`,
)

const PURGE = statement(
  'purge_channels',
  sql`delete from channel where channel_id in (select channel_id from channel
      where charged_minor = 0 and balance_minor = 0 and refund_minor = 0 and created_ms < ${parameter('created_before_ms', count)} limit ${limit})
    returning ${selected(channel_key)}`,
)

type ChargeParams = ReturnType<typeof chargeParams>

function chargeParams({ answer: stored_answer, base_minor, value_minor, channel_id, now_ms, ...rest }: ChannelCharge) {
  const times = { created_ms: now_ms, updated_ms: now_ms, settled_ms: now_ms, claim_until_ms: now_ms }
  const cumulative_minor = base_minor + value_minor
  return { ...rest, ...stored_answer, ...times, channel_id, settler: channel_id, base_minor, value_minor, cumulative_minor }
}

/** Encodes all values before the write, so that one that cannot be stored is refused before anything is written. */
function chargeWork(params: ChargeParams): () => Work<boolean> {
  const [charged, paid, kept, sold] = [
    workStep(CHARGE, params),
    workStep(INSERT_CHARGE, params),
    workStep(WRITE_ANSWER_OF_LAST, params),
    workStep(COUNT_SALE, params),
  ]
  return function* () {
    const [channel_row] = yield charged
    if (channel_row === undefined) return false
    if (!CHARGE.read(channel_row).unclaimed) yield workStep(MARK_UNCLAIMED, params)
    yield paid
    yield kept
    yield sold
    return true
  }
}

/**
 * Charges a voucher with a payment-identifier id, unless the id belongs to another payment of the payer. The caller lets one claim or charge
 * of a payer with an id run at a time, over all processes.
 */
function* identifiedCharge(held: { payer: string; identifier_hash: string }, charge: () => Work<boolean>): Work<boolean> {
  const holder = yield* readFirst(READ_BY_IDENTIFIER, held)
  if (holder !== undefined) {
    if (holder.purpose !== 'deposit' || holder.state !== 'settled') return false
    yield* execute(FREE_IDENTIFIER, holder)
  }
  return yield* charge()
}

export class SqlChannelStore extends DatabaseStore implements ChannelStore {
  find(channel_id: string): Promise<Channel | null> {
    return this.database.readFirst(FIND, { channel_id })
  }

  async add(added: Channel): Promise<void> {
    await this.database.execute(ADD, added)
  }

  async mirror(channel_id: string, state: MirroredState, synced_ms: number): Promise<void> {
    await this.database.execute(MIRROR, { channel_id, ...state, synced_ms })
  }

  async charge(charged: ChannelCharge): Promise<boolean> {
    const params = chargeParams(charged)
    const { payer, identifier_hash } = charged
    const joined = this.database.joinsWrites()
    if (identifier_hash !== null) {
      const charge = joined ? () => execute(CHARGE_JOINED, params) : chargeWork(params)
      return this.database.atomically(() => identifiedCharge({ payer, identifier_hash }, charge), { alone_with: payer })
    }
    return joined ? this.database.execute(CHARGE_JOINED, params) : this.database.atomically(chargeWork(params))
  }

  async note_deposit(channel_id: string, { nonce, network_hash }: Parameters<ChannelStore['note_deposit']>[1]): Promise<void> {
    await this.database.execute(NOTE_DEPOSIT, { channel_id, nonce, network_hash })
  }

  begin_refund(channel_id: string, charged_minor: bigint, refund_minor: bigint): Promise<boolean> {
    return this.database.execute(BEGIN_REFUND, { channel_id, charged_minor, refund_minor })
  }

  async end_refund(channel_id: string, refund_nonce: bigint): Promise<void> {
    await this.database.execute(END_REFUND, { channel_id, refund_nonce })
  }

  claimable(asset: string | null, rows: number): Promise<Channel[]> {
    return this.database.readAll(CLAIMABLE, { of_asset: asset ?? '', limit: rows })
  }

  refunding(asset: string | null, rows: number): Promise<Channel[]> {
    return this.database.readAll(REFUNDING, { of_asset: asset ?? '', limit: rows })
  }

  stale(asset: string | null, now_ms: number, { watch_ms, watch_idle_ms, watch_used_ms, watch_channels }: StaleRules): Promise<Channel[]> {
    const [watched_ms = 0, idle_ms = 0, used_after_ms = 0] = [watch_ms, watch_idle_ms, watch_used_ms].map((age) =>
      Math.max(0, now_ms - age),
    )
    return this.database.readAll(STALE, { of_asset: asset ?? '', watched_ms, idle_ms, used_after_ms, limit: watch_channels })
  }

  list(asset: string | null, after_id: string, rows: number): Promise<Channel[]> {
    return this.database.readAll(LIST, { of_asset: asset ?? '', after_id, limit: rows })
  }

  async sums(): ReturnType<ChannelStore['sums']> {
    const [charged, claimed] = await Promise.all([this.database.readOne(SUM_CHARGED, {}), this.database.readOne(SUM_CLAIMED, {})])
    return { channels: charged.channels, charged_minor: totalOf(charged), claimed_minor: totalOf(claimed) }
  }

  async charges({ channel_id, payer }: Pick<Channel, 'channel_id' | 'payer'>): Promise<bigint> {
    return totalOf(await this.database.readOne(SUM_CHARGES, { channel_id, payer }))
  }

  forget_networks(used_before_ms: number): Promise<number> {
    return this.database.purge(FORGET_CHANNEL_NETWORKS, { used_before_ms })
  }

  purge(created_before_ms: number): Promise<number> {
    return this.database.purge(PURGE, { created_before_ms })
  }
}
