import table from '../../../data/prohibited-jurisdictions.json' with { type: 'json' }
import { folded } from './place-names.ts'

/** The table of jurisdictions as it is looked for in texts. */

export type JurisdictionLevel = 'comprehensive' | 'elevated' | 'needs_review'

/** A row of the table. */
export interface Jurisdiction {
  code: string
  kind: 'country' | 'region'
  level: JurisdictionLevel
  name: string
  programme: string
}

export const JURISDICTIONS = { published_at: table.published_at, count: table.count } as const

export const ROWS: readonly Jurisdiction[] = table.rows.map(({ code, kind, level, name, programme }) => ({
  code,
  kind: kind === 'region' ? kind : 'country',
  level: level === 'comprehensive' || level === 'needs_review' ? level : 'elevated',
  name,
  programme,
}))
export const BY_CODE: ReadonlyMap<string, Jurisdiction> = new Map(ROWS.map((row) => [row.code, row]))

/**
 * `name`: means the jurisdiction among other words as well. `other_name`: in another language of Latin script, or an acronym, which streets
 * and offices bear too. `town`: lies in it. `small_town`: lies in it, as a person should confirm.
 */
type TermKind = 'name' | 'other_name' | 'town' | 'small_town'

/** A name of the table. */
export interface Term {
  /** Folded. */
  words: readonly string[]
  kind: TermKind
  row: Jurisdiction
  /** Its spelling in lower case, where without its accents it would be another word; null elsewhere. */
  exact: string | null
}

/** Names that are words of their own without accents: Irã is Iran, Ira is a person. */
const NEEDS_ACCENT = /[^\p{ASCII}]/u
const SHORT = 3

function termsOf(listed_row: (typeof table.rows)[number]): Term[] {
  const row = BY_CODE.get(listed_row.code)
  if (row === undefined) return []
  const { name, aliases, names_alone, towns, small_towns } = listed_row
  const kinds: readonly (readonly [TermKind, readonly string[]])[] = [
    ['small_town', small_towns],
    ['town', towns],
    ['other_name', names_alone],
    ['name', [...aliases, name, ...(row.kind === 'region' ? [row.code] : [])]],
  ]
  return kinds.flatMap(([kind, names]) =>
    names.map((one): Term => {
      const words = folded(one).split(' ')
      const short = words.length === 1 && (words[0]?.length ?? 0) <= SHORT && /^[a-z]+$/.test(words[0] ?? '')
      return { words, kind, row, exact: short && NEEDS_ACCENT.test(one) ? one.normalize('NFC').toLowerCase() : null }
    }),
  )
}

/** By the folded name; of a name that stands twice the last, stronger kind counts. */
const TERMS: ReadonlyMap<string, Term> = new Map(table.rows.flatMap(termsOf).map((term) => [term.words.join(' '), term]))

/** By their first word, the longest first. */
const BY_FIRST_WORD: ReadonlyMap<string, readonly Term[]> = new Map(
  [...Map.groupBy(TERMS.values(), ({ words }) => words[0] ?? '')].map(([first, terms]) => [
    first,
    terms.toSorted((one, other) => other.words.length - one.words.length),
  ]),
)

/** Scripts that write no spaces between words: their names are looked for inside of words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u
const UNSPACED_TERMS: readonly Term[] = [...TERMS.values()]
  .filter(({ words }) => words.length === 1 && UNSPACED.test(words[0] ?? ''))
  .toSorted((one, other) => (other.words[0]?.length ?? 0) - (one.words[0]?.length ?? 0))
/** Koreans of China and their prefecture are called 朝鲜族. */
const NOT_A_PLACE = /朝[鲜鮮]族/g
/** Korean writes what kind of place it is, and particles, right behind the name. */
const HANGUL = /[\u1100-\u11ff]/
const HANGUL_ENDINGS = ['시', '특별시', '직할시', '도', '군', '구역', '의', '에서', '에'].map((ending) => ending.normalize('NFKD'))
const HANGUL_TERMS: readonly Term[] = [...TERMS.values()].filter(({ words }) => words.length === 1 && HANGUL.test(words[0] ?? ''))

/** The term that is the whole text. */
export function termOf(text: string): Term | null {
  const term = TERMS.get(folded(text)) ?? null
  return term !== null && isSpelled(term, text) ? term : null
}

function isSpelled({ exact }: Term, text: string): boolean {
  return exact === null || text.normalize('NFC').toLowerCase().includes(exact)
}

/** A term in a list of words: from `start` up to, and without, `end`. */
export interface Mention {
  term: Term
  start: number
  end: number
}

/** The terms in a text, the longest at each place, none over another. `words` are those of the text, folded. */
export function mentionsIn(text: string, words: readonly string[]): Mention[] {
  const found: Mention[] = []
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

function mentionAt(text: string, words: readonly string[], start: number): Mention | null {
  const word = words[start] ?? ''
  for (const term of BY_FIRST_WORD.get(word) ?? []) {
    const fits = term.words.every((one, index) => words[start + index] === one)
    if (fits && isSpelled(term, text)) return { term, start, end: start + term.words.length }
  }
  const inside = UNSPACED.test(word) ? unspacedTerm(word) : HANGUL.test(word) ? hangulTerm(word) : null
  return inside === null ? null : { term: inside, start, end: start + 1 }
}

function unspacedTerm(word: string): Term | null {
  const plain = word.replace(NOT_A_PLACE, '')
  return UNSPACED_TERMS.find(({ words }) => plain.includes(words[0] ?? '')) ?? null
}

function hangulTerm(word: string): Term | null {
  const isTerm = ({ words: [name = ''] }: Term) => word.startsWith(name) && HANGUL_ENDINGS.includes(word.slice(name.length))
  return HANGUL_TERMS.find(isTerm) ?? null
}
