import { type Check, finding, type Finding, type IdentifierPart, lengthFinding, type Validation } from './verdict.ts'
import { foreignCharacters, checkText } from './check-text.ts'
import { labelInFront, MAX_CHARS, normalize, type NormalizeOptions } from './normalize.ts'

/** Characters in the order of SAT's table (Anexo 20): the index in this text is the value of a character in the check digit. */
const RFC_ALPHABET = '0123456789ABCDEFGHIJKLMN&OPQRSTUVWXYZ Ñ'
const RFC_SPACE = 37

/** Result of `readRfc` for text with a character other than those of an RFC, spaces and hyphens. */
const NOT_PLAIN = -1

const WIDEST = 0xf1
const SKIPPED = 0xfe
const FOREIGN = 0xff

/** The value of each character up to ñ; small letters count as capitals. */
const VALUES = new Uint8Array(WIDEST + 1).fill(FOREIGN)
Array.from(RFC_ALPHABET).forEach((letter, value) => {
  for (const form of [letter, letter.toLowerCase()]) VALUES[form.charCodeAt(0)] = value
})
for (const separator of ' -\t\n\v\f\r') VALUES[separator.charCodeAt(0)] = SKIPPED

/** Fills `into` with the values of `text`, skipping spaces and hyphens, and returns how many there are, also when they do not fit. */
function readRfc(text: string, into: Uint8Array): number {
  let length = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    const value = code > WIDEST ? FOREIGN : (VALUES[code] ?? FOREIGN)
    if (value === FOREIGN) return NOT_PLAIN
    if (value !== SKIPPED) into[length++] = value
  }
  return length
}

/**
 * Four letters that SAT never uses at the start of a person's RFC; it replaces the last one by X (Instructivo para la formación de
 * la clave del RFC, annex IV).
 */
const INCONVENIENT =
  'BUEI BUEY CACA CACO CAGA CAGO CAKA CAKO COGE COJA COJE COJI COJO CULO FETO GUEY JOTO KACA KACO KAGA KAGO KAKA KOGE KOJO KULO ' +
  'MAME MAMO MEAR MEAS MEON MION MOCO MULA PEDA PEDO PENE PUTA PUTO QULO RATA RUIN'

const STEMS = new Set(
  INCONVENIENT.split(' ').map((word) => Array.from(word).reduce((sum, letter) => sum * 64 + RFC_ALPHABET.indexOf(letter), 0)),
)

/** Tests whether the first four values spell such a word. */
function isInconvenient(read: Uint8Array): boolean {
  return STEMS.has((((read[0] ?? 0) * 64 + (read[1] ?? 0)) * 64 + (read[2] ?? 0)) * 64 + (read[3] ?? 0))
}

const OPTIONS: NormalizeOptions = {
  separators: ' -',
  prefixes: ['RFC:'],
  label: labelInFront(['RFC', 'R\\.F\\.C'], (value) => /^[A-ZÑ&]{3,4}[0-9]{6}/.test(value)),
  field: 'rfc',
}
const SUCCESS_REASON = 'Structure and date are valid; the taxpayer was not looked up.'
const GENERIC: Readonly<Record<string, 'public' | 'foreign'>> = { XAXX010101000: 'public', XEXX010101000: 'foreign' }
const PERSON = 13
const COMPANY = 12
const PERSON_WITHOUT_HOMOCLAVE = 10
const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const MISMATCH = 'The check digit does not match; SAT itself issued about one number in a hundred like this.'
const NO_HOMOCLAVE = 'Ten characters lack the homoclave, so there is no check digit; invoices need all thirteen.'

const AMPERSAND = RFC_ALPHABET.indexOf('&')
/** SAT writes the homoclave with 34 characters, 1-9 and A-Z without O (Instructivo para la formación de la clave del RFC, annex II). */
const LETTER_O = RFC_ALPHABET.indexOf('O')

/** Scratch of the synchronous checks below. */
const values = new Uint8Array(PERSON)

/** Returns the same answer as `checkRfc(text, strict).valid`. */
export function isRfc(text: string, strict = false): boolean {
  if (text.length > MAX_CHARS) return false
  const length = readRfc(text, values)
  // A separator may follow a label.
  if (length !== NOT_PLAIN && length === text.length) return matchesFormat(values, length, strict)
  const { value, finding: unreadable } = normalize(withCapitalEnye(text), OPTIONS)
  return unreadable === null && matchesFormat(values, readRfc(value, values), strict)
}

function matchesFormat(read: Uint8Array, length: number, strict: boolean): boolean {
  if (length !== PERSON && length !== COMPANY && (length !== PERSON_WITHOUT_HOMOCLAVE || strict)) return false
  const start = length === COMPANY ? 3 : 4
  for (let index = 0; index < start; index++) if (isDigit(read, index)) return false
  for (let index = start; index < start + 6; index++) if (!isDigit(read, index)) return false
  if (isGeneric(read, length)) return true
  if (!dateExists(twoDigits(read, start), twoDigits(read, start + 2), twoDigits(read, start + 4))) return false
  if (length !== COMPANY && isInconvenient(read)) return false
  if (length === PERSON_WITHOUT_HOMOCLAVE) return true
  const check = read[length - 1] ?? 0
  // 1-9 or A-V, then 1-9 or A-Z, both without O; then 0-9 or A; neither & nor Ñ.
  if (!inHomoclave(read[length - 3] ?? 0, 32) || !inHomoclave(read[length - 2] ?? 0, 36) || check > 10) return false
  return !strict || check === checkValue(read, length)
}

function isDigit(read: Uint8Array, index: number): boolean {
  return (read[index] ?? RFC_SPACE) < 10
}

function inHomoclave(value: number, highest: number): boolean {
  return value > 0 && value <= highest && value !== AMPERSAND && value !== LETTER_O
}

function twoDigits(read: Uint8Array, at: number): number {
  return (read[at] ?? 0) * 10 + (read[at + 1] ?? 0)
}

/** X, A or E, X, X, 010101000. */
function isGeneric(read: Uint8Array, length: number): boolean {
  if (length !== PERSON || read[0] !== 34 || (read[1] !== 10 && read[1] !== 14) || read[2] !== 34 || read[3] !== 34) return false
  return twoDigits(read, 4) === 1 && twoDigits(read, 6) === 1 && twoDigits(read, 8) === 1 && twoDigits(read, 10) === 0 && read[12] === 0
}

/** In one of two centuries: 1900 had no leap day but 2000 had one, so 29 February exists in every fourth year. */
function dateExists(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1 || day > (DAYS[month - 1] ?? 0)) return false
  return month !== 2 || day < 29 || year % 4 === 0
}

/** Weights 13 to 2 modulo 11; a company counts a space in front. Ten is written A. */
function checkValue(read: Uint8Array, length: number): number {
  let sum = length === COMPANY ? RFC_SPACE * 13 : 0
  for (let index = 0; index < length - 1; index++) sum += (read[index] ?? 0) * (length - index)
  return (11 - (sum % 11)) % 11
}

/** Normalization leaves letters beyond ASCII alone; this one is part of the alphabet, composed or not. */
function withCapitalEnye(text: string): string {
  return text.replace(/\u00f1|[nN]\u0303/g, 'Ñ')
}

/**
 * Checks the structure of a Mexican RFC (SAT): four initials for a person or three for a company (letters, Ñ, &), a date
 * YYMMDD, two characters of homoclave (1-9, A-Z without O) and a check digit 0-9 or A. Ten characters without homoclave pass with a warning.
 *
 * Errs towards valid: about one real number in a hundred has a wrong check digit, given out by SAT itself, so a mismatch is the
 * warning `bad_checksum` and the verdict well_formed_unverifiable. `strict` makes a mismatch, or a missing homoclave, a fault.
 * The generic numbers XAXX010101000 and XEXX010101000 pass as such.
 */
export function checkRfc(text: string, strict = false): Check<RfcFacts> {
  const capital = withCapitalEnye(text)
  const check = checkText(capital, {
    options: OPTIONS,
    success_reason: SUCCESS_REASON,
    isValid: (value) => isRfc(value, strict),
    validate: (value) => validate(value, strict),
  })
  return capital === text || check.changes.includes('uppercased') ? check : { ...check, changes: [...check.changes, 'uppercased'] }
}

function validate(value: string, strict: boolean): Validation<RfcFacts> {
  const faults = formatFindings(value)
  if (faults.length > 0) return { findings: faults }
  const expected_check = value.length === PERSON_WITHOUT_HOMOCLAVE ? null : expectedCheck(value)
  const facts = rfcFacts(value, expected_check)
  if (facts.generic !== null) return { findings: [], expected_check: null, facts }
  const remarks = checkFindings(value, expected_check)
  if (strict) return { findings: remarks, expected_check, facts }
  return { unverifiable: remarks.length > 0, findings: [], warnings: remarks, expected_check, facts }
}

function expectedCheck(value: string): string {
  readRfc(value, values)
  return RFC_ALPHABET.charAt(checkValue(values, value.length))
}

function checkFindings(value: string, expected_check: string | null): Finding[] {
  if (expected_check === null) return [finding('too_short', 'homoclave', null, '13 characters', NO_HOMOCLAVE)]
  const place = { value, start: value.length - 1, end: value.length }
  return value.endsWith(expected_check) ? [] : [finding('bad_checksum', 'check', place, expected_check, MISMATCH)]
}

/** Characters, length, kinds, date, words: the first stage that fails answers. */
function formatFindings(value: string): Finding[] {
  const foreign = foreignCharacters(value, 'rfc', /[^0-9A-ZÑ&]+/gu, 'letters A-Z, Ñ, & and digits 0-9')
  if (foreign.length > 0) return foreign
  if (![PERSON_WITHOUT_HOMOCLAVE, COMPANY, PERSON].includes(value.length))
    return [lengthFinding('rfc', value, '12 characters for a company, 13 for a person')]
  if (GENERIC[value] !== undefined) return []
  const wrong = kindFindings(value)
  if (wrong.length > 0) return wrong
  const start = value.length === COMPANY ? 3 : 4
  readRfc(value, values)
  if (!dateExists(twoDigits(values, start), twoDigits(values, start + 2), twoDigits(values, start + 4)))
    return [finding('bad_date', 'date', { value, start, end: start + 6 }, 'a date YYMMDD')]
  if (start === 3 || !isInconvenient(values)) return []
  return [finding('bad_component', 'initials', { value, start: 0, end: 4 }, 'X as the fourth letter of a word that SAT avoids')]
}

const KINDS: Readonly<Record<string, [pattern: RegExp, expected: string]>> = {
  initials: [/^[A-ZÑ&]+$/, 'letters, Ñ or &'],
  date: [/^[0-9]+$/, 'six digits, YYMMDD'],
  homoclave: [/^[1-9A-NP-V][1-9A-NP-Z]$/, 'two of the digits 1-9 and the letters A-Z without O, the first at most V'],
  check: [/^[0-9A]$/, '0-9 or A'],
}

function kindFindings(value: string): Finding[] {
  return rfcParts(value).flatMap(({ label, start, end }) => {
    const [pattern, expected] = KINDS[label] ?? [/^/, '']
    return pattern.test(value.slice(start, end)) ? [] : [finding('bad_structure', label, { value, start, end }, expected)]
  })
}

function rfcParts(value: string): IdentifierPart[] {
  const start = value.length === COMPANY ? 3 : 4
  const parts = [
    { label: 'initials', start: 0, end: start },
    { label: 'date', start, end: start + 6 },
    { label: 'homoclave', start: start + 6, end: start + 8 },
    { label: 'check', start: start + 8, end: start + 9 },
  ]
  return value.length === PERSON_WITHOUT_HOMOCLAVE ? parts.slice(0, 2) : parts
}

function rfcKind(length: number): 'company' | 'person' | 'person_without_homoclave' {
  if (length === COMPANY) return 'company'
  return length === PERSON_WITHOUT_HOMOCLAVE ? 'person_without_homoclave' : 'person'
}

function rfcFacts(value: string, expected_check: string | null) {
  const start = value.length === COMPANY ? 3 : 4
  const homoclave = value.slice(start + 6)
  const check_digit = homoclave === '' ? null : value.slice(-1)
  const generic = GENERIC[value] ?? null
  return {
    kind: rfcKind(value.length),
    generic,
    initials: value.slice(0, start),
    date_candidates: generic === null ? dateCandidates(value.slice(start, start + 6)) : [],
    homoclave: homoclave === '' ? null : homoclave,
    check_digit,
    check_matches: generic === null && check_digit !== null ? check_digit === expected_check : null,
    print_form: [value.slice(0, start), value.slice(start, start + 6), homoclave].filter((part) => part !== '').join(' '),
    parts: rfcParts(value),
  }
}

export type RfcFacts = ReturnType<typeof rfcFacts>

function dateCandidates(date: string): string[] {
  const rest = `-${date.slice(2, 4)}-${date.slice(4)}`
  const centuries = date === '000229' ? ['20'] : ['19', '20']
  return centuries.map((century) => `${century}${date.slice(0, 2)}${rest}`)
}
