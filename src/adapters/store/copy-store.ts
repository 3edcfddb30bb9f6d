import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import pg from 'pg'
import { StoreError, StoreRefusedError, StoreUnavailableError } from './errors.ts'
import { openStore } from './open.ts'
import { CREATE_MIGRATION_TABLE, pendingSteps, SQLITE_DIALECT } from './migrations.ts'

export interface CopiedCount {
  table: string
  rows: number
}

export interface CopyOptions {
  from: string
  to: string
  now_ms: number
  /** Called after each table. */
  onTable?(count: CopiedCount): void
}

/**
 * Copies a store into an empty one of either kind, all of it or nothing: the target is written in one transaction, which is kept only when
 * every table has the same rows on both sides, counted and hashed. The source is read in one transaction; all that is ever written to it is
 * the schema of this release. Rejects with a StoreFault; STORE_REFUSED says in one sentence why nothing was copied.
 */
export async function copyStore(options: CopyOptions): Promise<CopiedCount[]> {
  const { from, to } = options
  if (from === to) throw new StoreRefusedError('Source and target are the same store.')
  // Opening would make a file of a mistyped name.
  if (!isUrl(from) && !existsSync(from)) throw new StoreRefusedError('There is no file of the name of the source.')
  // Opening brings both schemas to the newest version, so that their tables are alike.
  for (const target of [from, to]) await (await openStore(target)).close()
  return copyBetween(options).catch((error: unknown) => {
    throw error instanceof StoreError ? error : outage(error)
  })
}

async function copyBetween({ from, to, now_ms, onTable }: CopyOptions): Promise<CopiedCount[]> {
  const source = await endOf(from, 'read')
  try {
    const until_ms = await source.leased_until(now_ms)
    if (until_ms !== null) {
      // A service that was killed gave nothing back, and a backup holds the leases of its moment.
      const until = new Date(until_ms).toISOString()
      throw new StoreRefusedError(
        `A service still works on the source: stop it. If it died, or this is a backup, its last lease runs out at ${until}; try again then.`,
      )
    }
    const identity = copiedTables().find(({ name }) => name === 'identity')
    if (identity !== undefined && (await source.count(identity)) === 0) {
      throw new StoreRefusedError('The source belongs to no deployment: no service has used it yet. Check its name.')
    }
    return await intoEmpty(source, await endOf(to, 'write'), onTable)
  } finally {
    await source.end(false)
  }
}

async function intoEmpty(source: CopyEnd, target: CopyEnd, onTable?: CopyOptions['onTable']): Promise<CopiedCount[]> {
  let keep = false
  try {
    const tables = copiedTables()
    for (const table of tables) {
      if ((await target.count(table)) > 0) throw new StoreRefusedError(`The target is not empty: its table ${table.name} has rows.`)
    }
    const counts: CopiedCount[] = []
    for (const table of tables) {
      const rows = await copyTable(source, target, table)
      counts.push({ table: table.name, rows })
      onTable?.({ table: table.name, rows })
    }
    keep = true
    return counts
  } finally {
    await target.end(keep)
  }
}

/** Reads everything back before it counts as copied. */
async function copyTable(source: CopyEnd, target: CopyEnd, table: CopiedTable): Promise<number> {
  const sent = new RowSum()
  for await (const rows of source.rows(table)) {
    sent.add(rows)
    await target.write(table, rows)
  }
  const arrived = new RowSum()
  for await (const rows of target.rows(table)) arrived.add(rows)
  if (!sent.equals(arrived)) throw new StoreRefusedError(`The rows of table ${table.name} differ after copying; nothing was kept.`)
  return sent.rows
}

const MODULUS = 2n ** 256n

/** Number of rows and the sum of their hashes; equal for equal rows in any order. */
class RowSum {
  rows = 0
  #sum = 0n

  add(rows: readonly CopiedRow[]): void {
    this.rows += rows.length
    for (const row of rows) {
      // A text of digits and the number count as equal, because the two drivers return different types for them.
      const text = JSON.stringify(row.map((value) => (value === null ? null : String(value))))
      this.#sum = (this.#sum + BigInt(`0x${createHash('sha256').update(text).digest('hex')}`)) % MODULUS
    }
  }

  equals(other: RowSum): boolean {
    return this.rows === other.rows && this.#sum === other.#sum
  }
}

/** Error with the code of a driver error, without its message, which may contain a row. */
function outage(error: unknown): StoreUnavailableError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'no code'
  return new StoreUnavailableError(`A store could not be read or written (${code}); nothing was kept.`, error)
}

const isUrl = (target: string) => /^[a-z][a-z0-9+.-]+:/i.test(target)

async function endOf(target: string, use: 'read' | 'write'): Promise<CopyEnd> {
  return isUrl(target) ? postgresEnd(target, use) : sqliteEnd(target, use)
}

/** An SQLite file, in one transaction from the first read to the end. */
function sqliteEnd(path: string, use: 'read' | 'write'): CopyEnd {
  const database = new DatabaseSync(path, { readOnly: use === 'read', readBigInts: true, enableForeignKeyConstraints: true })
  database.exec(use === 'read' ? 'begin' : 'begin immediate')
  return {
    *rows(table) {
      let piece: CopiedRow[] = []
      for (const row of database.prepare(`select ${table.columns.join(', ')} from ${table.name}`).iterate()) {
        piece.push(table.columns.map((column) => copiedValue(row[column])))
        if (piece.length === PIECE_ROWS) {
          yield piece
          piece = []
        }
      }
      if (piece.length > 0) yield piece
    },
    write(table, rows) {
      const places = table.columns.map(() => '?').join(', ')
      const statement = database.prepare(`insert into ${table.name} (${table.columns.join(', ')}) values (${places})`)
      for (const row of rows) statement.run(...row)
    },
    count: (table) => Promise.resolve(numberOf(database, `select count(*) as number from ${table.name}`)),
    leased_until: async (now_ms) => {
      const row = database.prepare(`select max(until_ms) as until from lease where until_ms > ? and ${BY_WHO_SERVES}`).get(now_ms)
      return row?.['until'] === null ? null : Number(row?.['until'])
    },
    end: async (keep) => {
      database.exec(keep && use === 'write' ? 'commit' : 'rollback')
      database.close()
    },
  }
}

function numberOf(database: DatabaseSync, sql: string): number {
  return Number(database.prepare(sql).get()?.['number'])
}

function copiedValue(value: SQLOutputValue | undefined): CopiedValue {
  if (value === null || typeof value === 'bigint' || typeof value === 'string') return value
  throw new StoreUnavailableError('The store holds a value that is neither text nor a whole number.')
}

/** A PostgreSQL database, in one transaction from the first read to the end, which sees everything as of its beginning. */
async function postgresEnd(url: string, use: 'read' | 'write'): Promise<CopyEnd> {
  const client = new pg.Client({ connectionString: url, application_name: 'assay migrate-store' })
  // A lost connection fails the current statement; as an event it would end the process.
  client.on('error', () => undefined)
  await client.connect()
  await client.query(`begin isolation level repeatable read ${use === 'read' ? 'read only' : 'read write'}`)
  const number = async (text: string, values: unknown[] = []) => {
    const { rows } = await client.query<{ number: string | null }>(text, values)
    const found = rows[0]?.number ?? null
    return found === null ? null : Number(found)
  }
  return {
    async *rows(table) {
      await client.query(`declare copied no scroll cursor for select ${table.columns.join(', ')} from ${table.name}`)
      for (;;) {
        const { rows } = await client.query<Record<string, unknown>>(`fetch ${PIECE_ROWS} from copied`)
        if (rows.length === 0) break
        yield rows.map((row) => table.columns.map((column) => valueOf(row[column])))
      }
      await client.query('close copied')
    },
    write: (table, rows) => write(client, table, rows),
    count: async (table) => (await number(`select count(*) as number from ${table.name}`)) ?? 0,
    leased_until: (now_ms) => number(`select max(until_ms) as number from lease where until_ms > $1 and ${BY_WHO_SERVES}`, [now_ms]),
    end: async (keep) => {
      await client.query(keep && use === 'write' ? 'commit' : 'rollback')
      await client.end()
    },
  }
}

async function write(client: pg.Client, { name, columns, counted }: CopiedTable, rows: readonly CopiedRow[]): Promise<void> {
  if (rows.length === 0) return
  const empty = POSTGRES_ONLY[name] ?? []
  const places = rows.map((_, row) => {
    const own = columns.map((_column, at) => `$${row * columns.length + at + 1}`)
    return `(${[...own, ...empty.map(() => '0')].join(', ')})`
  })
  const all = [...columns, ...empty].join(', ')
  const values = rows.flat().map((value) => (typeof value === 'bigint' ? value.toString() : value))
  // Columns that the database numbers itself keep their numbers.
  await client.query(
    `insert into ${name} (${all}) ${counted === null ? '' : 'overriding system value '}values ${places.join(', ')}`,
    values,
  )
  if (counted !== null) {
    await client.query(`select setval(pg_get_serial_sequence('${name}', '${counted}'), (select max(${counted}) from ${name}))`)
  }
}

/** The driver gives 64-bit integers as text and 32-bit ones as numbers; the column type decides elsewhere, so both become bigint by their type here. */
function valueOf(value: unknown): bigint | string | null {
  if (value === null || typeof value === 'string' || typeof value === 'bigint') return value
  if (typeof value === 'number') return BigInt(value)
  throw new TypeError('a column has a type that no store has')
}

/** A table as both databases have it. */
interface CopiedTable {
  name: string
  columns: string[]
  /** The column that the database counts itself; null where none is. */
  counted: string | null
}

/** Column of the allowance table that only PostgreSQL has: they carry values through a statement and mean nothing between two. */
const POSTGRES_ONLY: Readonly<Record<string, readonly string[]>> = { allowance: ['allowed', 'granted'] }

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
  // SQLite numbers an integer column itself if it is the whole primary key and no check fixes its value.
  const counted = keys.length === 1 && String(key?.['type']).toLowerCase() === 'integer' && key?.['name'] === 'number'
  return { name, columns: columns.map((column) => String(column['name'])), counted: counted ? 'number' : null }
}

/** A value as both databases give it back: 64-bit integers as bigint. */
type CopiedValue = bigint | string | null
type CopiedRow = CopiedValue[]

/** Leases that a running service renews. The leases of purge jobs last for hours and do not show that a service is running. */
const BY_WHO_SERVES = `name not like 'purge%'`

/** One end of a copy: the database as it lies, around the store's own statements. */
interface CopyEnd {
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
const PIECE_ROWS = 500
