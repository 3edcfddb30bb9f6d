/**
 * Rebuilds the formats of data/vat-formats.json from the Commission's list "VAT identification number structure" (VIES, frequently asked
 * questions, saved as HTML or text: a line per member state such as `AT-Austria  ATU99999999  1 block of 9 characters`).
 *
 *   node scripts/refresh-vat-formats.ts --list <path or URL> --release 2026-11 --published 2026-11-21 --retrieved 2026-11-21
 *
 * Names, prints and the countries that VIES does not know stay as they are: they are edited by hand. Nothing is written unless every
 * member state of the table is in the list, and each format is one that the rules can read.
 */
import { assert, option, printDifference, readSource, rowsOf, tableDates, writeTable } from './support/table.ts'

interface Row {
  code: string
  name: string
  prefixes: string[]
  eu_member: boolean
  vies: string | null
  formats: string[]
  structure: string
  tax_name: string
  number_name: string
  print: string | null
  suffixes: string[]
}

const PATH = new URL('../data/vat-formats.json', import.meta.url)
const MEMBERS = 27
const FORMAT_CHARS = 13

/** Where the list is known to lag behind the national authorities; said in the table's notes. */
const PATCHES: Readonly<Record<string, (formats: string[]) => string[]>> = {
  // The list shows the first digit, 0 and since 2023 also 1, which is a rule and no format.
  BE: () => ['9999999999'],
  // The list names W and I as second letters; any letter is calculated.
  IE: (formats) => formats.map((format) => format.replace(/WI$/, 'LL')),
  // The list leaves the twelve places open since 2020; all numbers issued keep the older shape.
  NL: (formats) => formats.map((format) => (format === 'SSSSSSSSSSSS' ? '999999999B99' : format)),
  // The list gives the longest form and says "2 to 10 digits"; personal codes have 13.
  RO: () => [2, 3, 4, 5, 6, 7, 8, 9, 10, 13].map((length) => '9'.repeat(length)),
}

/** Formats that must come out as they stand here; a list that says otherwise is not this list. */
const SENTINELS: Readonly<Record<string, string>> = {
  AT: 'U99999999',
  BE: '9999999999',
  DE: '999999999',
  ES: 'X9999999X',
  FR: 'XX999999999',
  NL: '999999999B99',
  SE: '999999999999',
}

/** Plain text of a saved page: notes in superscript dropped, rows of tables on their own lines. */
function textOf(page: string): string {
  return page
    .replace(/<sup[\s\S]*?<\/sup>/gi, '')
    .replace(/<\/(tr|p|li|div)>|<br\s*\/?>/gi, '\n')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&nbsp;/g, ' ')
}

/** The formats by code. Blanks inside a format (DK99 99 99 99) are dropped; a row reaches to the next code. */
function formatsOf(text: string): Map<string, string[]> {
  const formats = new Map<string, string[]>()
  const rows = text.matchAll(/\b([A-Z]{2}) ?- ?[A-Z][a-zA-Z ]+?\s(?=\1)([\s\S]*?)(?=\b[A-Z]{2} ?- ?[A-Z][a-z]|Remarks|$)/g)
  for (const [, code = '', body = ''] of rows) {
    const found = body.matchAll(new RegExp(`\\b${code}((?:[9XSLA-Z0-9]| (?=99))+?)(?=\\s+(?:or|[0-9]+ block|${code})|\\s*$)`, 'g'))
    formats.set(
      code,
      [...found].map(([, format = '']) => format.replaceAll(' ', '')),
    )
  }
  return formats
}

function refreshed(row: Row, listed: ReadonlyMap<string, string[]>): Row {
  if (row.vies === null) return row
  const given = listed.get(row.code)
  // Northern Ireland is listed only in some editions.
  if (given === undefined && !row.eu_member) return row
  assert(given !== undefined && given.length > 0, `${row.code} is not in the list`)
  return { ...row, formats: PATCHES[row.code]?.(given) ?? given }
}

function proveTable(rows: readonly Row[], before: readonly Row[]): void {
  assert(rows.filter((row) => row.eu_member).length === MEMBERS, `there are ${MEMBERS} member states`)
  assert(rows.length >= before.length, `the table shrank from ${before.length} to ${rows.length} rows`)
  assert(new Set(rows.flatMap((row) => row.prefixes)).size === rows.flatMap((row) => row.prefixes).length, 'a prefix appears twice')
  for (const { code, formats } of rows) {
    assert(new Set(formats).size === formats.length, `${code}: a format appears twice`)
    for (const format of formats) assert(/^[0-9A-Z]+$/.test(format) && format.length <= FORMAT_CHARS, `${code}: "${format}" is no format`)
  }
  for (const [code, format] of Object.entries(SENTINELS)) {
    assert(rows.find((row) => row.code === code)?.formats.includes(format) === true, `${code} should have ${format}`)
  }
}

const listed = formatsOf(textOf(new TextDecoder().decode(await readSource(option('list')))))
const before = await rowsOf<Row>(PATH)
const rows = before.map((row) => refreshed(row, listed))
proveTable(rows, before)
printDifference(before, rows, (row) => row.code)
await writeTable(
  PATH,
  {
    schema: 'assay/vat-formats/1',
    source: 'European Commission, VIES: structure of VAT identification numbers by member state; national authorities for CH, GB and NO',
    source_version: option('release'),
    ...tableDates(option('list')),
    notes:
      'Formats in the notation of the list: 9 a digit, L a letter, X a letter or digit, S a letter, digit, + or *. Beyond the list: BE ' +
      'begins with 0 or 1, a second letter A to W for IE, personal codes of 13 digits for RO. print: # for each character of the number.',
  },
  rows,
)
