/** Forms of values in words, for findings: people do not read patterns. */

export interface DecimalBounds {
  /** Maximum digits in total and after the point. */
  readonly total: number
  readonly fraction: number
  /** Smallest and largest value as decimal text. */
  readonly least: string | null
  readonly most: string | null
}

const KNOWN: Readonly<Record<string, string>> = {
  '[0-9]': 'one digit',
  '[A-Z]{2}': 'two upper-case letters',
  '[A-Z]{3}': 'three upper-case letters',
  '[a-z]{2}': 'two letters in lower case',
  '\\+[0-9]{1,3}-[0-9()+\\-]{1,30}': 'a phone number such as +49-301234567',
  '[A-Z]{2}[A-Z0-9]{9}[0-9]{1}': 'an ISIN such as DE0005140008',
  '([0-9A-F][0-9A-F]){32}': '64 hexadecimal digits in upper case',
  '[0-9a-fA-F]+': 'hexadecimal digits',
  '[+]{0,1}[0-9]{1,15}': '1 to 15 digits',
  '[\\+]{0,1}[0-9]{1,15}': '1 to 15 digits',
}

/** Kinds of characters by class. */
const CLASSES: Readonly<Record<string, string>> = {
  '[0-9]': 'digits',
  '[A-Z]': 'upper-case letters',
  '[A-Z0-9]': 'upper-case letters or digits',
  '[a-zA-Z]': 'letters',
  '[a-zA-Z0-9]': 'letters or digits',
}

/** Parts of a pattern: a class with its repetition, or literal characters. */
const PART = /(\[(?:[^\]\\]|\\.)*\])(?:\{(\d+)(?:,(\d+))?\}|[+*])?|[A-Z0-9a-z-]+/g

/** Describes a pattern of the tables, for example `AU[0-9]{6}` as "AU, then 6 digits". */
export function patternForm(pattern: string): string {
  const known = KNOWN[pattern]
  if (known !== undefined) return known
  const parts = Array.from(pattern.matchAll(PART), ([part, set, least, most]) => {
    if (set === undefined) return part
    const kind = CLASSES[set] ?? 'characters of the allowed set'
    if (least === undefined) return kind
    return most === undefined ? `${least} ${kind}` : `${least} to ${most} ${kind}`
  })
  return parts.join(', then ')
}

export function decimalForm({ total, fraction, least, most }: DecimalBounds): string {
  const digits = fraction === 0 ? `at most ${total} digits` : `a decimal of at most ${total} digits, ${fraction} of them after the point`
  if (most !== null) return `${digits}, from ${least ?? '0'} to ${most}`
  return least === null ? digits : `${digits}, at least ${least}`
}

export function lengthForm(least: number, most: number): string {
  if (least === most) return `${most} characters`
  return most === Infinity ? `at least ${least} characters` : `${least} to ${most} characters`
}

/** Base64 by XML Schema: groups of four, the unused bits of the last one zero; white space was removed. */
const BASE64 = /^[A-Za-z0-9+/]*(?:[AQgw]==|[AEIMQUYcgkosw048]=)?$/

/** Number of bytes of a base64 text; null if it is malformed. */
export function base64Bytes(text: string): number | null {
  const digits = text.replace(/[ \t\r\n]/g, '')
  if (digits.length % 4 !== 0 || !BASE64.test(digits)) return null
  const padding = digits.endsWith('==') ? 2 : digits.endsWith('=') ? 1 : 0
  return (digits.length / 4) * 3 - padding
}
