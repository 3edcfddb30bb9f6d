import type { Migration } from '../migration.ts'

/** Invoices, what payers sign to name them, the transfers attributed to them, and how far each merchant was looked at. */
export const invoices: Migration = {
  number: 7,
  name: 'invoices',
  text: (dialect) => `
    create table invoice (
      number ${dialect.row_number},
      invoice_id text not null,
      merchant text not null,
      amount_minor ${dialect.wide_integer} not null check (amount_minor > 0),
      terms text not null,
      created_ms ${dialect.wide_integer} not null,
      expires_s ${dialect.wide_integer} not null,
      watch_until_s ${dialect.wide_integer} not null,
      content_hash text not null,
      request_key text,
      client text,
      issue_signature text,
      void_signature text,
      voided_ms ${dialect.wide_integer},
      closed integer not null default 0,
      marks text not null default '',
      updated_ms ${dialect.wide_integer} not null,
      unique (invoice_id)
    )${dialect.table};
    create unique index invoice_request on invoice (request_key) where request_key is not null;
    create index invoice_open_merchant on invoice (merchant, expires_s) where closed = 0;
    create index invoice_open_client on invoice (client, expires_s) where closed = 0 and client is not null;
    create index invoice_signed on invoice (merchant, expires_s) where issue_signature is not null;
    create index invoice_watched on invoice (watch_until_s, merchant, created_ms);
    create table invoice_nonce (
      nonce text not null primary key,
      invoice_id text not null
    )${dialect.clustered_table};
    create table invoice_payment (
      transaction_hash text not null,
      log_index integer not null,
      invoice_id text not null,
      merchant text not null,
      payer text not null,
      amount_minor ${dialect.wide_integer} not null,
      block_number ${dialect.wide_integer} not null,
      block_hash text not null,
      block_time_s ${dialect.wide_integer} not null,
      matched_by text not null check (matched_by in ('eip3009', 'x402', 'transfer')),
      nonce text,
      confirmed integer not null,
      final integer not null,
      primary key (transaction_hash, log_index)
    )${dialect.clustered_table};
    create index invoice_payment_of on invoice_payment (invoice_id);
    create index invoice_payment_unfinal on invoice_payment (merchant, block_number) where final = 0;
    create table invoice_watch (
      merchant text not null primary key,
      next_block ${dialect.wide_integer} not null,
      looked_ms ${dialect.wide_integer} not null
    )${dialect.clustered_table};
  `,
}
