import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { StoreUnavailableError } from './errors.ts'
import { type CopiedRow, type CopiedValue, type CopyEnd, BY_WHO_SERVES, PIECE_ROWS } from './copy-tables.ts'

/** An SQLite file, in one transaction from the first read to the end. */
export function sqliteEnd(path: string, use: 'read' | 'write'): CopyEnd {
  const database = new DatabaseSync(path, { readOnly: use === 'read', readBigInts: true, enableForeignKeyConstraints: true })
  database.exec(use === 'read' ? 'begin' : 'begin immediate')
  return {
    *rows(table) {
      let piece: CopiedRow[] = []
      for (const row of database.prepare(`select ${table.columns.join(', ')} from ${table.name}`).iterate()) {
        piece.push(table.columns.map((column) => valueOf(row[column])))
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

function valueOf(value: SQLOutputValue | undefined): CopiedValue {
  if (value === null || typeof value === 'bigint' || typeof value === 'string') return value
  throw new StoreUnavailableError('The store holds a value that is neither text nor a whole number.')
}
