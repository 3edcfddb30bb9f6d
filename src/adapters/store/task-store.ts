import type { TaskBounds, TaskRecord, TaskShare, TaskStore } from '../../ports/tasks.ts'
import { columns, count, count32, flag, key_type, parameter, pick, text_type, type TableColumns } from './columns.ts'
import { assigned, expression, inserted, matched, selected, sql, statement } from './statements.ts'
import { execute, readOne, type Work, DatabaseStore } from './database.ts'

/** Tasks of the A2A protocol in the SQL that both databases share. */

const task_key = columns({ task_id: key_type })
const origin = columns({ client: key_type, network: key_type, provider: key_type })
const content = columns({ revision: count32, working: flag, body: text_type, updated_ms: count, paid: flag })
/** Length of the body, so that sums read an index and no bodies. */
const size = columns({ bytes: count })
const task = { ...task_key, ...origin, ...content }
const share = { tasks: parameter('tasks', count), bytes: parameter('bytes', count) }

const KEEP = statement('keep_task', sql`insert into a2a_task ${inserted({ ...task, ...size })}`)

/** Tasks in a group beyond its number or its bytes, the newest counted first, paid and unpaid ones apart. */
function trimStatement<Group extends TableColumns>(name: string, group: Group) {
  return statement(
    name,
    sql`delete from a2a_task where working = 0 and task_id in (
      select task_id from (
        select task_id, row_number() over newest as place, sum(bytes) over newest as used from a2a_task where ${matched(group)}
        window newest as (partition by paid order by updated_ms desc, task_id rows unbounded preceding)) ranked
      where place > ${share.tasks} or used > ${share.bytes})`,
  )
}

function usedStatement<Group extends TableColumns>(name: string, group: Group) {
  return statement(
    name,
    sql`select ${expression('tasks', count, 'count(*)')}, ${expression('bytes', count, 'coalesce(sum(bytes), 0)')}
      from a2a_task where ${matched(group)} and paid = ${content.paid}`,
  )
}

const network = pick(origin, 'network')
const provider = pick(origin, 'provider')
const TRIM_CLIENT = trimStatement('trim_client_tasks', pick(origin, 'client'))
const TRIM_NETWORK = trimStatement('trim_network_tasks', network)
const TRIM_PROVIDER = trimStatement('trim_provider_tasks', provider)
const NETWORK_USED = usedStatement('network_tasks_used', network)
const PROVIDER_USED = usedStatement('provider_tasks_used', provider)

const FIND = statement('find_task', sql`select ${selected(task)} from a2a_task where ${matched(task_key)}`)

const CHANGE = statement(
  'change_task',
  sql`update a2a_task set ${assigned({ ...content, ...size })} where ${matched(task_key)} and revision = ${content.revision} - 1 returning task_id`,
)

const TOTAL = statement('tasks_total', sql`select ${expression('bytes', count, 'coalesce(sum(bytes), 0)')} from a2a_task`)

const UNPAID = statement(
  'unpaid_tasks_by_provider',
  sql`select ${selected(provider)}, ${expression('bytes', count, 'sum(bytes)')} from a2a_task where paid = 0
    group by provider order by sum(bytes) desc limit ${parameter('limit', count)}`,
)

const TRIM_UNPAID = statement(
  'trim_unpaid_tasks',
  sql`delete from a2a_task where working = 0 and task_id in (
    select task_id from (
      select task_id, sum(bytes) over (order by updated_ms desc, task_id rows unbounded preceding) as used from a2a_task
      where ${matched(provider)} and paid = 0) ranked
    where used > ${share.bytes})`,
)

const PURGE_OLD = statement(
  'purge_old_tasks',
  sql`delete from a2a_task where task_id in
      (select task_id from a2a_task where updated_ms < ${parameter('before_ms', count)}
        or (updated_ms < ${parameter('unpaid_before_ms', count)} and paid = 0 and working = 0) limit ${parameter('limit', count)})
    returning task_id`,
)

const PURGE_MANY = statement(
  'purge_many_tasks',
  sql`delete from a2a_task where task_id in
      (select task_id from a2a_task order by updated_ms desc limit ${parameter('limit', count)} offset ${parameter('most', count)})
    returning task_id`,
)

/** Part of a network's share that stays when it is trimmed, so that the next tasks do not trim it again. */
const TRIMMED_PART = 0.9

export class SqlTaskStore extends DatabaseStore implements TaskStore {
  keep(record: TaskRecord, bounds: TaskBounds): Promise<void> {
    const params = sized(record)
    return this.database.atomically(function* (): Work<void> {
      yield* execute(KEEP, params)
      yield* execute(TRIM_CLIENT, { client: record.client, ...bounds.client })
      if (isBeyond(yield* readOne(NETWORK_USED, record), bounds.network)) {
        yield* execute(TRIM_NETWORK, { network: record.network, ...partOf(bounds.network) })
      }
      if (isBeyond(yield* readOne(PROVIDER_USED, record), bounds.provider)) {
        yield* execute(TRIM_PROVIDER, { provider: record.provider, ...partOf(bounds.provider) })
      }
    })
  }

  find(task_id: string): Promise<TaskRecord | null> {
    return this.database.readFirst(FIND, { task_id })
  }

  change(record: TaskRecord): Promise<boolean> {
    return this.database.execute(CHANGE, sized(record))
  }

  async total_bytes(): Promise<number> {
    return (await this.database.readOne(TOTAL, {})).bytes
  }

  unpaid_bytes(limit: number): Promise<{ provider: string; bytes: number }[]> {
    return this.database.readAll(UNPAID, { limit })
  }

  async trim_provider(name: string, bytes: number): Promise<void> {
    await this.database.execute(TRIM_UNPAID, { provider: name, bytes })
  }

  async purge(before_ms: number, unpaid_before_ms: number, most_of_all: number): Promise<number> {
    const old = await this.database.purge(PURGE_OLD, { before_ms, unpaid_before_ms })
    return old + (await this.database.purge(PURGE_MANY, { most: most_of_all }))
  }
}

function sized(record: TaskRecord): TaskRecord & { bytes: number } {
  return { ...record, bytes: record.body.length }
}

function isBeyond(used: TaskShare, { tasks, bytes }: TaskShare): boolean {
  return used.tasks > tasks || used.bytes > bytes
}

function partOf({ tasks, bytes }: TaskShare): TaskShare {
  return { tasks: Math.floor(tasks * TRIMMED_PART), bytes: Math.floor(bytes * TRIMMED_PART) }
}
