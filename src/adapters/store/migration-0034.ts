import type { Migration } from './database.ts'

/**
 * When each merchant is looked at next: `proven` ones, which were paid on the chain, have a separate order. An invoice that expired unpaid
 * leaves a short row when it is deleted, by which its deposit address can still be forwarded.
 */
export const WATCH_ORDER: Migration = {
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
