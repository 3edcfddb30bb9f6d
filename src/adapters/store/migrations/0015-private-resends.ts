import type { Migration } from '../migration.ts'

/**
 * Columns that decide who may fetch a paid answer again: keyed hashes of the client network and of the payment-identifier id of the first
 * request, both null in rows that are older. A2A tasks were stored unencrypted until here and live a day; they are deleted.
 */
export const privateResends: Migration = {
  number: 15,
  name: 'private-resends',
  text: () => `
    alter table payment add column network_hash text;
    alter table payment add column identifier_hash text;
    create index payment_network on payment (created_ms) where network_hash is not null;
    delete from a2a_task;
  `,
}
