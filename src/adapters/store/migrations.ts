import { count } from './columns.ts'
import { expression, sql, statement } from './statements.ts'
import { FIRST_MIGRATIONS } from './migrations-0001-0009.ts'
import { NEWEST_MIGRATIONS } from './migrations-0034-0037.ts'
import { StoreError } from './errors.ts'
import type { SqlDialect, Migration } from './database.ts'

export const SQLITE_DIALECT: SqlDialect = {
  wide_integer: 'integer',
  row_number: 'integer primary key',
  table: ' strict',
  clustered_table: ' strict, without rowid',
  now_s: 'unixepoch()',
  counted_columns: '',
}

export const POSTGRES_DIALECT: SqlDialect = {
  wide_integer: 'bigint',
  row_number: 'bigint generated always as identity primary key',
  table: '',
  clustered_table: '',
  now_s: 'extract(epoch from now())::bigint',
  counted_columns: `,
      allowed integer not null,
      granted integer not null`,
}

export const MIGRATIONS: readonly Migration[] = [
  ...FIRST_MIGRATIONS,
  /** Tasks of the agent protocol, for a day. */
  {
    number: 10,
    name: 'a2a-tasks',
    text: (dialect) => `
    create table a2a_task (
      task_id text not null primary key,
      client text not null,
      revision integer not null check (revision > 0),
      working integer not null check (working in (0, 1)),
      body text not null,
      updated_ms ${dialect.wide_integer} not null
    )${dialect.table};
    create index a2a_task_by_client on a2a_task (client, updated_ms);
    create index a2a_task_by_age on a2a_task (updated_ms);
  `,
  },
  /** The public log of receipts: what waits, what is in it, its tiles, its head; and what was seen of the logs of others. */
  {
    number: 11,
    name: 'receipts-log',
    text: (dialect) => `
    create table log_waiting (
      number ${dialect.row_number},
      entry text not null unique,
      since_ms ${dialect.wide_integer} not null
    )${dialect.table};
    create table log_entry (
      position ${dialect.wide_integer} not null primary key,
      entry text not null unique
    )${dialect.table};
    create table log_tile (
      level integer not null,
      tile ${dialect.wide_integer} not null,
      hashes text not null,
      primary key (level, tile)
    )${dialect.clustered_table};
    create table log_head (
      one integer not null primary key check (one = 1),
      size ${dialect.wide_integer} not null,
      root text not null,
      checkpoint text not null,
      signed_ms ${dialect.wide_integer} not null
    )${dialect.table};
    create table log_cosignature (
      size ${dialect.wide_integer} not null,
      witness text not null,
      line text not null,
      primary key (size, witness)
    )${dialect.clustered_table};
    create table log_witnessed (
      origin text not null primary key,
      size ${dialect.wide_integer} not null,
      root text not null
    )${dialect.table};
  `,
  },
  /** Payments of an invoice that are on their way, or settled and not final: what it still takes is asked for with each that comes. */
  {
    number: 12,
    name: 'payments-of-invoices',
    text: () => `create index payment_of_invoice on payment (subject) where purpose = 'invoice' and final = 0`,
  },
  /** Proofs of underwriters, and when an entry leaves the directory. Entries of earlier schemas are unproven and leave it after seven days. */
  {
    number: 13,
    name: 'underwriter-proofs',
    text: ({ wide_integer, now_s }) => `
    alter table underwriter add column proven_s ${wide_integer};
    alter table underwriter add column proof_source text;
    alter table underwriter add column domain text not null default '';
    alter table underwriter add column network text not null default '';
    alter table underwriter add column listed_until_s ${wide_integer} not null default 0;
    update underwriter set listed_until_s =
      case when valid_until_s < ${now_s} + 604800 then valid_until_s else ${now_s} + 604800 end
  `,
  },
  /**
   * Unsigned invoices are counted by the network that created them (a keyed hash of the day), so that the oldest can be evicted; `held` marks one
   * that was found with money or evidence. An assured record without the signature of the payer or recipient over its
   * terms is advisory.
   */
  {
    number: 14,
    name: 'unsigned-and-advisory',
    text: () => `
    alter table invoice add column network text;
    alter table invoice add column held integer not null default 0;
    update invoice set network = client where client is not null;
    create index invoice_evictable on invoice (network, number) where closed = 0 and held = 0 and issue_signature is null;
    create index invoice_evictable_all on invoice (number)
      where closed = 0 and held = 0 and issue_signature is null and network is not null;
    create index invoice_nonce_of on invoice_nonce (invoice_id);
    alter table assured_record add column signed_by text;
    alter table assured_record add column terms_signature text;
  `,
  },
  /**
   * Columns that decide who may fetch a paid answer again: keyed hashes of the client network and of the payment-identifier id of the first
   * request, both null in rows that are older. A2A tasks were stored unencrypted until here and live a day; they are deleted.
   */
  {
    number: 15,
    name: 'private-resends',
    text: () => `
    alter table payment add column network_hash text;
    alter table payment add column identifier_hash text;
    create index payment_network on payment (created_ms) where network_hash is not null;
    delete from a2a_task;
  `,
  },
  /** Daily counts of calls for the operator page, which survive a restart. */
  {
    number: 16,
    name: 'call-counts',
    text: (dialect) => `
    create table call_count (
      day integer not null,
      tool text not null,
      outcome text not null,
      calls ${dialect.wide_integer} not null check (calls >= 0),
      primary key (day, tool, outcome)
    )${dialect.clustered_table};
  `,
  },
  /** Snapshots of reference data, the active one of each dataset, and the state of each feed. */
  {
    number: 17,
    name: 'datasets',
    text: (dialect) => `
    create table dataset_snapshot (
      sha256 text not null primary key,
      dataset text not null,
      published_at text not null,
      row_count ${dialect.wide_integer} not null check (row_count >= 0),
      added_ms ${dialect.wide_integer} not null,
      packed text not null
    )${dialect.table};
    create table dataset_active (
      dataset text not null primary key,
      sha256 text not null references dataset_snapshot (sha256),
      pinned integer not null check (pinned in (0, 1)),
      activated_ms ${dialect.wide_integer} not null
    )${dialect.clustered_table};
    create table dataset_feed (
      feed text not null primary key,
      etag text,
      outcome text not null,
      detail text not null,
      read_ms ${dialect.wide_integer} not null
    )${dialect.clustered_table};
  `,
  },
  /**
   * Deposit addresses: one of each invoice from here on, what waits at them for a sweep, and the transfers that forwarded it. The table of
   * payments is copied because SQLite cannot change the check of a column.
   */
  {
    number: 18,
    name: 'deposit-addresses',
    text: (dialect) => `
    alter table invoice add column deposit_address text;
    create unique index invoice_deposit_address on invoice (deposit_address) where deposit_address is not null;
    create table invoice_payment_copy (
      transaction_hash text not null,
      log_index integer not null,
      invoice_id text not null,
      merchant text not null,
      payer text not null,
      amount_minor ${dialect.wide_integer} not null,
      block_number ${dialect.wide_integer} not null,
      block_hash text not null,
      block_time_s ${dialect.wide_integer} not null,
      matched_by text not null check (matched_by in ('eip3009', 'x402', 'transfer', 'deposit')),
      nonce text,
      confirmed integer not null,
      final integer not null,
      primary key (transaction_hash, log_index)
    )${dialect.clustered_table};
    insert into invoice_payment_copy select * from invoice_payment;
    drop table invoice_payment;
    alter table invoice_payment_copy rename to invoice_payment;
    create index invoice_payment_of on invoice_payment (invoice_id);
    create index invoice_payment_unfinal on invoice_payment (merchant, block_number) where final = 0;
    create table invoice_sweep (
      invoice_id text not null primary key,
      merchant text not null,
      waiting_minor ${dialect.wide_integer} not null check (waiting_minor >= 0),
      sweeps integer not null default 0,
      sweep_after_ms ${dialect.wide_integer} not null default 0
    )${dialect.clustered_table};
    create index invoice_sweep_waiting on invoice_sweep (waiting_minor) where waiting_minor > 0;
    create table invoice_forward (
      transaction_hash text not null,
      log_index integer not null,
      invoice_id text not null,
      amount_minor ${dialect.wide_integer} not null,
      block_number ${dialect.wide_integer} not null,
      block_time_s ${dialect.wide_integer} not null,
      primary key (transaction_hash, log_index)
    )${dialect.clustered_table};
    create index invoice_forward_of on invoice_forward (invoice_id);
  `,
  },
  /**
   * Subscriptions to events, and their deliveries. `next_ms` is the time at which a subscription has something to deliver; null without.
   * `expiry_noted` marks invoices whose expiry was considered.
   */
  {
    number: 19,
    name: 'webhooks',
    text: (dialect) => `
    create table webhook_subscription (
      subscription_id text not null primary key,
      owner text not null,
      network text not null,
      url text not null,
      events text not null,
      secret text not null,
      created_ms ${dialect.wide_integer} not null,
      failures ${dialect.wide_integer} not null default 0,
      paused_until_ms ${dialect.wide_integer} not null default 0,
      dropped ${dialect.wide_integer} not null default 0,
      next_ms ${dialect.wide_integer}
    )${dialect.table};
    create index webhook_by_owner on webhook_subscription (owner);
    create index webhook_by_network on webhook_subscription (network);
    create index webhook_by_next on webhook_subscription (next_ms) where next_ms is not null;
    create table webhook_delivery (
      number ${dialect.row_number},
      subscription_id text not null,
      event_id text not null,
      type text not null,
      body text not null,
      created_ms ${dialect.wide_integer} not null,
      state text not null check (state in ('pending', 'delivered', 'dead')),
      attempts ${dialect.wide_integer} not null,
      since_ms ${dialect.wide_integer} not null,
      due_ms ${dialect.wide_integer} not null,
      status ${dialect.wide_integer},
      fault text,
      attempted_ms ${dialect.wide_integer},
      unique (subscription_id, event_id)
    )${dialect.table};
    create index webhook_delivery_listed on webhook_delivery (subscription_id, number);
    create index webhook_delivery_due on webhook_delivery (subscription_id, due_ms) where state = 'pending';
    create index webhook_delivery_ended on webhook_delivery (state, created_ms);
    alter table invoice add column expiry_noted integer not null default 0;
    update invoice set expiry_noted = 1 where expires_s < ${dialect.now_s};
    create index invoice_expiring on invoice (expires_s) where expiry_noted = 0;
  `,
  },
  /** A merchant's list of the invoices that it signed, the newest first. */
  {
    number: 20,
    name: 'invoice-lists',
    text: () => `create index invoice_signed_list on invoice (merchant, number) where issue_signature is not null`,
  },
  /** Whole answers of callers who got the brief form. */
  {
    number: 21,
    name: 'stored-answers',
    text: (dialect) => `
    create table stored_answer (
      token_hash text not null primary key,
      client text not null,
      bytes ${dialect.wide_integer} not null check (bytes >= 0),
      created_ms ${dialect.wide_integer} not null,
      sealed text not null
    )${dialect.table};
    create index stored_answer_by_client on stored_answer (client, bytes);
    create index stored_answer_by_age on stored_answer (created_ms, bytes);
  `,
  },
  /** Attestation of the registrar for the countersignature of a contract wallet. */
  {
    number: 22,
    name: 'policy-attestations',
    text: () => `alter table policy add column underwriter_attestation text`,
  },
  /** Payment channels: their last voucher and their state on the chain. Deposits and charges are payments. */
  {
    number: 23,
    name: 'payment-channels',
    text: (dialect) => `
    create table channel (
      channel_id text not null primary key,
      payer text not null,
      payer_authorizer text not null,
      receiver text not null,
      receiver_authorizer text not null,
      token text not null,
      withdraw_delay_s ${dialect.wide_integer} not null,
      salt text not null,
      balance_minor ${dialect.wide_integer} not null check (balance_minor >= 0),
      claimed_minor ${dialect.wide_integer} not null check (claimed_minor >= 0),
      withdraw_minor ${dialect.wide_integer} not null check (withdraw_minor >= 0),
      withdraw_requested_s ${dialect.wide_integer} not null,
      refund_nonce text not null,
      opened_minor ${dialect.wide_integer} not null check (opened_minor >= 0),
      charged_minor ${dialect.wide_integer} not null check (charged_minor >= opened_minor),
      signature text not null,
      refund_minor ${dialect.wide_integer} not null check (refund_minor >= 0),
      synced_ms ${dialect.wide_integer} not null,
      created_ms ${dialect.wide_integer} not null,
      used_ms ${dialect.wide_integer} not null
    )${dialect.table};
    create index channel_claimable on channel (claimed_minor) where charged_minor > claimed_minor;
    create index channel_refunding on channel (channel_id) where refund_minor > 0;
    create index channel_synced on channel (synced_ms);
    alter table payment add column deposit_call text;
    alter table payment add column cumulative_minor ${dialect.wide_integer};
    create index payment_of_channel on payment (settler) where method = 'channel';
  `,
  },
  /** Invoices with bank details: the reference of their statements, and the bank transfer that paid them. */
  {
    number: 24,
    name: 'invoice-bank-payments',
    text: (dialect) => `
    alter table invoice add column bank_reference text;
    alter table invoice add column bank_entry text;
    alter table invoice add column bank_paid_ms ${dialect.wide_integer};
    alter table invoice add column bank_payment text;
    create index invoice_bank_reference on invoice (merchant, bank_reference) where bank_reference is not null;
    create unique index invoice_bank_entry on invoice (bank_entry) where bank_entry is not null;
  `,
  },
  /** Token and network of a payment, as CAIP-19; null for USDC on the network of the deployment. */
  {
    number: 25,
    name: 'payment-assets',
    text: () => `alter table payment add column asset text`,
  },
  /**
   * A voucher writes fewer indexes. `unclaimed` marks channels that may have open charges: unlike an index on the totals, its index changes
   * only with the first charge after a claim. Charges are final from the start, so that no search by state looks for them, and those of a
   * channel are found by its payer.
   */
  {
    number: 26,
    name: 'voucher-indexes',
    text: () => `
    alter table channel add column unclaimed integer not null default 0;
    update channel set unclaimed = 1 where charged_minor > claimed_minor;
    drop index channel_claimable;
    create index channel_claimable on channel (channel_id) where unclaimed = 1;
    drop index payment_of_channel;
    drop index payment_state;
    create index payment_state on payment (state, final, updated_ms) where method is null or method <> 'channel';
  `,
  },
  /** Token and network of a payment channel, as CAIP-19; null for USDC on the network of the deployment. */
  {
    number: 27,
    name: 'channel-assets',
    text: () => `alter table channel add column asset text`,
  },
  /** The last charge or deposit of a channel and its client network, to which refunds and the last voucher are given. */
  {
    number: 28,
    name: 'channel-presence',
    text: () => `
    alter table channel add column last_nonce text;
    alter table channel add column last_network_hash text;
    update channel set last_nonce = (select nonce from payment where payment.payer = channel.payer
      and ((payment.purpose = 'deposit' and payment.subject = channel.channel_id) or (payment.method = 'channel' and payment.settler = channel.channel_id))
      order by payment.created_ms desc, payment.number desc limit 1);
    update channel set last_network_hash = (select network_hash from payment where payment.payer = channel.payer and payment.nonce = channel.last_nonce);
  `,
  },
  /**
   * A payment-identifier id belongs to one payment of a payer. Hashes of older releases depend on the payment, so that no two rows of a payer
   * have the same.
   */
  {
    number: 29,
    name: 'payment-identifiers',
    text: () => `create unique index payment_identifier on payment (payer, identifier_hash) where identifier_hash is not null`,
  },
  /**
   * Challenges that receivers answer before their first event. Subscriptions of before count as verified. Their signatures were made up to ten minutes
   * from their creation, so only a signature after that replaces the secret.
   */
  {
    number: 30,
    name: 'webhook-challenges',
    text: (dialect) => `
    alter table webhook_subscription add column state text not null default 'verified'
      check (state in ('pending', 'verified', 'expired', 'refused'));
    alter table webhook_subscription add column issued_s ${dialect.wide_integer} not null default 0;
    alter table webhook_subscription add column rotation ${dialect.wide_integer} not null default 0;
    alter table webhook_subscription add column challenges ${dialect.wide_integer} not null default 0;
    alter table webhook_subscription add column challenged_ms ${dialect.wide_integer};
    alter table webhook_subscription add column challenge_due_ms ${dialect.wide_integer};
    alter table webhook_subscription add column challenge_until_ms ${dialect.wide_integer} not null default 0;
    alter table webhook_subscription add column challenge_fault text;
    update webhook_subscription set issued_s = created_ms / 1000 + 600;
    create index webhook_by_challenge on webhook_subscription (challenge_due_ms) where challenge_due_ms is not null;
    create index webhook_unverified on webhook_subscription (challenge_until_ms) where state in ('expired', 'refused');
  `,
  },
  /**
   * Only a merchant confirms a bank transfer. Invoices that a creator closed with a statement are open again; the text of the report stays in
   * `bank_payment`.
   */
  {
    number: 31,
    name: 'invoice-bank-creators',
    text: () => `
    update invoice set bank_paid_ms = null, bank_entry = null, closed = 0
      where bank_paid_ms is not null and bank_payment like '%"confirmed_by":"creator"%'
  `,
  },
  /** Network that created an invoice, for its share of the day's sweeps and relays, and the time until which a used-up share puts a sweep off. */
  {
    number: 33,
    name: 'sponsored-shares',
    text: (dialect) => `
    alter table invoice add column creator text;
    update invoice set creator = network where network is not null;
    alter table invoice_sweep add column put_off_ms ${dialect.wide_integer};
  `,
  },
  ...NEWEST_MIGRATIONS,
]

/** Holds one row for each migration that ran. Both databases undo table definitions with their transaction. */
export const CREATE_MIGRATION_TABLE = 'create table if not exists migration (number integer primary key, name text not null)'
export const READ_SCHEMA = statement('read_schema', sql`select ${expression('number', count, 'coalesce(max(number), 0)')} from migration`)

/** The store was written by a newer version of this program, whose rules this one does not know. */
class StoreNewerError extends StoreError {
  override readonly name = 'StoreNewerError'
  readonly code = 'STORE_NEWER'

  constructor(found: number, known: number) {
    super(`The store has schema ${found} and this version knows schemas up to ${known}: start the newer version, or name another store.`)
  }
}

/** The SQL that brings a store from schema `found` to the newest, to be run in order within the lock; throws for a newer store. */
export function pendingSteps(found: number, dialect: SqlDialect): string[] {
  const known = MIGRATIONS.at(-1)?.number ?? 0
  if (found > known) throw new StoreNewerError(found, known)
  return MIGRATIONS.filter(({ number }) => number > found).map(
    (migration) => `${migration.text(dialect)}; insert into migration (number, name) values (${migration.number}, '${migration.name}')`,
  )
}
