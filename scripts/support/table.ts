import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { checkedDates, type TableDates } from './dates.ts'
import { stop } from './usage.ts'

/** The head that every file in `data/` carries; `rows` follows. */
export interface TableHead extends TableDates {
  schema: string
  source: string
  source_version: string
  notes: string
}

/** Dates of last modification that servers stated for the sources that were fetched. */
const MODIFIED = new Map<string, string>()

/** Date of last modification of a source; null when it is not known. */
function fileDate(place: string): string | null {
  if (/^https?:/.test(place)) return MODIFIED.get(place) ?? null
  const found = statSync(place, { throwIfNoEntry: false })
  return found === undefined ? null : dayOf(found.mtime)
}

/** The bytes of a source, from a path or an http(s) URL. */
export async function readSource(place: string): Promise<Uint8Array> {
  if (!/^https?:/.test(place)) {
    if (fileDate(place) === null) stop(`There is no file ${place}.`)
    return readFile(place)
  }
  const response = await fetch(place)
  if (!response.ok) throw new Error(`the source answered ${response.status}`)
  const modified = new Date(response.headers.get('last-modified') ?? '')
  if (!Number.isNaN(modified.getTime())) MODIFIED.set(place, dayOf(modified))
  return new Uint8Array(await response.arrayBuffer())
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10)
}

/** Value of `--name` on the command line. */
export function option(name: string): string {
  return given(name) ?? stop(`--${name} is missing.`)
}

function given(name: string): string | null {
  const index = process.argv.indexOf(`--${name}`)
  return index < 0 ? null : (process.argv[index + 1] ?? null)
}

/**
 * Dates of the table from --published (or --compiled, for rows that a person compiled) and --retrieved. `source` is the place of the source;
 * `stated` is the publication date that the source itself states, where it states one.
 */
export function tableDates(source: string | null, stated: string | null = null): TableDates {
  const dates = { published: given('published') ?? stated, compiled: given('compiled'), retrieved: option('retrieved') }
  const file_date = stated ?? (source === null ? null : fileDate(source))
  try {
    return checkedDates(dates, { today: dayOf(new Date()), file_date })
  } catch (error) {
    return stop(error instanceof Error ? error.message : String(error))
  }
}

export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message)
}

/** Current rows of the table; none if the file does not exist. */
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

/** Writes the table to a temporary file and renames it, so that readers never see a partial file. */
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
