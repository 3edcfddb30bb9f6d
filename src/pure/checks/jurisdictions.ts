import { COUNTRIES, PROHIBITED_JURISDICTIONS, type JurisdictionRow } from './countries.ts'
import { countryByForeignName, countryByName, foldName, stateCountryAtEnd } from './place-names.ts'

/** A row of the table, without the names that are looked for. */
export type Jurisdiction = Pick<JurisdictionRow, 'code' | 'kind' | 'level' | 'name' | 'programme'>

/**
 * `name`: means the jurisdiction among other words as well. `other_name`: in another language of Latin script, or an acronym, which streets
 * and offices have too. `town`: lies in it. `small_town`: lies in it, as a person should confirm.
 */
type TermKind = 'name' | 'other_name' | 'town' | 'small_town'

/** A name of the table. */
interface PlaceTerm {
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
function findPlaceTerm(text: string): PlaceTerm | null {
  const term = jurisdictions().terms.get(foldName(text)) ?? null
  return term !== null && isSpelled(term, text) ? term : null
}

function isSpelled({ exact }: PlaceTerm, text: string): boolean {
  return exact === null || text.normalize('NFC').toLowerCase().includes(exact)
}

/** A term in a list of words: from `start` up to, and without, `end`. */
interface PlaceMention {
  term: PlaceTerm
  start: number
  end: number
}

/** The terms in a text, the longest at each place, none over another. `words` are those of the text, folded. */
function findPlaceMentions(text: string, words: readonly string[]): PlaceMention[] {
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
export function readJurisdiction(text: string): JurisdictionReading {
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
  const code = jurisdictions().by_code.get(text.toUpperCase())
  // Two letters are as likely a state of the United States, but for those of a comprehensive programme.
  const by_code: PlaceMention[] =
    code?.level === 'comprehensive' && words.length > 0
      ? [{ term: { words, kind: 'name', row: code, exact: null }, start: 0, end: words.length }]
      : []
  const named = findPlaceTerm(text) === null ? jurisdictions().by_code.get(countryNamed(text) ?? '') : undefined
  const by_name: PlaceMention[] =
    named === undefined ? [] : [{ term: { words, kind: 'name', row: named, exact: null }, start: 0, end: words.length }]
  const mentions = [by_code, by_name].find((found) => found.length > 0) ?? findPlaceMentions(text, words)
  const taken = new Set(mentions.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, index) => start + index)))
  const others = [...words.keys()].filter(
    (index) => !taken.has(index) && !SAYS_LITTLE.has(words[index] ?? '') && !/\d/.test(words[index] ?? ''),
  )
  return { text, words, mentions, others, country: mentions.length > 0 ? null : countryNamed(text) }
}

function isKnown({ mentions, others, country }: StatementPart): boolean {
  return country !== null || (mentions.length > 0 && others.length === 0)
}

const set = (words: string) => new Set(words.split(' '))

/** Words for kinds of place, and words that join names. */
const SAYS_LITTLE = set(
  'g gor gorod m misto s selo pgt smt city town of the ville de ciudad cidade stadt citta oblast obl область обл region regiao province ' +
    'prov republic rep resp республика респ autonomous island г гор город м місто с село пгт смт and or und et y i e и та та و 市 省 시',
)
const STREET_BEFORE = set(
  'rue calle via viale corso avenida av avenue ave boulevard blvd bulevar plaza praca place piazza ul ulica ulitsa ulitza улица ул вулиця вул ' +
    'проспект пр prospekt prospect allee rua carrer strada strasse platz quai chemin route impasse passage square str weg rd',
)
const STREET_AFTER = set(
  'street st road rd avenue ave av boulevard blvd lane ln drive dr way court ct crescent close terrace place pl square sq gardens grove hill ' +
    'house building tower hotel cafe restaurant bar strasse str gasse weg platz allee gate gata gatan utca ulica straat laan caddesi sokak',
)
const ARTICLES = set('de du des la le les l d di della del dell do da dos das der den van a')

/** Tests for the name of a street or a house. */
function isStreet({ words }: StatementPart, { start, end }: PlaceMention): boolean {
  if (STREET_AFTER.has(words[end] ?? '')) return true
  let before = start - 1
  while (ARTICLES.has(words[before] ?? '')) before--
  return STREET_BEFORE.has(words[before] ?? '')
}

/** Places of the table that a statement names, each as it is meant there. */
function placesIn(parts: readonly StatementPart[]): ListedPlace[] {
  const all = parts.flatMap((part, index) => part.mentions.map((mention) => ({ part, index, mention })))
  const names = Map.groupBy(all, ({ mention }) => mention.term.row.code)
  const places: ListedPlace[] = []
  for (const { part, index, mention } of all) {
    const { term } = mention
    const several = (names.get(term.row.code)?.length ?? 0) > 1
    const elsewhere = several || !isHomonym(term) ? null : behind(parts, index, mention)
    const meant = elsewhere === null && !isStreet(part, mention) && (several || standsForItself(part, mention))
    if (counts(term, part, meant, elsewhere)) places.push({ ...term.row, ...(term.kind === 'small_town' && REVIEW), meant })
  }
  return places
}

/** Level of a small town: only its exact position decides. */
const REVIEW = { level: 'needs_review' } as const

/** Names of one word are those of towns, persons and streets elsewhere; those of several, and in other scripts, are not. */
function isHomonym({ words }: PlaceTerm): boolean {
  return words.length === 1 && /^[a-z]+$/.test(words[0] ?? '')
}

/** Streets, persons and offices have names in other languages and those of towns; programmes that prohibit little are looked for by name alone. */
function counts({ kind, row }: PlaceTerm, part: StatementPart, meant: boolean, elsewhere: Elsewhere): boolean {
  if (meant) return true
  if (row.level === 'elevated') return elsewhere !== 'state' && kind === 'name'
  if (kind === 'small_town') return false
  return kind === 'name' || part.others.length === 0 || elsewhere === null
}

/** Alone in its part, at the end of it, or a town at its beginning: "Tehran 11369", "Xyz Iran", "Pyongyang Central District". */
function standsForItself(part: StatementPart, { term, start, end }: PlaceMention): boolean {
  if (part.others.length === 0 || part.others.every((index) => index < start)) return true
  return term.kind === 'town' && part.others.every((index) => index >= end)
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

/** Behind a comma only names: two letters there are as likely a state of the US. */
function countryNamed(part: string): string | null {
  return isCode(part) ? null : countryCode(part)
}

/** Up to three letters, CA, which is a state and a country; but UK, USA and UAE are what people write. */
function isCode(name: string): boolean {
  return /^[A-Za-z]{1,3}$/.test(name) && !/^(?:UK|USA|UAE)$/i.test(name)
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

/** Facts of a postal address that need no list of places. */
export interface PostalAddress {
  /** Mail goes to a box, which needs no premises. */
  po_box: boolean
  /** Alpha-2 code of the country that the address ends with; null when it names none, or could mean two. */
  country: string | null
}

const PO_BOX = new RegExp(
  String.raw`\b(?:p\.?\s*o\.?\s*box|post(?:al)?\s+(?:office\s+)?box|postfach|postbus|apartado(?:\s+(?:de\s+correos|postal))?|casilla\s+(?:de\s+correo|postal)|caixa\s+postal|casella\s+postale|bo[iî]te\s+postale|b\.?p\.?\s+\d|pmb\s+\d|gpo\s+box)(?=\W|\d|$)`,
  'iu',
)
/** Contact details behind an address. "Tel Aviv" is a place. */
const CONTACT = /@|https?:|\bwww\.|^(?:tel(?:ephone)?|phone|fax|mob(?:ile)?|e-?mail|web(?:site)?)\b\s*[.:+(\d]/i
/** Longest name of a country, in words. */
const NAME_WORDS = 8

/**
 * Reads the country behind the last comma, slash or line break, or the last words; telephone numbers and the like are passed over. Names
 * that states of the US share, and codes of two letters, are not taken for countries. Errs towards null.
 */
export function readPostalAddress(address: string): PostalAddress {
  const parts = cleanText(address)
    .split(/[,;/\n]+/)
    .map((part) => part.trim())
  const last = parts.findLast((part) => /\p{L}/u.test(part) && !CONTACT.test(part)) ?? ''
  return { po_box: PO_BOX.test(address), country: namedCountry(last) }
}

function namedCountry(part: string): string | null {
  const words = part.split(/\s+/).filter((word) => !/\d/.test(word))
  for (let count = Math.min(words.length, NAME_WORDS); count > 0; count--) {
    const name = words.slice(-count).join(' ')
    const before = words.at(-count - 1)?.toLowerCase()
    const code = isCode(name) ? null : countryCode(name)
    if (code !== null) return before === 'new' || code === 'GE' ? null : code
  }
  return null
}
