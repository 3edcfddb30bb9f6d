import { assert, option, printDifference, readSource, rowsOf, tableDates, type TableHead, writeTable } from './table.ts'

type Cells = Record<string, string | null>

/** Definition of a small table that people copy from a publisher's page. */
interface TabTable {
  path: URL
  /** `sources`: lists of single rows, by the name in the rows. */
  head: Pick<TableHead, 'schema' | 'source' | 'notes'> & { sources?: Readonly<Record<string, string>> }
  /** Columns in order, each with the pattern of its cells; an empty cell is null where the pattern takes it. */
  columns: Readonly<Record<string, RegExp>>
  /** Columns that make a row unique. */
  key: readonly string[]
  rows: readonly [min: number, max: number]
  /** Rows, as cells joined by a bar, that must be there. */
  sentinels: readonly string[]
}

/**
 * Rebuilds a table from lines of tab-separated cells, a header line first, as they come out of a publisher's page or sheet:
 * `--source <path or URL> --version <text> --published <date> --retrieved <date>`; --compiled instead of --published where a person compiled the rows. Nothing is written unless every cell fits, no row
 * comes twice, the sentinels are there, and the table did not lose more than a twentieth of its rows.
 */
export async function refreshTabTable({ path, head, columns, key, rows: [min, max], sentinels }: TabTable): Promise<void> {
  const names = Object.keys(columns)
  const lines = new TextDecoder('utf-8', { fatal: true })
    .decode(await readSource(option('source')))
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
  assert(lines[0]?.split('\t').join() === names.join(), `the header is not: ${names.join(', ')}`)
  const rows = lines.slice(1).map((line) => cellsOf(line, columns))
  const keyOf = (row: Cells) => key.map((name) => row[name]).join('|')
  rows.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  const before = await rowsOf<Cells>(path)
  assert(rows.length >= min && rows.length <= max, `${rows.length} rows, not ${min} to ${max}`)
  assert(rows.length >= before.length * 0.95, `the table shrank from ${before.length} to ${rows.length} rows`)
  assert(new Set(rows.map(keyOf)).size === rows.length, 'a row comes twice')
  const joined = new Set(rows.map((row) => names.map((name) => row[name] ?? '').join('|')))
  for (const sentinel of sentinels) assert(joined.has(sentinel), `this row is missing: ${sentinel}`)
  printDifference(before, rows, keyOf)
  const { schema, source, ...words } = head
  const dates = tableDates(option('source'))
  await writeTable(path, { schema, source, source_version: option('version'), ...dates, ...words }, rows)
}

function cellsOf(line: string, columns: Readonly<Record<string, RegExp>>): Cells {
  const cells = line.split('\t').map((cell) => cell.trim())
  const names = Object.keys(columns)
  assert(cells.length === names.length, `not ${names.length} cells: ${line}`)
  return Object.fromEntries(
    names.map((name, column) => {
      const cell = cells[column] ?? ''
      assert(columns[name]?.test(cell) === true, `${name} cannot be "${cell}"`)
      return [name, cell === '' ? null : cell]
    }),
  )
}
