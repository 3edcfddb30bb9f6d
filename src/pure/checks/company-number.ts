import { type Check, finding, type Finding, type IdentifierPart, lengthFinding, type Validation } from './verdict.ts'
import { foreignCharacterFindings, conclude, repair } from './check-text.ts'
import table from '../../../data/uk-company-prefixes.json' with { type: 'json' }
import { labelInFront, isPlain, normalize, type Normalized, type NormalizeOptions } from './normalize.ts'
import { releaseTable } from '../datasets/release-table.ts'
import { datesOf } from '../datasets/table.ts'

export interface CompanyNumberFacts {
  /** Empty for companies of England and Wales. */
  prefix: string
  /** Everything behind the prefix. */
  number: string
  /** Null for an unknown prefix. */
  register: string | null
  entity_family: string | null
  description: string | null
  /** Formed and registered under the Companies Acts, judging by the prefix; null for an unknown prefix. */
  is_companies_act_company: boolean | null
  print_form: string
  parts: IdentifierPart[]
}

export const COMPANY_PREFIXES = releaseTable('uk_company_prefixes', () => table)

/** Dates of the tables that an answer is read from. */
export const COMPANY_NUMBER_DATA_AS_OF = datesOf([COMPANY_PREFIXES])

const OPTIONS: NormalizeOptions = {
  separators: ' -./',
  prefixes: ['COMPANYNUMBER', 'COMPANYNO', 'CRN'],
  // NO with six digits behind it is a number of Northern Ireland.
  label: labelInFront(['(?:(?:CO(?:MPANY)?|REG(?:ISTERED|ISTRATION)?)[ .]{1,2}){0,2}(?:NO|NUMBER)'], (value) =>
    /^(?:[0-9]{8}|[A-Z]{2}[0-9]{6})$/.test(value),
  ),
  field: 'company_number',
}
const SUCCESS_REASON = 'The form is valid; the number has no check digits, and Companies House was not queried.'
const LENGTH = 8
const PREFIXES = new Map(table.rows.map((row) => [row.prefix, row]))
/** Prefix in front of the digits: nothing, two letters, or R alone. */
const LEAD = /^(?:[A-Z]{2}|R(?=[0-9])|)/
const TAIL = /^[0-9]{3,5}[A-Z]{1,3}$/

/** Returns the same answer as `checkCompanyNumber(text).valid`. */
export function isCompanyNumber(text: string): boolean {
  const read = isPlain(text) && text.length === LENGTH ? null : normalize(text, OPTIONS)
  if (read === null) return formatFindings(text).length === 0
  return read.finding === null && formatFindings(withZeros(read.value)).length === 0
}

/** Accepts only repairs with a known prefix. */
function isKnown(value: string): boolean {
  return formatFindings(value).length === 0 && PREFIXES.has(prefixOf(value))
}

/**
 * Checks the form of a number on the registers of Companies House (Companies Act 2006, section 1066; the registrar's
 * guide to identifiers, and a census of the company data file of August 2026): eight digits; two letters and six digits; R and seven
 * digits; and the few that end in letters. Shorter ones get their zeros. There is no checksum, so a mistyped number mostly passes, and a
 * prefix that is not in the table is only a warning, since registers are added.
 *
 * Codes: empty, too_long_input, non_ascii_digits, bad_charset, bad_separator, bad_length, bad_structure, all_zero.
 */
export function checkCompanyNumber(text: string): Check<CompanyNumberFacts> {
  const read = normalize(text, OPTIONS)
  if (read.finding !== null) {
    const suggestion = read.suggestion !== null && isCompanyNumber(read.suggestion) ? read.suggestion : null
    return conclude(read, SUCCESS_REASON, { findings: [read.finding] }, suggestion)
  }
  const value = withZeros(read.value)
  const padded = value !== read.value
  const filled: Normalized = padded ? { ...read, value, changes: [...read.changes, 'padded_zeros'] } : read
  const validation = validate(value, padded ? read.value.length : null)
  const suggestion = validation.findings.length === 0 ? null : repair(value, isKnown)
  return conclude(filled, SUCCESS_REASON, validation, suggestion)
}

function prefixOf(value: string): string {
  return LEAD.exec(value)?.[0] ?? ''
}

/** Zeros go behind the letters. */
function withZeros(value: string): string {
  const prefix = prefixOf(value)
  const digits = value.slice(prefix.length)
  return /^[0-9]+$/.test(digits) ? prefix + digits.padStart(LENGTH - prefix.length, '0') : value
}

/** Characters, length, structure, zeros: the first stage that fails answers. */
function formatFindings(value: string): Finding[] {
  const foreign = foreignCharacterFindings(value, 'company_number')
  if (foreign.length > 0) return foreign
  if (value.length !== LENGTH) return [lengthFinding('company_number', value, 'eight characters')]
  const prefix = prefixOf(value)
  const number = value.slice(prefix.length)
  const place = { value, start: prefix.length, end: LENGTH }
  if (!/^[0-9]+$/.test(number)) {
    const allowed = TAIL.test(number) && PREFIXES.get(prefix)?.trailing_letters === true
    return allowed ? [] : [finding('bad_structure', 'number', place, `${LENGTH - prefix.length} digits`)]
  }
  return /[1-9]/.test(number) ? [] : [finding('all_zero', 'number', place, null)]
}

function validate(value: string, given_chars: number | null): Validation<CompanyNumberFacts> {
  const findings = formatFindings(value)
  if (findings.length > 0) return { findings }
  const prefix = prefixOf(value)
  const number = value.slice(prefix.length)
  const row = PREFIXES.get(prefix)
  const facts: CompanyNumberFacts = {
    prefix,
    number,
    register: row?.register ?? null,
    entity_family: row?.family ?? null,
    description: row?.description ?? null,
    is_companies_act_company: row?.companies_act ?? null,
    print_form: value,
    parts: [
      { label: 'prefix', start: 0, end: prefix.length },
      { label: 'number', start: prefix.length, end: LENGTH },
    ].filter(({ start, end }) => start < end),
  }
  return { unverifiable: true, findings, warnings: companyNumberWarnings(value, facts, given_chars), facts }
}

function companyNumberWarnings(value: string, { prefix, number, register }: CompanyNumberFacts, given_chars: number | null): Finding[] {
  const warnings: Finding[] = []
  const [front, rest] = [
    { value, start: 0, end: prefix.length },
    { value, start: prefix.length, end: LENGTH },
  ]
  if (given_chars !== null) {
    const message = `A company number has eight characters, this one had ${given_chars}; zeros were put in front of its digits.`
    warnings.push(finding('too_short', 'company_number', null, value, message))
  }
  if (register === null) {
    const message = 'No register in the table uses this prefix; new registers add new ones.'
    warnings.push(finding('bad_prefix', 'prefix', front, null, message))
  }
  if (prefix === 'R' && !number.startsWith('0')) {
    const message = 'All known numbers with R alone have a 0 behind it: companies registered before 1922.'
    warnings.push(finding('bad_component', 'number', rest, 'R and a 0', message))
  }
  if (/[A-Z]$/.test(number)) {
    const message = 'Only a few old entities have numbers that end in letters; compare it with the register.'
    warnings.push(finding('bad_structure', 'number', rest, 'six digits', message))
  }
  return warnings
}
