import type { TaskRecord, TaskStore } from '../../ports/tasks.ts'
import { columns, count, count32, flag, key_type, parameter, text_type } from './columns.ts'
import { assigned, inserted, matched, selected, sql, statement } from './statements.ts'
import { execute, type Work, DatabaseStore } from './database.ts'

/** Tasks of the A2A protocol in the SQL that both databases share. */

const task_key = columns({ task_id: key_type })
const client = columns({ client: key_type })
const content = columns({ revision: count32, working: flag, body: text_type, updated_ms: count })
const task = { ...task_key, ...client, ...content }
const limit = parameter('limit', count)
const most = parameter('most', count)

const KEEP = statement('keep_task', sql`insert into a2a_task ${inserted(task)}`)

/** SQLite has no limit without a number; 1000 is never reached, because each write deletes what exceeds its bound. */
const FORGET_OLDER = statement(
  'forget_older_tasks',
  sql`delete from a2a_task where working = 0 and task_id in (
    select task_id from a2a_task where ${matched(client)} order by updated_ms desc, task_id limit 1000 offset ${most})`,
)

const FIND = statement('find_task', sql`select ${selected(task)} from a2a_task where ${matched(task_key)}`)

const CHANGE = statement(
  'change_task',
  sql`update a2a_task set ${assigned(content)} where ${matched(task_key)} and revision = ${content.revision} - 1 returning task_id`,
)

const PURGE_OLD = statement(
  'purge_old_tasks',
  sql`delete from a2a_task where task_id in
      (select task_id from a2a_task where updated_ms < ${parameter('before_ms', count)} limit ${limit})
    returning task_id`,
)

const PURGE_MANY = statement(
  'purge_many_tasks',
  sql`delete from a2a_task where task_id in
      (select task_id from a2a_task order by updated_ms desc limit ${limit} offset ${most})
    returning task_id`,
)

export class SqlTaskStore extends DatabaseStore implements TaskStore {
  keep(record: TaskRecord, most_of_client: number): Promise<void> {
    return this.database.atomically(function* (): Work<void> {
      yield* execute(KEEP, record)
      yield* execute(FORGET_OLDER, { client: record.client, most: most_of_client })
    })
  }

  find(task_id: string): Promise<TaskRecord | null> {
    return this.database.readFirst(FIND, { task_id })
  }

  change(record: TaskRecord): Promise<boolean> {
    return this.database.execute(CHANGE, record)
  }

  async purge(before_ms: number, most_of_all: number): Promise<number> {
    const old = await this.database.purge(PURGE_OLD, { before_ms })
    return old + (await this.database.purge(PURGE_MANY, { most: most_of_all }))
  }
}
