import type { Migration } from '../migration.ts'

/** Disputes about receipts, each under the name that its claimant gave it; never removed. */
export const disputes: Migration = {
  number: 5,
  name: 'disputes',
  text: (dialect) => `
    create table dispute (
      receipt_hash text not null,
      dispute_id text not null,
      body_hash text not null,
      payer_signed integer not null check (payer_signed in (0, 1)),
      outcome text not null,
      filed_ms ${dialect.wide_integer} not null,
      primary key (receipt_hash, dispute_id)
    )${dialect.clustered_table};
  `,
}
