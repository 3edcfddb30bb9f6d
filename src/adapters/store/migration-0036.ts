import type { Migration } from './database.ts'

/**
 * Bytes, networks and payment of stored tasks and answers, by which they are bounded and deleted. Rows of before have no network and count
 * as unpaid. The indexes cover their sums, so that no body is read for them.
 */
export const STORAGE_SHARES: Migration = {
  number: 36,
  name: 'storage-shares',
  text: (dialect) => `
    alter table a2a_task add column network text not null default 'unknown';
    alter table a2a_task add column provider text not null default 'unknown';
    alter table a2a_task add column paid integer not null default 0;
    alter table a2a_task add column bytes ${dialect.wide_integer} not null default 0;
    update a2a_task set bytes = length(body);
    drop index a2a_task_by_client;
    drop index a2a_task_by_age;
    create index a2a_task_by_client on a2a_task (client, paid, updated_ms, bytes);
    create index a2a_task_by_network on a2a_task (network, paid, updated_ms, bytes);
    create index a2a_task_by_provider on a2a_task (provider, paid, updated_ms, bytes);
    create index a2a_task_by_age on a2a_task (updated_ms, paid, bytes);
    alter table stored_answer add column provider text not null default 'unknown';
    alter table stored_answer add column paid integer not null default 0;
    drop index stored_answer_by_client;
    create index stored_answer_by_client on stored_answer (client, paid, bytes);
    create index stored_answer_by_provider on stored_answer (provider, paid, created_ms, bytes);
  `,
}
