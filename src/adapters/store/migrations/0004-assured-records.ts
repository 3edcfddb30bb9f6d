import type { Migration } from '../migration.ts'

/** Receipts bound to terms of the assured lane: one row a receipt, never removed. */
export const assuredRecords: Migration = {
  number: 4,
  name: 'assured-records',
  text: (dialect) => `
    create table assured_record (
      receipt_hash text not null primary key,
      assured_id text not null,
      terms text not null,
      window_ends_s ${dialect.wide_integer} not null,
      created_ms ${dialect.wide_integer} not null,
      mark text not null check (mark in ('OPEN', 'DISPUTED', 'ADJUDICATED'))
    )${dialect.clustered_table};
  `,
}
