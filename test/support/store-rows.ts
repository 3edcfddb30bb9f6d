import type { FreshStore } from './store-drivers.ts'

/** Rows for every table of a store, made from what PostgreSQL says of its columns, so that a new table needs no list here. */

export interface Column {
  name: string
  type: 'text' | 'integer' | 'bigint'
  nullable: boolean
  /** The database counts it itself. */
  counted: boolean
}

/** Columns of each table of a migrated PostgreSQL store, without the table of migrations. */
export async function columnsOf({ sql }: FreshStore): Promise<Map<string, Column[]>> {
  const found = await sql(`select table_name, column_name, data_type, is_nullable, is_identity from information_schema.columns
    where table_schema = 'public' and table_name <> 'migration' order by table_name, ordinal_position`)
  const tables = new Map<string, Column[]>()
  for (const row of found) {
    const [table, name, type] = [String(row['table_name']), String(row['column_name']), String(row['data_type'])]
    if (type !== 'text' && type !== 'integer' && type !== 'bigint')
      throw new Error(`${table}.${name} is of type ${type}: give it values here`)
    // They carry values through a statement of PostgreSQL and mean nothing between two.
    if (table === 'allowance' && (name === 'allowed' || name === 'granted')) continue
    const column: Column = { name, type, nullable: row['is_nullable'] === 'YES', counted: row['is_identity'] === 'YES' }
    tables.set(table, [...(tables.get(table) ?? []), column])
  }
  return tables
}

/** Values that a check of the table asks for, for the first, second and third row. */
const CHECKED: Readonly<Record<string, readonly string[]>> = {
  'a2a_task.working': ['0', '1', '0'],
  'assured_record.mark': ["'OPEN'", "'DISPUTED'", "'ADJUDICATED'"],
  'credit.origin': ["'card'", "'invoice'", "'card'"],
  'credit.reserved': ['3', '0', '1'],
  'credit.reversed': ['1', '2', '3'],
  'credit.spent': ['2', '0', '1'],
  'credit.unit': ["'usdc_minor'", "'calls'", "'calls'"],
  'credit_reversal.standing': ["'open'", "'won'", "'lost'"],
  'credit_use.state': ["'claimed'", "'settled'", "'released'"],
  'dataset_active.pinned': ['0', '1', '0'],
  'dispute.payer_signed': ['0', '1', '0'],
  'identity.one': ['1'],
  'invoice_bank_report.direction': ["'CRDT'", "'DBIT'", "'CRDT'"],
  'invoice_other_asset.named_by': ["'nonce'", "'submitted'", "'nonce'"],
  'invoice_payment.matched_by': ["'eip3009'", "'x402'", "'deposit'"],
  // A lease that still runs would keep the store from being copied.
  'lease.until_ms': ['1', '2', '3'],
  'log_head.one': ['1'],
  'webhook_subscription.state': ["'pending'", "'verified'", "'expired'"],
  'webhook_delivery.state': ["'pending'", "'delivered'", "'dead'"],
}

/** The largest value, one that a JavaScript number would round, and a small one. */
const WIDE = ['9223372036854775807', '9007199254740993', '5']
const NARROW = ['2147483647', '1', '2']
const COUNTED = ['1', '7', '900']
/** Everything that quoting, encodings and drivers like to change: quotes, escapes, line ends, four bytes of UTF-8; nothing; a number as text. */
const TEXTS = [`"double" ''single'' \\n %s $1 ?\r\n\tü \u{1f9fe}`, '', '0012.50']

/** Three different rows of a table, or one where no more fit: SQL that both databases understand. */
export function insertRows(table: string, columns: readonly Column[]): string[] {
  const rows = columns.some(({ name }) => name === 'one') ? 1 : 3
  return Array.from({ length: rows }, (_, row) => insertRow(table, columns, row))
}

export function insertRow(table: string, columns: readonly Column[], row: number): string {
  const values = columns.map((column) => valueOf(table, column, row))
  return `insert into ${table} (${columns.map(({ name }) => name).join(', ')}) values (${values.join(', ')})`
}

function valueOf(table: string, { name, type, nullable, counted }: Column, row: number): string {
  const checked = CHECKED[`${table}.${name}`]
  if (checked !== undefined) return checked[row % checked.length] ?? 'null'
  if (counted) return COUNTED[row] ?? 'null'
  if (nullable && row === 1) return 'null'
  // A fourth row and more differ from the three, and stay small.
  if (type === 'text') return `'${TEXTS[row] ?? `text ${row}`}'`
  return (type === 'bigint' ? WIDE : NARROW)[row] ?? String(row + 10)
}

/** Everything that a store holds, each value as text, sorted. */
export async function contentsOf({ sql }: FreshStore, tables: ReadonlyMap<string, Column[]>): Promise<Record<string, string[]>> {
  const contents: Record<string, string[]> = {}
  for (const [table, columns] of tables) {
    const rows = await sql(`select ${columns.map(({ name }) => `cast(${name} as text) as ${name}`).join(', ')} from ${table}`)
    contents[table] = rows.map((row) => JSON.stringify(columns.map(({ name }) => row[name]))).sort()
  }
  return contents
}
