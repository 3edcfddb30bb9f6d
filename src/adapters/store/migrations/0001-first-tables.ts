import type { Migration } from '../migration.ts'

/** Allowance counts, leases, notes, and what the store belongs to. */
export const firstTables: Migration = {
  number: 1,
  name: 'first-tables',
  text: (dialect) => `
    create table allowance (
      day integer not null,
      bucket text not null,
      client text not null,
      used integer not null check (used >= 0)${dialect.counted_columns},
      primary key (day, bucket, client)
    )${dialect.clustered_table};
    create table lease (
      name text primary key,
      holder text not null,
      until_ms ${dialect.wide_integer} not null
    )${dialect.table};
    create table note (
      name text primary key,
      note text not null
    )${dialect.table};
    create table identity (
      one integer primary key check (one = 1),
      mode text not null,
      chain_id ${dialect.wide_integer} not null,
      pay_to text not null
    )${dialect.table};
  `,
}
