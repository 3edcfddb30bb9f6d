import type { CallCount, CallCountStore } from '../../ports/call-counts.ts'
import { columns, count, count32, key_type, parameter } from './columns.ts'
import { type Database, execute, type Work } from './database.ts'
import { inserted, selected, sql, statement } from './statements.ts'

/** Daily counts of calls in the SQL that both databases share. */

const call_count = columns({ day: count32, tool: key_type, outcome: key_type, calls: count })

const ADD = statement(
  'add_call_count',
  sql`insert into call_count ${inserted(call_count)}
    on conflict (day, tool, outcome) do update set calls = call_count.calls + excluded.calls`,
)

const SINCE = statement(
  'call_counts_since',
  sql`select ${selected(call_count)} from call_count where day >= ${parameter('from_day', count32)} order by day, tool, outcome`,
)

const PURGE = statement(
  'purge_call_counts',
  sql`delete from call_count where (day, tool, outcome) in
      (select day, tool, outcome from call_count where day < ${parameter('before_day', count32)} limit ${parameter('limit', count)})
    returning day`,
)

export class SqlCallCountStore implements CallCountStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  add(counts: readonly CallCount[]): Promise<void> {
    // One order for all processes, so that two transactions never wait for each other.
    const ordered = counts.toSorted((one, other) => (rowKey(one) < rowKey(other) ? -1 : 1))
    return this.#database.atomically(function* (): Work<void> {
      for (const one of ordered) yield* execute(ADD, one)
    })
  }

  since(from_day: number): Promise<CallCount[]> {
    return this.#database.readAll(SINCE, { from_day })
  }

  purge(before_day: number): Promise<number> {
    return this.#database.purge(PURGE, { before_day })
  }
}

function rowKey({ day, tool, outcome }: CallCount): string {
  return `${day} ${tool} ${outcome}`
}
