import { NEEDS_NORMALIZING, pairIndex, pairIndexOf, readPlain } from './characters.ts'
import { conclude, finding, lengthFinding, type Judgement } from './check-result.ts'
import { COUNTRIES } from './countries.ts'
import { strangers } from './digits.ts'
import { MAX_CHARS, normalize, type Normalized, type NormalizeOptions } from './normalize.ts'
import { repair } from './repair.ts'
import { BY_LETTERS, fits, passesFor, schemesFor, takes, VAT_AS_OF, VAT_COUNTRIES, type VatCountry } from './vat/countries.ts'
import { alsoPasses, fillValues, isPersonalCode, numberPasses, vatFacts, type VatFacts } from './vat/facts.ts'
import { readVat, type VatReading } from './vat/read.ts'
import { isUnusualSpanish } from './vat/letters.ts'
import { accepts, found, isAllZero, type LengthRule, type Scheme, written } from './vat/rule.ts'
import type { Check, Finding } from './verdict.ts'

export type { VatFacts }

/** Dates of the tables that an answer is read from. */
export const VAT_DATA_AS_OF = { vat_formats: VAT_AS_OF } as const

/** What people write before the number: "VAT Reg. No.", "USt-IdNr.", "BTW-nummer", "N° TVA intracommunautaire", "Partita IVA". */
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
    fits: (value) => /[0-9]/.test(value) && (/^[0-9]/.test(value) || BY_LETTERS.has(value.slice(0, 2))),
  },
  prefixes: ['VATID', 'VATIN', 'VATNO', 'VATNR', 'VAT', 'USTIDNR', 'USTID', 'UIDNR', 'UID', 'BTWNR', 'BTW', 'NTVA', 'TVA', 'PIVA'],
  field: 'vat_number',
}
const PRAISE = 'Format and check digits hold; the tax office was not asked.'
const PRAISE_WITHOUT_CHECK = 'The format holds; numbers of this kind have no public check digits, and the tax office was not asked.'
/** Non-Union scheme: the numeric ISO 3166 code of the member state, five digits, and a check digit whose rule is not published. */
const ONE_STOP_SHOP = /^EU[0-9]{9}$/
/** Import scheme (IOSS): IM for traders and IN for intermediaries, the numeric ISO 3166 code, six digits, and a check digit as above. */
const IMPORT_ONE_STOP_SHOP = /^I[MN][0-9]{10}$/
const NO_VAT_NUMBER =
  'IM and IN stand before numbers of the import one-stop shop (IOSS), for goods sent from outside the EU. VIES does not list them, and how they are checked is not public.'
const NOT_IN_VIES = 'EU stands before numbers of the one-stop shop for suppliers outside the EU; how they are checked is not public.'
const BELGIUM = BY_LETTERS.get('BE')

/** Scratch of the synchronous checks below: a whole text, and the number without its prefix. */
const whole = new Uint8Array(32)
const values = new Uint8Array(16)
const BY_PAIR: (VatCountry | undefined)[] = Array.from({ length: 26 * 26 })
for (const country of VAT_COUNTRIES) for (const prefix of country.prefixes) BY_PAIR[pairIndexOf(prefix)] = country

/** Always the same answer as `checkVat(text).valid`. */
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

/** What may be the word "No." and may be Norway, with the digits close behind. */
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
  return unreadable !== null || BY_LETTERS.has(letters) || COUNTRIES.has(letters) ? null : value
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
  values[0] = 0
  for (let at = start; at < length; at++) values[at - start + zeros] = whole[at] ?? 0
  return passesFor(country, values, digits)
}

/** A number in front of which nothing stands is read as it is; CH must go on with E. */
function prefixFits(country: VatCountry, prefix: string, value: string): boolean {
  return prefix === '' || country.prefixes.includes(value.slice(0, prefix.length))
}

/**
 * Decides whether text is a VAT number of an EU member, Northern Ireland, the United Kingdom, Switzerland or Norway by the format in the
 * Commission's list and by the country's own check digits (sources in `vat/`). EL and GR are both Greece. A number without prefix is read
 * as Belgian, and `also_passes` names the others that it would pass for.
 *
 * Codes: empty, too_long_input, non_ascii_digits, bad_charset, bad_separator, bad_length, bad_country, unsupported_country, bad_prefix,
 * bad_structure, bad_component, bad_date, all_zero, bad_checksum, checksum_out_of_range, bad_national_checksum. Errs towards valid: a
 * number that was never issued, or was given back, passes when its digits agree; single wrong digits pass where a country lets two
 * calculations stand side by side (NL, BG, GB, XI).
 */
export function checkVat(text: string): Check<VatFacts> {
  const read = normalized(text)
  if (read.finding !== null) {
    const suggestion = read.suggestion !== null && isVat(read.suggestion) ? read.suggestion : null
    return conclude(read, { praise: PRAISE, findings: [read.finding], suggestion })
  }
  const reading = readVat(read.value)
  const judged = judge(reading)
  const suggestion = judged.findings.length === 0 ? null : repair(reading.value, isVat)
  const praise = judged.unverifiable === true ? PRAISE_WITHOUT_CHECK : PRAISE
  const changed = { ...read, value: reading.value, changes: [...read.changes, ...reading.changes] }
  return conclude(changed, { praise, ...judged, suggestion })
}

function judge(reading: VatReading): Judgement<VatFacts> {
  const { country, number } = reading
  const fault = characterFaults(reading) ?? countryFaults(reading)
  if (fault !== null || country === null) return failed(reading, fault ?? [])
  const length = fillValues(number, values)
  const rule = country.rule.get(length) ?? null
  if (rule === null || !fits(country, values, length)) return failed(reading, shapeFaults(reading, country, rule !== null))
  const expected_check = expectedCheck(rule)
  const findings = partFaults(reading, rule) ?? zeroFaults(rule, length) ?? checkFaults(reading, rule)
  const facts = vatFacts(reading, rule, values, findings.length === 0)
  const warnings = [...formWarnings(reading, country), ...otherCountries(facts.also_passes)]
  return { findings, warnings, expected_check, facts, unverifiable: schemesFor(rule, values).length === 0 }
}

/** Without a readable number there are facts only of the country that it was judged for, or when another one would take it. */
function failed(reading: VatReading, findings: Finding[]): Judgement<VatFacts> {
  const others = alsoPasses(reading)
  if (reading.country === null && others.length === 0) return { findings }
  return { findings, warnings: otherCountries(others), facts: vatFacts(reading, null, values, false) }
}

function characterFaults({ value, country }: VatReading): Finding[] | null {
  const irish = country?.code === 'IE'
  const foreign = irish ? /[^0-9A-Z+*]+/gu : /[^0-9A-Z]+/gu
  const faults = strangers(value, 'vat_number', foreign, irish ? 'letters, digits, + and *' : 'letters A-Z and digits 0-9')
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

/** A length that no format has; or the places where the nearest format of this length wants something else. */
function shapeFaults({ value, prefix, number }: VatReading, country: VatCountry, fitting: boolean): Finding[] {
  const formats = country.formats.get(number.length) ?? []
  if (!fitting || formats.length === 0) return [lengthFinding('number', number, country.structure)]
  const wrongs = formats.map((format) =>
    format.flatMap((place, index) => (takes(place, values[index] ?? 0) ? [] : [{ words: place.words, index }])),
  )
  const nearest = wrongs.toSorted((one, other) => one.length - other.length)[0] ?? []
  return nearest.map(({ words, index }) => {
    const start = prefix.length + index
    return finding('bad_structure', 'number', { value, start, end: start + 1 }, words)
  })
}

function partFaults({ value, prefix }: VatReading, rule: LengthRule): Finding[] | null {
  const wrong = rule.parts.filter((part) => !part.holds(values))
  if (wrong.length === 0) return null
  return wrong.map(({ label, start, end, code, expected }) => {
    const place = { value, start: prefix.length + start, end: prefix.length + end }
    return finding(code, label, place, expected)
  })
}

function zeroFaults(rule: LengthRule, length: number): Finding[] | null {
  return isAllZero(rule, length, values) ? [finding('all_zero', 'number', null, null)] : null
}

function checkFaults({ value, prefix }: VatReading, rule: LengthRule): Finding[] {
  const schemes = schemesFor(rule, values)
  const scheme = schemes[0]
  if (scheme === undefined || schemes.some((one) => accepts(one, values))) return []
  const place = { value, start: prefix.length + scheme.start, end: prefix.length + scheme.end }
  return [finding(checkCode(scheme), 'check', place, written(scheme, values))]
}

/** Two digits that leave the right remainder modulo 97 or 37 but are never calculated: 00 for 97, 38 for 01. */
function checkCode(scheme: Scheme): 'bad_checksum' | 'checksum_out_of_range' {
  const modulus = scheme.name === 'modulus 97' ? 97 : scheme.name === 'modulus 37' ? 37 : null
  const alias = modulus !== null && (found(scheme, values) - scheme.expected(values)) % modulus === 0
  return alias ? 'checksum_out_of_range' : 'bad_checksum'
}

function expectedCheck(rule: LengthRule): string | null {
  const schemes = schemesFor(rule, values)
  const scheme = schemes.find((one) => accepts(one, values)) ?? schemes[0]
  return scheme === undefined ? null : written(scheme, values)
}

function formWarnings(reading: VatReading, country: VatCountry): Finding[] {
  const { value, prefix, suffix, padded } = reading
  const warnings: Finding[] = []
  const warn = (code: Finding['code'], field: string, expected: string | null, message: string) =>
    warnings.push(finding(code, field, null, expected, message))
  if (padded) warn('too_short', 'number', value, 'Zeros that today’s form has in front were left out; they were put there.')
  if (country.suffixes.length > 0 && suffix === null) {
    const words = country.suffixes.join(', ')
    warn('bad_component', 'suffix', words, `Without ${words} behind it this is a register number, which companies without VAT have too.`)
  }
  if (isPersonalCode(reading)) {
    warn('too_long', 'number', '2 to 10 digits', 'VIES takes 2 to 10 digits; this is the personal code of a natural person.')
  }
  if (country.code === 'ES' && isUnusualSpanish(values)) {
    const place = { value, start: prefix.length + 8, end: prefix.length + 9 }
    const expected = /[0-9]/.test(value.slice(-1)) ? 'a letter' : 'a digit'
    const message = 'By the published table entities of this kind have the other sort of check character.'
    warnings.push(finding('bad_component', 'check', place, expected, message))
  }
  return warnings
}

function otherCountries(codes: readonly string[]): Finding[] {
  if (codes.length === 0) return []
  const message = `No prefix of a country that is read here stands in front; with its own it would pass for ${codes.join(', ')}.`
  return [finding('bad_prefix', 'prefix', null, codes.join(', '), message)]
}
