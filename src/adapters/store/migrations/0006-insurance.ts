import type { Migration } from '../migration.ts'

/** The directory of underwriters, and the certificates that were made out on their entries. */
export const insurance: Migration = {
  number: 6,
  name: 'insurance',
  text: (dialect) => `
    create table underwriter (
      address text not null primary key,
      entry_hash text not null,
      entry text not null,
      issued_s ${dialect.wide_integer} not null,
      valid_until_s ${dialect.wide_integer} not null
    )${dialect.clustered_table};
    create table policy (
      policy_id text not null primary key,
      underwriter text not null,
      certificate text not null,
      underwriter_signature text
    )${dialect.clustered_table};
  `,
}
