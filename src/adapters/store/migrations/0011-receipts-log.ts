import type { Migration } from '../migration.ts'

/** The public log of receipts: what waits, what is in it, its tiles, its head; and what was seen of the logs of others. */
export const receiptsLog: Migration = {
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
}
