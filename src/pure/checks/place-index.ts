import { PROHIBITED_JURISDICTIONS, type JurisdictionRow } from './countries.ts'
import { foldName, spellingKey } from './place-names.ts'
import { PROHIBITED_PLACES, worldTowns } from './prohibited-places.ts'
import { isStreetName, UNSPACED_STREET } from './street-words.ts'

/** A row of the table, without the names that are looked for. */
export type Jurisdiction = Pick<JurisdictionRow, 'code' | 'kind' | 'level' | 'name' | 'programme'>

/**
 * `name`: means the jurisdiction among other words as well. `other_name`: in another language of Latin script, or an acronym, which streets
 * and offices have too. `town`: lies in it. `small_town`: lies in it, or has its name from elsewhere, as a person should confirm.
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

function placeTerm(name: string, kind: TermKind, row: Jurisdiction): PlaceTerm {
  const words = foldName(name).split(' ')
  const short = words.length === 1 && (words[0]?.length ?? 0) <= SHORT && /^[a-z]+$/.test(words[0] ?? '')
  return { words, kind, row, exact: short && NEEDS_ACCENT.test(name) ? name.normalize('NFC').toLowerCase() : null }
}

function termsOf({ aliases, names_alone, towns, small_towns, ...row }: JurisdictionRow): PlaceTerm[] {
  const kinds: readonly (readonly [TermKind, readonly string[]])[] = [
    ['small_town', small_towns],
    ['town', towns],
    ['other_name', names_alone],
    ['name', [...aliases, row.name, ...(row.kind === 'region' ? [row.code] : [])]],
  ]
  return kinds.flatMap(([kind, names]) => names.map((name) => placeTerm(name, kind, row)))
}

/** Divisions and towns of jurisdictions that are in the table. In one that is prohibited in part, a person decides about each place. */
function geonamesTerms(by_code: ReadonlyMap<string, Jurisdiction>): PlaceTerm[] {
  return PROHIBITED_PLACES.flatMap(({ code, names, shared }) => {
    const row = by_code.get(code)
    if (row === undefined) return []
    const sure = row.level === 'comprehensive' ? 'town' : 'small_town'
    return [...shared.map((name) => placeTerm(name, 'small_town', row)), ...names.map((name) => placeTerm(name, sure, row))]
  })
}

/** Scripts that write no spaces between words: their names are looked for inside of words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u
/** Least length of a town's name in such a script: shorter ones are parts of other words. */
const UNSPACED_TOWN_CHARS = 3
/** Koreans of China and their prefecture are called 朝鲜族. */
const NOT_A_PLACE = /朝[鲜鮮]族/g
/** Kinds of places, right behind their name. */
const UNSPACED_KIND = /^(?:特別市|特别市|直轄市|直辖市|市|省|州|国|國|共和国|共和國)/
/** Korean writes what kind of place it is, and particles, right behind the name. */
const HANGUL = /[\u1100-\u11ff]/
const hangul = (text: string) => text.split(' ').map((ending) => ending.normalize('NFKD'))
const HANGUL_KINDS = hangul('시 특별시 직할시 도 군 구역')
const HANGUL_ENDINGS = [...HANGUL_KINDS, ...hangul('의 에서 에')]

/** Names that end with the kind of place. */
const NAMES_KIND = new RegExp(`(?:市|${'시'.normalize('NFKD')})$`)

/** The table as it is searched. */
interface PlaceIndex {
  rows: readonly JurisdictionRow[]
  by_code: ReadonlyMap<string, Jurisdiction>
  /** By the folded name; for a repeated name the last, stronger kind counts. */
  terms: ReadonlyMap<string, PlaceTerm>
  /** By their first word, the longest first. */
  by_first_word: ReadonlyMap<string, readonly PlaceTerm[]>
  /** Names of Latin script by the key of the spelling of their first word, the longest first. */
  by_first_key: ReadonlyMap<string, readonly SpelledTerm[]>
  /** By their first character, the longest first. */
  unspaced: ReadonlyMap<string, readonly PlaceTerm[]>
  hangul: readonly PlaceTerm[]
}

/** A term with the keys of its words. */
interface SpelledTerm {
  keys: readonly string[]
  term: PlaceTerm
}

const longestFirst = (one: PlaceTerm, other: PlaceTerm) => other.words.join(' ').length - one.words.join(' ').length

function grouped<Term>(terms: Iterable<Term>, key: (term: Term) => string): ReadonlyMap<string, readonly Term[]> {
  return Map.groupBy(terms, key)
}

function placeIndex(rows: readonly JurisdictionRow[]): PlaceIndex {
  const by_code = new Map(rows.map(({ code, kind, level, name, programme }) => [code, { code, kind, level, name, programme }]))
  const of_table = rows.flatMap(termsOf)
  const curated = new Set(of_table.map(({ words }) => words.join(' ')))
  const terms = new Map([...geonamesTerms(by_code), ...of_table].map((term) => [term.words.join(' '), term]))
  const sorted = [...terms.values()].sort(longestFirst)
  const ofOneWord = (script: RegExp) => sorted.filter(({ words }) => words.length === 1 && script.test(words[0] ?? ''))
  const inside = ofOneWord(UNSPACED).filter(({ words: [word = ''] }) => curated.has(word) || word.length >= UNSPACED_TOWN_CHARS)
  return {
    rows,
    by_code,
    terms,
    by_first_word: grouped(sorted, ({ words }) => words[0] ?? ''),
    by_first_key: grouped(spelledTerms(sorted), ({ keys }) => keys[0] ?? ''),
    unspaced: grouped(inside, ({ words }) => words[0]?.slice(0, 1) ?? ''),
    hangul: ofOneWord(HANGUL),
  }
}

/** Letters that a key must have: shorter ones are those of other words. */
const KEY_CHARS = 5

/** Terms of Latin script by their spelling, each as one that a person must confirm; none whose key is that of a large town elsewhere. */
function spelledTerms(terms: readonly PlaceTerm[]): SpelledTerm[] {
  const elsewhere = new Set(
    [...worldTowns().keys()].filter((name) => /^[a-z ]+$/.test(name)).map((name) => keysOf(name.split(' ')).join(' ')),
  )
  return terms
    .filter(({ words, exact }) => exact === null && words.every((word) => /^[a-z]+$/.test(word)))
    .map((term) => ({ keys: keysOf(term.words), term: term.kind === 'small_town' ? term : { ...term, kind: 'small_town' as const } }))
    .filter(({ keys }) => keys.join('').length >= KEY_CHARS && !elsewhere.has(keys.join(' ')))
}

const keysOf = (words: readonly string[]) => words.map(spellingKey)

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
  /** Other letters are in the same word, as in scripts without spaces. */
  inside: boolean
  /** The kind of place follows in the same word: 平壤市. */
  kind_follows: boolean
  /** The name is that of a street or a building. */
  street: boolean
}

/** The terms in a text, the longest at each place, none over another. `words` are those of the text, folded. */
export function findPlaceMentions(text: string, words: readonly string[]): PlaceMention[] {
  const found: PlaceMention[] = []
  for (let start = 0; start < words.length;) {
    const mentions = mentionsAt(text, words, start)
    found.push(...mentions)
    start = mentions.at(-1)?.end ?? start + 1
  }
  return found
}

function mentionsAt(text: string, words: readonly string[], start: number): PlaceMention[] {
  const { by_first_word, by_first_key } = jurisdictions()
  const word = words[start] ?? ''
  for (const term of by_first_word.get(word) ?? []) {
    const fits = term.words.every((one, index) => words[start + index] === one)
    if (fits && isSpelled(term, text)) return [wholeMention(term, words, start)]
  }
  if (UNSPACED.test(word)) return unspacedMentions(word, start)
  if (HANGUL.test(word)) return hangulMentions(word, start)
  if (!/^[a-z]+$/.test(word)) return []
  const spelled = (by_first_key.get(spellingKey(word)) ?? []).find(({ keys }) =>
    keys.every((key, index) => spellingKey(words[start + index] ?? '') === key),
  )
  return spelled === undefined ? [] : [wholeMention(spelled.term, words, start)]
}

/** A mention of whole words. */
export function wholeMention(term: PlaceTerm, words: readonly string[], start: number): PlaceMention {
  const end = start + term.words.length
  const kind_follows = NAMES_KIND.test(words[end - 1] ?? '')
  return { term, start, end, inside: false, kind_follows, street: isStreetName(words, start, end) }
}

/** The terms inside of one word, the longest at each place. */
function unspacedMentions(word: string, start: number): PlaceMention[] {
  const plain = word.replace(NOT_A_PLACE, '')
  const { unspaced } = jurisdictions()
  const found: { term: PlaceTerm; at: number; after: string }[] = []
  let rest = ''
  for (let at = 0; at < plain.length;) {
    const term = (unspaced.get(plain.slice(at, at + 1)) ?? []).find(({ words: [name = ''] }) => plain.startsWith(name, at))
    if (term === undefined) rest += plain[at++] ?? ''
    else {
      const end = at + (term.words[0]?.length ?? 1)
      const kind = UNSPACED_KIND.exec(plain.slice(end))?.[0] ?? ''
      found.push({ term, at, after: plain.slice(end) })
      at = end + kind.length
    }
  }
  const others = rest.replace(/[\d-]+/g, '') !== ''
  return found.map(({ term, at, after }, index) => ({
    term,
    start,
    end: start + 1,
    inside: others,
    kind_follows: (at === 0 || index > 0) && (UNSPACED_KIND.test(after) || (term.words[0] ?? '').endsWith('市')),
    street: UNSPACED_STREET.test(after),
  }))
}

function hangulMentions(word: string, start: number): PlaceMention[] {
  for (const term of jurisdictions().hangul) {
    const [name = ''] = term.words
    if (!word.startsWith(name)) continue
    const ending = word.slice(name.length)
    const kind_follows = HANGUL_KINDS.some((kind) => ending.startsWith(kind))
    if (!HANGUL_ENDINGS.includes(ending) && !kind_follows) continue
    return [{ term, start, end: start + 1, inside: !HANGUL_ENDINGS.includes(ending), kind_follows, street: false }]
  }
  return []
}
