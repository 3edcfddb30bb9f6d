/**
 * Compares the formats of `src/pure/checks/vat/countries.ts` with the Commission's list "VAT identification number structure" (VIES, frequently
 * asked questions, saved as HTML or text: a line per member state such as `AT-Austria  ATU99999999  1 block of 9 characters`).
 *
 *   node scripts/compare-vat-formats.ts --list <path or URL>
 *
 * Prints each country whose formats differ and exits with 1; the rows are edited by hand, with the date `VAT_FORMATS_AS_OF`.
 */
import { VAT_COUNTRY_ROWS } from '../src/pure/checks/vat/countries.ts'
import { assert, option, readSource } from './support/table.ts'

/** Formats of the national authorities where the list is known to be out of date. */
const PATCHES: Readonly<Record<string, (formats: string[]) => string[]>> = {
  // The list shows the first digit, 0 and since 2023 also 1, which the rule of the country tests.
  BE: () => ['9999999999'],
  // The list names W and I as second letters; any letter is valid.
  IE: (formats) => formats.map((format) => format.replace(/WI$/, 'LL')),
  // The list leaves the twelve places open since 2020; all numbers issued keep the older shape.
  NL: (formats) => formats.map((format) => (format === 'SSSSSSSSSSSS' ? '999999999B99' : format)),
  // The list gives the longest form and says "2 to 10 digits"; personal codes have 13.
  RO: () => [2, 3, 4, 5, 6, 7, 8, 9, 10, 13].map((length) => '9'.repeat(length)),
}

/** Plain text of a saved page: notes in superscript dropped, rows of tables on their own lines. */
function plainText(page: string): string {
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

const listed = formatsOf(plainText(new TextDecoder().decode(await readSource(option('list')))))
let differences = 0
for (const [code, { formats, eu_member }] of Object.entries(VAT_COUNTRY_ROWS)) {
  const given = listed.get(code)
  // Northern Ireland is listed only in some editions.
  if (given === undefined && eu_member === false) continue
  assert(given !== undefined, `${code} is not in the list`)
  const expected = PATCHES[code]?.(given) ?? given
  if (expected.toSorted().join() === formats.toSorted().join()) continue
  console.log(`${code}: ${formats.join(', ')} in the table, ${expected.join(', ')} in the list`)
  differences++
}
console.log(differences === 0 ? 'The table has the formats of the list.' : `${differences} countries differ.`)
process.exitCode = differences === 0 ? 0 : 1
