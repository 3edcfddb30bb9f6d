import type { NameWord } from './name-words.ts'

/** Spellings of one sound, in this order. Capital letters are sounds that would otherwise take two letters. */
const SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [/shch|sch|sh/g, 'S'],
  [/tch|tsch|ch/g, 'C'],
  [/ph/g, 'f'],
  [/kh/g, 'h'],
  [/gh/g, 'g'],
  [/dzh|dj|zh/g, 'j'],
  [/th/g, 't'],
  [/dh/g, 'd'],
  [/tz/g, 'ts'],
  [/x/g, 'ks'],
  [/ck|c|q/g, 'k'],
  [/w/g, 'v'],
  [/ou|oo/g, 'u'],
  [/ee/g, 'i'],
  [/[ea][iy]/g, 'ai'],
  [/y(?=[aou])/g, ''],
  [/^ye/g, 'e'],
  [/y/g, 'i'],
  [/(.)\1+/g, '$1'],
  [/([aeiou])h$/, '$1'],
  [/of$/, 'ov'],
  [/ef$/, 'ev'],
]

/** One spelling for words that sound alike: Husayn and Hussein, Ivanov and Iwanoff. */
export function foldSpelling(text: string): string {
  return SPELLINGS.reduce((folded, [pattern, sound]) => folded.replace(pattern, sound), text)
}

/** Consonants of a folded word, with its first letter; an initial vowel is "a". */
function consonants(folded: string): string {
  const [first = ''] = folded
  return (/[aeiou]/.test(first) ? 'a' : first) + folded.slice(1).replace(/[aeiou]/g, '')
}

/**
 * Consonants that a word of a script without short vowels may have: its w is a consonant, or the long vowel u.
 */
function consonantForms({ text, vowelless }: Pick<NameWord, 'text' | 'vowelless'>): string[] {
  const folded = foldSpelling(text)
  const plain = consonants(folded)
  if (!vowelless || !folded.slice(1).includes('v')) return [plain]
  return [plain, consonants(folded[0] + folded.slice(1).replaceAll('v', ''))]
}

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

/**
 * Of the n pairs of letters of the given word, two words that are compared share n − 3 (one edit changes at most three) or 55 %, rounded up, whichever
 * is less, and at least two.
 */
const SHARED_PAIRS_MIN = 2
const EDITED_PAIRS_MAX = 3
const SHARED_PAIRS_SHARE = 55
const LENGTH_DIFFERENCE_MAX = 3
/** Number of words whose results are cached; common words return in most names. */
const CACHED_WORDS = 2_000

export function foldWord(word: NameWord): FoldedWord {
  return { ...word, folded: foldSpelling(word.text), consonants: consonantForms(word) }
}

const START = 94
const END = 36
const ASCII_BITS = 7

/** Different pairs of neighbouring letters, with the beginning and the end of the word, as numbers. */
function letterPairs(folded: string): number[] {
  const pairs: number[] = []
  let before = START
  for (let index = 0; index <= folded.length; index++) {
    const letter = index < folded.length ? folded.charCodeAt(index) : END
    const pair = (before << ASCII_BITS) | letter
    if (!pairs.includes(pair)) pairs.push(pair)
    before = letter
  }
  return pairs
}

function leastShared(pairs: number): number {
  return Math.max(SHARED_PAIRS_MIN, Math.min(pairs - EDITED_PAIRS_MAX, Math.ceil((pairs * SHARED_PAIRS_SHARE) / 100)))
}

function push<Key>(lists: Map<Key, number[]>, key: Key, id: number): void {
  const known = lists.get(key)
  if (known === undefined) lists.set(key, [id])
  else known.push(id)
}

export interface LikeWord {
  id: number
  /** 0 to 1000. */
  score: number
}

export class Dictionary {
  readonly words: FoldedWord[] = []
  readonly #ids = new Map<string, number>()
  readonly #byConsonants = new Map<string, number[]>()
  readonly #byPair = new Map<number, number[]>()
  /** Pairs of all words, one after the other, where those of each word begin, and the number of its letters. */
  #pairs = new Uint16Array(65_536)
  #starts = new Uint32Array(8_192)
  #lengths = new Uint8Array(8_192)
  readonly #cache = new Map<string, readonly LikeWord[]>()
  /** Number of pairs in common with the word of a search, by word; zeros between searches. */
  #shared = new Uint8Array(1024)

  /** Position of a word, which is added if it is new. */
  add(word: NameWord): number {
    const key = keyOf(word)
    const known = this.#ids.get(key)
    if (known !== undefined) return known
    const id = this.words.length
    const folded = foldWord(word)
    this.words.push(folded)
    this.#ids.set(key, id)
    const pairs = word.kind === 'word' && !word.foreign ? letterPairs(folded.folded) : []
    this.#keepPairs(id, pairs, folded.folded.length)
    for (const pair of pairs) push(this.#byPair, pair, id)
    if (pairs.length > 0) for (const form of folded.consonants) push(this.#byConsonants, form, id)
    return id
  }

  #keepPairs(id: number, pairs: readonly number[], length: number): void {
    if (id + 2 > this.#starts.length) {
      this.#starts = enlarged(this.#starts, new Uint32Array(this.#starts.length * 2))
      this.#lengths = enlarged(this.#lengths, new Uint8Array(this.#lengths.length * 2))
    }
    const start = this.#starts[id] ?? 0
    if (start + pairs.length > this.#pairs.length) {
      this.#pairs = enlarged(this.#pairs, new Uint16Array((this.#pairs.length + pairs.length) * 2))
    }
    this.#pairs.set(pairs, start)
    this.#starts[id + 1] = start + pairs.length
    this.#lengths[id] = Math.min(length, 255)
  }

  has(text: string): boolean {
    return this.#ids.has(text)
  }

  /** Words like this one, most similar first. No word is like an initial here: those are compared in the alignment alone. */
  like(word: FoldedWord): readonly LikeWord[] {
    if (word.kind === 'initial') return []
    const key = keyOf(word)
    const known = this.#cache.get(key)
    if (known !== undefined) return known
    const found: LikeWord[] = []
    for (const id of this.#candidates(word)) {
      const other = this.words[id]
      const similarity = other === undefined ? null : wordSimilarity(word, other)
      if (similarity !== null) found.push({ id, score: similarity.score })
    }
    found.sort((one, other) => other.score - one.score || one.id - other.id)
    if (this.#cache.size >= CACHED_WORDS) this.#cache.clear()
    this.#cache.set(key, found)
    return found
  }

  #candidates(word: FoldedWord): Set<number> {
    const candidates = new Set<number>()
    for (const vowelless of [false, true]) {
      const id = this.#ids.get(keyOf({ text: word.text, vowelless }))
      if (id !== undefined) candidates.add(id)
    }
    if (word.kind !== 'word' || word.foreign) return candidates
    for (const form of word.consonants) {
      if (form.length < 2) continue
      for (const id of this.#byConsonants.get(form) ?? []) {
        // Words of a script without short vowels are shorter.
        const comparable = Math.abs((this.#lengths[id] ?? 0) - word.folded.length) <= LENGTH_DIFFERENCE_MAX
        if (comparable || this.words[id]?.vowelless !== word.vowelless) candidates.add(id)
      }
    }
    for (const id of this.#sharing(word.folded)) candidates.add(id)
    return candidates
  }

  /**
   * Words that share enough pairs. Who shares `least` of n pairs has one of the n − least + 1 rarest, so only the lists of those are read, and the
   * words found there are counted exactly.
   */
  #sharing(folded: string): number[] {
    if (this.#shared.length < this.words.length) this.#shared = new Uint8Array(this.words.length)
    const shared = this.#shared
    const pairs = letterPairs(folded)
    const least = leastShared(pairs.length)
    const rarest = pairs
      .map((pair) => ({ pair, ids: this.#byPair.get(pair) ?? [] }))
      .sort((one, other) => one.ids.length - other.ids.length || one.pair - other.pair)
    const read = pairs.length - least + 1
    const touched: number[] = []
    for (const { ids } of rarest.slice(0, read)) {
      for (const id of ids) {
        const count = shared[id] ?? 0
        if (count === 0) touched.push(id)
        shared[id] = count + 1
      }
    }
    const others = rarest.slice(read).map(({ pair }) => pair)
    const found: number[] = []
    for (const id of touched) {
      let count = shared[id] ?? 0
      shared[id] = 0
      if (Math.abs((this.#lengths[id] ?? 0) - folded.length) > LENGTH_DIFFERENCE_MAX || count + others.length < least) continue
      const end = this.#starts[id + 1] ?? 0
      for (let at = this.#starts[id] ?? 0; at < end && count < least; at++) if (others.includes(this.#pairs[at] ?? 0)) count++
      if (count >= least) found.push(id)
    }
    return found
  }
}

function enlarged<Numbers extends Uint8Array | Uint16Array | Uint32Array>(old: Numbers, larger: Numbers): Numbers {
  larger.set(old)
  return larger
}

/** The same letters from a script without short vowels are another word. */
function keyOf({ text, vowelless }: Pick<NameWord, 'text' | 'vowelless'>): string {
  return vowelless ? `${text}*` : text
}
