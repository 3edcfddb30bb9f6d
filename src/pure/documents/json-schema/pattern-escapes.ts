/**
 * What an escape of an ECMA-262 pattern (June 2025) stands for, in the syntax of RE2, outside and inside a class. Null where RE2 cannot
 * say it, or where engines differ.
 */

/** `\s` of ECMA-262: white space and line ends of Unicode, where RE2 knows five ASCII characters. */
const SPACE = String.raw`\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`

const NOT_SPACE =
  String.raw`\x{0}-\x{8}\x{e}-\x{1f}!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}` +
  String.raw`\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`

export interface Escape {
  text: string
  /** Characters of the pattern after the backslash that it took. */
  taken: number
}

const CONTROLS: Readonly<Record<string, string>> = { t: '\\t', n: '\\n', v: '\\v', f: '\\f', r: '\\r' }

/** Reads the escape whose first character after the backslash stands at `at`. */
export function readEscape(pattern: string, at: number, inClass: boolean): Escape | null {
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

export function codePoint(point: number): string {
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
