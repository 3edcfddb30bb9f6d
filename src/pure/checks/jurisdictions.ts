import { COUNTRIES } from './countries.ts'
import {
  findPlaceMentions,
  findPlaceTerm,
  jurisdictions,
  type Jurisdiction,
  type PlaceMention,
  type PlaceTerm,
  wholeMention,
} from './place-index.ts'
import { countryByForeignName } from './country-names.ts'
import { countryByName, foldName, isCode, isNameOfTwo, nameFlags, stateCountryAtEnd } from './place-names.ts'
import { worldTowns } from './prohibited-places.ts'
import { hasStreetWord } from './street-words.ts'

/** A place of the table that a text names. */
interface ListedPlace extends Jurisdiction {
  /**
   * False when the text may mean another place: the name is among other words, as in "Cuba Street", or a state or another country follows
   * it, as in "Cuba, NY" and "Kuba, Poland". A person must decide.
   */
  meant: boolean
}

/**
 * Places in a text: places of the table, the gravest first; else countries that are not in it; else nothing that is known here.
 * `unread` are the parts of a text that was read otherwise of which nothing is known, but that they name no listed place.
 */
export type JurisdictionReading =
  | { kind: 'listed'; gravest: ListedPlace; places: ListedPlace[]; unread: string[] }
  | { kind: 'unlisted'; countries: { code: string; name: string }[]; listed_regions: string[]; unread: string[] }
  | { kind: 'unknown'; unread: string[] }

/** One of several places in a text, with all that is written to it. */
interface Statement {
  places: ListedPlace[]
  /** A country that is not in the table; null when none can be read, or a place of the table is. */
  country: string | null
  unread: string[]
}

/**
 * Reads a country (ISO 3166-1 alpha-2 or alpha-3 code, or English name; listed ones in other languages too), a region (ISO 3166-2 code, or
 * name), or a postal address. A listed place is found wherever the text names it, in any order, with or without commas. Errs towards listed,
 * but a homonym with a state or another country behind it is never `meant`. Of places that a semicolon or slash sets apart each must be known.
 * Names of persons and companies are unknown.
 */
export function readJurisdiction(written: string): JurisdictionReading {
  const text = nameFlags(written)
  const apart = split(text, /[;/]/).map(readStatement)
  const places = gravestFirst(apart.flatMap((statement) => statement.places))
  const [gravest] = places
  if (gravest !== undefined) return { kind: 'listed', gravest, places, unread: apart.flatMap(({ unread }) => unread) }
  // Lines are those of one address, or of a list: a list of places of which one is not known says nothing.
  const statements = split(text, /[;/\n]/).map(readStatement)
  const unread = statements.flatMap((statement) => statement.unread)
  const countries = [...new Set(statements.flatMap(({ country }) => (country === null ? [] : [country])))]
  if (countries.length === 0) return { kind: 'unknown', unread: [] }
  if (statements.some(({ country }) => country === null)) return { kind: 'unknown', unread }
  return {
    kind: 'unlisted',
    countries: countries.map((code) => ({ code, name: COUNTRIES.get(code)?.name ?? code })),
    listed_regions: jurisdictions()
      .rows.filter(({ kind, code }) => kind === 'region' && countries.includes(code.slice(0, 2)))
      .map(({ code }) => code),
    unread,
  }
}

/** Separators between the parts of a place, or between places that are not separated further. */
const BETWEEN = /[\n,()|·•、，،\\]|\s[-–—]\s/

function readStatement(text: string): Statement {
  const code = countryCode(text)
  const { by_code } = jurisdictions()
  const row = by_code.get(text.toUpperCase()) ?? termRow(text) ?? (code === null ? null : (by_code.get(code) ?? null))
  if (row !== null) return { places: [{ ...row, meant: true }], country: null, unread: [] }
  if (code !== null) return { places: [], country: code, unread: [] }
  const parts = joined(split(text, BETWEEN)).map(readStatementPart)
  const places = placesIn(parts)
  const last = parts.at(-1)
  const state = last === undefined ? null : stateCountryAtEnd(last.text)
  const dropped = parts.some(({ mentions }) => mentions.length > 0) ? state : null
  return {
    places,
    country: places.length > 0 ? null : (dropped ?? last?.country ?? null),
    unread: parts.filter((part) => !isKnown(part)).map((part) => part.text),
  }
}

/** The place of the table whose name the whole text is; a small town is left to the reading of its statement. */
function termRow(text: string): Jurisdiction | null {
  const term = findPlaceTerm(text)
  return term === null || term.kind === 'small_town' ? null : term.row
}

/** A part of a statement. */
interface StatementPart {
  text: string
  words: readonly string[]
  mentions: PlaceMention[]
  /** Words that no term takes and that say something: no numbers, and no words that only name the kind of place. */
  others: number[]
  /** The whole part names a country that is not in the table. */
  country: string | null
}

function readStatementPart(text: string): StatementPart {
  const words = foldName(text).split(' ')
  const code = jurisdictions().by_code.get((/^[A-Z]{3}$/.test(text) ? countryByName(text.toLowerCase()) : null) ?? text.toUpperCase())
  // Two letters are as likely a state of the United States, but for those of a comprehensive programme.
  const listed = code?.level === 'comprehensive' ? code : null
  const named = findPlaceTerm(text) === null ? jurisdictions().by_code.get(countryNamed(text) ?? '') : undefined
  const row = listed ?? named
  const mentions = row === undefined ? findPlaceMentions(text, words) : [wholeMention({ words, kind: 'name', row, exact: null }, words, 0)]
  const taken = new Set(mentions.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, index) => start + index)))
  const others = [...words.keys()].filter(
    (index) => !taken.has(index) && !SAYS_LITTLE.has(words[index] ?? '') && !/\d/.test(words[index] ?? ''),
  )
  // "Germany and Iran" is a list of two countries.
  const listing = words.some((word) => AND.has(word)) && countryByName(others.map((index) => words[index]).join(' ')) !== null
  return {
    text,
    words,
    mentions,
    others: mentions.length > 0 && listing ? [] : others,
    country: mentions.length > 0 ? null : countryNamed(text),
  }
}

function isKnown({ mentions, others, country }: StatementPart): boolean {
  return country !== null || (mentions.length > 0 && others.length === 0)
}

const set = (words: string) => new Set(words.split(' '))

/** Words for kinds of place, and words that join names. */
const SAYS_LITTLE = set(
  'g gor gorod m misto s selo pgt smt city town of the ville de ciudad cidade stadt citta oblast obl область обл region regiao province provincia ' +
    'provinz prov governorate ostan shahr shahrestan county republic rep resp республика респ autonomous island port г гор город м місто с село пгт смт and ' +
    'or und et y i e и та та و استان شهر شهرستان 市 省 시',
)
const AND = set('and or und et y i e и та')
/** Words for a kind of place that make the name next to them that of the place. */
const KINDS_BEFORE = set('g gor gorod m misto city town ville ciudad cidade stadt province provincia г гор город м місто شهر استان')
const KINDS_BEHIND = set('city province oblast область обл ostan 市 省 시')
const JOINING = set('of de di the')

/** Places of the table that a statement names, each as it is meant there. */
function placesIn(parts: readonly StatementPart[]): ListedPlace[] {
  const places: ListedPlace[] = []
  for (const [index, part] of parts.entries()) {
    for (const mention of part.mentions) {
      const { term } = mention
      const with_country = isWithCountry(parts, index, mention)
      const elsewhere = with_country || !isHomonym(term) ? null : behind(parts, index, mention)
      const alone = standsAlone(part, mention)
      const meant = elsewhere === null && !mention.street && (with_country || (alone && !isContradicted(parts, index, mention)))
      const last = index === parts.length - 1
      const at_end = elsewhere === null && !mention.street && last && endsAddress(part, mention)
      if (counts(mention, part, { meant: meant || at_end, alone, elsewhere })) {
        places.push({ ...term.row, ...(term.kind === 'small_town' && REVIEW), meant: meant || at_end })
      }
    }
  }
  return places
}

/** Level of a small town: only its exact position decides. */
const REVIEW = { level: 'needs_review' } as const

/** Names of one word are those of towns, persons and streets elsewhere; those of several, and in other scripts, are not. */
function isHomonym({ words }: PlaceTerm): boolean {
  return words.length === 1 && /^[a-z]+$/.test(words[0] ?? '')
}

/**
 * Streets, persons and offices have names in other languages and those of towns; programmes that prohibit little are looked for by name alone. Towns whose
 * names are common count where they are alone in their part.
 */
function counts(
  { term: { kind, row }, inside }: PlaceMention,
  part: StatementPart,
  { meant, alone, elsewhere }: { meant: boolean; alone: boolean; elsewhere: Elsewhere },
): boolean {
  if (meant) return true
  if (row.level === 'elevated') return elsewhere !== 'state' && kind === 'name'
  if (kind === 'small_town') return alone && elsewhere === null && !inside
  return kind === 'name' || part.others.length === 0 || elsewhere === null
}

/** The name is the whole part, but for numbers and kinds of places, or its kind is next to it: "Tehran 11369", "г. Ялта", "Fars Province". */
function standsAlone({ words, others }: StatementPart, { term, inside, kind_follows, start, end }: PlaceMention): boolean {
  if (kind_follows) return true
  if (inside) return false
  if (others.length === 0 || KINDS_BEHIND.has(words[end] ?? '')) return true
  // Streets do not have names of several words, as of a state in full; programmes that prohibit little only ask for a look.
  const anywhere = term.row.level === 'elevated' || !isHomonym(term)
  if (term.kind === 'name' && anywhere && others.every((index) => index < start)) return true
  const before = start - (JOINING.has(words[start - 1] ?? '') ? 2 : 1)
  return KINDS_BEFORE.has(words[before] ?? '')
}

/**
 * Another name of the same jurisdiction is next to this one, or alone in another part: "Tehran, Iran", "Republic of Crimea Simferopol". Twice the same name
 * proves nothing: "Rua de Cuba, 7940 Cuba".
 */
function isWithCountry(parts: readonly StatementPart[], index: number, mention: PlaceMention): boolean {
  const name = mention.term.words.join(' ')
  const isOther = (one: PlaceMention) => one.term.words.join(' ') !== name && isSameState(one.term.row.code, mention.term.row.code)
  return parts.some((part, at) =>
    part.mentions.some((one) => {
      if (!isOther(one) || one.street) return false
      if (at !== index) return standsAlone(part, one) && standsAlone(parts[index] ?? part, mention)
      return one.end === mention.start || one.start === mention.end || one.start === mention.start
    }),
  )
}

/** Crimea and Sevastopol are prohibited by one programme and written with each other. */
function isSameState(one: string, other: string): boolean {
  return one === other || (one.includes('-') && one.slice(0, 2) === other.slice(0, 2))
}

/** Another part names a town or country elsewhere, or a place behind this one is not known: "Cuba, Alentejo", "Teheran, Hauptstr. 5, Köln". */
function isContradicted(parts: readonly StatementPart[], index: number, { term }: PlaceMention): boolean {
  if (term.row.level === 'elevated' || (term.kind === 'name' && !isHomonym(term))) return false
  const inParent = (code: string | null) => term.row.kind === 'region' && code !== null && PARENTS.has(code)
  if (parts.some(({ country, mentions }) => inParent(country) || mentions.some((one) => inParent(one.term.row.code)))) return false
  return parts.some((part, at) => {
    if (at === index || part.mentions.length > 0 || isNameOfTwo(part.words.join(' '))) return false
    if (part.country !== null) return at > index
    if (hasStreetWord(part.words)) return false
    const town = worldTownOf(part)
    if (town !== null) return town !== term.row.code && !inParent(town)
    return at > index && part.others.length > 0 && !/\d/.test(part.words.at(-1) ?? '')
  })
}

/** Most words of the name of a large town. */
const TOWN_WORDS = 3

/** Country of a large town that is a part, numbers and kinds of places aside; '' for one of several countries, null for none. */
function worldTownOf({ words, others }: StatementPart): string | null {
  const name = others.map((index) => words[index]).join(' ')
  return others.length === 0 || others.length > TOWN_WORDS ? null : (worldTowns().get(name) ?? null)
}

/** The name of a country, or of a region, at the end of an address of one part: "12 Enghelab Avenue Iran". */
function endsAddress({ words, others }: StatementPart, { term, end, inside }: PlaceMention): boolean {
  return term.kind === 'name' && !inside && others.every((index) => index < end) && words.some((word) => /\d/.test(word))
}

/** Of whom the regions of the table are parts, or are said to be. */
const PARENTS = new Set(['UA', 'RU'])

/** A state or country behind a name, which shows that another place is meant. */
type Elsewhere = 'state' | 'country' | null

/** Finds a state, or a country that the place is not in, behind the name. */
function behind(parts: readonly StatementPart[], index: number, { term, end }: PlaceMention): Elsewhere {
  const own = parts[index]
  const rest = own === undefined ? '' : own.words.slice(end).join(' ')
  const later = parts.slice(index + 1).filter(({ mentions }) => mentions.every((one) => one.term.row.level === 'elevated'))
  if (own !== undefined && rest !== '' && stateCountryAtEnd(own.text) !== null) return 'state'
  if (later.some(({ text }) => stateCountryAtEnd(text) !== null)) return 'state'
  const isOther = (code: string | null) => code !== null && code !== term.row.code && !(term.row.kind === 'region' && PARENTS.has(code))
  return isOther(rest === '' ? null : countryAtEnd(rest)) || later.some(({ text }) => isOther(countryAtEnd(text))) ? 'country' : null
}

/** Longest name of a country, in words. */
const COUNTRY_WORDS = 8

/** The country whose name, in one of many languages, the last words are, numbers aside. */
function countryAtEnd(text: string): string | null {
  const words = foldName(text)
    .split(' ')
    .filter((word) => !/\d/.test(word))
  for (let count = Math.min(words.length, COUNTRY_WORDS); count > 0; count--) {
    const name = words.slice(-count).join(' ')
    const code = isCode(name) ? null : (countryByName(name) ?? countryByForeignName(name))
    if (code !== null) return code
  }
  return null
}

/** Names that a comma or parentheses cut in two, "Korea, North" or "Korea (Democratic People's Republic of)", put together again. */
function joined(parts: readonly string[]): string[] {
  const whole: string[] = []
  for (const part of parts) {
    const both = `${whole.at(-1) ?? ''} ${part.replace(/^the\s+/i, '')}`
    if (whole.length > 0 && (findPlaceTerm(both) !== null || countryCode(both) !== null)) whole.splice(-1, 1, both)
    else whole.push(part)
  }
  return whole
}

/** Behind a comma only names, in many languages: two letters there are as likely a state of the US. */
export function countryNamed(part: string): string | null {
  return isCode(part) ? null : (countryCode(part) ?? countryByForeignName(foldName(part)))
}

function split(text: string, separator: RegExp): string[] {
  return text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

/** Each place once, and as meant where it is so in one place. */
function gravestFirst(places: readonly ListedPlace[]): ListedPlace[] {
  const gravity = ({ level, meant }: ListedPlace) => (level === 'elevated' ? 2 : level === 'comprehensive' && meant ? 0 : 1)
  const ordered = places.toSorted((one, other) => gravity(one) - gravity(other))
  return ordered.filter(({ code }, index) => ordered.findIndex((one) => one.code === code) === index)
}

/** The alpha-2 code of a country by code or name; null when it is none, or could be two. Listed countries are known in other languages too. */
function countryCode(text: string): string | null {
  const subdivision = /^([A-Za-z]{2})-[A-Za-z0-9]{1,3}$/.exec(text)
  const term = findPlaceTerm(text)
  if (term !== null && term.row.kind === 'country' && (term.kind === 'name' || term.kind === 'other_name')) return term.row.code
  return countryByName(subdivision?.[1]?.toLowerCase() ?? foldName(text))
}
