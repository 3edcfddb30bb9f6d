import type { Migration } from './database.ts'

/**
 * When each merchant is looked at next: `proven` ones, which were paid on the chain, have a separate order. An invoice that expired unpaid
 * leaves a short row when it is deleted, by which its deposit address can still be forwarded.
 */
const WATCH_ORDER: Migration = {
  number: 34,
  name: 'watch-order',
  text: (dialect) => `
  create table merchant_watch (
    merchant text not null primary key,
    next_block ${dialect.wide_integer},
    looked_ms ${dialect.wide_integer} not null default 0,
    until_s ${dialect.wide_integer} not null,
    due_ms ${dialect.wide_integer} not null default 0,
    wait_ms ${dialect.wide_integer} not null default 0,
    rank_ms ${dialect.wide_integer} not null default 0,
    proven integer not null default 0
  )${dialect.clustered_table};
  insert into merchant_watch (merchant, next_block, looked_ms, until_s, proven)
    select i.merchant, min(w.next_block), coalesce(min(w.looked_ms), 0), max(i.watch_until_s),
      max(case when exists (select 1 from invoice_payment p where p.invoice_id = i.invoice_id) then 1 else 0 end)
    from invoice i left join invoice_watch w on w.merchant = i.merchant group by i.merchant;
  drop table invoice_watch;
  create index merchant_watch_order on merchant_watch (proven, rank_ms);
  create index merchant_watch_looked on merchant_watch (looked_ms);
  create index merchant_watch_until on merchant_watch (until_s);
  create index invoice_of_merchant on invoice (merchant, number);
  create index invoice_purgeable on invoice (watch_until_s) where (closed = 0 or voided_ms is not null);
  create index invoice_payment_merchant on invoice_payment (merchant);
  create table purged_invoice (
    invoice_id text not null primary key,
    merchant text not null,
    expires_s ${dialect.wide_integer} not null,
    purged_ms ${dialect.wide_integer} not null
  )${dialect.clustered_table};
  create index purged_invoice_time on purged_invoice (purged_ms);
`,
}

/**
 * Columns that decide which subscription or unproven underwriter gives way: provider network, and whether the owner was paid.
 * `failing_since_ms` is the first failed attempt since a delivery succeeded.
 */
const PLACES_BY_PROVIDER: Migration = {
  number: 35,
  name: 'places-by-provider',
  text: (dialect) => `
  alter table webhook_subscription add column provider text not null default '';
  alter table webhook_subscription add column paid integer not null default 0;
  alter table webhook_subscription add column failing_since_ms ${dialect.wide_integer};
  update webhook_subscription set provider = network, failing_since_ms = case when failures > 0 then created_ms end;
  alter table underwriter add column provider text not null default '';
  update underwriter set provider = network;
  create index webhook_places on webhook_subscription (provider, network) where paid = 0;
  create index webhook_failing on webhook_subscription (failing_since_ms) where failing_since_ms is not null;
`,
}

/**
 * Bytes, networks and payment of stored tasks and answers, by which they are bounded and deleted. Rows of before have no network and count
 * as unpaid. The indexes cover their sums, so that no body is read for them.
 */
const STORAGE_SHARES: Migration = {
  number: 36,
  name: 'storage-shares',
  text: (dialect) => `
    alter table a2a_task add column network text not null default 'unknown';
    alter table a2a_task add column provider text not null default 'unknown';
    alter table a2a_task add column paid integer not null default 0;
    alter table a2a_task add column bytes ${dialect.wide_integer} not null default 0;
    update a2a_task set bytes = length(body);
    drop index a2a_task_by_client;
    drop index a2a_task_by_age;
    create index a2a_task_by_client on a2a_task (client, paid, updated_ms, bytes);
    create index a2a_task_by_network on a2a_task (network, paid, updated_ms, bytes);
    create index a2a_task_by_provider on a2a_task (provider, paid, updated_ms, bytes);
    create index a2a_task_by_age on a2a_task (updated_ms, paid, bytes);
    alter table stored_answer add column provider text not null default 'unknown';
    alter table stored_answer add column paid integer not null default 0;
    drop index stored_answer_by_client;
    create index stored_answer_by_client on stored_answer (client, paid, bytes);
    create index stored_answer_by_provider on stored_answer (provider, paid, created_ms, bytes);
  `,
}

/**
 * Texts of callers are sealed. `sealed` marks rows whose texts are; those of earlier releases are sealed after the start, some at a time, and `sealed_names`
 * holds the sealed names of a bank entry, whose key becomes a hash. `erased_ms` is when the personal details of an invoice were erased, and `invoice_id` of
 * a delivery the invoice that its event reports.
 */
const SEALED_INVOICES: Migration = {
  number: 37,
  name: 'sealed-invoices',
  text: (dialect) => `
    alter table invoice add column sealed integer not null default 0;
    alter table invoice add column erased_ms ${dialect.wide_integer};
    create index invoice_unsealed on invoice (number) where sealed = 0;
    create index invoice_erasable on invoice (expires_s) where erased_ms is null;
    alter table invoice_bank_report add column sealed_names text;
    create index invoice_bank_report_unsealed on invoice_bank_report (statement_id) where sealed_names is null;
    alter table webhook_subscription add column sealed integer not null default 0;
    create index webhook_unsealed on webhook_subscription (subscription_id) where sealed = 0;
    alter table webhook_delivery add column sealed integer not null default 0;
    alter table webhook_delivery add column invoice_id text;
    create index webhook_delivery_unsealed on webhook_delivery (number) where sealed = 0;
    create index webhook_delivery_of_invoice on webhook_delivery (invoice_id) where invoice_id is not null;
  `,
}

export const NEWEST_MIGRATIONS: readonly Migration[] = [WATCH_ORDER, PLACES_BY_PROVIDER, STORAGE_SHARES, SEALED_INVOICES]
