import { type Check, finding, type Finding, type IdentifierPart, lengthFinding, type Validation } from './verdict.ts'
import {
  labelInFront,
  MAX_CHARS,
  NEEDS_NORMALIZING,
  normalize,
  type NormalizeOptions,
  pairIndex,
  pairIndexOf,
  readPlain,
} from './normalize.ts'
import { foreignCharacterFindings, checkText } from './check-text.ts'
import { checkDigits97, inRange97, POWERS97, remainder97, checkCharacters } from './check-digits.ts'
import { nationalRule, type NationalCheck } from './national-check.ts'
import table from '../../../data/iban-registry.json' with { type: 'json' }
import sepa from '../../../data/sepa-countries.json' with { type: 'json' }
import { COUNTRIES, PROHIBITED_JURISDICTIONS, sanctionsHint } from './countries.ts'
import { dataDate, datesOf, orNull, referenceTable, rowOf } from '../datasets/table.ts'

const OPTIONS: NormalizeOptions = {
  separators: ' -.',
  prefixes: ['IBAN'],
  label: labelInFront(['IBAN'], (value) => /^[A-Z]{2}[0-9]{2}[0-9A-Z]{11,30}$/.test(value)),
  field: 'iban',
}
const SUCCESS_REASON = 'Country format and check digits are valid; this does not prove that the account exists.'
const SHORTEST = 15
const LONGEST = 34

/** Scratch of the synchronous checks below; longer than the longest IBAN behind the word IBAN. */
const values = new Uint8Array(40)

/**
 * Returns the same answer as `checkIban(text).valid`: country, length, kinds of characters, check digits 02–98 (ISO 13616, ISO 7064) and,
 * where one algorithm applies to the whole country, national check digits.
 */
export function isIban(text: string): boolean {
  if (text.length > MAX_CHARS) return false
  const length = readPlain(text, values)
  if (length === NEEDS_NORMALIZING) return isIbanNormalized(text)
  const format = findFormat(values[0] ?? 0, values[1] ?? 0)
  if (format !== undefined) return matchesFormat(values, length, format)
  return length > SHORTEST && startsWithWord(values) && isIbanNormalized(text)
}

function isIbanNormalized(text: string): boolean {
  const { value, finding: unreadable } = normalize(text, OPTIONS)
  if (unreadable !== null) return false
  const length = readPlain(value, values)
  const format = findFormat(values[0] ?? 0, values[1] ?? 0)
  return format !== undefined && matchesFormat(values, length, format)
}

/** I, B, A, N. */
function startsWithWord(read: Uint8Array): boolean {
  return read[0] === 18 && read[1] === 11 && read[2] === 10 && read[3] === 23
}

/** Structure, checksum and binding national digits in one pass over the values. */
function matchesFormat(read: Uint8Array, length: number, format: IbanFormat): boolean {
  if (length !== format.length || !format.registry) return false
  const { kinds } = format
  const check = (read[2] ?? 0) * 10 + (read[3] ?? 0)
  if ((read[2] ?? 0) > 9 || (read[3] ?? 0) > 9 || !inRange97(check)) return false
  // Rotated, the country and the check digits are the last six decimal digits; the BBAN precedes them.
  let sum = check + (read[1] ?? 0) * 100 + (read[0] ?? 0) * 10_000
  let place = 6
  for (let index = length - 1; index > 3; index--) {
    const value = read[index] ?? 0
    // A digit is one decimal digit long and a letter two, as DIGIT and LETTER are.
    const kind = value < 10 ? DIGIT : LETTER
    if (((kinds[index] ?? 0) & kind) === 0) return false
    sum += value * (POWERS97[place] ?? 0)
    place += kind
  }
  if (sum % 97 !== 1) return false
  return format.national === null || !format.national.binding || format.national.accepts(read)
}

/**
 * Checks an IBAN and returns findings and facts. Formats: SWIFT IBAN registry (release in
 * the facts). Errs towards valid: bank codes are not looked up, and national check digits are fatal only where they apply to every
 * account of a country. A digit typed as a letter, where both are allowed, goes unnoticed once in 97 times.
 */
export function checkIban(text: string): Check<IbanFacts> {
  return checkText(text, { options: OPTIONS, success_reason: SUCCESS_REASON, isValid: isIban, validate })
}

function validate(value: string): Validation<IbanFacts> {
  const shape = readShape(value)
  if (shape.format !== null) return validateFormed(value, shape.format)
  const { findings } = shape
  return { findings, expected_check: findings.every(({ field }) => field === 'check') ? expectedCheck(value) : null }
}

type IbanShape = { format: IbanFormat } | { format: null; findings: Finding[] }

/** Characters, country, length and structure: the first stage that fails answers. */
function readShape(value: string): IbanShape {
  const foreign = foreignCharacterFindings(value, 'iban')
  if (foreign.length > 0) return { format: null, findings: foreign }
  const country = { value, start: 0, end: 2 }
  if (value.length < 4)
    return { format: null, findings: [lengthFinding('iban', value, `at least ${SHORTEST} characters`, { code: 'too_short' })] }
  if (!/^[A-Z]{2}/.test(value)) return { format: null, findings: [finding('bad_structure', 'country', country, 'two letters')] }
  const format = findFormat(value.charCodeAt(0) - 55, value.charCodeAt(1) - 55)
  if (format === undefined) return { format: null, findings: [finding('bad_country', 'country', country, ibanHost(value.slice(0, 2)))] }
  const findings = value.length === format.length ? structureFindings(value, format) : [wrongLength(value, format)]
  if (findings.length === 0) return { format }
  return { format: null, findings: format.registry ? findings : [unsupported(value)] }
}

function unsupported(value: string): Finding {
  return finding('unsupported_country', 'country', { value, start: 0, end: 2 }, null)
}

function wrongLength(value: string, { length }: IbanFormat): Finding {
  return lengthFinding('iban', value, `${length} characters`, { code: value.length < length ? 'too_short' : 'too_long' })
}

/** Runs of characters of the wrong kind, part by part. */
function structureFindings(value: string, { parts, kinds }: IbanFormat): Finding[] {
  const wrong: Finding[] = []
  for (const { label, start, end } of parts) {
    for (let from = start; from < end; from++) {
      const kind = kinds[from] ?? 0
      let to = from
      while (to < end && kinds[to] === kind && !isOfKind(value, to, kind)) to++
      if (to === from) continue
      wrong.push(finding('bad_structure', label, { value, start: from, end: to }, kind === DIGIT ? 'digits' : 'letters'))
      from = to - 1
    }
  }
  return wrong
}

function isOfKind(value: string, index: number, kind: number): boolean {
  return (kind & (value.charCodeAt(index) < 0x40 ? DIGIT : LETTER)) !== 0
}

/** The check digits that country and BBAN require. */
function expectedCheck(value: string): string {
  readPlain(value, values)
  return checkCharacters(checkDigits97(remainder97(values, 0, 2, remainder97(values, 4, value.length))), 2)
}

/** Check digits, registry membership and facts of a value of valid structure. */
function validateFormed(value: string, format: IbanFormat): Validation<IbanFacts> {
  const expected_check = expectedCheck(value)
  const check = (values[2] ?? 0) * 10 + (values[3] ?? 0)
  const national = format.national === null ? null : format.national.check(values)
  const place = { value, start: 2, end: 4 }
  const findings: Finding[] = []
  const warnings: Finding[] = []
  const matches = Number.parseInt(expected_check, 10) % 97 === check % 97
  if (!format.registry) findings.push(unsupported(value))
  else {
    if (!matches) findings.push(finding('bad_checksum', 'check', place, expected_check))
    if (!inRange97(check)) findings.push(finding('checksum_out_of_range', 'check', place, expected_check))
  }
  if (national !== null && !national.valid && findings.length === 0) {
    const found = nationalFinding(value, format, national)
    if (format.national?.binding === true) findings.push(found)
    else warnings.push(found)
  }
  return { findings, warnings, expected_check, facts: ibanFacts(value, format, national, matches && inRange97(check)) }
}

function nationalFinding(value: string, { parts }: IbanFormat, { expected }: NationalCheck): Finding {
  const [part, another] = parts.filter(({ label }) => label === 'national_check')
  const place = part === undefined || another !== undefined ? null : { value, ...part }
  return finding('bad_national_checksum', 'national_check', place, expected)
}

/** Kinds of character, as bits: a place takes digits, letters or both. */
const DIGIT = 1
const LETTER = 2
const KINDS: Readonly<Record<string, number>> = { n: DIGIT, a: LETTER, c: DIGIT | LETTER }

interface IbanFormat {
  country: string
  /** False for countries that print IBAN-like numbers without being in the registry. */
  registry: boolean
  length: number
  /** The kind of each place, from the country code on. */
  kinds: Uint8Array
  /** Country, check, then the parts of the BBAN; positions in the whole IBAN. */
  parts: readonly IdentifierPart[]
  /** Territories whose accounts carry this country's code. */
  territories: readonly string[]
  national: ReturnType<typeof nationalRule>
}

export interface IbanRow {
  country: string
  /** Of the BBAN, in the notation of the registry, for example 4!n4!n12!c. */
  structure: string
  length: number
  /** label:length of each part of the BBAN. */
  parts: string
  territories: string[]
  registry: boolean
  example: string | null
}

const isIbanRow = rowOf<IbanRow>({
  country: /^[A-Z]{2}$/,
  structure: /^(?:[1-9][0-9]?![nac]){1,12}$/,
  length: (value) => typeof value === 'number' && value >= SHORTEST && value <= LONGEST,
  parts: /^[a-z_]{1,30}:[1-9][0-9]?(?: [a-z_]{1,30}:[1-9][0-9]?){0,11}$/,
  territories: (value) => Array.isArray(value) && value.every((code) => typeof code === 'string' && /^[A-Z]{2}$/.test(code)),
  registry: (value) => typeof value === 'boolean',
  example: orNull(/^[A-Z]{2}[0-9]{2}[0-9A-Z]{11,30}$/),
})

/** The structure, the parts and the example have the stated length, and the example fits the structure and has valid check digits. */
function fitsItself(row: IbanRow): boolean {
  const { kinds, parts, length } = ibanFormat({ ...row, registry: false })
  if (kinds.length !== length || parts.at(-1)?.end !== length) return false
  const { example, country } = row
  if (example === null) return !row.registry
  if (example.length !== length || !example.startsWith(country)) return false
  if (kinds.some((kind, index) => !isOfKind(example, index, kind))) return false
  return Number.parseInt(expectedCheck(example), 10) === Number.parseInt(example.slice(2, 4), 10)
}

/** Formats by country. The registry of SWIFT is a text file behind a form, so a newer one comes from a mirror or an import. */
export const IBAN_REGISTRY = referenceTable(
  {
    id: 'iban_registry',
    source_urls: ['https://www.swift.com/standards/data-standards/iban-international-bank-account-number'],
    licence: 'SWIFT IBAN Registry, facts; unofficial countries: MIT (mdomke/schwifty)',
    limit_days: 200,
    undated: true,
    rows_min: 100,
    rows_max: 150,
    removed_share_max: 0.02,
    present: ['BR', 'DE', 'FR', 'GB', 'IT', 'MT', 'NO', 'RU'],
    absent: ['US', 'CN', 'IN'],
    isRow: (value): value is IbanRow => isIbanRow(value) && fitsItself(value),
    key: ({ country }) => country,
  },
  () => table,
  ({ rows, source_version }) => {
    const formats: (IbanFormat | undefined)[] = Array.from({ length: 26 * 26 })
    const hosts = new Map<string, string>()
    for (const row of rows) {
      formats[pairIndexOf(row.country)] = ibanFormat(row)
      for (const territory of row.territories) hosts.set(territory, row.country)
    }
    return { formats, hosts, release: source_version }
  },
)

interface SepaCountry {
  country: string
}

/** The European Payments Council publishes the scope as a PDF file, so a newer one comes by an import only. */
export const SEPA_COUNTRIES = referenceTable(
  {
    id: 'sepa_countries',
    source_urls: [],
    licence: 'Facts of EPC409-09 (European Payments Council)',
    limit_days: 600,
    rows_min: 40,
    rows_max: 60,
    removed_share_max: 0.05,
    present: ['AL', 'CH', 'DE', 'GB', 'GI', 'MD', 'ME', 'MK', 'RS', 'SM', 'VA'],
    absent: ['US', 'RU', 'TR'],
    isRow: rowOf<SepaCountry>({ country: /^[A-Z]{2}$/ }),
    key: ({ country }) => country,
  },
  () => sepa,
  (snapshot) => ({ countries: new Set(snapshot.rows.map(({ country }) => country)), as_of: dataDate(snapshot) }),
)

function ibanFormat(row: IbanRow): IbanFormat {
  const bban = [...row.structure.matchAll(/(\d+)!([nac])/g)].flatMap(([, count = '0', kind = 'c']) =>
    Array.from({ length: Number.parseInt(count, 10) }, () => KINDS[kind] ?? 0),
  )
  return {
    country: row.country,
    registry: row.registry,
    length: row.length,
    kinds: Uint8Array.of(LETTER, LETTER, DIGIT, DIGIT, ...bban),
    parts: ibanParts(`country:2 check:2 ${row.parts}`),
    territories: row.territories,
    national: row.registry ? nationalRule(row.country) : null,
  }
}

/** Places of a list of label:length. */
function ibanParts(list: string): IdentifierPart[] {
  let end = 0
  return list.split(' ').map((part) => {
    const [label = '', length = '0'] = part.split(':')
    const start = end
    end += Number.parseInt(length, 10)
    return Object.freeze({ end, label, start })
  })
}

/** The format for a country given by the values of its two letters. */
function findFormat(first: number, second: number): IbanFormat | undefined {
  return IBAN_REGISTRY.view.formats[pairIndex(first, second)]
}

/** The country whose code the accounts of a territory carry, such as GB for JE. */
export function ibanHost(territory: string): string | null {
  return IBAN_REGISTRY.view.hosts.get(territory) ?? null
}

/** Publication dates of the tables that an answer is read from. */
export const IBAN_DATA_AS_OF = datesOf([IBAN_REGISTRY, PROHIBITED_JURISDICTIONS, SEPA_COUNTRIES])

/** Facts of an IBAN of valid structure. */
function ibanFacts(value: string, format: IbanFormat, national_check: NationalCheck | null, checksum_ok: boolean) {
  const { country, parts } = format
  const part = (wanted: string): string | null => {
    const place = parts.find(({ label }) => label === wanted)
    return place === undefined ? null : value.slice(place.start, place.end)
  }
  // In the order of RFC 8785, so that the canonical text of an answer costs no sorting.
  return {
    account: part('account') ?? value.slice(4),
    bank_code: part('bank'),
    bban: value.slice(4),
    branch_code: part('branch'),
    check_digits: value.slice(2, 4),
    checksum_ok,
    country,
    country_alpha3: COUNTRIES.get(country)?.alpha3 ?? '',
    country_name: COUNTRIES.get(country)?.name ?? country,
    iban_registry: format.registry,
    national_check,
    parts: [...parts],
    print_form: inGroupsOfFour(value),
    registry_release: IBAN_REGISTRY.view.release,
    sanctions: sanctionsHint(country),
    sepa_as_of: SEPA_COUNTRIES.view.as_of,
    sepa_scope: SEPA_COUNTRIES.view.countries.has(country),
    territories: [...format.territories],
  }
}

export type IbanFacts = ReturnType<typeof ibanFacts>

function inGroupsOfFour(value: string): string {
  let form = value.slice(0, 4)
  for (let start = 4; start < value.length; start += 4) form += ` ${value.slice(start, start + 4)}`
  return form
}
