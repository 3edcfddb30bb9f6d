/**
 * Rebuilds data/public-suffixes.json from a copy of the Public Suffix List (https://publicsuffix.org/list/public_suffix_list.dat).
 *
 *   node scripts/refresh-public-suffixes.ts --list <path or URL> --version <text> --retrieved 2026-11-21
 *
 * A list that does not state its date (// VERSION: …) needs --published <date> too.
 */
import { PUBLIC_SUFFIXES } from '../src/pure/checks/domains.ts'
import { suffixRows } from '../src/pure/datasets/table-feeds.ts'
import { assert, option, printDifference, readSource, rowsOf, tableDates, writeTable } from './support/table.ts'

const PATH = new URL('../data/public-suffixes.json', import.meta.url)

const text = new TextDecoder('utf-8', { fatal: true }).decode(await readSource(option('list')))
const rows = suffixRows(text)
if (typeof rows === 'string') throw new Error(rows)
const { rows_min, rows_max, present, isRow } = PUBLIC_SUFFIXES.definition
assert(rows.length >= rows_min && rows.length <= rows_max, `${rows.length} rules`)
for (const row of rows) assert(isRow(row), `${row.rule} is not a rule`)
for (const rule of present)
  assert(
    rows.some((row) => row.rule === rule),
    `${rule} should be on the list`,
  )
printDifference(await rowsOf<(typeof rows)[number]>(PATH), rows, ({ rule }) => rule)
await writeTable(
  PATH,
  {
    schema: 'assay/public-suffixes/1',
    source: 'Public Suffix List (https://publicsuffix.org), Mozilla Public License 2.0',
    source_version: option('version'),
    ...tableDates(option('list'), /^\/\/ VERSION: (\d{4}-\d{2}-\d{2})/m.exec(text)?.[1] ?? null),
    notes: 'Rules in ASCII form. icann: registries; private: holders of domains who give names to others.',
  },
  rows,
)
