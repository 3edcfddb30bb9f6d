import type { Random } from './random.ts'

/** Texts that programs stumble over, drawn from all of Unicode. */

type Draw = (random: Random) => string

const between =
  (first: number, last: number): Draw =>
  (random) =>
    String.fromCodePoint(first + random.below(last - first + 1))

/** One character at a time, by what makes it hard. */
const CHARACTERS: readonly Draw[] = [
  between(0x20, 0x7e),
  between(0x20, 0x7e),
  between(0x30, 0x39),
  between(0x41, 0x5a),
  between(0x00, 0x1f),
  between(0x7f, 0xff),
  // Combining marks, and letters that change in length or kind when folded.
  between(0x300, 0x36f),
  (random) => random.pick(['ß', 'ı', 'İ', '\u212a', 'ﬁ', 'ǆ', '\u1e9e', 'Ω', 'ς', '\u0345', '\uac00', '\u1100\u1161']),
  // Digits of other scripts, and one full-width and one mathematical alphabet.
  (random) => String.fromCodePoint(random.pick([0x660, 0x6f0, 0x966, 0xe50, 0xff10, 0x1d7ce, 0x1e950]) + random.below(10)),
  between(0xff01, 0xff5e),
  between(0x1d400, 0x1d7ff),
  // What cannot be seen: directions, joiners, byte order marks, spaces and line ends.
  (random) =>
    random.pick(Array.from('\u200b\u200c\u200d\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff\u00ad')),
  (random) => random.pick(Array.from('\u00a0\u1680\u2000\u2007\u202f\u205f\u3000\u2028\u2029\u0085\t\n\r\v\f')),
  (random) => random.pick(Array.from('‐‑‒–—―−﹣－·．。・')),
  // Look-alikes from Cyrillic and Greek.
  (random) => random.pick(Array.from('АВСЕНІКМОРТХаеорсухΑΒΕΗΙΚΜΝΟΡΤΧ')),
  // Every plane: private use, tags, what is no character, what is not assigned.
  between(0xe000, 0xffff),
  between(0x10000, 0x10ffff),
  (random) => String.fromCodePoint(random.below(17) * 0x10000 + 0xfffe + random.below(2)),
  between(0xe0000, 0xe007f),
  (random) => random.pick(['👩‍👩‍👧', '🇩🇪', '😀', '👍🏽']),
]

const WORDS: readonly string[] = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'valueOf',
  'NaN',
  'null',
  'undefined',
  '-0',
  '1e400',
  '0x10',
  '../../../etc/passwd',
  '%00',
  '%s%n%x',
  '${7*7}',
  '{{7*7}}',
  "' or 1=1 --",
  '"><script>alert(1)</script>',
  'javascript:alert(1)',
  '\r\nX-Injected: 1',
  '\u0000',
  'IBAN:',
  'ISBN-13:',
  'LEI:',
  'SWIFT:',
]

/** A run of one hard character, or of a few, as long as the drawn length. */
export function hostileText(random: Random, max_chars = 40): string {
  const length = random.below(max_chars + 1)
  switch (random.below(4)) {
    case 0:
      return random.pick(WORDS)
    case 1: {
      const unit = random.pick(CHARACTERS)(random)
      return unit.repeat(Math.ceil(length / unit.length))
    }
    case 2:
      return Array.from({ length }, () => random.pick(CHARACTERS)(random)).join('')
    default: {
      const draw = random.pick(CHARACTERS)
      return Array.from({ length }, () => draw(random)).join('')
    }
  }
}

/** A value one to three edits away from a good one; half of a surrogate pair may come of it. */
export function spoiled(random: Random, good: string): string {
  let text = good
  for (let edits = 1 + random.below(3); edits > 0; edits--) text = edited(random, text)
  return text
}

function edited(random: Random, text: string): string {
  const at = random.below(text.length + 1)
  const [before, here, after] = [text.slice(0, at), text.charAt(at), text.slice(at + 1)]
  switch (random.below(9)) {
    case 0:
      return before + random.pick(CHARACTERS)(random) + after
    case 1:
      return before + after
    case 2:
      return before + random.pick(CHARACTERS)(random) + here + after
    case 3:
      return before + after.charAt(0) + here + after.slice(1)
    case 4:
      return random.chance(0.5) ? text.toLowerCase() : text.toUpperCase()
    case 5:
      return before + here + text.slice(random.below(text.length + 1))
    case 6:
      return before + random.pick(['0', 'O', '1', 'I', '5', 'S', '8', 'B', '2', 'Z', 'X']) + after
    case 7:
      return random.pick(WORDS) + text
    default:
      return Array.from(text).join(random.pick([' ', '-', '.', '\u00a0', '\u200b', '\u0301', '–']))
  }
}
