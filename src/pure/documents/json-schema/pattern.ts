import { RE2JS } from 're2js'
import type { Budget } from './budget.ts'
import { Automaton, type Instruction, INSTRUCTION_TICKS } from './pattern-automaton.ts'

/**
 * What an escape of an ECMA-262 pattern (June 2025) stands for, in the syntax of RE2, outside and inside a class. Null where RE2 cannot
 * say it, or where engines differ.
 */

/** `\s` of ECMA-262: white space and line ends of Unicode, where RE2 knows five ASCII characters. */
const SPACE = String.raw`\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`

const NOT_SPACE =
  String.raw`\x{0}-\x{8}\x{e}-\x{1f}!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}` +
  String.raw`\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`

interface Escape {
  text: string
  /** Characters of the pattern after the backslash that it took. */
  taken: number
}

const CONTROLS: Readonly<Record<string, string>> = { t: '\\t', n: '\\n', v: '\\v', f: '\\f', r: '\\r' }

/** Reads the escape whose first character after the backslash stands at `at`. */
function readEscape(pattern: string, at: number, inClass: boolean): Escape | null {
  const letter = pattern.charAt(at)
  const control = CONTROLS[letter]
  if (control !== undefined) return { text: control, taken: 1 }
  switch (letter) {
    case 'd':
    case 'D':
    case 'w':
    case 'W':
      return { text: `\\${letter}`, taken: 1 }
    case 's':
      return { text: inClass ? SPACE : `[${SPACE}]`, taken: 1 }
    case 'S':
      return { text: inClass ? NOT_SPACE : `[${NOT_SPACE}]`, taken: 1 }
    case 'b':
      return { text: inClass ? '\\x{8}' : '\\b', taken: 1 }
    case 'B':
      return inClass ? null : { text: '\\B', taken: 1 }
    case 'p':
    case 'P':
      return readProperty(pattern, at)
    default:
      return readCharacter(pattern, at)
  }
}

/** An escape that stands for one character. */
function readCharacter(pattern: string, at: number): Escape | null {
  const letter = pattern.charAt(at)
  if (letter === 'u' || letter === 'x') return readHex(pattern, at)
  if (letter === '0') return /[0-9]/.test(pattern.charAt(at + 1)) ? null : { text: '\\x{0}', taken: 1 }
  if (letter === 'c') {
    const named = pattern.charAt(at + 1)
    return /[A-Za-z]/.test(named) ? { text: codePoint(named.charCodeAt(0) % 32), taken: 2 } : null
  }
  // Other letters and digits: back references, and escapes that engines read in different ways.
  if (letter === '' || /[A-Za-z0-9]/.test(letter)) return null
  const point = pattern.codePointAt(at) ?? 0
  return { text: codePoint(point), taken: point > 0xffff ? 2 : 1 }
}

function codePoint(point: number): string {
  return `\\x{${point.toString(16)}}`
}

const HEX = /x([0-9A-Fa-f]{2})|u\{0*([0-9A-Fa-f]{1,6})\}|u([Dd][89ABab][0-9A-Fa-f]{2})\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})/y

function readHex(pattern: string, at: number): Escape | null {
  HEX.lastIndex = at
  const found = HEX.exec(pattern)
  if (found === null) return null
  const [whole, two, braced, high, low, four] = found
  if (high !== undefined && low !== undefined) {
    const point = 0x10000 + ((hex(high) - 0xd800) << 10) + (hex(low) - 0xdc00)
    return { text: codePoint(point), taken: whole.length }
  }
  const point = hex(two ?? braced ?? four ?? '')
  // Half a character: texts here have none, and RE2 has no name for it.
  return point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff) ? null : { text: codePoint(point), taken: whole.length }
}

function hex(digits: string): number {
  return Number.parseInt(digits, 16)
}

/** The long names of general categories by their short ones (Unicode Standard, PropertyValueAliases). */
const CATEGORIES: Readonly<Record<string, string>> = {
  Letter: 'L',
  Cased_Letter: '',
  Uppercase_Letter: 'Lu',
  Lowercase_Letter: 'Ll',
  Titlecase_Letter: 'Lt',
  Modifier_Letter: 'Lm',
  Other_Letter: 'Lo',
  Mark: 'M',
  Nonspacing_Mark: 'Mn',
  Spacing_Mark: 'Mc',
  Enclosing_Mark: 'Me',
  Number: 'N',
  Decimal_Number: 'Nd',
  digit: 'Nd',
  Letter_Number: 'Nl',
  Other_Number: 'No',
  Punctuation: 'P',
  punct: 'P',
  Symbol: 'S',
  Math_Symbol: 'Sm',
  Currency_Symbol: 'Sc',
  Separator: 'Z',
  Space_Separator: 'Zs',
}

const SHORT = new Set(Object.values(CATEGORIES).filter((name) => name !== ''))

const PROPERTY = /[pP]\{(?:(General_Category|gc|Script|sc)=)?([A-Za-z_]{1,40})\}/y

function readProperty(pattern: string, at: number): Escape | null {
  PROPERTY.lastIndex = at
  const found = PROPERTY.exec(pattern)
  if (found === null) return null
  const [whole, kind, name = ''] = found
  const sign = whole.charAt(0)
  if (kind === 'Script' || kind === 'sc') return { text: `\\${sign}{${name}}`, taken: whole.length }
  const short = SHORT.has(name) ? name : Object.hasOwn(CATEGORIES, name) ? CATEGORIES[name] : ''
  return short === undefined || short === '' ? null : { text: `\\${sign}{${short}}`, taken: whole.length }
}

/**
 * Patterns of ECMA-262 run by RE2: matching takes time in proportion to the text, whatever the pattern. What RE2 cannot do is not guessed
 * at: look-around, back references, inline modifiers, repetitions beyond 1,000 and names of properties outside the general categories and
 * scripts make a pattern `unsupported`. Texts are read by code points, as with the flag `u`; `.` and `\s` are those of ECMA-262, `\d`,
 * `\w` and `\b` are ASCII in both. Property tables are those of the installed RE2 port, which may lag behind an engine's.
 */

export type Pattern =
  | { state: 'ready'; test(text: string, budget: Budget): boolean | null }
  | { state: 'unsupported' }
  | { state: 'broken' }

const PATTERN_CHARS = 4_096

/** Condition of a program that begins at the beginning of the text. */
const BEGIN_TEXT = 4

/** Characters times instructions up to which a first text is matched without an automaton. */
const FIRST_SIZE = 2_000

/** Instructions of the largest program that is run. */
const PROGRAM_SIZE = 4_000

/** Instructions that the repetitions of a pattern may write out before it is simplified. */
const EXPANDED_SIZE = 100_000

/** Work of making a pattern ready, in ticks: of each, of each character, of each instruction, and of each property, which has hundreds of ranges. */
const COMPILE = { pattern: 3_000, character: 100, instruction: 250, property: 50_000 }

/** Makes a pattern ready; null when there is no work left for it. */
export function compilePattern(pattern: string, budget: Budget): Pattern | null {
  if (pattern.length > PATTERN_CHARS) return { state: 'unsupported' }
  const properties = pattern.match(/\\[pP]/g)?.length ?? 0
  if (!budget.spend(COMPILE.pattern + pattern.length * COMPILE.character + properties * COMPILE.property)) return null
  const modern = isPattern(pattern, 'u')
  if (!modern && !isPattern(pattern, '')) return { state: 'broken' }
  // Where only the older syntax takes it, escapes that the flag gives a meaning stand for their letters.
  if (!modern && /\\(?:[pPk]|u\{)/.test(pattern)) return { state: 'unsupported' }
  const translated = translate(pattern)
  if (translated === null || translated.expanded > EXPANDED_SIZE) return { state: 'unsupported' }
  const { text, expanded } = translated
  return budget.spend(expanded * COMPILE.instruction) ? programOf(text) : null
}

function programOf(text: string): Pattern {
  try {
    const program = RE2JS.compile(text)
    if (program.programSize() > PROGRAM_SIZE) return { state: 'unsupported' }
    const { prog, cond } = program.re2() as { prog: { inst: Instruction[]; start: number }; cond: number }
    let automaton: Automaton | null = null
    let fresh = true
    const test = (one: string, budget: Budget) => {
      // A pattern that is needed once, on a short text, is not worth an automaton.
      const worst = fresh ? (one.length + 1) * program.programSize() : Infinity
      fresh = false
      if (worst <= FIRST_SIZE) return budget.spend(worst * INSTRUCTION_TICKS) ? program.test(one) : null
      automaton ??= new Automaton(prog.inst, prog.start, (cond & BEGIN_TEXT) !== 0)
      return automaton.test(one, budget)
    }
    return { state: 'ready', test }
  } catch {
    return { state: 'unsupported' }
  }
}

/** Whether the engine takes it as a pattern, with the flag `u` or in the older syntax. It is never run there. */
function isPattern(pattern: string, flags: 'u' | ''): boolean {
  try {
    return new RegExp(pattern, flags) instanceof RegExp
  } catch {
    return false
  }
}

interface Piece {
  text: string
  taken: number
}

interface Translated {
  text: string
  /** Instructions of the program, at most, before anything is simplified. */
  expanded: number
}

/** The pattern in RE2 syntax, for a pattern that is well-formed; null when RE2 cannot say it. */
function translate(pattern: string): Translated | null {
  let text = ''
  // Instructions of the groups that are open, and of the piece before, which a repetition multiplies.
  const groups: number[] = []
  let [sum, last] = [0, 0]
  for (let at = 0; at < pattern.length;) {
    const piece = readPiece(pattern, at)
    if (piece === null) return null
    text += piece.text
    at += piece.taken
    if (piece.text === ')') [sum, last] = [groups.pop() ?? 0, sum + last + 1]
    else if (piece.text.startsWith('{')) last *= Math.max(...piece.text.slice(1, -1).split(',').map(Number), 1) + 1
    else if (piece.text === '*' || piece.text === '+' || piece.text === '?') last++
    else [sum, last] = [sum + last, 1]
    if (piece.text !== '(?:') continue
    groups.push(sum)
    ;[sum, last] = [0, 0]
  }
  return { text, expanded: sum + last }
}

function readPiece(pattern: string, at: number): Piece | null {
  const sign = pattern.charAt(at)
  switch (sign) {
    case '\\': {
      const escape = readEscape(pattern, at + 1, false)
      return escape === null ? null : { text: escape.text, taken: escape.taken + 1 }
    }
    case '[':
      return readClass(pattern, at)
    case '(':
      return readGroup(pattern, at)
    case '{':
      return readBraces(pattern, at)
    case '.':
      return { text: String.raw`[^\n\r\x{2028}\x{2029}]`, taken: 1 }
    case '^':
      return { text: '\\A', taken: 1 }
    case '$':
      return { text: '\\z', taken: 1 }
    case ')':
    case '|':
    case '*':
    case '+':
    case '?':
      return { text: sign, taken: 1 }
    default:
      return readLiteral(pattern, at)
  }
}

function readLiteral(pattern: string, at: number): Piece | null {
  const point = pattern.codePointAt(at) ?? 0
  if (point >= 0xd800 && point <= 0xdfff) return null
  return { text: codePoint(point), taken: point > 0xffff ? 2 : 1 }
}

/** Nothing is captured: a group's name and number matter only to what is not supported. */
function readGroup(pattern: string, at: number): Piece | null {
  if (pattern.charAt(at + 1) !== '?') return { text: '(?:', taken: 1 }
  if (pattern.charAt(at + 2) === ':') return { text: '(?:', taken: 3 }
  const named = /^\(\?<[^=!>][^>]*>/.exec(pattern.slice(at, at + 200))
  return named === null ? null : { text: '(?:', taken: named[0].length }
}

const BRACES = /\{[0-9]+(?:,[0-9]*)?\}/y

/** A repetition, or in the older syntax a brace that stands for itself. */
function readBraces(pattern: string, at: number): Piece {
  BRACES.lastIndex = at
  const found = BRACES.exec(pattern)
  return found === null ? { text: '\\{', taken: 1 } : { text: found[0], taken: found[0].length }
}

function readClass(pattern: string, at: number): Piece | null {
  const negated = pattern.charAt(at + 1) === '^'
  const start = at + (negated ? 2 : 1)
  let text = ''
  let index = start
  while (pattern.charAt(index) !== ']') {
    const piece = readMember(pattern, index)
    if (piece === null) return null
    text += piece.text
    index += piece.taken
  }
  const taken = index + 1 - at
  if (text === '') return { text: negated ? EVERYTHING : NOTHING, taken }
  return { text: `[${negated ? '^' : ''}${text}]`, taken }
}

const EVERYTHING = String.raw`[\x{0}-\x{10ffff}]`
const NOTHING = String.raw`[^\x{0}-\x{10ffff}]`

/** A member of a class. Next to a set such as \w, the hyphen of the older syntax stands for itself. */
function readMember(pattern: string, at: number): Piece | null {
  const first = readOne(pattern, at)
  if (first === null) return null
  const hyphen = at + first.taken
  if (pattern.charAt(hyphen) !== '-' || pattern.charAt(hyphen + 1) === ']') return first
  const last = readOne(pattern, hyphen + 1)
  if (last === null) return null
  const taken = first.taken + 1 + last.taken
  const range = isCharacter(first.text) && isCharacter(last.text)
  return { text: range ? `${first.text}-${last.text}` : `${first.text}\\-${last.text}`, taken }
}

function readOne(pattern: string, at: number): Piece | null {
  if (at >= pattern.length) return null
  if (pattern.charAt(at) !== '\\') return readLiteral(pattern, at)
  const escape = readEscape(pattern, at + 1, true)
  return escape === null ? null : { text: escape.text, taken: escape.taken + 1 }
}

function isCharacter(text: string): boolean {
  return /^\\(?:x\{[0-9a-f]+\}|[tnvfr])$/.test(text)
}
