import { NEEDS_NORMALIZING, readPlain } from './characters.ts'
import { finding, type Judgement, type Part } from './check-result.ts'
import { checkText } from './check-text.ts'
import { digitAt } from './digits.ts'
import { isinCheckDigit } from './isin-luhn.ts'
import { checkDigitFindings, layout, layoutFindings, structureFindings } from './layout.ts'
import { inFront, MAX_CHARS, normalize, type NormalizeOptions } from './normalize.ts'
import type { Check, Finding } from './verdict.ts'

export interface SedolFacts {
  /** `numeric`: issued before 26 January 2004. `alphanumeric`: since. `user_defined`: begins with 9, set by whoever uses it. */
  form: 'numeric' | 'alphanumeric' | 'user_defined'
  /** Where numeric codes with this first digit were usually given out; null for all others. */
  region_hint: string | null
  check_digit: string
  /** The ISIN of this code, should the security be numbered in the United Kingdom; null when user-defined or wrong. */
  gb_isin: string | null
  parts: Part[]
}

// A SEDOL has no vowels, so the word in front is never part of one.
const OPTIONS: NormalizeOptions = {
  separators: ' -',
  prefixes: ['SEDOL'],
  label: inFront(['SEDOL'], (value) => /^[0-9A-Z]{7}$/.test(value)),
  field: 'sedol',
}
const PRAISE = 'Characters and check digit hold; the SEDOL masterfile was not asked.'
const LAYOUT = layout('sedol', 'code:6X check:1N')
const LENGTH = LAYOUT.length
const CHECK_AT = LAYOUT.at.check.start
const WEIGHTS = Uint8Array.of(1, 3, 1, 7, 3, 9, 1)
const REGIONS: Readonly<Record<string, string>> = {
  0: 'United Kingdom and Ireland',
  2: 'Americas',
  3: 'United Kingdom and Ireland',
  4: 'Europe',
  5: 'Europe',
  6: 'Asia and Africa',
  7: 'Europe',
}

/** 1 for A, E, I, O and U, as 10–34. */
const IS_VOWEL = new Uint8Array(36)
for (const vowel of 'AEIOU') IS_VOWEL[vowel.charCodeAt(0) - 55] = 1

/** Scratch of the synchronous checks below. */
const values = new Uint8Array(LENGTH)

/** Whether the text is a SEDOL by characters and check digit. Always the same answer as `checkSedol(text).valid`. */
export function isSedol(text: string): boolean {
  if (text.length > MAX_CHARS) return false
  const length = readPlain(text, values)
  if (length === LENGTH) return holds(values)
  if (length !== NEEDS_NORMALIZING && length < LENGTH) return false
  const { value, finding: unreadable } = normalize(text, OPTIONS)
  return unreadable === null && readPlain(value, values) === LENGTH && holds(values)
}

function holds(read: Uint8Array): boolean {
  let sum = 0
  const begins_with_digit = (read[0] ?? 0) < 10
  for (let index = 0; index < LENGTH; index++) {
    const value = read[index] ?? 0
    if (value > 9 && (begins_with_digit || index === CHECK_AT || IS_VOWEL[value] === 1)) return false
    sum += value * (WEIGHTS[index] ?? 0)
  }
  return sum % 10 === 0
}

/**
 * Decides whether text is a SEDOL (London Stock Exchange, SEDOL Masterfile technical specification): six characters and a check digit by
 * modulus 10 with the weights 1, 3, 1, 7, 3, 9. Codes since 26 January 2004 begin with a letter and hold no vowels; older ones are all
 * digits. Codes that begin with 9 are given out by users and carry the warning reserved_range; zeros alone carry all_zero.
 *
 * Errs towards valid: a code that was never issued passes, and so does a letter for one ten places off, which has the same remainder.
 * Codes: empty, too_long_input, non_ascii_digits, bad_charset, bad_separator, bad_length, bad_structure, bad_checksum.
 */
export function checkSedol(text: string): Check<SedolFacts> {
  return checkText(text, { options: OPTIONS, praise: PRAISE, passes: isSedol, judge })
}

function judge(value: string): Judgement<SedolFacts> {
  const faults = shapeFindings(value)
  if (faults.some(({ field }) => field !== 'check')) return { findings: faults }
  const expected_check = checkDigit(value)
  if (faults.length > 0) return { findings: faults, expected_check }
  const findings = checkDigitFindings(LAYOUT, value, expected_check)
  return { findings, warnings: sedolWarnings(value), expected_check, facts: sedolFacts(value, findings.length === 0) }
}

/** Characters, vowels, length, then kinds in their places: the first stage that fails answers. */
function shapeFindings(value: string): Finding[] {
  const faults = layoutFindings(LAYOUT, value)
  if (faults.some(({ code }) => code !== 'bad_length')) return faults
  const vowel = value.search(/[AEIOU]/)
  if (vowel >= 0) return [finding('bad_charset', 'sedol', { value, start: vowel, end: vowel + 1 }, 'no vowels')]
  if (faults.length > 0) return faults
  const findings: Finding[] = []
  if (/^[0-9]/.test(value) && /[A-Z]/.test(value.slice(1, CHECK_AT))) {
    findings.push(finding('bad_structure', 'code', { value, start: 0, end: 1 }, 'a letter first, or digits only'))
  }
  return [...findings, ...structureFindings(LAYOUT, value)]
}

function sedolWarnings(value: string): Finding[] {
  if (value.startsWith('9')) {
    const message = 'Codes that begin with 9 are given out by whoever uses them and mean nothing elsewhere.'
    return [finding('reserved_range', 'code', { value, start: 0, end: 1 }, null, message)]
  }
  return /[^0]/.test(value) ? [] : [finding('all_zero', 'sedol', null, null)]
}

function sedolFacts(value: string, matches: boolean): SedolFacts {
  const first = value.charAt(0)
  const user_defined = first === '9'
  const numeric = /[0-9]/.test(first)
  const nsin = `GB00${value}`
  return {
    form: user_defined ? 'user_defined' : numeric ? 'numeric' : 'alphanumeric',
    region_hint: numeric ? (REGIONS[first] ?? null) : null,
    check_digit: value.slice(CHECK_AT),
    gb_isin: matches && !user_defined ? nsin + isinCheckDigit(nsin) : null,
    parts: [...LAYOUT.parts],
  }
}

/** The digit that makes the weighted sum of the seven characters a multiple of 10. */
function checkDigit(value: string): string {
  let sum = 0
  for (let index = 0; index < CHECK_AT; index++) {
    const digit = digitAt(value, index)
    sum += (digit > 9 ? digit - 7 : digit) * (WEIGHTS[index] ?? 0)
  }
  return `${(10 - (sum % 10)) % 10}`
}
