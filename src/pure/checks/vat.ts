import { checkCharacters } from './check-digits.ts'
import { accepts, decimal, foundCheck, valueAt, type VatLengthRule, type VatScheme, NONE } from './vat/calculations.ts'
import { VAT_BY_LETTERS, VAT_COUNTRIES, type VatCountry, type FormatCharacter } from './vat/countries.ts'
import { VAT_FORMATS } from './vat/formats-table.ts'
import { isUnusualSpanish } from './vat/special-rules.ts'
import { type Change, type Check, finding, type Finding, type IdentifierPart, lengthFinding, type Validation } from './verdict.ts'
import {
  MAX_CHARS,
  NEEDS_NORMALIZING,
  normalize,
  type Normalized,
  type NormalizeOptions,
  pairIndex,
  pairIndexOf,
  readPlain,
} from './normalize.ts'
import { conclude, foreignCharacters, repair } from './check-text.ts'
import { COUNTRIES } from './countries.ts'
import { datesOf } from '../datasets/table.ts'

/** The expected check characters as text; null when none would match. */
function expectedCheck(scheme: VatScheme, values: Uint8Array): string | null {
  const value = scheme.expected(values)
  return value === NONE ? null : checkCharacters(value, scheme.end - scheme.start)
}

/** Dates of the tables that an answer is read from. */
export const VAT_DATA_AS_OF = datesOf([VAT_FORMATS])

/** Words in front of the number: "VAT Reg. No.", "USt-IdNr.", "BTW-nummer", "N° TVA intracommunautaire", "Partita IVA". */
const NAME = 'EU[ -]VAT|VAT|TVA|BTW|MWST|MOMS|UST|UMSATZSTEUER|UID|IVA|P\\.? ?IVA|PARTITA IVA'
/** National names, taken off where letters of a country follow: without them the number would be read as Belgian. */
const NATIONAL = 'NIPC?|NIF|CIF|CUI|OIB|AFM|ΑΦΜ|DI[CČ]|I[CČ] ?DPH|DPH|ALV|CVR|KMKR|PVM|PVN'
const KIND = 'IDENTIFI[CK]ATI(?:ON|E)S?|ID(?:ENT)?|REG(?:ISTRATION)?|INTRACOMMUNAUTAIRE'
const NUMBER = 'NUMBER|NUMMER|CODE|N[OR]'
/** NO right before digits may be Norway, see below. */
const WORD = `(?:N[°º]\\s{0,2})?(?:${NAME}|(?:${NATIONAL})(?=\\W{1,8}[A-Z]{2}))(?!\\W{0,8}NO[0-9])`
const OPTIONS: NormalizeOptions = {
  separators: ' -./(',
  label: {
    words: new RegExp(`^\\s{0,8}(?:${WORD}(?:[\\s.-]{0,2}(?:${KIND})){0,2}(?:[\\s.-]{0,2}(?:${NUMBER}))?[\\s:./#=-]{1,8}){1,4}`, 'i'),
    fits: (value) => /[0-9]/.test(value) && (/^[0-9]/.test(value) || VAT_BY_LETTERS.has(value.slice(0, 2))),
  },
  prefixes: ['VATID', 'VATIN', 'VATNO', 'VATNR', 'VAT', 'USTIDNR', 'USTID', 'UIDNR', 'UID', 'BTWNR', 'BTW', 'NTVA', 'TVA', 'PIVA'],
  field: 'vat_number',
}
const SUCCESS_REASON = 'Format and check digits are valid; the tax office was not queried.'
const SUCCESS_REASON_WITHOUT_CHECK =
  'The format is valid; numbers of this kind have no public check digits, and the tax office was not queried.'
/** Non-Union scheme: the numeric ISO 3166 code of the member state, five digits, and a check digit whose rule is not published. */
const ONE_STOP_SHOP = /^EU[0-9]{9}$/
/** Import scheme (IOSS): IM for traders and IN for intermediaries, the numeric ISO 3166 code, six digits, and a check digit as above. */
const IMPORT_ONE_STOP_SHOP = /^I[MN][0-9]{10}$/
const NO_VAT_NUMBER =
  'IM and IN are prefixes of the import one-stop shop (IOSS), for goods sent from outside the EU. VIES does not list them, and the calculation of their check digit is not public.'
const NOT_IN_VIES = 'EU is the prefix of the one-stop shop for suppliers outside the EU; the calculation of its check digit is not public.'
const BELGIUM = VAT_BY_LETTERS.get('BE')

/** Scratch of the synchronous checks below: a whole text, and the number without its prefix. */
const whole = new Uint8Array(32)
const checked_values = new Uint8Array(16)
const BY_PAIR: (VatCountry | undefined)[] = Array.from({ length: 26 * 26 })
for (const country of VAT_COUNTRIES) for (const prefix of country.prefixes) BY_PAIR[pairIndexOf(prefix)] = country

/** Returns the same answer as `checkVat(text).valid`. */
export function isVat(text: string): boolean {
  if (text.length > MAX_CHARS) return false
  const length = readPlain(text, whole)
  const quick = length === NEEDS_NORMALIZING || length > whole.length ? null : quickAnswer(length)
  if (quick !== null) return quick
  const { value, finding: unreadable } = normalized(text)
  return unreadable === null && holds(value)
}

function holds(normal: string): boolean {
  const { country, number, prefix, value } = readVat(normal)
  return country !== null && prefixFits(country, prefix, value) && numberPasses(country, number)
}

/** Text whose NO may be the word "No." or Norway, with the digits directly behind. */
const NUMBER_OR_NORWAY = /^\W*VAT\W{1,8}NO[0-9]/i

/** Without the words in front. Of NO close before the digits, Norway is left, unless only the digits alone pass. */
function normalized(text: string): Normalized {
  const read = normalize(text, OPTIONS)
  if (read.finding !== null || !/^[0-9]/.test(read.value) || !NUMBER_OR_NORWAY.test(text)) return read
  const norwegian = `NO${read.value}`
  return holds(read.value) && !holds(norwegian) ? read : { ...read, value: norwegian }
}

const NATIONAL_NAME = new RegExp(`^\\s{0,8}(?:${NATIONAL})(?:[\\s.-]{0,2}(?:${NUMBER}))?[\\s:./#=-]{1,8}`, 'i')

/** The number as it is read, when nothing in front of it but a national name of it names a country; null when something does. */
export function bareVatNumber(text: string): string | null {
  const { value, finding: unreadable } = normalized(text.replace(NATIONAL_NAME, ''))
  const letters = value.slice(0, 2)
  return unreadable !== null || VAT_BY_LETTERS.has(letters) || COUNTRIES.has(letters) ? null : value
}

/** For a text in `whole` that needs nothing taken off or put in front; null for all others. */
function quickAnswer(length: number): boolean | null {
  const index = pairIndex(whole[0] ?? 0, whole[1] ?? 0)
  const country = index < 0 ? BELGIUM : BY_PAIR[index]
  if (country === undefined) return null
  const start = index < 0 ? 0 : (country.prefixes[0]?.length ?? 0)
  // Belgian numbers of before 2005 lack the zero in front.
  const zeros = country === BELGIUM && length - start === 9 ? 1 : 0
  const digits = length - start + zeros
  if (!country.formats.has(digits) || (start === 3 && whole[2] !== 14)) return null
  checked_values[0] = 0
  for (let at = start; at < length; at++) checked_values[at - start + zeros] = whole[at] ?? 0
  return isValidFor(country, checked_values, digits)
}

/** A number without prefix is accepted as it is; CH must continue with E. */
function prefixFits(country: VatCountry, prefix: string, value: string): boolean {
  return prefix === '' || country.prefixes.includes(value.slice(0, prefix.length))
}

/**
 * Checks a VAT number of an EU member, Northern Ireland, the United Kingdom, Switzerland or Norway by the format in the
 * Commission's list and by the country's own check digits (sources in `vat/`). EL and GR are both Greece. A number without prefix is read
 * as Belgian, and `also_passes` names the others that it would pass for.
 *
 * Codes: empty, too_long_input, non_ascii_digits, bad_charset, bad_separator, bad_length, bad_country, unsupported_country, bad_prefix,
 * bad_structure, bad_component, bad_date, all_zero, bad_checksum, checksum_out_of_range, bad_national_checksum. Errs towards valid: a
 * number that was never issued, or was given back, passes when its digits agree; single wrong digits pass where a country has two
 * valid calculations (NL, BG, GB, XI).
 */
export function checkVat(text: string): Check<VatFacts> {
  const read = normalized(text)
  if (read.finding !== null) {
    const suggestion = read.suggestion !== null && isVat(read.suggestion) ? read.suggestion : null
    return conclude(read, SUCCESS_REASON, { findings: [read.finding] }, suggestion)
  }
  const reading = readVat(read.value)
  const validation = validate(reading)
  const suggestion = validation.findings.length === 0 ? null : repair(reading.value, isVat)
  const success_reason = validation.unverifiable === true ? SUCCESS_REASON_WITHOUT_CHECK : SUCCESS_REASON
  const changed = { ...read, value: reading.value, changes: [...read.changes, ...reading.changes] }
  return conclude(changed, success_reason, validation, suggestion)
}

function validate(reading: VatReading): Validation<VatFacts> {
  const { country, number } = reading
  const fault = characterFaults(reading) ?? countryFaults(reading)
  if (fault !== null || country === null) return failed(reading, fault ?? [])
  const length = fillValues(number, checked_values)
  const rule = country.rule.get(length) ?? null
  if (rule === null || !matchesVatFormat(country, checked_values, length))
    return failed(reading, shapeFaults(reading, country, rule !== null))
  const expected_check = expectedCheckOf(rule)
  const findings = partFaults(reading, rule) ?? zeroFaults(rule, length) ?? checkFaults(reading, rule)
  const facts = vatFacts(reading, rule, checked_values, findings.length === 0)
  const warnings = [...formWarnings(reading, country), ...otherCountries(facts.also_passes)]
  return { findings, warnings, expected_check, facts, unverifiable: applicableSchemes(rule, checked_values).length === 0 }
}

/** Without a readable number there are facts only of the country that it was validation for, or when another one would take it. */
function failed(reading: VatReading, findings: Finding[]): Validation<VatFacts> {
  const others = alsoPasses(reading)
  if (reading.country === null && others.length === 0) return { findings }
  return { findings, warnings: otherCountries(others), facts: vatFacts(reading, null, checked_values, false) }
}

function characterFaults({ value, country }: VatReading): Finding[] | null {
  const irish = country?.code === 'IE'
  const foreign = irish ? /[^0-9A-Z+*]+/gu : /[^0-9A-Z]+/gu
  const faults = foreignCharacters(value, 'vat_number', foreign, irish ? 'letters, digits, + and *' : 'letters A-Z and digits 0-9')
  return faults.length > 0 ? faults : null
}

function countryFaults({ country, prefix, value }: VatReading): Finding[] | null {
  const place = { value, start: 0, end: Math.max(prefix.length, 2) }
  const known = 'the prefix of an EU member, XI, GB, CHE or NO'
  if (country === null) {
    if (IMPORT_ONE_STOP_SHOP.test(value)) return [finding('bad_prefix', 'prefix', place, known, NO_VAT_NUMBER)]
    const code = COUNTRIES.has(prefix) ? 'unsupported_country' : 'bad_country'
    return [finding(code, 'prefix', place, known, ONE_STOP_SHOP.test(value) ? NOT_IN_VIES : undefined)]
  }
  return prefixFits(country, prefix, value) ? null : [finding('bad_prefix', 'prefix', place, country.prefixes.join(' or '))]
}

/** A length that no format has; or the positions that differ from the nearest format of this length. */
function shapeFaults({ value, prefix, number }: VatReading, country: VatCountry, fitting: boolean): Finding[] {
  const formats = country.formats.get(number.length) ?? []
  if (!fitting || formats.length === 0) return [lengthFinding('number', number, country.structure)]
  const wrongs = formats.map((format) =>
    format.flatMap((character, index) =>
      acceptsValue(character, checked_values[index] ?? 0) ? [] : [{ expected: character.expected, index }],
    ),
  )
  const nearest = wrongs.toSorted((one, other) => one.length - other.length)[0] ?? []
  return nearest.map(({ expected, index }) => {
    const start = prefix.length + index
    return finding('bad_structure', 'number', { value, start, end: start + 1 }, expected)
  })
}

function partFaults({ value, prefix }: VatReading, rule: VatLengthRule): Finding[] | null {
  const wrong = rule.parts.filter((part) => !part.isValid(checked_values))
  if (wrong.length === 0) return null
  return wrong.map(({ label, start, end, code, expected }) => {
    const place = { value, start: prefix.length + start, end: prefix.length + end }
    return finding(code, label, place, expected)
  })
}

function zeroFaults(rule: VatLengthRule, length: number): Finding[] | null {
  return isAllZero(rule, length, checked_values) ? [finding('all_zero', 'number', null, null)] : null
}

function checkFaults({ value, prefix }: VatReading, rule: VatLengthRule): Finding[] {
  const schemes = applicableSchemes(rule, checked_values)
  const scheme = schemes[0]
  if (scheme === undefined || schemes.some((one) => accepts(one, checked_values))) return []
  const place = { value, start: prefix.length + scheme.start, end: prefix.length + scheme.end }
  return [finding(checkCode(scheme), 'check', place, expectedCheck(scheme, checked_values))]
}

/** Two digits that leave the right remainder modulo 97 or 37 but are never calculated: 00 for 97, 38 for 01. */
function checkCode(scheme: VatScheme): 'bad_checksum' | 'checksum_out_of_range' {
  const modulus = scheme.name === 'modulus 97' ? 97 : scheme.name === 'modulus 37' ? 37 : null
  const alias = modulus !== null && (foundCheck(scheme, checked_values) - scheme.expected(checked_values)) % modulus === 0
  return alias ? 'checksum_out_of_range' : 'bad_checksum'
}

function expectedCheckOf(rule: VatLengthRule): string | null {
  const schemes = applicableSchemes(rule, checked_values)
  const scheme = schemes.find((one) => accepts(one, checked_values)) ?? schemes[0]
  return scheme === undefined ? null : expectedCheck(scheme, checked_values)
}

function formWarnings(reading: VatReading, country: VatCountry): Finding[] {
  const { value, prefix, suffix, padded } = reading
  const warnings: Finding[] = []
  const warn = (code: Finding['code'], field: string, expected: string | null, message: string) =>
    warnings.push(finding(code, field, null, expected, message))
  if (padded) warn('too_short', 'number', value, 'Leading zeros of today’s form were missing and have been added.')
  if (country.suffixes.length > 0 && suffix === null) {
    const words = country.suffixes.join(', ')
    warn('bad_component', 'suffix', words, `Without ${words} at the end this is a register number, which companies without VAT have too.`)
  }
  if (isPersonalCode(reading)) {
    warn('too_long', 'number', '2 to 10 digits', 'VIES takes 2 to 10 digits; this is the personal code of a natural person.')
  }
  if (country.code === 'ES' && isUnusualSpanish(checked_values)) {
    const place = { value, start: prefix.length + 8, end: prefix.length + 9 }
    const expected = /[0-9]/.test(value.slice(-1)) ? 'a letter' : 'a digit'
    const message = 'By the published table, entities of this kind have the other kind of check character.'
    warnings.push(finding('bad_component', 'check', place, expected, message))
  }
  return warnings
}

function otherCountries(codes: readonly string[]): Finding[] {
  if (codes.length === 0) return []
  const message = `The number has no prefix of a supported country; with the right prefix it would be valid for ${codes.join(', ')}.`
  return [finding('bad_prefix', 'prefix', null, codes.join(', '), message)]
}

/** Parts of a normalized text. */
interface VatReading {
  /** Null when the text begins with two letters that are not a VAT prefix. */
  country: VatCountry | null
  /** Prefix of the number; empty when the text names no country. */
  prefix: string
  number: string
  /** The national ending, such as MVA, when there was one. */
  suffix: string | null
  /** Prefix and number as they are checked. */
  value: string
  changes: Change[]
  /** Zeros that had been left out in front. */
  padded: boolean
  /** The text names no country, so it is read as Belgian. */
  bare: boolean
  /** A bare number before zeros were put in front. */
  given: string
}

const NORWEGIAN = /^[0-9]{9}MVA$/

/** Country, number and ending; old short forms get their zeros. Reading `value` again gives the same `value`. */
function readVat(text: string): VatReading {
  if (!/^[A-Z]{2}/.test(text)) return readBare(text)
  const country = VAT_BY_LETTERS.get(text.slice(0, 2)) ?? null
  const prefix = country?.prefixes.find((word) => text.startsWith(word)) ?? text.slice(0, 2)
  const rest = text.slice(prefix.length)
  const suffix = country?.suffixes.find((word) => rest.endsWith(word)) ?? null
  const short = suffix === null ? rest : rest.slice(0, -suffix.length)
  const number = country === null ? short : withZeros(country.code, short)
  const changes: Change[] = []
  if (suffix !== null) changes.push('removed_suffix')
  if (number !== short) changes.push('padded_zeros')
  return { country, prefix, number, suffix, value: prefix + number, changes, padded: number !== short, bare: false, given: number }
}

/** Belgian, but for the ending that only Norway writes. */
function readBare(text: string): VatReading {
  const frame = { prefix: '', value: text, changes: [], padded: false, given: text }
  if (NORWEGIAN.test(text)) {
    return { ...frame, country: VAT_BY_LETTERS.get('NO') ?? null, number: text.slice(0, 9), suffix: 'MVA', bare: false }
  }
  const number = withZeros('BE', text)
  const padded = number !== text
  const changes: Change[] = padded ? ['padded_zeros'] : []
  return { ...frame, country: VAT_BY_LETTERS.get('BE') ?? null, number, suffix: null, value: number, changes, padded, bare: true }
}

/**
 * Numbers that are still written without the zeros of their present form: Belgian ones of before 2005, Greek ones of before 1999, and
 * Dutch ones by people who take the number for a quantity.
 */
function withZeros(country: string, number: string): string {
  if (country === 'BE' && /^[0-9]{9}$/.test(number)) return `0${number}`
  if (country === 'EL' && /^[0-9]{8}$/.test(number)) return `0${number}`
  return country === 'NL' && /^[0-9]{7,8}B[0-9]{2}$/.test(number) ? number.padStart(12, '0') : number
}

const ISO: Readonly<Record<string, string>> = { EL: 'GR', XI: 'GB' }
/** No format is longer. */
const NUMBER_CHARS = 16
const scratch = new Uint8Array(NUMBER_CHARS)

/** Fills `into` with the values of the characters and returns their number; -1 when one has no value or they do not fit. */
function fillValues(text: string, into: Uint8Array): number {
  if (text.length > into.length) return -1
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code >= 0x30 && code <= 0x39) into[index] = code - 0x30
    else if (code >= 0x41 && code <= 0x5a) into[index] = code - 0x37
    else if (code === 0x2b) into[index] = 36
    else if (code === 0x2a) into[index] = 37
    else return -1
  }
  return text.length
}

/** The Romanian personal code of a natural person, which VIES does not take. */
function isPersonalCode({ country, number }: VatReading): boolean {
  return country?.code === 'RO' && number.length === 13
}

/** Tests text without prefix as a number of this country. */
function numberPasses(country: VatCountry, number: string): boolean {
  const length = fillValues(number, scratch)
  return length > 0 && isValidFor(country, scratch, length)
}

function alsoPasses(reading: VatReading): string[] {
  if (!reading.bare && reading.country !== null) return []
  const text = reading.country === null ? reading.value : reading.given
  const others = VAT_COUNTRIES.filter((country) => country !== reading.country && numberPasses(country, text))
  return others.map(({ code, prefixes }) => prefixes[0] ?? code)
}

/** Facts of a number of valid length and characters; fewer when it is invalid. */
function vatFacts(reading: VatReading, rule: VatLengthRule | null, number_values: Uint8Array, passes: boolean) {
  const { country, number } = reading
  const scheme =
    country === null || rule === null || !passes
      ? null
      : (applicableSchemes(rule, number_values).find((one) => accepts(one, number_values)) ?? null)
  return {
    country: country === null ? null : (ISO[country.code] ?? country.code),
    country_name: country?.name ?? null,
    prefix: country === null ? null : (country.prefixes[0] ?? null),
    eu_member: country !== null && country.eu_member !== false,
    tax_name: country?.tax_name ?? null,
    number_name: country?.number_name ?? null,
    entity_hint: passes && country !== null ? (country.holderKind?.(number, scheme?.name ?? '') ?? null) : null,
    scheme: scheme?.name ?? null,
    enterprise_number: passes && country?.code === 'BE' ? template('####.###.###', number) : null,
    siren: passes && country?.code === 'FR' && decimal(number_values, 2, 5) > 0 ? number.slice(2) : null,
    vies: passes && country !== null && country.vies !== null && !isPersonalCode(reading) ? { country_code: country.vies, number } : null,
    print_form: passes && country !== null ? printForm(reading, country) : null,
    also_passes: alsoPasses(reading),
    parts: vatParts(reading, rule, number_values),
  }
}

export type VatFacts = ReturnType<typeof vatFacts>

function template(form: string, number: string): string {
  let next = 0
  return form.replace(/#/g, () => number.charAt(next++))
}

function printForm({ number, suffix }: VatReading, country: VatCountry): string {
  const form = country.print
  const grouped = form === undefined || form.split('#').length - 1 !== number.length ? null : template(form, number)
  const text = grouped ?? `${country.prefixes[0] ?? ''}${number}`
  return suffix === null ? text : `${text} ${suffix}`
}

/** Ranges of prefix, number and check characters in the value. */
function vatParts({ prefix, number }: VatReading, rule: VatLengthRule | null, number_values: Uint8Array): IdentifierPart[] {
  if (rule === null) return []
  const scheme =
    applicableSchemes(rule, number_values).find((one) => accepts(one, number_values)) ?? applicableSchemes(rule, number_values)[0]
  const [start, end] = scheme === undefined ? [number.length, number.length] : [scheme.start, scheme.end]
  const spans: [label: string, start: number, end: number][] = [
    ['prefix', -prefix.length, 0],
    ['number', 0, start],
    ['check', start, end],
    [start === 0 ? 'number' : valueAt(number_values, end) > 9 ? 'suffix' : 'rest', end, number.length],
  ]
  return spans
    .filter(([, from, to]) => from < to)
    .map(([label, from, to]) => ({ label, start: prefix.length + from, end: prefix.length + to }))
}

function acceptsValue({ least, most }: FormatCharacter, value: number): boolean {
  return value >= least && value <= most
}

/** Tests the characters of a number against the formats of a country. */
function matchesVatFormat(country: VatCountry, values: Uint8Array, length: number): boolean {
  const formats = country.formats.get(length)
  if (formats === undefined) return false
  for (const format of formats) if (matchesOneFormat(format, values)) return true
  return false
}

function matchesOneFormat(format: readonly FormatCharacter[], values: Uint8Array): boolean {
  for (let index = 0; index < format.length; index++) {
    const character = format[index]
    if (character === undefined || !acceptsValue(character, values[index] ?? 0)) return false
  }
  return true
}

/** Validates a number without prefix and suffix: format, parts, and a check where there is one. */
function isValidFor(country: VatCountry, values: Uint8Array, length: number): boolean {
  if (!matchesVatFormat(country, values, length)) return false
  const rule = country.rule.get(length)
  if (rule === undefined) return false
  for (const part of rule.parts) if (!part.isValid(values)) return false
  return !isAllZero(rule, length, values) && hasValidCheck(rule, values)
}

function hasValidCheck({ schemes }: VatLengthRule, values: Uint8Array): boolean {
  let applied = false
  for (const scheme of schemes) {
    if (scheme.appliesTo?.(values) === false) continue
    if (accepts(scheme, values)) return true
    applied = true
  }
  return !applied
}

/** Returns the schemes that apply to a number. */
function applicableSchemes(rule: VatLengthRule, values: Uint8Array): VatScheme[] {
  return rule.schemes.filter((scheme) => scheme.appliesTo?.(values) !== false)
}

/** Tests whether all digits of the running number are 0; letters are ignored. Numbers without a checksum may be all zero. */
function isAllZero({ schemes, body }: VatLengthRule, length: number, values: Uint8Array): boolean {
  const check = schemes[0]
  if (check === undefined) return false
  const [start, end] = body ?? [0, length]
  for (let index = start; index < end; index++) {
    const value = valueAt(values, index)
    const skipped = body === undefined && index >= check.start && index < check.end
    if (!skipped && value > 0 && value < 10) return false
  }
  return true
}
