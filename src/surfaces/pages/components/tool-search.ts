/**
 * The one search, for the server and for browsers. Every word of the query must begin a word of an entry; case and accents do not count. A
 * word that no entry has may differ in one letter, or in two from eight letters on; from six letters on also from the beginning of a longer
 * word, so that a typing error is forgiven before the word is complete.
 */
export interface SearchEntry {
  /** Words that count most: title and id. */
  name: string
  text: string
  /** Other words by which people look for it. */
  keywords: string
}

/** Longer queries are cut. */
export const QUERY_CHARS = 64

export function queryWords(query: string): string[] {
  return wordsOf(query.slice(0, QUERY_CHARS))
}

interface Indexed<Entry> {
  entry: Entry
  /** Each word with its weight. */
  words: readonly (readonly [word: string, weight: number])[]
}

/** Returns the entries with all words of the query, best first; all entries for an empty query. */
export function searchEntries<Entry extends SearchEntry>(query: string, entries: readonly Entry[]): Entry[] {
  const words = queryWords(query)
  if (words.length === 0) return [...entries]
  const index = entries.map(indexed)
  const scorers = words.map((word) => scorer(word, index))
  return index
    .map((one) => ({ entry: one.entry, scores: scorers.map((score) => score(one)) }))
    .filter(({ scores }) => scores.every((score) => score > 0))
    .toSorted((a, b) => sum(b.scores) - sum(a.scores))
    .map(({ entry }) => entry)
}

function indexed<Entry extends SearchEntry>(entry: Entry): Indexed<Entry> {
  const weighted = (text: string, weight: number) => wordsOf(text).map((word) => [word, weight] as const)
  return { entry, words: [...weighted(entry.name, 4), ...weighted(entry.keywords, 3), ...weighted(entry.text, 1)] }
}

/** Returns how well an entry has the word: as it is where any entry has it so, else with typing errors. */
function scorer<Entry>(word: string, index: readonly Indexed<Entry>[]): (one: Indexed<Entry>) => number {
  const exact = ({ words }: Indexed<Entry>) => best(words, (known) => (known === word ? 2 : known.startsWith(word) ? 1 : 0))
  if (index.some((one) => exact(one) > 0)) return exact
  const allowed = word.length >= 8 ? 2 : word.length >= 4 ? 1 : 0
  return ({ words }) =>
    best(words, (known) => {
      if (differences(word, known, allowed) <= allowed) return 0.5
      if (word.length < 6 || known.length <= word.length) return 0
      const beginnings = Array.from({ length: 2 * allowed + 1 }, (_, extra) => known.slice(0, word.length - allowed + extra))
      return beginnings.some((beginning) => differences(word, beginning, allowed) <= allowed) ? 0.25 : 0
    })
}

function best(words: Indexed<unknown>['words'], fit: (known: string) => number): number {
  return words.reduce((most, [known, weight]) => Math.max(most, fit(known) * weight), 0)
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/** Edits (insert, delete, replace, swap of neighbours) between two words; stops above `most` (Damerau-Levenshtein, optimal string alignment). */
function differences(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (before[j - 2] ?? 0) + 1 : Infinity
      row.push(Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, replaced, swapped))
    }
    before = last
    last = row
  }
  return last[b.length] ?? 0
}

function wordsOf(text: string): string[] {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .split(/[^\p{L}\p{N}.]+/u)
    .map((word) => word.replaceAll('.', ''))
    .filter(Boolean)
}
