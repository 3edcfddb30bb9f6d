/**
 * Rebuilds `data/ein-prefixes.json` from the page of the IRS "How EINs are assigned and valid EIN prefixes" (HTML; a table of campuses
 * with their prefixes).
 *
 *   node scripts/refresh-ein-prefixes.ts --page <path or URL> --version 2025-08 --published 2025-08-21 --retrieved 2026-11-21
 */
import { htmlRows } from './support/html-table.ts'
import { assert, option, printDifference, readSource, rowsOf, tableDates, writeTable } from './support/table.ts'

interface Row {
  prefix: string
  /** In the order of the page. */
  campuses: string[]
}

const PATH = new URL('../data/ein-prefixes.json', import.meta.url)
/** Prefixes that have belonged to these since the list is kept. */
const SENTINELS: Readonly<Record<string, string>> = {
  '10': 'Andover',
  '20': 'Internet',
  '31': 'Small Business Administration',
  '94': 'Memphis',
}
/** Never assigned; a page on which one of these appears is to be read by a person first. */
const UNASSIGNED = ['00', '07', '08', '09', '17', '18', '19', '28', '29', '49', '69', '70', '78', '79', '89', '96', '97']

function readRows(page: string): Row[] {
  const campuses = new Map<string, string[]>()
  for (const [name = '', list = ''] of htmlRows(page)) {
    if (!/^\d{2}(\s*,\s*\d{2})*$/.test(list)) continue
    for (const prefix of list.split(/\s*,\s*/)) campuses.set(prefix, [...(campuses.get(prefix) ?? []), name.replace(/ \(SBA\)$/, '')])
  }
  return [...campuses].map(([prefix, names]) => ({ prefix, campuses: names })).sort((one, other) => (one.prefix < other.prefix ? -1 : 1))
}

const rows = readRows(new TextDecoder().decode(await readSource(option('page'))))
const before = await rowsOf<Row>(PATH)
assert(rows.length >= 75 && rows.length <= 100, `${rows.length} prefixes`)
assert(rows.length >= before.length - 3, `the list shrank from ${before.length} to ${rows.length} prefixes`)
for (const [prefix, campus] of Object.entries(SENTINELS)) {
  assert(
    rows.some((row) => row.prefix === prefix && row.campuses.includes(campus)),
    `${prefix} should belong to ${campus}`,
  )
}
for (const { prefix } of rows) assert(!UNASSIGNED.includes(prefix), `${prefix} was unassigned so far; check the page and this list`)
printDifference(before, rows, (row) => row.prefix)
await writeTable(
  PATH,
  {
    schema: 'assay/ein-prefixes/1',
    source: 'IRS, How EINs are assigned and valid EIN prefixes',
    source_version: option('version'),
    ...tableDates(option('page')),
    notes:
      'Which campus or service may assign numbers with a prefix; several share some. Before 2001 the prefix showed where the business was. Copies of the page of different dates put 81-88, 92, 93, 98 and 99 under Internet, Philadelphia or both.',
  },
  rows,
)
