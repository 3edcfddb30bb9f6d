/**
 * Rebuilds data/prohibited-jurisdictions.json. OFAC publishes no machine-readable list of jurisdictions, so the source is a reviewed JSON
 * array of rows {code, kind, level, name, aliases, names_alone, towns, small_towns,
 * programme}: the rows of the table itself, edited after a reading of the programme
 * pages (https://ofac.treasury.gov/sanctions-programs-and-country-information).
 *
 *   node scripts/refresh-prohibited-jurisdictions.ts --rows <path or URL> --version "<what changed last>" \
 *     --published 2025-08-26 --retrieved 2026-11-21
 *
 * `published` is the day up to which the programmes are known; a clean answer is refused when it is too long ago.
 */
import { readFile } from 'node:fs/promises'
import { assert, option, printDifference, readSource, rowsOf, tableDates, writeTable } from './support/table.ts'

interface Row {
  code: string
  kind: 'country' | 'region'
  level: 'comprehensive' | 'elevated' | 'needs_review'
  name: string
  aliases: string[]
  names_alone: string[]
  towns: string[]
  small_towns: string[]
  programme: string
}

const PATH = new URL('../data/prohibited-jurisdictions.json', import.meta.url)
const LEVELS = new Set(['comprehensive', 'elevated', 'needs_review'])
/** Prohibited for decades or by order; a source without them is not this list. */
const PRESENT = ['CU', 'IR', 'KP', 'UA-40', 'UA-43']
/** The Syrian programme ended on 2025-07-01 (Executive Order 14312); a source that still has it is older than that. */
const ABSENT = ['SY']

function proveRow(row: Row): void {
  assert(/^[A-Z]{2}(-[A-Z0-9]{1,3})?$/.test(row.code), `"${row.code}" is not a code`)
  assert((row.kind === 'region') === row.code.includes('-'), `${row.code}: kind and code differ`)
  assert(LEVELS.has(row.level), `${row.code}: unknown level`)
  const listed = [row.aliases, row.names_alone, row.towns, row.small_towns].every((names) => Array.isArray(names))
  assert(row.name !== '' && row.programme !== '' && listed, `${row.code}: a field is missing`)
}

const rows = (JSON.parse(new TextDecoder().decode(await readSource(option('rows')))) as Row[]).sort((one, other) =>
  one.code < other.code ? -1 : 1,
)
const before = await rowsOf<Row>(PATH)
rows.forEach(proveRow)
const levels = new Map(rows.map(({ code, level }) => [code, level]))
assert(levels.size === rows.length, 'a code appears twice')
assert(rows.length >= 10 && rows.length <= 60, `${rows.length} rows`)
assert(rows.length >= before.length - 2, `the list shrank from ${before.length} to ${rows.length} rows`)
for (const code of PRESENT) assert(levels.get(code) === 'comprehensive', `${code} should be comprehensive`)
for (const code of ABSENT) assert(!levels.has(code), `${code} should be absent`)
printDifference(before, rows, ({ code }) => code)
await writeTable(
  PATH,
  {
    schema: 'assay/prohibited-jurisdictions/1',
    source: 'US Treasury, OFAC sanctions programmes and country information; 31 CFR chapter V; executive orders',
    source_version: option('version'),
    ...tableDates(option('rows')),
    notes: (JSON.parse(await readFile(PATH, 'utf8')) as { notes: string }).notes,
  },
  rows,
)
