import { type Change, type Finding, REASON_CODES } from './verdict.ts'

export interface NormalizeOptions {
  /** Which of space, hyphen, dot, slash and parentheses this identifier is written with, such as `' -.'`. Others stay in place. */
  separators: string
  /** Upper-case words allowed in front, such as `IBAN`; a colon after them is removed too. */
  prefixes?: readonly string[]
  /** Words allowed in front when a separator follows; for words with which a value could itself begin. */
  label?: Label
  /** Name of the field in findings. */
  field: string
}

export interface Normalized {
  value: string
  changes: Change[]
  /** Set when the text cannot be read at all: empty, too long, or digits of another script. */
  finding: Finding | null
  /** The ASCII form of text with digits of another script; not checked further. */
  suggestion: string | null
}

/** Words in front of an identifier; they are removed where the value behind them has the expected form. */
export interface Label {
  /** The words and the separators behind them, from the start of the text as `toAscii` returns it. */
  words: RegExp
  fits(value: string): boolean
}

/**
 * One of these words, a word such as "code" or "no." behind it, and a space, colon, hyphen, dot, slash, number or equals sign; or two such.
 * Without such a sign nothing is a label: BICBNPAF is a BIC.
 */
export function labelInFront(words: readonly string[], fits: Label['fits']): Label {
  const more = '(?:[ -]?(?:CODE|NUMBER|NUMMER|NO|NR))?'
  return { words: new RegExp(`^ {0,8}(?:(?:${words.join('|')})${more}[ :./#=-]{1,8}){1,2}`, 'i'), fits }
}

/** Longest text that is read, in UTF-16 units. */
export const MAX_CHARS = 256

const SPACE = 0x20
const HYPHEN = 0x2d
const DOT = 0x2e
const SLASH = 0x2f
const OPEN = 0x28
const CLOSE = 0x29
const REMOVED = -1

/** In the order of the steps; the bit of a step is its index. */
const STEPS: readonly Change[] = [
  'removed_invisible',
  'folded_fullwidth',
  'stripped_spaces',
  'stripped_hyphens',
  'stripped_dots',
  'stripped_slashes',
  'stripped_parentheses',
  'uppercased',
  'removed_prefix',
]
const INVISIBLE = 1
const FULLWIDTH = 2
const SPACES = 4
const HYPHENS = 8
const DOTS = 16
const SLASHES = 32
const PARENTHESES = 64
const UPPERCASE = 128
const PREFIX = 256

/**
 * Converts typed text to the form that a check reads: full-width ASCII (U+FF01–FF5E) folded, spaces and dashes of Unicode
 * taken for their ASCII kin, zero-width and bidirectional controls removed, separators stripped, ASCII letters upper-cased.
 * No other letter is touched, so `ß` or a dotless `ı` stays and fails the check. Digits of other scripts are not folded: they
 * are a finding, and the folded form is the suggestion. Applying it twice changes nothing more.
 */
export function normalize(text: string, options: NormalizeOptions): Normalized {
  if (text.length > MAX_CHARS) return unreadable('too_long_input', options.field)
  const stripped = isPlain(text) ? { value: text, steps: 0, foreign: false } : stripLabelled(text, options)
  const value = withoutPrefix(stripped.value, options.prefixes)
  if (value === '') return unreadable('empty', options.field)
  const steps = value === stripped.value ? stripped.steps : stripped.steps | PREFIX
  const changes = steps === 0 ? [] : STEPS.filter((_, bit) => (steps & (1 << bit)) !== 0)
  const digits = stripped.foreign ? foreignDigits(value, options.field) : null
  return digits === null ? { value, changes, finding: null, suggestion: null } : { value, changes, ...digits }
}

function unreadable(code: 'empty' | 'too_long_input', field: string): Normalized {
  const finding: Finding = { code, field, position: null, expected: null, found: null, message: REASON_CODES[code] }
  return { value: '', changes: [], finding, suggestion: null }
}

/** Only 0-9 and A-Z. */
export function isPlain(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < 0x30 || code > 0x5a || (code > 0x39 && code < 0x41)) return false
  }
  return true
}

/** Text without separators; `foreign` is true when it has a character beyond ASCII. */
interface Stripped {
  value: string
  steps: number
  foreign: boolean
}

function stripLabelled(text: string, { separators, label }: NormalizeOptions): Stripped {
  const whole = strip(text, separators)
  if (label === undefined) return whole
  const read = toAscii(text)
  const words = label.words.exec(read)?.[0]
  if (words === undefined) return whole
  const { value, foreign } = strip(read.slice(words.length), separators)
  return label.fits(value) ? { value, foreign, steps: whole.steps | PREFIX } : whole
}

/** Returns the text without invisible characters, its spaces, dashes and full-width forms in ASCII. */
export function toAscii(text: string): string {
  if (/^[ -~]*$/.test(text)) return text
  let read = ''
  for (let index = 0; index < text.length; index++) {
    const code = fold(text.charCodeAt(index))
    if (code !== REMOVED) read += code >= 0x09 && code <= 0x0d ? ' ' : String.fromCharCode(code)
  }
  return read
}

function strip(text: string, separators: string): Stripped {
  let value = ''
  let steps = 0
  let foreign = false
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    const folded = code < 0x7f ? code : fold(code)
    if (folded === REMOVED) steps |= INVISIBLE
    else if (folded === SPACE || (folded >= 0x09 && folded <= 0x0d)) {
      if (separators.includes(' ')) steps |= SPACES
      else value += ' '
    } else if (folded === HYPHEN && separators.includes('-')) steps |= HYPHENS
    else if (folded === DOT && separators.includes('.')) steps |= DOTS
    else if (folded === SLASH && separators.includes('/')) steps |= SLASHES
    else if ((folded === OPEN || folded === CLOSE) && separators.includes('(')) steps |= PARENTHESES
    else {
      if (code >= 0xff01 && code <= 0xff5e) steps |= FULLWIDTH
      const lower = folded >= 0x61 && folded <= 0x7a
      if (lower) steps |= UPPERCASE
      if (folded > 0x7e) foreign = true
      value += String.fromCharCode(lower ? folded - 0x20 : folded)
    }
  }
  return { value, steps, foreign }
}

/** Returns the ASCII code of a UTF-16 unit, REMOVED for an invisible one, else the unit itself. */
function fold(code: number): number {
  if (code >= 0xff01 && code <= 0xff5e) return code - 0xfee0
  if (code < 0x2000) {
    if (code === 0xa0 || code === 0x85 || code === 0x1680) return SPACE
    return code === 0xad || code === 0x61c || code === 0x180e ? REMOVED : code
  }
  if (code <= 0x200a || code === 0x2028 || code === 0x2029 || code === 0x202f || code === 0x205f || code === 0x3000) return SPACE
  if (code <= 0x200f || (code >= 0x202a && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) || code === 0xfeff) return REMOVED
  if ((code >= 0x2010 && code <= 0x2015) || code === 0x2212 || code === 0xfe58 || code === 0xfe63) return HYPHEN
  return code
}

/** Removes a prefix once; text that would start with one again is left unchanged, so that a second pass finds nothing. */
function withoutPrefix(value: string, prefixes: readonly string[] = []): string {
  const prefix = prefixes.find((word) => value.startsWith(word))
  if (prefix === undefined) return value
  const rest = value.slice(value[prefix.length] === ':' ? prefix.length + 1 : prefix.length)
  return prefixes.some((word) => rest.startsWith(word)) ? value : rest
}

function foreignDigits(value: string, field: string): { finding: Finding; suggestion: string } | null {
  const first = /\p{Nd}+/u.exec(value.replace(/[0-9]/g, ' '))
  if (first === null) return null
  const position: [number, number] = [first.index, first.index + first[0].length]
  const message = REASON_CODES.non_ascii_digits
  const finding: Finding = {
    code: 'non_ascii_digits',
    field,
    position,
    expected: 'digits 0-9',
    found: first[0].slice(0, 34).toWellFormed(),
    message,
  }
  return { finding, suggestion: value.replace(/\p{Nd}/gu, asciiDigit) }
}

/** Unicode encodes decimal digits in runs of ten, 0 to 9 (The Unicode Standard, 4.6), so the place in the run is the value. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0
  let start = code
  while (/^\p{Nd}$/u.test(String.fromCodePoint(start - 1))) start--
  return String((code - start) % 10)
}

/** The digit 0-9 at an index of text that holds digits there. */
export function digitAt(text: string, index: number): number {
  return text.charCodeAt(index) - 0x30
}

/** Result of `readPlain` for text with a character other than letters, digits, spaces and hyphens. */
export const NEEDS_NORMALIZING = -1

/**
 * Fills `into` with the values 0–35 of the letters and digits of `text`, skipping spaces and hyphens, and returns how many there
 * are, also when they do not all fit. The fast path of the boolean checks: no strings, no tables. Nothing is written beyond `into`:
 * it would do no harm, but the engine would make every later call slower.
 */
export function readPlain(text: string, into: Uint8Array): number {
  const room = into.length
  let length = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    let value: number
    if (code >= 0x30 && code <= 0x39) value = code - 0x30
    else if (code >= 0x41 && code <= 0x5a) value = code - 0x37
    else if (code >= 0x61 && code <= 0x7a) value = code - 0x57
    else if (code === 0x20 || code === 0x2d || (code >= 0x09 && code <= 0x0d)) continue
    else return NEEDS_NORMALIZING
    if (length < room) into[length] = value
    length++
  }
  return length
}

/** Index of a pair of letters, 0–675; -1 when either value is a digit. */
export function pairIndex(first: number, second: number): number {
  return first < 10 || second < 10 ? -1 : (first - 10) * 26 + second - 10
}

/** The same for the first two characters of upper-case text. */
export function pairIndexOf(text: string): number {
  return pairIndex(text.charCodeAt(0) - 55, text.charCodeAt(1) - 55)
}
