import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

/** Maximum length of the first sentence in UTF-16 units; longer ones are cut. */
export const MAX_SENTENCE_CHARS = 1_000

/** A full stop after these never ends a sentence. Case matters: `ms.` is not a title. */
const ABBREVIATIONS = new Set(
  'Mr Mrs Ms Mx Messrs Dr Prof Rev Hon St Mt Gen Col Maj Capt Cmdr Lt Sgt Cpl Sen Rep Gov Pres vs cf e.g i.e eg ie viz approx ca'.split(
    ' ',
  ),
)

/** A full stop after these does not end a sentence if a digit follows; otherwise `No.` and `Mar.` are words or names. */
const BEFORE_DIGITS = new Set('no nos nr p pp vol ch sec fig figs eq art par jan feb mar apr jun jul aug sep sept oct nov dec'.split(' '))

/** Full stops followed by white space, with closing quotes and brackets; or full stops of scripts written without spaces. */
const SENTENCE_END = /(?<![.!?…؟۔।])(?<stops>[.!?…؟۔।]+)(?<closers>["'”’»)\]]*)(?=\s|$)|[。！？｡][」』”’）"')]*/gu
const BLANK_LINE = /\n[^\S\n]*\n|\u2029/u

/**
 * Returns the first sentence of a text with white space collapsed.
 *
 * It ends at the first full stop (. ! ? … and the Arabic, Urdu, Devanagari, Chinese and Japanese equivalents) that has a letter before it,
 * is followed by white space or the end, and does not belong to an abbreviation or initial. Closing quotes and brackets are included. A
 * full stop or closed quotation before a lower-case letter does not end it (rule SB8 of UAX #29), nor does the point in 3.14. A blank line
 * ends it too. When in doubt the sentence is longer: `in the U.S. The …` continues, and so does text without capitals.
 */
export function firstSentence(text: string): { first_sentence: string; first_sentence_cut: boolean } {
  const start = text.trim()
  const head = start.slice(0, MAX_SENTENCE_CHARS)
  const blank_line = head.search(BLANK_LINE)
  const paragraph = blank_line < 0 ? head : head.slice(0, blank_line)
  const cut = blank_line < 0 && start.length > head.length
  for (const end of paragraph.matchAll(SENTENCE_END)) {
    const behind = paragraph.slice(end.index + end[0].length)
    if (behind === '' && cut) break
    if (endsSentence(end, paragraph.slice(0, end.index), behind.trimStart())) {
      return { first_sentence: collapseWhiteSpace(paragraph.slice(0, end.index + end[0].length)), first_sentence_cut: false }
    }
  }
  return { first_sentence: collapseWhiteSpace(cut ? wholeWords(head) : paragraph), first_sentence_cut: cut }
}

function endsSentence(end: RegExpExecArray, before: string, next: string): boolean {
  if (!/\p{L}/u.test(before)) return false
  const { stops, closers } = end.groups ?? {}
  if (stops === undefined || next === '') return true
  if ((/[.…]$/.test(stops) || closers !== '') && /^\p{Ll}/u.test(next)) return false
  return stops !== '.' || closers !== '' || !isShortened(before, next)
}

/** The word before the full stop is an initial or an abbreviation. */
function isShortened(before: string, next: string): boolean {
  const word = (before.split(/\s/).at(-1) ?? '').replace(/^[^\p{L}]+/u, '')
  if (/^(?:.*[^\p{L}\p{M}])?\p{Lu}$/u.test(word)) return true
  return ABBREVIATIONS.has(word) || (BEFORE_DIGITS.has(word.toLowerCase()) && /^\p{Nd}/u.test(next))
}

/** Cuts at the last white space, if any, and never inside a surrogate pair. */
function wholeWords(head: string): string {
  const cut = /^.*\s/su.exec(head)?.[0] ?? head
  return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut
}

function collapseWhiteSpace(text: string): string {
  return text.replace(/\s+/gu, ' ').trim().toWellFormed()
}

/** Changes with every edit of the list: the same text may then have other top words. */
const STOP_WORDS_VERSION = 'en-1'

/**
 * English function words, lower-case, with the straight apostrophe: articles, pronouns, prepositions, conjunctions, auxiliaries with their
 * contractions, adverbs of place or degree, and a few abbreviations of those. Nouns, full verbs and numbers are not included, so that a
 * content word is never lost; archaic or formal function words may be ranked.
 */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  [
    'a an the',
    'i me my mine myself we us our ours ourselves you your yours yourself yourselves',
    'he him his himself she her hers herself it its itself they them their theirs themselves',
    'this that these those who whom whose which what whoever whatever whichever there here',
    'someone somebody something anyone anybody anything everyone everybody everything nobody nothing none',
    'about above across after against along among around as at before behind below beneath beside besides between beyond by despite',
    'down during except for from in inside into near of off on onto out outside over past per since through throughout till to toward',
    'towards under until up upon via with within without',
    'and but or nor so yet if unless because although though while whereas whether than then when whenever where wherever why how',
    'am is are was were be been being have has had having do does did doing',
    'can could may might must shall should will would ought cannot',
    'not no never any some each every either neither both all few many much more most other others another such same own',
    'e.g i.e etc vs a.m p.m',
    'again also already always just only even ever once often still too very quite rather however therefore thus hence else',
    "aren't can't couldn't didn't doesn't don't hadn't hasn't haven't isn't mightn't mustn't needn't shan't shouldn't wasn't weren't",
    "won't wouldn't i'm you're we're they're he's she's it's that's there's here's what's who's where's how's let's",
    "i've you've we've they've could've should've would've i'll you'll he'll she'll it'll we'll they'll that'll",
    "i'd you'd he'd she'd we'd they'd",
  ].flatMap((line) => line.split(' ')),
)

interface WordCount {
  word: string
  count: number
}

interface Distillation {
  word_count: number
  /** At most five, most frequent first; ties in code point order. */
  top_words: WordCount[]
  first_sentence: string
  first_sentence_cut: boolean
  /** keccak-256 of the UTF-8 bytes of the exact input: 0x and 64 lower-case hex digits. */
  keccak256: string
  stop_words_version: string
}

const TOP_WORDS = 5

/** Maximum length of a ranked word in UTF-16 units; longer runs (data, keys, encoded files) only count as words. */
export const MAX_RANKED_WORD_CHARS = 100

/**
 * A word: a letter or digit, then letters, marks, digits, joiners and soft hyphens. An apostrophe or point between two such runs joins them
 * (don't, Node.js, 3.14), as does a comma between two digits (1,000). A Han or Hiragana character is a word by itself. Simplified from UAX
 * #29. Adjacent classes share no character, so matching never backtracks.
 */
const CONTINUED = String.raw`[[\p{L}\p{M}\p{Nd}\u00ad\u200c\u200d]--[\p{sc=Han}\p{sc=Hira}]]*`
const BEGUN = String.raw`[[\p{L}\p{Nd}]--[\p{sc=Han}\p{sc=Hira}]]${CONTINUED}`
const JOINED = String.raw`(?:(?:['’.]|(?<=\p{Nd}),(?=\p{Nd}))${BEGUN})*`
const WORD = new RegExp(String.raw`[[\p{L}\p{Nl}]&&[\p{sc=Han}\p{sc=Hira}]]\p{M}*|${BEGUN}${JOINED}`, 'gv')

/**
 * Counts and ranks the words of a text. Never throws; linear time.
 *
 * Words are compared in NFC, in lower case (default Unicode mapping, no locale), without soft hyphens and with the straight apostrophe;
 * `don't` is one word, `well-known` two. Letters are those of the running Unicode version. In scripts without spaces other than Chinese and
 * Japanese (Thai, Lao, Khmer, Burmese) an unbroken run counts as one word. Stop words are English only.
 *
 * A lone surrogate is hashed as U+FFFD, as every UTF-8 encoder writes it.
 */
export function distillText(text: string): Distillation {
  const runs = new Map<string, number>()
  let word_count = 0
  for (const [run] of text.matchAll(WORD)) {
    word_count++
    if (run.length <= MAX_RANKED_WORD_CHARS) addCount(runs, run, 1)
  }
  return {
    word_count,
    top_words: topWords(foldAll(runs)),
    ...firstSentence(text),
    keccak256: `0x${bytesToHex(keccak_256(utf8ToBytes(text)))}`,
    stop_words_version: STOP_WORDS_VERSION,
  }
}

/** Drops stop words and adds up spellings of one word. For short runs only: normalizing many combining marks takes quadratic time. */
function foldAll(runs: ReadonlyMap<string, number>): Map<string, number> {
  const counts = new Map<string, number>()
  for (const [run, count] of runs) {
    const word = run.replaceAll('\u00ad', '').normalize('NFC').toLowerCase().replaceAll('’', "'")
    if (!STOP_WORDS.has(word)) addCount(counts, word, count)
  }
  return counts
}

function addCount(counts: Map<string, number>, word: string, count: number): void {
  counts.set(word, (counts.get(word) ?? 0) + count)
}

/** One pass with five places instead of a sort of all words. */
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

/** UTF-16 order puts U+E000–FFFF after the supplementary planes; comparing code points at the first difference corrects that. */
function compareCodePoints(a: string, b: string): number {
  let index = 0
  while (index < a.length && a[index] === b[index]) index++
  return (a.codePointAt(index) ?? -1) - (b.codePointAt(index) ?? -1)
}
