import { consonantForms, foldSpelling, type NameWord } from './name-words.ts'
import { wordSimilarity, type FoldedWord } from './similarity.ts'

/** The different words of a list of names, and the search for those that are like a given word. */

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
