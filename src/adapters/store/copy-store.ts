import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { StoreError, StoreRefusedError, StoreUnavailableError } from './errors.ts'
import { openStore } from './open.ts'
import { BY_WHO_SERVES, type CopiedRow, type CopiedValue, type CopyEnd, copiedTables, type CopiedTable, PIECE_ROWS } from './copy-tables.ts'

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
  if (isUrl(target)) return (await import('./copy-postgres.ts')).postgresEnd(target, use)
  return sqliteEnd(target, use)
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
