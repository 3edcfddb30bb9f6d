/**
 * Rebuilds `data/aba-ranges.json`: the prefixes that the Routing Number Administrative Policy of the American Bankers Association
 * assigns. The policy is prose and changes once in decades, so its ranges are written below. They are checked against a FedACH
 * participant directory (Federal Reserve Financial Services, fixed-width text, routing number in columns 1-9): a number with an
 * unassigned prefix or a wrong check digit stops the script. node scripts/refresh-aba-ranges.ts --directory <path or URL> --version
 * 2026-11 --published 2026-11-01 --retrieved 2026-11-21
 */
import { assert, option, printDifference, readSource, rowsOf, tableDates, writeTable } from './support/table.ts'

interface Row {
  prefix: string
  class: string
  fed_district: number | null
  fed_city: string | null
}

const PATH = new URL('../data/aba-ranges.json', import.meta.url)
/** The Federal Reserve districts 1 to 12. */
const CITIES = [
  'Boston',
  'New York',
  'Philadelphia',
  'Cleveland',
  'Richmond',
  'Atlanta',
  'Chicago',
  'St. Louis',
  'Minneapolis',
  'Kansas City',
  'Dallas',
  'San Francisco',
]
/** Added to the number of the district. */
const DISTRICT_CLASSES: Readonly<Record<string, number>> = { fed_district: 0, thrift: 20, electronic: 60 }

function prefixRow(prefix: number, named: string, fed_district: number | null): Row {
  const fed_city = fed_district === null ? null : (CITIES[fed_district - 1] ?? null)
  return { prefix: String(prefix).padStart(2, '0'), class: named, fed_district, fed_city }
}

function checkSum(number: string): number {
  return Array.from(number).reduce((sum, digit, index) => sum + Number(digit) * ([3, 7, 1][index % 3] ?? 0), 0)
}

const rows = [
  prefixRow(0, 'us_government', null),
  ...Object.entries(DISTRICT_CLASSES).flatMap(([named, offset]) =>
    CITIES.map((_, index) => prefixRow(index + 1 + offset, named, index + 1)),
  ),
  prefixRow(80, 'travellers_cheque', null),
]
const directory = new TextDecoder('latin1').decode(await readSource(option('directory')))
const numbers = directory.split(/\r?\n/).flatMap((line) => (/^\d{9}/.test(line) ? [line.slice(0, 9)] : []))
assert(numbers.length >= 10_000, `the directory has ${numbers.length} numbers`)
assert(numbers.includes('021000021') && numbers.includes('121000248'), 'the directory lacks banks that every one has')
for (const number of numbers) {
  assert(
    rows.some(({ prefix }) => number.startsWith(prefix)),
    `${number} has a prefix that is not set aside`,
  )
  assert(checkSum(number) % 10 === 0, `${number} has a wrong check digit`)
}
printDifference(await rowsOf<Row>(PATH), rows, (row) => row.prefix)
await writeTable(
  PATH,
  {
    schema: 'assay/aba-ranges/1',
    source: 'American Bankers Association, Routing Number Administrative Policy; Federal Reserve, FedACH participant directory',
    source_version: option('version'),
    ...tableDates(option('directory')),
    notes: `First two digits of routing numbers that are set aside, compared with ${numbers.length} numbers in use.`,
  },
  rows,
)
