/**
 * Rebuilds `data/isin-prefixes.json`, the ISIN prefixes beyond ISO 3166, from the list of prefixes of the Association of National Numbering
 * Agencies (HTML; a table of prefixes with country or agency). To be read again each year: agencies get new prefixes.
 *
 *   node scripts/refresh-isin-prefixes.ts --page <path or URL> --version 2026 --published 2026-11-01 --retrieved 2026-11-21
 */
import { COUNTRIES } from '../src/pure/checks/countries.ts'
import { htmlRows } from './support/html-table.ts'
import { assert, option, printDifference, readSource, rowsOf, tableDates, writeTable } from './support/table.ts'

interface Row {
  prefix: string
  kind: string
  name: string
}

const PATH = new URL('../data/isin-prefixes.json', import.meta.url)
/** The page does not say what a prefix is for; a new one stops the script until it is classified here. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  agency: ['EU', 'EZ', 'XA', 'XB', 'XC', 'XD', 'XS', 'XT'],
  internal: ['QS', 'QT', 'QW', 'XF'],
  historical: ['AN', 'CS', 'SU', 'YU'],
}
/** Prefixes without which the page is not the list. */
const SENTINELS = ['EU', 'EZ', 'XS', 'XT']

function kindOf(prefix: string): string {
  const kind = Object.entries(KINDS).find(([, prefixes]) => prefixes.includes(prefix))?.[0]
  assert(kind !== undefined, `${prefix} is new: say in this script what it is`)
  return kind
}

const read = htmlRows(new TextDecoder().decode(await readSource(option('page')))).flatMap(([prefix = '', name = '']): Row[] =>
  !/^[A-Z]{2}$/.test(prefix) || COUNTRIES.has(prefix) ? [] : [{ prefix, kind: kindOf(prefix), name }],
)
const before = await rowsOf<Row>(PATH)
// The page drops countries that are gone, but their numbers stay in use.
const kept = before.filter(({ prefix, kind }) => kind === 'historical' && !read.some((row) => row.prefix === prefix))
const rows = [...read, ...kept].sort((one, other) => (one.prefix < other.prefix ? -1 : 1))
assert(rows.length >= 12 && rows.length <= 40, `${rows.length} prefixes`)
assert(rows.length >= before.length - 1, `the list shrank from ${before.length} to ${rows.length} prefixes`)
assert(new Set(rows.map(({ prefix }) => prefix)).size === rows.length, 'a prefix appears twice')
for (const prefix of SENTINELS) {
  assert(
    rows.some((row) => row.prefix === prefix),
    `${prefix} is missing`,
  )
}
printDifference(before, rows, (row) => row.prefix)
await writeTable(
  PATH,
  {
    schema: 'assay/isin-prefixes/1',
    source: 'Association of National Numbering Agencies (ANNA), ISIN prefixes; ISO 6166:2021',
    source_version: option('version'),
    ...tableDates(option('page')),
    notes:
      'Prefixes that are not ISO 3166 alpha-2 codes. agency: given out by a numbering agency. internal: for use inside one house. historical: of a country that is gone; old numbers stay in use.',
  },
  rows,
)
