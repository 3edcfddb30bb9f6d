/**
 * Rebuilds data/country-names.json: names of all countries in the languages of the European Union, of their neighbours and of large countries, folded as
 * addresses are compared. The source is the CLDR of the Node.js that runs this script.
 *
 *   node scripts/refresh-country-names.ts --published 2025-10 --retrieved 2026-11-28
 */
import { COUNTRIES } from '../src/pure/checks/countries.ts'
import { countryByName, foldName, stateCountryAtEnd } from '../src/pure/checks/place-names.ts'
import { worldTowns } from '../src/pure/checks/prohibited-places.ts'
import { assert, printDifference, rowsOf, tableDates, writeTable } from './support/table.ts'

interface Row {
  code: string
  names: string[]
}

const PATH = new URL('../data/country-names.json', import.meta.url)
const LANGUAGES =
  'bg cs da de el es et fi fr ga hr hu it lt lv mt nl pl pt ro sk sl sv nb is sq sr mk bs tr ru uk be ka hy az kk zh zh-Hant ja ko vi th id ms hi ur ar fa he ca eu gl'
/** Shortest names that are used, in letters of Latin script and of others: shorter ones are other words. */
const LATIN_LEAST = 4
const OTHER_LEAST = 2

const codes = new Map<string, Set<string>>()
for (const language of LANGUAGES.split(' ')) {
  const names = new Intl.DisplayNames([language], { type: 'region' })
  for (const code of COUNTRIES.keys()) {
    const name = foldName(names.of(code) ?? '')
    if (name !== '' && name !== code.toLowerCase()) codes.set(name, (codes.get(name) ?? new Set()).add(code))
  }
}
const of_country = new Map<string, string[]>()
for (const [name, countries] of codes) {
  const [code = ''] = countries
  const town = worldTowns().get(name)
  const long = name.length >= (/^[a-z ]+$/.test(name) ? LATIN_LEAST : OTHER_LEAST)
  // A name of two countries, of a state of the US, or of a large town in another country proves nothing.
  if (countries.size > 1 || !long || stateCountryAtEnd(name) !== null || (town !== undefined && town !== code)) continue
  if (countryByName(name) === null) of_country.set(code, [...(of_country.get(code) ?? []), name].sort())
}
const rows: Row[] = [...of_country].map(([code, names]) => ({ code, names })).sort((one, other) => (one.code < other.code ? -1 : 1))
assert(rows.length > 240, `only ${rows.length} countries`)
assert(
  of_country.get('DE')?.includes('deutschland') === true && of_country.get('CN')?.includes('中国') === true,
  'Deutschland or 中国 is missing',
)
printDifference(await rowsOf<Row>(PATH), rows, ({ code }) => code)
await writeTable(
  PATH,
  {
    schema: 'assay/country-names/1',
    source: 'Unicode CLDR, as in Node.js (Intl.DisplayNames)',
    source_version: `CLDR ${process.versions['cldr'] ?? ''}, ICU ${process.versions['icu'] ?? ''}`,
    ...tableDates(null),
    notes: `Languages: ${LANGUAGES}. Names of two countries, of states of the US and of large towns elsewhere are left out, and English names, which the code has.`,
  },
  rows,
)
