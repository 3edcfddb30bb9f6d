/**
 * Rebuilds `data/gs1-prefixes.json` from the page of GS1 "GS1 Company Prefix" (HTML; a table of prefix ranges with the member organisation
 * or the purpose).
 *
 *   node scripts/refresh-gs1-prefixes.ts --page <path or URL> --version 2026-11 --published 2026-11-01 --retrieved 2026-11-21
 */
import { htmlRows } from './support/html-table.ts'
import { assert, option, printDifference, readSource, rowsOf, tableDates, writeTable } from './support/table.ts'

interface Row {
  first: string
  last: string
  kind: string
  organisation: string
}

const PATH = new URL('../data/gs1-prefixes.json', import.meta.url)
const RANGE = /^(\d{2,7})(?:\s*-\s*(\d{2,7}))?$/
/** The purpose by the words of the page; a range that none of these fits belongs to a member organisation. */
const KINDS: readonly (readonly [RegExp, string])[] = [
  [/restricted/i, 'restricted'],
  [/coupon/i, 'coupon'],
  [/refund/i, 'refund'],
  [/ISSN/, 'issn'],
  [/ISBN|Bookland/, 'isbn'],
  [/demonstration|example/i, 'demonstration'],
  [/future|unused/i, 'reserved'],
  [/Global Office/i, 'global_office'],
]
const SENTINELS: Readonly<Record<string, string>> = {
  '000': 'member',
  '0000000': 'restricted',
  '0000001': 'reserved',
  '020': 'restricted',
  '040': 'restricted',
  '050': 'reserved',
  '200': 'restricted',
  '400': 'member',
  '690': 'member',
  '977': 'issn',
  '978': 'isbn',
  '979': 'isbn',
  '981': 'coupon',
  '990': 'coupon',
}

function readRows(page: string): Row[] {
  const rows = htmlRows(page).flatMap(([ranges = '', organisation = '']) =>
    ranges.split(/\s*[&,]\s*/).flatMap((text) => {
      const [, first, last = first] = RANGE.exec(text) ?? []
      if (first === undefined || last === undefined || first.length !== last.length) return []
      const kind = KINDS.find(([words]) => words.test(organisation))?.[1] ?? 'member'
      // 99 is 990-999. 0001-0009 and 00001-00009 are what the prefixes of seven digits, which go before it, leave of 000.
      const whole = first.length === 7
      return [
        {
          first: whole ? first : first.padEnd(3, '0').slice(0, 3),
          last: whole ? last : last.padEnd(3, '9').slice(0, 3),
          kind,
          organisation,
        },
      ]
    }),
  )
  const distinct = new Map(rows.map((row) => [row.first, row]))
  return [...distinct.values()].sort((one, other) => (one.first < other.first ? -1 : 1))
}

const rows = readRows(new TextDecoder().decode(await readSource(option('page'))))
const before = await rowsOf<Row>(PATH)
assert(rows.length >= 110 && rows.length <= 200, `${rows.length} ranges`)
assert(rows.length >= before.length - 5, `the list shrank from ${before.length} to ${rows.length} ranges`)
for (const digits of [3, 7]) {
  const long = rows.filter(({ first }) => first.length === digits)
  for (const [index, { first, last }] of long.entries()) {
    assert(first <= last, `${first} lies behind ${last}`)
    assert(index === 0 || (long[index - 1]?.last ?? '') < first, `${first} lies in two ranges`)
  }
}
for (const [prefix, kind] of Object.entries(SENTINELS)) {
  const range = rows.find(({ first, last }) => first.length === prefix.length && first <= prefix && prefix <= last)
  assert(range?.kind === kind, `${prefix} should be ${kind}`)
}
printDifference(before, rows, (row) => row.first)
await writeTable(
  PATH,
  {
    schema: 'assay/gs1-prefixes/1',
    source: 'GS1, GS1 Company Prefix (list of GS1 prefixes)',
    source_version: option('version'),
    ...tableDates(option('page')),
    notes: 'The organisation that gives out numbers, or what a range is for. It does not show where an article was made.',
  },
  rows,
)
