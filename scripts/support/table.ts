import { createHash } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'

/** The head that every file in `data/` carries; `rows` follows. */
export interface TableHead {
  schema: string
  source: string
  source_version: string
  published_at: string
  retrieved_at: string
  notes: string
}

/** The bytes of a source, from a path or an http(s) URL. */
export async function readSource(place: string): Promise<Uint8Array> {
  if (!/^https?:/.test(place)) return readFile(place)
  const response = await fetch(place)
  if (!response.ok) throw new Error(`the source answered ${response.status}`)
  return new Uint8Array(await response.arrayBuffer())
}

/** Value of `--name` on the command line. */
export function option(name: string): string {
  const index = process.argv.indexOf(`--${name}`)
  const value = index < 0 ? undefined : process.argv[index + 1]
  if (value === undefined) throw new Error(`--${name} is missing`)
  return value
}

export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message)
}

/** Rows of the table as it stands, or none when there is no file yet. */
export async function rowsOf<Row>(path: string | URL): Promise<Row[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{"rows":[]}'
    throw error
  })
  return (JSON.parse(text) as { rows: Row[] }).rows
}

/** Prints what appeared, what went and what changed, by key. */
export function printDifference<Row>(before: readonly Row[], after: readonly Row[], key: (row: Row) => string): void {
  const old = new Map(before.map((row) => [key(row), JSON.stringify(row)]))
  for (const row of after) {
    const text = JSON.stringify(row)
    const previous = old.get(key(row))
    old.delete(key(row))
    if (previous === undefined) console.log(`+ ${text}`)
    else if (previous !== text) console.log(`- ${previous}\n+ ${text}`)
  }
  for (const text of old.values()) console.log(`- ${text}`)
}

const LINE_CHARS = 140

/** A flat row in the style of the formatter: on one line where it fits. */
function rowText(row: object): string {
  const cell = (value: unknown) =>
    Array.isArray(value) ? `[${value.map((one) => JSON.stringify(one)).join(', ')}]` : JSON.stringify(value)
  const pairs = Object.entries(row).map(([name, value]) => `${JSON.stringify(name)}: ${cell(value)}`)
  const line = `    { ${pairs.join(', ')} }`
  return line.length < LINE_CHARS ? line : `    {\n${pairs.map((pair) => `      ${pair}`).join(',\n')}\n    }`
}

/** Writes the table beside the file first and then over it, so that a reader never sees half of it. */
export async function writeTable(path: URL, head: TableHead, rows: readonly object[]): Promise<void> {
  const fields = Object.entries({ ...head, count: rows.length }).map(
    ([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)},`,
  )
  const text = ['{', ...fields, '  "rows": [', rows.map(rowText).join(',\n'), '  ]', '}', ''].join('\n')
  const beside = new URL(`${path.href}.new`)
  await writeFile(beside, text)
  await rename(beside, path)
  console.log(`${rows.length} rows, sha256 ${createHash('sha256').update(text).digest('hex')}`)
}
