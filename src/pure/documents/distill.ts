import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { firstSentence } from './first-sentence.ts'
import { STOP_WORDS, STOP_WORDS_VERSION } from './stop-words.ts'

interface WordCount {
  word: string
  count: number
}

export interface Distillation {
  word_count: number
  /** At most five, most frequent first; equal counts in the order of their code points. */
  top_words: WordCount[]
  first_sentence: string
  /** True when the first sentence was longer than the bound and has been cut. */
  first_sentence_cut: boolean
  /** Of the UTF-8 bytes of exactly the text that came in: 0x and 64 lower-case hex digits. */
  keccak256: string
  stop_words_version: string
}

const TOP_WORDS = 5

/** Longer runs (data, keys, encoded files) count as words but are not ranked; UTF-16 units as written. */
export const MAX_RANKED_WORD_CHARS = 100

/**
 * A word: a letter or digit, then letters, marks, digits, joiners and soft hyphens; an apostrophe or a point between two such runs joins
 * them (don't, Node.js, 3.14), as does a comma between two digits (1,000). A Han or Hiragana character is a word by itself. All of it
 * after UAX #29, simplified. The classes that follow each other share no character: there is one way to match and no going back.
 */
const CONTINUED = String.raw`[[\p{L}\p{M}\p{Nd}\u00ad\u200c\u200d]--[\p{sc=Han}\p{sc=Hira}]]*`
const BEGUN = String.raw`[[\p{L}\p{Nd}]--[\p{sc=Han}\p{sc=Hira}]]${CONTINUED}`
const JOINED = String.raw`(?:(?:['’.]|(?<=\p{Nd}),(?=\p{Nd}))${BEGUN})*`
const WORD = new RegExp(String.raw`[[\p{L}\p{Nl}]&&[\p{sc=Han}\p{sc=Hira}]]\p{M}*|${BEGUN}${JOINED}`, 'gv')

/**
 * Reduces a text to what can be said of it without understanding it. Never throws; work grows linearly with the text.
 *
 * Words are compared in NFC, in lower case (the default mapping of Unicode, no locale), without soft hyphens and with the straight
 * apostrophe; `don't` is one word, `well-known` two. Letters are those of the running Unicode version. Errs towards too few words in
 * scripts that write without spaces and are not Chinese or Japanese (Thai, Lao, Khmer, Burmese): there an unbroken run is one word.
 * Stop words are English only.
 *
 * A lone surrogate is hashed as U+FFFD, the way every UTF-8 encoder writes it.
 */
export function distill(text: string): Distillation {
  const runs = new Map<string, number>()
  let word_count = 0
  for (const [run] of text.matchAll(WORD)) {
    word_count++
    if (run.length <= MAX_RANKED_WORD_CHARS) add(runs, run, 1)
  }
  return {
    word_count,
    top_words: topWords(foldAll(runs)),
    ...firstSentence(text),
    keccak256: `0x${bytesToHex(keccak_256(utf8ToBytes(text)))}`,
    stop_words_version: STOP_WORDS_VERSION,
  }
}

/** Stop words left out, spellings of one word added up. Only for short runs: normalizing many combining marks takes quadratic time. */
function foldAll(runs: ReadonlyMap<string, number>): Map<string, number> {
  const counts = new Map<string, number>()
  for (const [run, count] of runs) {
    const word = run.replaceAll('\u00ad', '').normalize('NFC').toLowerCase().replaceAll('’', "'")
    if (!STOP_WORDS.has(word)) add(counts, word, count)
  }
  return counts
}

function add(counts: Map<string, number>, word: string, count: number): void {
  counts.set(word, (counts.get(word) ?? 0) + count)
}

/** One pass with five places, so that many different words cost no sort. */
function topWords(counts: ReadonlyMap<string, number>): WordCount[] {
  const top: WordCount[] = []
  for (const [word, count] of counts) {
    const last = top[TOP_WORDS - 1]
    if (last !== undefined && (count < last.count || (count === last.count && compareCodePoints(word, last.word) > 0))) continue
    top.push({ word, count })
    top.sort((a, b) => b.count - a.count || compareCodePoints(a.word, b.word))
    top.length = Math.min(top.length, TOP_WORDS)
  }
  return top
}

/** UTF-16 order puts U+E000–FFFF after the supplementary planes; reading whole code points at the first difference mends that. */
function compareCodePoints(a: string, b: string): number {
  let index = 0
  while (index < a.length && a[index] === b[index]) index++
  return (a.codePointAt(index) ?? -1) - (b.codePointAt(index) ?? -1)
}
