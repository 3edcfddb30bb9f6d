import { DatabaseSync } from 'node:sqlite'
import { CREATE_MIGRATION_TABLE, pendingSteps, SQLITE_DIALECT } from './migrations.ts'

/** A table as both databases have it. */
export interface CopiedTable {
  name: string
  columns: string[]
  /** The column that the database counts itself; null where none is. */
  counted: string | null
}

/** Column of the allowance table that only PostgreSQL has: they carry values through a statement and mean nothing between two. */
export const POSTGRES_ONLY: Readonly<Record<string, readonly string[]>> = { allowance: ['allowed', 'granted'] }

/** Tables that opening a store fills, before anything is copied. */
const OWN = new Set(['migration'])

/** All tables of the newest schema, those first that others refer to; read out of an empty store in memory, so that no list has to be kept. */
export function copiedTables(): CopiedTable[] {
  const database = new DatabaseSync(':memory:')
  try {
    database.exec(CREATE_MIGRATION_TABLE)
    for (const step of pendingSteps(0, SQLITE_DIALECT)) database.exec(step)
    const rows = database.prepare("select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name").all()
    const names = rows.map(({ name }) => String(name)).filter((name) => !OWN.has(name))
    const parents = new Map(names.map((name) => [name, parentsOf(database, name)]))
    return inOrder(names, parents).map((name) => tableOf(database, name))
  } finally {
    database.close()
  }
}

function parentsOf(database: DatabaseSync, table: string): string[] {
  const rows = database.prepare('select "table" as parent from pragma_foreign_key_list(?)').all(table)
  return rows.map(({ parent }) => String(parent)).filter((parent) => parent !== table)
}

function inOrder(names: readonly string[], parents: ReadonlyMap<string, string[]>): string[] {
  const done: string[] = []
  const place = (name: string) => {
    if (done.includes(name)) return
    for (const parent of parents.get(name) ?? []) place(parent)
    done.push(name)
  }
  for (const name of names) place(name)
  return done
}

function tableOf(database: DatabaseSync, name: string): CopiedTable {
  const columns = database.prepare('select name, type, pk from pragma_table_info(?) order by cid').all(name)
  const keys = columns.filter(({ pk }) => Number(pk) > 0)
  const [key] = keys
  // What SQLite counts by itself is an integer that is the whole primary key and has no check that fixes it.
  const counted = keys.length === 1 && String(key?.['type']).toLowerCase() === 'integer' && key?.['name'] === 'number'
  return { name, columns: columns.map((column) => String(column['name'])), counted: counted ? 'number' : null }
}

/** A value as both databases give it back: 64-bit integers as bigint. */
export type CopiedValue = bigint | string | null
export type CopiedRow = CopiedValue[]

/** Leases that a running service renews. The leases of purge jobs last for hours and do not show that a service is running. */
export const BY_WHO_SERVES = `name not like 'purge%'`

/** One end of a copy: the database as it lies, around the store's own statements. */
export interface CopyEnd {
  /** Rows of a table in pieces, in no order that means anything. */
  rows(table: CopiedTable): AsyncIterable<CopiedRow[]> | Iterable<CopiedRow[]>
  /** Writes rows; undone by `end(false)`. */
  write(table: CopiedTable, rows: readonly CopiedRow[]): Promise<void> | void
  count(table: CopiedTable): Promise<number>
  /** End of the longest running lease of a service, in milliseconds since 1970; null without one. */
  leased_until(now_ms: number): Promise<number | null>
  /** Closes the transaction in which everything happened, and the connection. */
  end(keep: boolean): Promise<void>
}

/** Rows that are read, and written, at a time. */
export const PIECE_ROWS = 500
