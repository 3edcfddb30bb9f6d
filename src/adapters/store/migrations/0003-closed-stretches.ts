import type { Migration } from '../migration.ts'

/** Transfers of an account within blocks that are final: read once, then known. */
export const closedStretches: Migration = {
  number: 3,
  name: 'closed-stretches',
  text: (dialect) => `
    create table closed_stretch (
      chain_id ${dialect.wide_integer} not null,
      token text not null,
      account text not null,
      from_block ${dialect.wide_integer} not null,
      blocks integer not null check (blocks > 0),
      transfers text not null,
      kept_ms ${dialect.wide_integer} not null,
      primary key (chain_id, token, account, from_block)
    )${dialect.clustered_table};
    create index closed_stretch_by_age on closed_stretch (kept_ms);
  `,
}
