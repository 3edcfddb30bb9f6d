import type { Migration } from '../migration.ts'

/** What bank statements report of invoices, and what came to them in other assets than the one asked for. Neither ever counts as paid. */
export const invoiceBank: Migration = {
  number: 8,
  name: 'invoice-bank',
  text: (dialect) => `
    create table invoice_bank_report (
      statement_id text not null,
      entry_reference text not null,
      invoice_id text not null,
      booked_on text,
      direction text not null check (direction in ('CRDT', 'DBIT')),
      returned integer not null,
      currency text not null,
      amount_minor ${dialect.wide_integer} not null,
      charges_minor ${dialect.wide_integer} not null,
      instructed_minor ${dialect.wide_integer},
      verdict text not null,
      reported_ms ${dialect.wide_integer} not null,
      primary key (statement_id, entry_reference)
    )${dialect.clustered_table};
    create index invoice_bank_report_of on invoice_bank_report (invoice_id);
    create table invoice_other_asset (
      transaction_hash text not null,
      log_index integer not null,
      invoice_id text not null,
      asset text not null,
      payer text not null,
      amount text not null,
      block_number ${dialect.wide_integer} not null,
      block_time_s ${dialect.wide_integer} not null,
      named_by text not null check (named_by in ('nonce', 'submitted')),
      primary key (transaction_hash, log_index)
    )${dialect.clustered_table};
    create index invoice_other_asset_of on invoice_other_asset (invoice_id);
  `,
}
