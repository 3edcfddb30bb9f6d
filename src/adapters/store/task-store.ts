import type { TaskRecord, TaskStore } from '../../ports/tasks.ts'
import { integer, text } from './rows.ts'
import { assertCounts, assertKeys, assertTexts } from './storable.ts'
import type { Database, Row, Statement, Work } from './work.ts'

const KEEP: Statement = {
  name: 'keep_task',
  text: 'insert into a2a_task (task_id, client, revision, working, body, updated_ms) values (?1, ?2, ?3, ?4, ?5, ?6)',
}

/** SQLite has no limit that means all; nobody comes near this one, since each write forgets what is beyond its own. */
const FORGET_OLDER: Statement = {
  name: 'forget_older_tasks',
  text: `delete from a2a_task where working = 0 and task_id in (
    select task_id from a2a_task where client = ?1 order by updated_ms desc, task_id limit 1000 offset ?2)`,
}

const FIND: Statement = {
  name: 'find_task',
  text: 'select task_id, client, revision, working, body, updated_ms from a2a_task where task_id = ?1',
}

const CHANGE: Statement = {
  name: 'change_task',
  text: `update a2a_task set revision = ?2, working = ?3, body = ?4, updated_ms = ?5
    where task_id = ?1 and revision = ?2 - 1 returning task_id`,
}

const PURGE_OLD: Statement = {
  name: 'purge_old_tasks',
  text: 'delete from a2a_task where task_id in (select task_id from a2a_task where updated_ms < ?1 limit ?2) returning task_id',
}

const PURGE_MANY: Statement = {
  name: 'purge_many_tasks',
  text: `delete from a2a_task where task_id in (
    select task_id from a2a_task order by updated_ms desc limit ?1 offset ?2) returning task_id`,
}

const PURGE_ROWS = 1_000

/** Tasks of the agent protocol in the SQL that both databases share. */
export class SqlTaskStore implements TaskStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async keep(record: TaskRecord, most: number): Promise<void> {
    assertRecord(record)
    const { task_id, client, revision, working, body, updated_ms } = record
    await this.#database.atomically(function* (): Work<void> {
      yield { statement: KEEP, values: [task_id, client, revision, working ? 1 : 0, body, updated_ms] }
      yield { statement: FORGET_OLDER, values: [client, most] }
    })
  }

  async find(task_id: string): Promise<TaskRecord | null> {
    assertKeys({ task_id })
    const [row] = await this.#database.read(FIND, [task_id])
    return row === undefined ? null : recordOf(row)
  }

  async change(record: TaskRecord): Promise<boolean> {
    assertRecord(record)
    const { task_id, revision, working, body, updated_ms } = record
    return (await this.#database.write(CHANGE, [task_id, revision, working ? 1 : 0, body, updated_ms])).length === 1
  }

  async purge(before_ms: number, most: number): Promise<number> {
    const old = await this.#all(PURGE_OLD, [before_ms, PURGE_ROWS])
    return old + (await this.#all(PURGE_MANY, [PURGE_ROWS, most]))
  }

  async #all(statement: Statement, values: number[]): Promise<number> {
    let gone = 0
    for (;;) {
      const rows = await this.#database.write(statement, values)
      gone += rows.length
      if (rows.length < PURGE_ROWS) return gone
    }
  }
}

function assertRecord({ task_id, client, revision, body, updated_ms }: TaskRecord): void {
  assertKeys({ task_id, client })
  assertTexts({ body })
  assertCounts({ revision, updated_ms })
}

function recordOf(row: Row): TaskRecord {
  return {
    task_id: text(row, 'task_id'),
    client: text(row, 'client'),
    revision: integer(row, 'revision'),
    working: integer(row, 'working') === 1,
    body: text(row, 'body'),
    updated_ms: integer(row, 'updated_ms'),
  }
}
