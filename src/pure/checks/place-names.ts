import { COUNTRIES, PROHIBITED_JURISDICTIONS, type JurisdictionRow } from './countries.ts'

/** Comparison of place names, names of countries and states, and the table of prohibited jurisdictions as it is searched in texts. */

/** Lower case, no accents, one form of each Arabic letter, words only: so that a name can be looked up however it is written. */
export function foldName(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .replace(/['’ʼ`]/g, '')
    .toLowerCase()
    .replaceAll('\u064a', '\u06cc')
    .replaceAll('\u0643', '\u06a9')
    .replaceAll('\u0629', '\u0647')
  return plain
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .replace(/^(?:the|so called) /, '')
}

/** Names of countries in addition to those of ISO 3166-1 and of CLDR: of everyday use, of the United Nations and of the World Bank. */
const ALIASES: Readonly<Record<string, string>> = {
  uk: 'GB',
  'great britain': 'GB',
  britain: 'GB',
  england: 'GB',
  scotland: 'GB',
  wales: 'GB',
  'northern ireland': 'GB',
  'north ireland': 'GB',
  'n ireland': 'GB',
  'united kingdom of great britain and northern ireland': 'GB',
  usa: 'US',
  'u s a': 'US',
  'u s': 'US',
  'u k': 'GB',
  'u a e': 'AE',
  america: 'US',
  'united states of america': 'US',
  'republic of korea': 'KR',
  's korea': 'KR',
  'korea rep': 'KR',
  uae: 'AE',
  'czech republic': 'CZ',
  'slovak republic': 'SK',
  'kyrgyz republic': 'KG',
  'lao pdr': 'LA',
  'egypt arab rep': 'EG',
  'syrian arab republic': 'SY',
  'micronesia fed sts': 'FM',
  'bahamas the': 'BS',
  'gambia the': 'GM',
  'west bank and gaza': 'PS',
  'state of palestine': 'PS',
  'st kitts and nevis': 'KN',
  'st lucia': 'LC',
  'st vincent and the grenadines': 'VC',
  'macao sar': 'MO',
  'macao sar china': 'MO',
  'taiwan china': 'TW',
  holland: 'NL',
  'ivory coast': 'CI',
  turkey: 'TR',
  palestine: 'PS',
  macau: 'MO',
  macao: 'MO',
  'cape verde': 'CV',
  'congo rep': 'CG',
  'republic of the congo': 'CG',
  'congo brazzaville': 'CG',
  'peoples republic of china': 'CN',
  'republic of ireland': 'IE',
  swaziland: 'SZ',
  vatican: 'VA',
}

/** Names that two countries share. */
const OF_TWO = ['korea', 'congo', 'virgin islands']

/** Codes and English names of all countries, folded, to alpha-2 codes; '' for a name of two. */
export function englishNames(): ReadonlyMap<string, string> {
  const names = new Intl.DisplayNames(['en'], { type: 'region' })
  return new Map([
    ...[...COUNTRIES.values()].flatMap(({ alpha2, alpha3, name }) => [
      [alpha2.toLowerCase(), alpha2] as const,
      [alpha3.toLowerCase(), alpha2] as const,
      [foldName(name), alpha2] as const,
      // "Korea, Republic of" and "Iran (Islamic Republic of)" are known by the words before the comma or parenthesis.
      [foldName(name.split(/[(,]/, 1)[0] ?? name), alpha2] as const,
      [foldName(names.of(alpha2) ?? name), alpha2] as const,
    ]),
    ...OF_TWO.map((name) => [name, ''] as const),
    ...Object.entries(ALIASES),
  ])
}

/** Languages in which addresses name their country. */
const LANGUAGES = ['de', 'es', 'fr', 'it', 'nl', 'pl', 'pt', 'ru', 'tr', 'uk', 'ja', 'ko', 'zh', 'ar', 'fa']

/** Names of all countries in other languages, folded, to alpha-2 codes. */
export function foreignNames(): ReadonlyMap<string, string> {
  return new Map(
    LANGUAGES.flatMap((language) => {
      const names = new Intl.DisplayNames([language], { type: 'region' })
      return [...COUNTRIES.keys()].map((code) => [foldName(names.of(code) ?? code), code] as const)
    }),
  )
}

/** States and territories of the United States, and provinces of Canada. */
const STATES: Readonly<Record<'US' | 'CA', string>> = {
  US:
    'AL Alabama|AK Alaska|AZ Arizona|AR Arkansas|CA California|CO Colorado|CT Connecticut|DE Delaware|DC District of Columbia|FL Florida|' +
    'GA Georgia|HI Hawaii|ID Idaho|IL Illinois|IN Indiana|IA Iowa|KS Kansas|KY Kentucky|LA Louisiana|ME Maine|MD Maryland|' +
    'MA Massachusetts|MI Michigan|MN Minnesota|MS Mississippi|MO Missouri|MT Montana|NE Nebraska|NV Nevada|NH New Hampshire|NJ New Jersey|' +
    'NM New Mexico|NY New York|NC North Carolina|ND North Dakota|OH Ohio|OK Oklahoma|OR Oregon|PA Pennsylvania|PR Puerto Rico|' +
    'RI Rhode Island|SC South Carolina|SD South Dakota|TN Tennessee|TX Texas|UT Utah|VT Vermont|VA Virginia|WA Washington|' +
    'WV West Virginia|WI Wisconsin|WY Wyoming',
  CA:
    'AB Alberta|BC British Columbia|MB Manitoba|NB New Brunswick|NL Newfoundland|NS Nova Scotia|ON Ontario|PE Prince Edward Island|' +
    'QC Quebec|SK Saskatchewan|YT Yukon|NT Northwest Territories|NU Nunavut',
}

const STATE_CODES = new Map<string, string>()
const STATE_NAMES = new Map<string, string>()
for (const [country, states] of Object.entries(STATES)) {
  for (const state of states.split('|')) {
    STATE_CODES.set(state.slice(0, 2), country)
    STATE_NAMES.set(foldName(state.slice(3)), country)
  }
}

/** A code in capitals, alone or before a postal code, at the end of a part: NY 14727, CA, ON M5V 2T6. */
const CODE_AT_END = /(?:^|\s)([A-Z]{2})(?:\s+(?:[0-9]{5}(?:-[0-9]{4})?|[A-Z][0-9][A-Z]\s?[0-9][A-Z][0-9]))?$/
const STATE_WORDS = 3

/** The country of the state or province that a part of an address ends with; null for none. Georgia is taken for the state. */
export function stateCountryAtEnd(part: string): string | null {
  const code = CODE_AT_END.exec(part.trim())?.[1]
  const by_code = code === undefined ? undefined : STATE_CODES.get(code)
  if (by_code !== undefined) return by_code
  const words = foldName(part)
    .split(' ')
    .filter((word) => !/^\d+$/.test(word))
  for (let count = Math.min(STATE_WORDS, words.length); count > 0; count--) {
    const found = STATE_NAMES.get(words.slice(-count).join(' '))
    if (found !== undefined) return found
  }
  return null
}

/** The table of jurisdictions as it is looked for in texts. */

/** A row of the table, without the names that are looked for. */
export type Jurisdiction = Pick<JurisdictionRow, 'code' | 'kind' | 'level' | 'name' | 'programme'>

/**
 * `name`: means the jurisdiction among other words as well. `other_name`: in another language of Latin script, or an acronym, which streets
 * and offices have too. `town`: lies in it. `small_town`: lies in it, as a person should confirm.
 */
type TermKind = 'name' | 'other_name' | 'town' | 'small_town'

/** A name of the table. */
export interface PlaceTerm {
  /** Folded. */
  words: readonly string[]
  kind: TermKind
  row: Jurisdiction
  /** Its spelling in lower case, where without its accents it would be another word; null elsewhere. */
  exact: string | null
}

/** Names that without accents are other words: Irã is Iran, Ira is a person. */
const NEEDS_ACCENT = /[^\p{ASCII}]/u
const SHORT = 3

function termsOf({ aliases, names_alone, towns, small_towns, ...row }: JurisdictionRow): PlaceTerm[] {
  const { name } = row
  const kinds: readonly (readonly [TermKind, readonly string[]])[] = [
    ['small_town', small_towns],
    ['town', towns],
    ['other_name', names_alone],
    ['name', [...aliases, name, ...(row.kind === 'region' ? [row.code] : [])]],
  ]
  return kinds.flatMap(([kind, names]) =>
    names.map((one): PlaceTerm => {
      const words = foldName(one).split(' ')
      const short = words.length === 1 && (words[0]?.length ?? 0) <= SHORT && /^[a-z]+$/.test(words[0] ?? '')
      return { words, kind, row, exact: short && NEEDS_ACCENT.test(one) ? one.normalize('NFC').toLowerCase() : null }
    }),
  )
}

/** Scripts that write no spaces between words: their names are looked for inside of words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u
/** Koreans of China and their prefecture are called 朝鲜族. */
const NOT_A_PLACE = /朝[鲜鮮]族/g
/** Korean writes what kind of place it is, and particles, right behind the name. */
const HANGUL = /[\u1100-\u11ff]/
const HANGUL_ENDINGS = ['시', '특별시', '직할시', '도', '군', '구역', '의', '에서', '에'].map((ending) => ending.normalize('NFKD'))
/** The table as it is searched. */
interface PlaceIndex {
  rows: readonly JurisdictionRow[]
  by_code: ReadonlyMap<string, Jurisdiction>
  /** By the folded name; for a repeated name the last, stronger kind counts. */
  terms: ReadonlyMap<string, PlaceTerm>
  /** By their first word, the longest first. */
  by_first_word: ReadonlyMap<string, readonly PlaceTerm[]>
  unspaced: readonly PlaceTerm[]
  hangul: readonly PlaceTerm[]
}

function placeIndex(rows: readonly JurisdictionRow[]): PlaceIndex {
  const terms = new Map(rows.flatMap(termsOf).map((term) => [term.words.join(' '), term]))
  const ofOneWord = (script: RegExp) => [...terms.values()].filter(({ words }) => words.length === 1 && script.test(words[0] ?? ''))
  return {
    rows,
    by_code: new Map(rows.map(({ code, kind, level, name, programme }) => [code, { code, kind, level, name, programme }])),
    terms,
    by_first_word: new Map(
      [...Map.groupBy(terms.values(), ({ words }) => words[0] ?? '')].map(([first, some]) => [
        first,
        some.toSorted((one, other) => other.words.length - one.words.length),
      ]),
    ),
    unspaced: ofOneWord(UNSPACED).toSorted((one, other) => (other.words[0]?.length ?? 0) - (one.words[0]?.length ?? 0)),
    hangul: ofOneWord(HANGUL),
  }
}

let searched: PlaceIndex | null = null

/** The snapshot in use, indexed at its first use. */
export function jurisdictions(): PlaceIndex {
  const { rows } = PROHIBITED_JURISDICTIONS.view
  if (searched?.rows !== rows) searched = placeIndex(rows)
  return searched
}

/** The term that is the whole text. */
export function findPlaceTerm(text: string): PlaceTerm | null {
  const term = jurisdictions().terms.get(foldName(text)) ?? null
  return term !== null && isSpelled(term, text) ? term : null
}

function isSpelled({ exact }: PlaceTerm, text: string): boolean {
  return exact === null || text.normalize('NFC').toLowerCase().includes(exact)
}

/** A term in a list of words: from `start` up to, and without, `end`. */
export interface PlaceMention {
  term: PlaceTerm
  start: number
  end: number
}

/** The terms in a text, the longest at each place, none over another. `words` are those of the text, folded. */
export function findPlaceMentions(text: string, words: readonly string[]): PlaceMention[] {
  const found: PlaceMention[] = []
  for (let start = 0; start < words.length;) {
    const mention = mentionAt(text, words, start)
    if (mention === null) start++
    else {
      found.push(mention)
      start = mention.end
    }
  }
  return found
}

function mentionAt(text: string, words: readonly string[], start: number): PlaceMention | null {
  const word = words[start] ?? ''
  for (const term of jurisdictions().by_first_word.get(word) ?? []) {
    const fits = term.words.every((one, index) => words[start + index] === one)
    if (fits && isSpelled(term, text)) return { term, start, end: start + term.words.length }
  }
  const inside = UNSPACED.test(word) ? unspacedTerm(word) : HANGUL.test(word) ? hangulTerm(word) : null
  return inside === null ? null : { term: inside, start, end: start + 1 }
}

function unspacedTerm(word: string): PlaceTerm | null {
  const plain = word.replace(NOT_A_PLACE, '')
  return jurisdictions().unspaced.find(({ words }) => plain.includes(words[0] ?? '')) ?? null
}

function hangulTerm(word: string): PlaceTerm | null {
  const isTerm = ({ words: [name = ''] }: PlaceTerm) => word.startsWith(name) && HANGUL_ENDINGS.includes(word.slice(name.length))
  return jurisdictions().hangul.find(isTerm) ?? null
}
