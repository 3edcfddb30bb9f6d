import { once } from '../once.ts'
import { COUNTRIES } from './countries.ts'

/** Comparison of place names, and names of countries and states. */

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

/** Letters that spellings of one name exchange. */
const SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [/dzh|zh|dj/g, 'j'],
  [/tch/g, 'ch'],
  [/ph/g, 'p'],
  [/kh/g, 'h'],
  [/gh|q/g, 'g'],
  [/ou|oo/g, 'u'],
  [/ee|y/g, 'i'],
  [/w/g, 'v'],
  [/(.)\1+/g, '$1'],
  [/([aeiou])h$/, '$1'],
]

/** Key of a folded word of Latin script that is the same for its usual transliterations: Assalouyeh and Asaluyeh, Nampho and Nampo. */
export function spellingKey(word: string): string {
  return SPELLINGS.reduce((key, [letters, one]) => key.replace(letters, one), word)
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

/** Codes and English names of all countries, folded, to alpha-2 codes; '' for a name of two. Built when first needed: CLDR takes a moment to load. */
const englishNames = once((): ReadonlyMap<string, string> => {
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
})

/** Returns whether two countries share a folded name, such as Korea. */
export function isNameOfTwo(name: string): boolean {
  return OF_TWO.includes(name)
}

/** Alpha-2 code of a country by its folded code or English name; null if it is none, or could be two. */
export function countryByName(name: string): string | null {
  return englishNames().get(name) || null
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

/** Returns whether a code of two letters is that of a state of the United States or a province of Canada. */
export function isStateCode(code: string): boolean {
  return STATE_CODES.has(code)
}

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

/** Up to three letters, CA, which is a state and a country; but UK, USA and UAE are what people write. */
export function isCode(name: string): boolean {
  return /^[A-Za-z]{1,3}$/.test(name) && !/^(?:UK|USA|UAE)$/i.test(name)
}

/**
 * Full-width ASCII folded, what shows nothing removed, spaces and line breaks made plain: a listed address does not get by in disguise, nor a
 * listed place on a separate line.
 */
export function cleanText(text: string): string {
  return text
    .replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replace(/\p{Cf}/gu, '')
    .replace(/[\r\v\f\u0085\u2028\u2029]/g, '\n')
    .replace(/[^\S\n]+/g, ' ')
    .trim()
}

/** Flags as names of their countries, each as a separate part: "Main Street 5 🇮🇷". */
export function nameFlags(text: string): string {
  return text.replace(/([\u{1f1e6}-\u{1f1ff}])([\u{1f1e6}-\u{1f1ff}])/gu, (_, one: string, other: string) => {
    const code = [one, other].map((letter) => String.fromCharCode((letter.codePointAt(0) ?? 0) - 0x1f1e6 + 65)).join('')
    return `, ${COUNTRIES.get(code)?.name.split(/[(,]/, 1)[0] ?? code}`
  })
}
