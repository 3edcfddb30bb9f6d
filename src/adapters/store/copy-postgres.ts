import pg from 'pg'
import { type CopiedRow, type CopyEnd, BY_WHO_SERVES, PIECE_ROWS, POSTGRES_ONLY, type CopiedTable } from './copy-tables.ts'

/** A PostgreSQL database, in one transaction from the first read to the end, which sees everything as of its beginning. */
export async function postgresEnd(url: string, use: 'read' | 'write'): Promise<CopyEnd> {
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
  // What the database counts itself keeps the numbers that it has.
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
