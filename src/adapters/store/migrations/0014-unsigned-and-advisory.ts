import type { Migration } from '../migration.ts'

/**
 * Unsigned invoices are counted by the network that created them (a keyed hash of the day), so that the oldest can be evicted; `held` marks one
 * that was found with money or evidence. An assured record without the signature of the payer or recipient over its
 * terms is advisory.
 */
export const unsignedAndAdvisory: Migration = {
  number: 14,
  name: 'unsigned-and-advisory',
  text: () => `
    alter table invoice add column network text;
    alter table invoice add column held integer not null default 0;
    update invoice set network = client where client is not null;
    create index invoice_evictable on invoice (network, number) where closed = 0 and held = 0 and issue_signature is null;
    create index invoice_evictable_all on invoice (number)
      where closed = 0 and held = 0 and issue_signature is null and network is not null;
    create index invoice_nonce_of on invoice_nonce (invoice_id);
    alter table assured_record add column signed_by text;
    alter table assured_record add column terms_signature text;
  `,
}
