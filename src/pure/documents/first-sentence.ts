/** A first sentence is looked for within this many UTF-16 units; a longer one is cut. */
export const MAX_SENTENCE_CHARS = 1_000

/** A stop after these never ends a sentence; in this case of letters, since `ms.` is no title. */
const ABBREVIATIONS = new Set(
  'Mr Mrs Ms Mx Messrs Dr Prof Rev Hon St Mt Gen Col Maj Capt Cmdr Lt Sgt Cpl Sen Rep Gov Pres vs cf e.g i.e eg ie viz approx ca'.split(
    ' ',
  ),
)

/** A stop after these does not end a sentence when a digit follows; `No.` and `Mar.` are words or names otherwise. */
const BEFORE_DIGITS = new Set('no nos nr p pp vol ch sec fig figs eq art par jan feb mar apr jun jul aug sep sept oct nov dec'.split(' '))

/** Stops that need white space behind them, then closing quotes and brackets; or stops of scripts that write without spaces. */
const END = /(?<![.!?…؟۔।])(?<stops>[.!?…؟۔।]+)(?<closers>["'”’»)\]]*)(?=\s|$)|[。！？｡][」』”’）"')]*/gu
const BLANK_LINE = /\n[^\S\n]*\n|\u2029/u

/**
 * The first sentence of a text, with each run of white space as one space.
 *
 * It ends at the first stop (. ! ? … and their Arabic, Urdu, Devanagari, Chinese and Japanese kin) that has a letter before it, is
 * followed by white space or the end (closing quotes and brackets go with it), and is not the point of an abbreviation or of an initial;
 * a point or a closed quotation before a lower-case letter does not end it (as in rule SB8 of UAX #29), nor does the point in 3.14.
 * A blank line ends it too. Errs towards too long: `in the U.S. The …` runs on, and so does text without capitals.
 */
export function firstSentence(text: string): { first_sentence: string; first_sentence_cut: boolean } {
  const start = text.trim()
  const head = start.slice(0, MAX_SENTENCE_CHARS)
  const blank_line = head.search(BLANK_LINE)
  const paragraph = blank_line < 0 ? head : head.slice(0, blank_line)
  const cut = blank_line < 0 && start.length > head.length
  for (const end of paragraph.matchAll(END)) {
    const behind = paragraph.slice(end.index + end[0].length)
    if (behind === '' && cut) break
    if (endsSentence(end, paragraph.slice(0, end.index), behind.trimStart())) {
      return { first_sentence: tidy(paragraph.slice(0, end.index + end[0].length)), first_sentence_cut: false }
    }
  }
  return { first_sentence: tidy(cut ? wholeWords(head) : paragraph), first_sentence_cut: cut }
}

function endsSentence(end: RegExpExecArray, before: string, next: string): boolean {
  if (!/\p{L}/u.test(before)) return false
  const { stops, closers } = end.groups ?? {}
  if (stops === undefined || next === '') return true
  if ((/[.…]$/.test(stops) || closers !== '') && /^\p{Ll}/u.test(next)) return false
  return stops !== '.' || closers !== '' || !isShortened(before, next)
}

/** Whether the word that `before` ends with is an initial or an abbreviation, given what follows its stop. */
function isShortened(before: string, next: string): boolean {
  const word = (before.split(/\s/).at(-1) ?? '').replace(/^[^\p{L}]+/u, '')
  if (/^(?:.*[^\p{L}\p{M}])?\p{Lu}$/u.test(word)) return true
  return ABBREVIATIONS.has(word) || (BEFORE_DIGITS.has(word.toLowerCase()) && /^\p{Nd}/u.test(next))
}

/** Cut at the last white space, if there is one, and never inside a surrogate pair. */
function wholeWords(head: string): string {
  const cut = /^.*\s/su.exec(head)?.[0] ?? head
  return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut
}

function tidy(text: string): string {
  return text.replace(/\s+/gu, ' ').trim().toWellFormed()
}
