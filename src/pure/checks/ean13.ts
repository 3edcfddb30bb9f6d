import { finding, lengthFinding, type Judgement, type Part } from './check-result.ts'
import { checkText } from './check-text.ts'
import { digitAt } from './digits.ts'
import { areDigits, withLeadingZero } from './fixed-digits.ts'
import { gs1Range, type Gs1Kind } from './gs1-prefixes.ts'
import { checkDigitFindings, layout, layoutFindings, partText } from './layout.ts'
import { inFront, type NormalizeOptions } from './normalize.ts'
import { passes, type Reading } from './reading.ts'
import type { Check, Finding } from './verdict.ts'

export interface Ean13Facts {
  /** Digits 1–3. */
  gs1_prefix: string
  /** What the prefix is for; null when no range is known. */
  kind: Gs1Kind | null
  /** The organisation that gives out numbers here, or what the range is for. It is no country of origin. */
  organisation: string | null
  /** Given out inside one company or region: the number means nothing elsewhere. */
  restricted_circulation: boolean
  gtin14: string
  /** The twelve digits of a UPC-A, when the first of thirteen is 0. */
  upc_a: string | null
  /** Prefix 978 or 979 but 979-0. */
  isbn13: string | null
  /** Prefix 979-0, printed music. */
  ismn: string | null
  /** Prefix 977: the ISSN whose first seven digits stand in the bar code. */
  issn: string | null
  check_digit: string
  parts: Part[]
}

const OPTIONS: NormalizeOptions = {
  separators: ' -',
  prefixes: ['EAN13:', 'GTIN13:', 'EAN', 'GTIN'],
  label: inFront(['(?:EAN|GTIN)(?:[- ]?13)?'], () => true),
  field: 'code',
}
const PRAISE = 'Thirteen digits and a check digit that holds; this proves no article.'
/** Gives out what lies in 979-0 (ISO 10957); the table of GS1 knows the prefix 979 as a whole. */
const ISMN_ORGANISATION = 'International ISMN Agency'
/** What fills a GTIN-8 up to thirteen digits. */
const PADDING = '00000'
const LAYOUT = layout('code', 'gs1_prefix:3N company_and_item:9N check:1N')
const LENGTH = LAYOUT.length
const CHECK_AT = LAYOUT.at.check.start
const OTHER_LENGTHS: Readonly<Record<number, string>> = {
  8: '13 digits; these are as many as an EAN-8 has',
  12: '13 digits; these are as many as a UPC-A has, which has a 0 in front as an EAN-13',
  14: '13 digits; these are as many as a GTIN-14 has, which has a packaging digit in front',
}

const READING: Reading = { options: OPTIONS, values: new Uint8Array(LENGTH), first_below: 10, holds }

/** Whether the text is an EAN-13 by length and check digit. Always the same answer as `checkEan13(text).valid`. */
export function isEan13(text: string): boolean {
  const bare = bareVerdict(text)
  if (bare !== null) return bare
  return passes(text, READING)
}

/** The verdict on thirteen characters 0-9, which is what most people send; null for any other text. */
function bareVerdict(text: string): boolean | null {
  if (text.length !== LENGTH) return null
  const check = digitAt(text, CHECK_AT)
  if (check >>> 0 > 9) return null
  let sum = check
  for (let index = 0; index < CHECK_AT; index += 2) {
    const once = digitAt(text, index)
    const thrice = digitAt(text, index + 1)
    // Unsigned, a character below 0 is a great number.
    if (once >>> 0 > 9 || thrice >>> 0 > 9) return null
    sum += once + 3 * thrice
  }
  return sum % 10 === 0
}

function holds(read: Uint8Array, length: number): boolean {
  if (!areDigits(read, length, LENGTH)) return false
  let sum = 0
  for (let index = 0; index < LENGTH; index++) sum += (read[index] ?? 0) * (index % 2 === 0 ? 1 : 3)
  return sum % 10 === 0
}

/**
 * Decides whether text is an EAN-13, today GTIN-13 (GS1 General Specifications, 7.9; ISO/IEC 15420): thirteen digits, the last of which
 * is a check digit by modulus 10 with the weights 1 and 3. Not eight, twelve or fourteen digits, which are other codes. Spaces and hyphens
 * are allowed. Codes: empty, too_long_input, non_ascii_digits, bad_charset, bad_separator, bad_length, bad_checksum.
 *
 * Warnings: reserved_range for numbers of restricted circulation, coupons and refund receipts, unassigned_range where no prefix is known,
 * all_zero. Errs towards valid: a number that was never given out passes, and so does a swap of neighbours that differ by 5.
 */
export function checkEan13(text: string): Check<Ean13Facts> {
  return withLeadingZero(checkText(text, { options: OPTIONS, praise: PRAISE, passes: isEan13, judge }), isEan13)
}

function judge(value: string): Judgement<Ean13Facts> {
  const faults = layoutFindings(LAYOUT, value)
  if (faults.length > 0) return { findings: faults.map((fault) => withHint(fault, value)) }
  const expected_check = modulus10(value.slice(0, CHECK_AT))
  const findings = checkDigitFindings(LAYOUT, value, expected_check)
  const facts = ean13Facts(value)
  return { findings, warnings: ean13Warnings(value, facts), expected_check, facts }
}

/** Says which other code has this length. */
function withHint(fault: Finding, value: string): Finding {
  const expected = OTHER_LENGTHS[value.length]
  return fault.code === 'bad_length' && expected !== undefined ? lengthFinding('code', value, expected) : fault
}

function ean13Warnings(value: string, { kind }: Ean13Facts): Finding[] {
  if (!/[^0]/.test(value)) return [finding('all_zero', 'code', null, null)]
  const prefix = { value, start: 0, end: 3 }
  if (kind === null) return [finding('unassigned_range', 'gs1_prefix', prefix, null)]
  if (kind === 'restricted') {
    const message = 'Numbers of restricted circulation are given out inside one company or region and mean nothing elsewhere.'
    return [finding('reserved_range', 'gs1_prefix', prefix, null, message)]
  }
  if (kind === 'reserved' && value.startsWith(PADDING)) {
    const message = 'No EAN-13 begins so: a GTIN-8 that was filled up with zeros does, and its own eight digits say what it is.'
    return [finding('reserved_range', 'gs1_prefix', { value, start: 0, end: PADDING.length }, null, message)]
  }
  if (kind === 'coupon' || kind === 'refund' || kind === 'demonstration' || kind === 'reserved') {
    const message = 'The prefix is kept for coupons, refund receipts, demonstrations or later use, not for articles.'
    return [finding('reserved_range', 'gs1_prefix', prefix, null, message)]
  }
  return []
}

function ean13Facts(value: string): Ean13Facts {
  const gs1_prefix = partText(LAYOUT.at.gs1_prefix, value)
  const check_digit = partText(LAYOUT.at.check, value)
  const range = gs1Range(value)
  const music = value.startsWith('9790')
  return {
    gs1_prefix,
    kind: music ? 'ismn' : (range?.kind ?? null),
    organisation: music ? ISMN_ORGANISATION : (range?.organisation ?? null),
    restricted_circulation: range?.kind === 'restricted',
    gtin14: `0${value}`,
    upc_a: value.startsWith('0') ? value.slice(1) : null,
    isbn13: range?.kind === 'isbn' && !music ? value : null,
    ismn: music ? value : null,
    issn: range?.kind === 'issn' ? issn(value.slice(3, 10)) : null,
    check_digit,
    parts: [...LAYOUT.parts],
  }
}

/** Seven digits of a bar code with the check digit of an ISSN (ISO 3297: modulus 11, weights 8 to 2, ten is X). */
function issn(seven: string): string {
  let sum = 0
  for (let index = 0; index < 7; index++) sum += digitAt(seven, index) * (8 - index)
  const check = (11 - (sum % 11)) % 11
  return `${seven.slice(0, 4)}-${seven.slice(4)}${check === 10 ? 'X' : check}`
}

function modulus10(digits: string): string {
  let sum = 0
  for (let index = 0; index < digits.length; index++) sum += digitAt(digits, index) * (index % 2 === 0 ? 1 : 3)
  return `${(10 - (sum % 10)) % 10}`
}
