import type { ListedName, NameListId, NameRow } from '../datasets/sanctions-lists.ts'
import { readName, type NameWord } from './name-words.ts'
import { Dictionary, foldWord, wordSimilarity, type FoldedWord, type Likeness } from './similarity.ts'

/** Index of the names of one list, and the search in it: the last part of the published algorithm of docs/name-screening.md. */

/** Least score of a possible match, 0 to 100. */
export const SCORE_MIN = 85
/** Points that a weak alias loses. */
const WEAK_ALIAS = 5
/** Share of the shorter name in the score, in hundredths; the rest is the longer one's. */
const SHORTER_SHARE = 85
/** Least weight of words that agree, unless the longer name agrees to nine tenths. */
const EVIDENCE_MIN = 6_000
const WHOLE = 900
/** Readings of a query with two words joined or one split. */
const READINGS_MAX = 6

/** Pair of a word of the query and a word of the listed name that agree. */
interface WordMatch {
  given: string
  listed: string
  how: Likeness
  /** 0 to 1000. */
  score: number
}

export interface NameMatch {
  row: NameRow
  name: ListedName
  /** 0 to 100. */
  score: number
  words: WordMatch[]
  /** Words without a counterpart, titles and legal forms left out. */
  given_alone: string[]
  listed_alone: string[]
}

interface IndexedName {
  row: NameRow
  name: ListedName
  /** Positions in the dictionary. */
  words: readonly number[]
  /** Sum of the weights of its words. */
  weight: number
  initials: number
}

export interface NameIndex {
  /** Names that may be the given one, one for each entry, best first. Errs towards a match. */
  search(name: string): NameMatch[]
}

/** Builds the index of a list. It yields after each slice of the work, so that a caller can do other work in between. */
export function* buildNameIndex(rows: readonly NameRow[]): Generator<void, NameIndex> {
  const dictionary = new Dictionary()
  const names: IndexedName[] = []
  const postings: number[][] = []
  for (const [index, row] of rows.entries()) {
    for (const name of row.names) {
      const words = comparedWords(name.text, row.kind === 'person')
      if (words.length === 0) continue
      const ids = words.map((word) => dictionary.add(word))
      const weight = words.reduce((sum, word) => sum + word.weight, 0)
      for (const id of new Set(ids)) (postings[id] ??= []).push(names.length)
      names.push({ row, name, words: ids, weight, initials: words.filter(({ kind }) => kind === 'initial').length })
    }
    if (index % ROWS_A_SLICE === ROWS_A_SLICE - 1) yield
  }
  return createSearch(dictionary, names, postings)
}

const ROWS_A_SLICE = 50

/** Words of a listed name; single letters next to two words or more belong to legal forms, unless it is the name of a person. */
function comparedWords(text: string, person: boolean): NameWord[] {
  const words = readName(text).filter(({ kind }) => kind !== 'filler')
  const whole = words.filter(({ kind }) => kind !== 'initial')
  return person || whole.length < 2 ? words : whole
}

function createSearch(dictionary: Dictionary, names: readonly IndexedName[], postings: readonly (readonly number[])[]): NameIndex {
  const gather = createGather(dictionary, names, postings)
  return {
    search(text) {
      const words = readName(text)
        .filter(({ kind }) => kind !== 'filler')
        .map(foldWord)
      const best = new Map<NameRow, NameMatch>()
      for (const reading of readingsOf(words, dictionary)) {
        for (const { name, likes } of gather(reading)) {
          const listed = name.words.map((id) => ({ id, word: dictionary.words[id] ?? UNKNOWN }))
          const match = compareNames(reading, listed, likes, name)
          const known = match === null ? undefined : best.get(match.row)
          if (match !== null && (known === undefined || match.score > known.score)) best.set(match.row, match)
        }
      }
      return [...best.values()].sort((one, other) => other.score - one.score || (one.row.id < other.row.id ? -1 : 1))
    },
  }
}

const UNKNOWN = foldWord({ text: '', kind: 'filler', foreign: true, vowelless: false, common: false, weight: 0 })

/** The words as given, with two neighbours joined to a listed word, or with one word split into two listed words. */
function readingsOf(words: readonly FoldedWord[], dictionary: Pick<Dictionary, 'has'>): FoldedWord[][] {
  const readings = [[...words]]
  const one = (text: string): FoldedWord[] =>
    readName(text)
      .filter(({ kind }) => kind === 'word')
      .map(foldWord)
  const add = (at: number, taken: number, texts: readonly string[]) => {
    if (readings.length < READINGS_MAX) readings.push([...words.slice(0, at), ...texts.flatMap(one), ...words.slice(at + taken)])
  }
  for (const [at, { text, kind, foreign }] of words.entries()) {
    if (kind !== 'word' || foreign) continue
    const next = words[at + 1]
    if (next?.kind === 'word' && dictionary.has(text + next.text)) add(at, 2, [text + next.text])
    for (let cut = SPLIT_MIN; cut <= text.length - SPLIT_MIN; cut++) {
      const [head, tail] = [text.slice(0, cut), text.slice(cut)]
      if (dictionary.has(head) && dictionary.has(tail)) add(at, 1, [head, tail])
    }
  }
  return readings
}

/** Least letters of each part of a word that is split. */
const SPLIT_MIN = 3

/** Scores of listed words that are like a word of the query, by position in the dictionary, for each word of the query. */
type Likes = readonly ReadonlyMap<number, number>[]

/** Greatest weight that an initial takes from the word that it agrees with. */
const INITIAL_SAVES = 6
const INITIAL_GAIN = 1_700

/** Finds the names that have enough like words to reach the least score. The bound is never below the score, so no match is lost. */
function createGather(dictionary: Dictionary, names: readonly IndexedName[], postings: readonly (readonly number[])[]) {
  // By name: what its like words can contribute to either share at most, and the last word of the query that touched it.
  const given_sum = new Int32Array(names.length)
  const listed_sum = new Int32Array(names.length)
  const listed_best = new Int32Array(names.length)
  const last_word = new Int8Array(names.length).fill(-1)

  return (words: readonly FoldedWord[]): { name: IndexedName; likes: Likes }[] => {
    const touched: number[] = []
    const likes = words.map((word, index) => {
      if (word.kind === 'initial') return new Map<number, number>()
      const found = dictionary.like(word)
      for (const { id, score } of found) {
        const listed = (dictionary.words[id]?.weight ?? 0) * score
        for (const name of postings[id] ?? []) {
          if (last_word[name] === -1) touched.push(name)
          if (last_word[name] !== index) {
            last_word[name] = index
            listed_best[name] = listed
            given_sum[name] = (given_sum[name] ?? 0) + word.weight * score
            listed_sum[name] = (listed_sum[name] ?? 0) + listed
          } else if (listed > (listed_best[name] ?? 0)) {
            listed_sum[name] = (listed_sum[name] ?? 0) + listed - (listed_best[name] ?? 0)
            listed_best[name] = listed
          }
        }
      }
      return new Map(found.map(({ id, score }) => [id, score]))
    })
    const weight = words.reduce((sum, word) => sum + word.weight, 0)
    const initials = words.filter(({ kind }) => kind === 'initial').length
    const found: { name: IndexedName; likes: Likes }[] = []
    for (const at of touched) {
      const name = names[at]
      if (name !== undefined) {
        const gain = INITIAL_GAIN * (initials + name.initials)
        const given = share((given_sum[at] ?? 0) + gain, weight - INITIAL_SAVES * name.initials)
        const listed = share((listed_sum[at] ?? 0) + gain, name.weight - INITIAL_SAVES * initials)
        if (scoreOf(Math.max(given, listed), Math.min(given, listed)) >= SCORE_MIN) found.push({ name, likes })
      }
      given_sum[at] = 0
      listed_sum[at] = 0
      last_word[at] = -1
    }
    return found
  }
}

/** Thousandths, at most 1000. */
function share(sum: number, weight: number): number {
  return weight <= 0 ? 1_000 : Math.min(1_000, Math.floor(sum / weight))
}

/** 0 to 100, from the shares of the shorter and of the longer name that agree. */
function scoreOf(shorter: number, longer: number): number {
  return Math.floor((SHORTER_SHARE * shorter + (100 - SHORTER_SHARE) * longer) / 1_000)
}

interface Pair {
  given: number
  listed: number
  score: number
}

/** Each word is paired with at most one other: the most similar pair first, then the heavier, then in the order of the names. */
function alignWords(given: readonly FoldedWord[], listed: readonly { id: number; word: FoldedWord }[], likes: Likes): Pair[] {
  const pairs: (Pair & { weight: number })[] = []
  for (const [i, one] of given.entries()) {
    for (const [j, { id, word }] of listed.entries()) {
      const initial = one.kind === 'initial' || word.kind === 'initial'
      const score = initial ? (wordSimilarity(one, word)?.score ?? 0) : (likes[i]?.get(id) ?? 0)
      if (score > 0) pairs.push({ given: i, listed: j, score, weight: Math.min(one.weight, word.weight) })
    }
  }
  pairs.sort((a, b) => b.score - a.score || b.weight - a.weight || a.given - b.given || a.listed - b.listed)
  const used_given = new Set<number>()
  const used_listed = new Set<number>()
  return pairs.filter((pair) => {
    if (used_given.has(pair.given) || used_listed.has(pair.listed)) return false
    used_given.add(pair.given)
    used_listed.add(pair.listed)
    return true
  })
}

function compareNames(
  given: readonly FoldedWord[],
  listed: readonly { id: number; word: FoldedWord }[],
  likes: Likes,
  { row, name }: IndexedName,
): NameMatch | null {
  const pairs = alignWords(given, listed, likes)
  const wordsOf = (pair: Pair) => [given[pair.given] ?? UNKNOWN, listed[pair.listed]?.word ?? UNKNOWN] as const
  const totals = { given: weightOf(given), listed: weightOf(listed.map(({ word }) => word)) }
  const sums = { given: 0, listed: 0, both: 0 }
  let whole_words = 0
  for (const pair of pairs) {
    const [one, other] = wordsOf(pair)
    const initial = one.kind === 'initial' || other.kind === 'initial'
    const both = Math.min(one.weight, other.weight)
    // A word that is given by its initial counts as an initial.
    const [given_weight, listed_weight] = initial ? [both, both] : [one.weight, other.weight]
    totals.given -= one.weight - given_weight
    totals.listed -= other.weight - listed_weight
    sums.given += given_weight * pair.score
    sums.listed += listed_weight * pair.score
    sums.both += both * pair.score
    if (!initial) whole_words++
  }
  const alone = {
    given: given.filter((_, index) => !pairs.some((pair) => pair.given === index)),
    listed: listed.filter((_, index) => !pairs.some((pair) => pair.listed === index)).map(({ word }) => word),
  }
  if (whole_words === 0 || !enoughWords(given.length, listed.length, pairs.length, alone, name)) return null
  const shares = [share(sums.given, totals.given), share(sums.listed, totals.listed)] as const
  const [shorter, longer] = totals.given <= totals.listed ? shares : [shares[1], shares[0]]
  if (sums.both < EVIDENCE_MIN && longer < WHOLE) return null
  const score = scoreOf(shorter, longer) - (name.strength === 'weak' ? WEAK_ALIAS : 0)
  if (score < SCORE_MIN) return null
  const words = pairs
    .toSorted((a, b) => a.given - b.given)
    .map((pair): WordMatch => {
      const [one, other] = wordsOf(pair)
      return { given: one.text, listed: other.text, how: wordSimilarity(one, other)?.how ?? 'similar', score: pair.score }
    })
  return { row, name, score, words, given_alone: alone.given.map(({ text }) => text), listed_alone: alone.listed.map(({ text }) => text) }
}

function weightOf(words: readonly NameWord[]): number {
  return words.reduce((sum, { weight }) => sum + weight, 0)
}

/** Two words must agree. Of a name of one word, that one, and the other name may have only initials and very common words in addition. */
function enoughWords(
  given: number,
  listed: number,
  pairs: number,
  alone: Readonly<Record<'given' | 'listed', readonly NameWord[]>>,
  { strength }: ListedName,
): boolean {
  if (Math.min(given, listed) >= 2) return pairs >= 2
  const longer = given > listed ? alone.given : alone.listed
  return longer.length === 0 || (strength !== 'weak' && longer.every(({ common, kind }) => common || kind === 'initial'))
}

/** A list of names with its facts. The index is built on first use. */
export interface NameList {
  id: NameListId
  published_at: string
  count: number
  /** SHA-256 of the canonical text of the list. */
  sha256: string
  index(): Promise<NameIndex>
}

/** Does work in slices, with a pause after each, so that other work continues. */
export async function buildInSlices<Result>(steps: Generator<void, Result>, pause: () => Promise<void>): Promise<Result> {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    await pause()
  }
}
