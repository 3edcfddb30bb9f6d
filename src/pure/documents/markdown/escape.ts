/** Text written so that a CommonMark reader gives back the same text. Rules of CommonMark 0.31.2 (2024-01) and GFM 0.29 (2019-04). */

/** Characters that may be markup within a line. */
const MARK = /[\\`*_[\]<&~!|]/
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u
const REFERENCE = /&#?[A-Za-z0-9]{1,32};/y

/** What stands around a text: in a cell of a table a bar is markup too, and before a bracket an exclamation mark makes an image of a link. */
interface Surroundings {
  in_cell: boolean
  before_bracket: boolean
}

/** Escapes what would be markup within a line. */
export function escapeInline(text: string, around: Surroundings): string {
  if (!MARK.test(text)) return text
  const parts: string[] = []
  let written = 0
  for (let at = 0; at < text.length; at++) {
    const end = text[at] === '_' ? underscoresEnd(text, at) : at + 1
    if (isMarkup(text, at, end, around)) {
      for (let one = at; one < end; one++) {
        parts.push(text.slice(written, one), '\\')
        written = one
      }
    }
    at = end - 1
  }
  return parts.join('') + text.slice(written)
}

function underscoresEnd(text: string, start: number): number {
  let end = start + 1
  while (text[end] === '_') end++
  return end
}

function isMarkup(text: string, at: number, end: number, { in_cell, before_bracket }: Surroundings): boolean {
  switch (text.charAt(at)) {
    case '\\':
      return end === text.length || isPunctuation(text.charCodeAt(end))
    case '<':
      return /[A-Za-z/!?]/.test(text[end] ?? '')
    case '!':
      return before_bracket && end === text.length
    case '|':
      return in_cell
    case '&':
      REFERENCE.lastIndex = at
      return REFERENCE.test(text)
    case '`':
    case '*':
    case '[':
    case ']':
    case '~':
      return true
    case '_':
      // Inside a word they are text.
      return !(LETTER_OR_DIGIT.test(text[at - 1] ?? '') && LETTER_OR_DIGIT.test(text[end] ?? ''))
    default:
      return false
  }
}

/** The punctuation of ASCII: what a backslash escapes. */
function isPunctuation(code: number): boolean {
  return (
    (code >= 0x21 && code <= 0x2f) || (code >= 0x3a && code <= 0x40) || (code >= 0x5b && code <= 0x60) || (code >= 0x7b && code <= 0x7e)
  )
}

const BEGINNINGS: readonly (readonly [RegExp, string])[] = [
  // Headings, quotes, bullets.
  [/^(?=#{1,6}(?:\s|$)|>|[-+](?:\s|$))/, '\\'],
  // Lines below a heading or between the head and the rows of a table.
  [/^(?=[-:|][-:| ]*$|=+ *$)/, '\\'],
  // Numbers of a list.
  [/^(\d{1,9})(?=[.)](?:\s|$))/, '$1\\'],
]

/** Escapes what would be markup at the beginning of a line; `text` is the escaped text of the line up to its first markup. */
export function escapeBeginning(text: string): string {
  for (const [pattern, escaped] of BEGINNINGS) if (pattern.test(text)) return text.replace(pattern, escaped)
  return text
}

/** The end of a heading: hashes there would close it. */
export function escapeHeadingEnd(text: string): string {
  return text.replace(/(?<=^|\s)(?=#+$)/, '\\')
}

/** Text as code, within backticks that it does not hold. Without line ends, and without space at its ends. */
export function codeSpan(text: string, in_cell: boolean): string {
  const ticks = '`'.repeat(longestRun(text) + 1)
  const pad = text.startsWith('`') || text.endsWith('`') ? ' ' : ''
  return `${ticks}${pad}${in_cell ? text.replaceAll('|', String.raw`\|`) : text}${pad}${ticks}`
}

/**
 * Whether a code span with this text would end its cell: the backslash that is to guard a bar from the table would be guarded itself by the
 * one before it, and within code there is no other way to write a bar.
 */
export function splitsCell(text: string): boolean {
  return text.split('|').slice(0, -1).some(endsGuarding)
}

/** An odd number of backslashes at the end. */
function endsGuarding(text: string): boolean {
  let end = text.length
  while (text.charCodeAt(end - 1) === BACKSLASH) end--
  return (text.length - end) % 2 === 1
}

const BACKSLASH = 0x5c

/** The shortest fence, of three backticks or more, that the code does not hold. */
export function fenceFor(code: string): string {
  return '`'.repeat(Math.max(3, longestRun(code) + 1))
}

function longestRun(text: string): number {
  let longest = 0
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  return longest
}
