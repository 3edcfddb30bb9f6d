import type { Migration } from '../migration.ts'

/** Proofs of underwriters, and when an entry leaves the directory. Entries of earlier schemas are unproven and leave it after seven days. */
export const underwriterProofs: Migration = {
  number: 13,
  name: 'underwriter-proofs',
  text: ({ wide_integer, now_s }) => `
    alter table underwriter add column proven_s ${wide_integer};
    alter table underwriter add column proof_source text;
    alter table underwriter add column domain text not null default '';
    alter table underwriter add column network text not null default '';
    alter table underwriter add column listed_until_s ${wide_integer} not null default 0;
    update underwriter set listed_until_s =
      case when valid_until_s < ${now_s} + 604800 then valid_until_s else ${now_s} + 604800 end
  `,
}
