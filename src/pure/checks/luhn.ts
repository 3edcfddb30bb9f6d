import { type Check, finding, type Finding, type IdentifierPart, lengthFinding, type Validation } from './verdict.ts'
import { digitAt, labelInFront, MAX_CHARS, normalize, type NormalizeOptions } from './normalize.ts'
import { foreignCharacters, checkText } from './check-text.ts'

export interface LuhnFacts {
  digit_count: number
  /** All digits but the last. */
  payload: string
  check_digit: string
  /** Mistakes that the method cannot see, in words. */
  blind_spots: readonly string[]
  parts: IdentifierPart[]
}

export interface DigitBounds {
  min_digits: number
  max_digits: number
}

const OPTIONS: NormalizeOptions = {
  separators: ' -',
  label: labelInFront(['IMEI', 'ICCID'], () => true),
  field: 'number',
}
const SUCCESS_REASON = 'The check digit matches the digits before it.'
const ANY_LENGTH: DigitBounds = { min_digits: 2, max_digits: MAX_CHARS }

const BLIND_SPOTS: readonly string[] = [
  '09 and 90 for one another',
  '22 and 55, 33 and 66, 44 and 77 for one another',
  'two digits swapped across an even distance, such as 123 and 321',
  'zeros added or left out in front',
]

/**
 * Luhn's modulus 10 check digit (ISO/IEC 7812-1:2017, annex B; US patent 2,950,048): from the right, every second digit is doubled, its
 * digits are added up, and the sum of all must end in 0. Spaces and hyphens are allowed, digits are ASCII.
 *
 * Every single wrong digit is found, and every swap of neighbours but 09 and 90. Not found: `facts.blind_spots`. All zeros pass with
 * the warning `all_zero`. Codes: empty, too_long_input, non_ascii_digits, bad_charset, bad_separator, bad_length, bad_checksum.
 * Nothing is said about who issued the number, or for what.
 */
export function checkLuhn(text: string, bounds: DigitBounds = ANY_LENGTH): Check<LuhnFacts> {
  return checkText(text, {
    options: OPTIONS,
    success_reason: SUCCESS_REASON,
    isValid: (value) => hasValidCheckDigit(value, bounds),
    validate: (value) => validate(value, bounds),
  })
}

/** Always the same answer as `checkLuhn(text, bounds).valid`. */
export function isLuhn(text: string, bounds: DigitBounds = ANY_LENGTH): boolean {
  if (hasValidCheckDigit(text, bounds)) return true
  const read = normalize(text, OPTIONS)
  return read.finding === null && hasValidCheckDigit(read.value, bounds)
}

function formatFindings(value: string, bounds: DigitBounds): Finding[] {
  const foreign = foreignCharacters(value, 'number', /[^0-9]+/gu, 'digits 0-9')
  if (foreign.length > 0 || inBounds(value, bounds)) return foreign
  return [lengthFinding('number', value, `${bounds.min_digits} to ${bounds.max_digits} digits`)]
}

function validate(value: string, bounds: DigitBounds): Validation<LuhnFacts> {
  const faults = formatFindings(value, bounds)
  if (faults.length > 0) return { findings: faults }
  const last = value.length - 1
  const facts = {
    digit_count: value.length,
    payload: value.slice(0, last),
    check_digit: value.slice(last),
    blind_spots: BLIND_SPOTS,
    parts: [
      { label: 'payload', start: 0, end: last },
      { label: 'check', start: last, end: value.length },
    ],
  }
  const expected_check = checkDigit(facts.payload)
  const findings =
    expected_check === facts.check_digit
      ? []
      : [finding('bad_checksum', 'check', { value, start: last, end: value.length }, expected_check)]
  const warnings = /[^0]/.test(value) ? [] : [finding('all_zero', 'number', null, null)]
  return { findings, warnings, expected_check, facts }
}

function inBounds(value: string, bounds: DigitBounds): boolean {
  return value.length >= Math.max(bounds.min_digits, 2) && value.length <= Math.min(bounds.max_digits, MAX_CHARS)
}

function hasValidCheckDigit(value: string, bounds: DigitBounds): boolean {
  if (!inBounds(value, bounds)) return false
  let sum = 0
  let index = value.length - 1
  for (; index > 0; index -= 2) {
    const digit = value.charCodeAt(index) - 0x30
    const doubled = value.charCodeAt(index - 1) - 0x30
    if (digit >>> 0 > 9 || doubled >>> 0 > 9) return false
    sum += digit + 2 * doubled - (doubled > 4 ? 9 : 0)
  }
  const first = index === 0 ? value.charCodeAt(0) - 0x30 : 0
  return first >>> 0 <= 9 && (sum + first) % 10 === 0
}

/** The digit that makes the sum end in 0. */
function checkDigit(payload: string): string {
  let sum = 0
  for (let index = payload.length - 1, doubled = true; index >= 0; index--, doubled = !doubled) {
    const product = doubled ? digitAt(payload, index) * 2 : digitAt(payload, index)
    sum += product > 9 ? product - 9 : product
  }
  return `${(10 - (sum % 10)) % 10}`
}
