import type { NameWord } from './name-words.ts'

/**
 * Similarity of two words in thousandths, by integers only, so that every machine gets the same: the second part of the published algorithm of
 * docs/name-screening.md.
 */

export type Likeness = 'equal' | 'spelling' | 'consonants' | 'similar' | 'initial'

export interface WordSimilarity {
  /** 0 to 1000. */
  score: number
  how: Likeness
}

/** A word with what the comparison needs of it. */
export interface FoldedWord extends NameWord {
  folded: string
  consonants: readonly string[]
}

const SPELLING = 970
const CONSONANTS = 920
const CONSONANTS_ALONE = 900
const INITIAL = 850
const ONE_EDIT = 850
const ONE_EDIT_OF_FOUR = 800

/** Least similarity of words of four letters, and of longer ones. */
const SIMILAR_OF_FOUR = 880
const SIMILAR = 850
/** Least similarity of words with the same consonants: of two, and of more. */
const TWO_CONSONANTS_SIMILAR = 850
const CONSONANTS_SIMILAR = 750

/** Similarity of two words; null if they are not alike. */
export function wordSimilarity(one: FoldedWord, other: FoldedWord): WordSimilarity | null {
  if (one.text === other.text) return { score: 1_000, how: 'equal' }
  if (one.foreign || other.foreign || one.kind === 'number' || other.kind === 'number') return null
  if (one.kind === 'initial' || other.kind === 'initial') {
    const alike = one.kind !== other.kind && (one.text[0] === other.text[0] || one.folded[0] === other.folded[0])
    return alike ? { score: INITIAL, how: 'initial' } : null
  }
  // A script without short vowels and one with them have the consonants in common.
  if (one.vowelless !== other.vowelless) return shareConsonants(one, other) ? { score: CONSONANTS_ALONE, how: 'consonants' } : null
  if (one.folded === other.folded) return { score: SPELLING, how: 'spelling' }
  const shortest = Math.min(one.folded.length, other.folded.length)
  const edit = editScore(one.text, other.text)
  const close = Math.max(jaroWinkler(one.folded, other.folded), edit)
  const least = (one.consonants[0]?.length ?? 0) > 2 ? CONSONANTS_SIMILAR : TWO_CONSONANTS_SIMILAR
  if (shortest > 3 && close >= least && shareConsonants(one, other)) return { score: Math.max(CONSONANTS, close), how: 'consonants' }
  if (Math.min(one.text.length, other.text.length) < 4) return null
  return edit > 0 || close >= (shortest > 4 ? SIMILAR : SIMILAR_OF_FOUR) ? { score: close, how: 'similar' } : null
}

function shareConsonants(one: FoldedWord, other: FoldedWord): boolean {
  for (const form of one.consonants) if (form.length > 1 && other.consonants.includes(form)) return true
  return false
}

/** Score of two words of four letters or more that one edit turns into each other; 0 otherwise. */
function editScore(one: string, other: string): number {
  const shortest = Math.min(one.length, other.length)
  if (shortest < 4 || !isOneEdit(one, other)) return 0
  return shortest === 4 ? ONE_EDIT_OF_FOUR : ONE_EDIT
}

/** True if a letter was added, left out, replaced, or exchanged with its neighbour. */
export function isOneEdit(one: string, other: string): boolean {
  if (one.length > other.length) return isOneEdit(other, one)
  if (other.length - one.length > 1 || one === other) return false
  let start = 0
  while (start < one.length && one[start] === other[start]) start++
  if (other.length > one.length) return one.slice(start) === other.slice(start + 1)
  if (one.slice(start + 1) === other.slice(start + 1)) return true
  return one[start] === other[start + 1] && one[start + 1] === other[start] && one.slice(start + 2) === other.slice(start + 2)
}

const PREFIX_MAX = 4
/** Winkler's bonus for a common prefix applies from this similarity. */
const BOOST_FROM = 700

/**
 * Jaro–Winkler similarity (Winkler 1990) in thousandths, rounded down: jaro = (m/a + m/b + (m−t)/m) / 3, plus a tenth of the rest for each letter of a
 * common prefix of at most four.
 */
export function jaroWinkler(one: string, other: string): number {
  const [a, b] = [one.length, other.length]
  if (a === 0 || b === 0) return 0
  const window = Math.max(0, (Math.max(a, b) >> 1) - 1)
  // Words have few letters, so the letters in use fit into the bits of one number.
  let used_one = 0
  let used_other = 0
  let m = 0
  for (let i = 0; i < a && i < 31; i++) {
    const letter = one.charCodeAt(i)
    const end = Math.min(b, i + window + 1, 31)
    for (let j = Math.max(0, i - window); j < end; j++) {
      if ((used_other & (1 << j)) !== 0 || other.charCodeAt(j) !== letter) continue
      used_one |= 1 << i
      used_other |= 1 << j
      m++
      break
    }
  }
  if (m === 0) return 0
  let out_of_order = 0
  for (let i = 0, j = 0; i < a && i < 31; i++) {
    if ((used_one & (1 << i)) === 0) continue
    while ((used_other & (1 << j)) === 0) j++
    if (one.charCodeAt(i) !== other.charCodeAt(j)) out_of_order++
    j++
  }
  const t = out_of_order >> 1
  const jaro = Math.floor((1_000 * (m * m * (a + b) + (m - t) * a * b)) / (3 * a * b * m))
  if (jaro < BOOST_FROM) return jaro
  let prefix = 0
  while (prefix < PREFIX_MAX && prefix < a && one[prefix] === other[prefix]) prefix++
  return jaro + Math.floor((prefix * (1_000 - jaro)) / 10)
}
