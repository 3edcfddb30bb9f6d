/**
 * Brings data/uk-company-prefixes.json up to date with Companies House's free company data product (BasicCompanyDataAsOneFile, a CSV
 * file of several gigabytes, unzipped): which prefixes occur, and which of them with letters at the end.
 *
 *   node scripts/refresh-uk-company-prefixes.ts --bulk <path> --release "census of December 2026" \
 *     --published 2026-12-01 --retrieved 2026-12-03
 *
 * Registers and descriptions stay as they are: they are edited by hand from the registrar's guide. A prefix in the file that the table
 * does not name stops the run, as does a file that is too small or lacks a prefix that every month has.
 */
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { assert, option, printDifference, rowsOf, tableDates, writeTable } from './support/table.ts'

interface Row {
  prefix: string
  register: string
  family: string
  description: string
  companies_act: boolean
  trailing_letters: boolean
  in_bulk_file: boolean
}

const PATH = new URL('../data/uk-company-prefixes.json', import.meta.url)
const LEAST_COMPANIES = 5_000_000
const SENTINELS = ['', 'SC', 'NI', 'OC', 'LP', 'SL', 'R', 'FC', 'CE']
/** The number is the second column; the name before it may be quoted. */
const NUMBER = /^(?:"(?:[^"]|"")*"|[^,"]*),"?([^",]*)"?,/
const SHAPE = /^([A-Z]{2}|R(?=[0-9])|)[0-9]{3,8}([A-Z]{0,3})$/

interface Seen {
  count: number
  with_letters: number
}

async function census(path: string): Promise<Map<string, Seen>> {
  const seen = new Map<string, Seen>()
  let heading = true
  for await (const line of createInterface({ input: createReadStream(path) })) {
    if (heading) {
      assert(/^"?CompanyName"?, ?"?CompanyNumber"?/.test(line), 'the first columns are not name and number')
      heading = false
      continue
    }
    const number = NUMBER.exec(line)?.[1]?.trim() ?? ''
    const shape = number.length === 8 ? SHAPE.exec(number) : null
    assert(shape !== null, `"${number}" has a shape that the check does not know`)
    const [, prefix = '', letters = ''] = shape
    const before = seen.get(prefix) ?? { count: 0, with_letters: 0 }
    seen.set(prefix, { count: before.count + 1, with_letters: before.with_letters + (letters === '' ? 0 : 1) })
  }
  return seen
}

const seen = await census(option('bulk'))
const companies = [...seen.values()].reduce((sum, { count }) => sum + count, 0)
assert(companies >= LEAST_COMPANIES, `only ${companies} companies: the file is not whole`)
for (const prefix of SENTINELS) assert(seen.has(prefix), `no number has the prefix "${prefix}"`)

const before = await rowsOf<Row>(PATH)
const known = new Set(before.map(({ prefix }) => prefix))
for (const [prefix, { count }] of seen)
  assert(known.has(prefix), `${count} numbers have the prefix "${prefix}", which the table does not name`)

const rows = before.map((row) => ({
  ...row,
  trailing_letters: row.trailing_letters || (seen.get(row.prefix)?.with_letters ?? 0) > 0,
  in_bulk_file: seen.has(row.prefix),
}))
const gone = before.filter((row, index) => row.in_bulk_file && rows[index]?.in_bulk_file === false)
assert(gone.length <= 3, `${gone.length} prefixes went out of the file`)
printDifference(before, rows, (row) => row.prefix)
await writeTable(
  PATH,
  {
    schema: 'assay/uk-company-prefixes/1',
    source: 'Companies House: Uniform Resource Identifiers customer guide, api-enumerations, and a census of the free company data product',
    source_version: `${option('release')}, ${companies.toLocaleString('en-GB')} companies`,
    ...tableDates(option('bulk')),
    notes:
      'Registers and descriptions from the publisher’s lists; in_bulk_file says whether the monthly file holds such numbers (it lacks ' +
      'dissolved companies and UK establishments). trailing_letters: numbers that end in letters occur. companies_act: companies formed ' +
      'and registered under the Companies Acts or their forerunners.',
  },
  rows,
)
