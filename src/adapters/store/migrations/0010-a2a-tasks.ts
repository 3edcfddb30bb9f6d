import type { Migration } from '../migration.ts'

/** Tasks of the agent protocol, for a day. */
export const a2aTasks: Migration = {
  number: 10,
  name: 'a2a-tasks',
  text: (dialect) => `
    create table a2a_task (
      task_id text not null primary key,
      client text not null,
      revision integer not null check (revision > 0),
      working integer not null check (working in (0, 1)),
      body text not null,
      updated_ms ${dialect.wide_integer} not null
    )${dialect.table};
    create index a2a_task_by_client on a2a_task (client, updated_ms);
    create index a2a_task_by_age on a2a_task (updated_ms);
  `,
}
