import table from '../../../data/prohibited-jurisdictions.json' with { type: 'json' }
import { COUNTRIES } from './countries.ts'

export type JurisdictionLevel = 'comprehensive' | 'elevated' | 'needs_review'

/** A row of the table. */
interface Jurisdiction {
  code: string
  kind: 'country' | 'region'
  level: JurisdictionLevel
  name: string
  programme: string
}

/** A place of the table that a text names. */
interface ListedPlace extends Jurisdiction {
  /** False when its name stands among other words, as in "Cuba Street": whether the place is meant, only a person can tell. */
  meant: boolean
  /** Its name, numbers aside, is all that stands between two separators. */
  alone: boolean
}

/**
 * What a text says about a place: places of the table, the gravest first; else countries that are not in it; else nothing that is known here.
 * `unread` are the parts of a text that was read otherwise of which nothing is known, but that they name no listed place.
 */
export type JurisdictionReading =
  | { kind: 'listed'; gravest: ListedPlace; places: ListedPlace[]; unread: string[] }
  | { kind: 'unlisted'; countries: { code: string; name: string }[]; listed_regions: string[]; unread: string[] }
  | { kind: 'unknown'; unread: string[] }

/** One of several places in a text, with all that is written to it. */
interface Statement {
  places: Jurisdiction[]
  /** A country that is not in the table; null when none can be read, or a place of the table is. */
  country: string | null
  unread: string[]
}

export const JURISDICTIONS = { published_at: table.published_at, count: table.count } as const

const ROWS: readonly Jurisdiction[] = table.rows.map(({ code, kind, level, name, programme }) => ({
  code,
  kind: kind === 'region' ? kind : 'country',
  level: level === 'comprehensive' || level === 'needs_review' ? level : 'elevated',
  name,
  programme,
}))
const BY_CODE: ReadonlyMap<string, Jurisdiction> = new Map(ROWS.map((row) => [row.code, row]))
const byNames = (names: (row: (typeof table.rows)[number]) => readonly string[]) =>
  table.rows.flatMap((listed_row) => {
    const row = BY_CODE.get(listed_row.code)
    return row === undefined ? [] : names(listed_row).map((name) => [folded(name), row] as const)
  })
const BY_NAME: ReadonlyMap<string, Jurisdiction> = new Map(byNames(({ name, aliases, names_alone }) => [...names_alone, ...aliases, name]))
/** What is looked for among other words: the names, and the codes of regions, which no other word is like. Rue de Crimée is a street, a DNR an office. */
const NAMES: readonly (readonly [name: string, row: Jurisdiction])[] = [
  ...new Map(byNames(({ name, aliases }) => [...aliases, name])),
  ...ROWS.filter(({ kind }) => kind === 'region').map((row) => [folded(row.code), row] as const),
]

/** Names by which people know countries, beside those of ISO 3166-1 and of CLDR. */
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
  usa: 'US',
  'u s a': 'US',
  'u s': 'US',
  'u k': 'GB',
  'u a e': 'AE',
  america: 'US',
  'united states of america': 'US',
  'republic of korea': 'KR',
  's korea': 'KR',
  'n korea': 'KP',
  'dpr korea': 'KP',
  'd p r korea': 'KP',
  'd p r k': 'KP',
  'korea d p r': 'KP',
  uae: 'AE',
  'czech republic': 'CZ',
  holland: 'NL',
  'ivory coast': 'CI',
  turkey: 'TR',
  palestine: 'PS',
  'hong kong': 'HK',
  macau: 'MO',
  macao: 'MO',
  'cape verde': 'CV',
  'democratic republic of the congo': 'CD',
  'republic of the congo': 'CG',
  'peoples republic of china': 'CN',
  'republic of ireland': 'IE',
  macedonia: 'MK',
  swaziland: 'SZ',
  vatican: 'VA',
}

/** Built when first asked for: the names of CLDR take a moment to load. */
let country_codes: ReadonlyMap<string, string> | null = null

function countryCodes(): ReadonlyMap<string, string> {
  const names = new Intl.DisplayNames(['en'], { type: 'region' })
  return new Map([
    ...[...COUNTRIES.values()].flatMap(({ alpha2, alpha3, name }) => [
      [alpha2.toLowerCase(), alpha2] as const,
      [alpha3.toLowerCase(), alpha2] as const,
      [folded(name), alpha2] as const,
      // "Korea, Republic of" and "Iran (Islamic Republic of)" are known by what stands before.
      [folded(name.replace(/\s*[(,].*$/, '')), alpha2] as const,
      [folded(names.of(alpha2) ?? name), alpha2] as const,
    ]),
    // Before these words stand two countries each.
    ...Object.entries({ korea: '', congo: '', 'virgin islands': '' }),
    ...[...BY_NAME].flatMap(([name, { kind, code }]) => (kind === 'country' ? [[name, code] as const] : [])),
    ...Object.entries(ALIASES),
  ])
}

/**
 * Reads a country (ISO 3166-1 alpha-2 or alpha-3 code, or English name; listed ones in other languages too), a region (ISO 3166-2 code, or
 * name) or a place written with its country behind a comma. Errs towards listed: one listed part is enough, and so is a listed name at the end
 * of a part that is not known. Of places that a semicolon, slash or line break sets apart each must be known. Names of persons and companies
 * are unknown.
 */
export function readJurisdiction(text: string): JurisdictionReading {
  const whole = readStatement(text.trim())
  const single = whole.unread.length === 0 && (whole.places.length > 0 || whole.country !== null)
  const statements = single ? [whole] : split(text, /[;/\n]/).map(readStatement)
  const unread = statements.flatMap((statement) => statement.unread)
  const countries = [...new Set(statements.flatMap(({ country }) => (country === null ? [] : [country])))]
  const places = statements.flatMap((statement) => statement.places)
  if (countries.length === 0 && places.length === 0) return { kind: 'unknown', unread: [] }
  const named = gravestFirst([...unread.flatMap(namedIn), ...places.map((row) => ({ ...row, meant: true, alone: true }))])
  const [gravest] = named
  if (gravest !== undefined) return { kind: 'listed', gravest, places: named, unread }
  if (statements.some(({ country }) => country === null)) return { kind: 'unknown', unread }
  const listed_regions = ROWS.filter(({ kind, code }) => kind === 'region' && countries.includes(code.slice(0, 2))).map(({ code }) => code)
  return {
    kind: 'unlisted',
    countries: countries.map((code) => ({ code, name: COUNTRIES.get(code)?.name ?? code })),
    listed_regions,
    unread,
  }
}

/** What stands between the parts of a place, or between places that are not told apart further. */
const BETWEEN = /[,()|·•、，\\]|\s[-–—]\s/

/** A place with its country behind a comma, or either in parentheses. */
function readStatement(text: string): Statement {
  const row = listed(text)
  const code = row === null ? countryCode(text) : null
  if (row !== null || code !== null) return { places: row === null ? [] : [row], country: code, unread: [] }
  const parts = joined(split(text, BETWEEN))
  const last = parts.at(-1) ?? ''
  const places = parts.map(listed).filter((one) => one !== null)
  const country = places.length === 0 ? countryNamed(last) : null
  return { places, country, unread: parts.filter((part) => listed(part) === null && countryNamed(part) === null) }
}

/** Names that a comma or parentheses cut in two, "Korea, North" or "Korea (Democratic People's Republic of)", put together again. */
function joined(parts: readonly string[]): string[] {
  const whole: string[] = []
  for (const part of parts) {
    const both = `${whole.at(-1) ?? ''} ${part}`
    if (whole.length > 0 && (listed(both) !== null || countryCode(both) !== null)) whole.splice(-1, 1, both)
    else whole.push(part)
  }
  return whole
}

/** Behind a comma only names: two letters there are as likely a state of the US. */
function countryNamed(part: string): string | null {
  return isCode(part) ? null : countryCode(part)
}

/** Up to three letters, CA, which is a state and a country; but UK, USA and UAE are what people write. */
export function isCode(name: string): boolean {
  return /^[A-Za-z]{1,3}$/.test(name) && !/^(?:UK|USA|UAE)$/i.test(name)
}

function split(text: string, separator: RegExp): string[] {
  return text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

/** Places of the table whose name stands in a part that is none; at its end it is meant, as in "Tehran Iran". */
function namedIn(part: string): ListedPlace[] {
  const words = [folded(part), withoutNumbers(part)].map((text) => ` ${text} `)
  const named = NAMES.filter(([name]) => words.some((text) => text.includes(` ${name} `)))
  return named.map(([name, row]) => ({ ...row, meant: words.some((text) => text.endsWith(` ${name} `)), alone: false }))
}

/** Each place once, and as meant and alone where it is so in one place. */
function gravestFirst(places: readonly ListedPlace[]): ListedPlace[] {
  const gravity = ({ level, meant }: ListedPlace) => (level === 'elevated' ? 2 : level === 'comprehensive' && meant ? 0 : 1)
  const ordered = places.toSorted((one, other) => gravity(one) - gravity(other) || Number(other.alone) - Number(one.alone))
  return ordered.filter(({ code }, index) => ordered.findIndex((one) => one.code === code) === index)
}

/** The alpha-2 code of a country by code or English name; null when it is none, or could be two. */
export function countryCode(text: string): string | null {
  const subdivision = /^([A-Za-z]{2})-[A-Za-z0-9]{1,3}$/.exec(text)
  country_codes ??= countryCodes()
  return country_codes.get(subdivision?.[1]?.toLowerCase() ?? folded(text)) || null
}

/** Numbers beside a name say nothing: "Iran 11369" is Iran. */
function listed(text: string): Jurisdiction | null {
  const code = text.toUpperCase()
  const country = countryCode(text)
  const row = BY_CODE.get(code) ?? BY_NAME.get(folded(text)) ?? (country === null ? null : (BY_CODE.get(country) ?? null))
  return row ?? BY_NAME.get(withoutNumbers(text)) ?? null
}

function withoutNumbers(text: string): string {
  return folded(text)
    .split(' ')
    .filter((word) => !/\d/.test(word))
    .join(' ')
}

/** Lower case, no accents, words only: so that a name can be looked up however it is written. */
function folded(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .replace(/['’]/g, '')
    .toLowerCase()
  return plain
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .replace(/^(?:the|so called) /, '')
}

/**
 * Full-width ASCII folded, what shows nothing removed, spaces and line breaks made plain: a listed address does not get by in disguise, nor a
 * listed place on a line of its own.
 */
export function tidied(text: string): string {
  return text
    .replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replace(/\p{Cf}/gu, '')
    .replace(/[\r\v\f\u0085\u2028\u2029]/g, '\n')
    .replace(/[^\S\n]+/g, ' ')
    .trim()
}
