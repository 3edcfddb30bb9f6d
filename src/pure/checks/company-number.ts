import table from '../../../data/uk-company-prefixes.json' with { type: 'json' }
import { characterFindings } from './characters.ts'
import { conclude, finding, lengthFinding, type Judgement, type Part } from './check-result.ts'
import { inFront, isPlain, normalize, type Normalized, type NormalizeOptions } from './normalize.ts'
import { repair } from './repair.ts'
import type { Check, Finding } from './verdict.ts'
import { dataDate } from '../data-date.ts'

export interface CompanyNumberFacts {
  /** Empty for companies of England and Wales. */
  prefix: string
  /** Everything behind the prefix. */
  number: string
  /** Null when we do not know the prefix. */
  register: string | null
  entity_family: string | null
  description: string | null
  /** Formed and registered under the Companies Acts, as far as the prefix tells; null when we do not know the prefix. */
  is_companies_act_company: boolean | null
  print_form: string
  parts: Part[]
}

/** Dates of the tables that an answer is read from. */
export const COMPANY_NUMBER_DATA_AS_OF = { uk_company_prefixes: dataDate(table) } as const

const OPTIONS: NormalizeOptions = {
  separators: ' -./',
  prefixes: ['COMPANYNUMBER', 'COMPANYNO', 'CRN'],
  // NO with six digits behind it is a number of Northern Ireland.
  label: inFront(['(?:(?:CO(?:MPANY)?|REG(?:ISTERED|ISTRATION)?)[ .]{1,2}){0,2}(?:NO|NUMBER)'], (value) =>
    /^(?:[0-9]{8}|[A-Z]{2}[0-9]{6})$/.test(value),
  ),
  field: 'company_number',
}
const PRAISE = 'The form holds; the number has no check digits, and Companies House was not asked.'
const LENGTH = 8
const PREFIXES = new Map(table.rows.map((row) => [row.prefix, row]))
/** Where the digits begin: nothing or two letters in front, or R alone. */
const LEAD = /^(?:[A-Z]{2}|R(?=[0-9])|)/
const TAIL = /^[0-9]{3,5}[A-Z]{1,3}$/

/** Whether the text has the form of a UK company number. Always the same answer as `checkCompanyNumber(text).valid`. */
export function isCompanyNumber(text: string): boolean {
  const read = isPlain(text) && text.length === LENGTH ? null : normalize(text, OPTIONS)
  if (read === null) return faultsOf(text).length === 0
  return read.finding === null && faultsOf(withZeros(read.value)).length === 0
}

/** A repair that lands on a register that we know. */
function isKnown(value: string): boolean {
  return faultsOf(value).length === 0 && PREFIXES.has(prefixOf(value))
}

/**
 * Decides whether text has the form of a number on the registers of Companies House (Companies Act 2006, section 1066; the registrar's
 * guide to identifiers, and a census of the company data file of August 2026): eight digits; two letters and six digits; R and seven
 * digits; and the few that end in letters. Shorter ones get their zeros. There is no checksum, so a mistyped number mostly passes, and a
 * prefix that is not in our table is only warned about: registers are added.
 *
 * Codes: empty, too_long_input, non_ascii_digits, bad_charset, bad_separator, bad_length, bad_structure, all_zero.
 */
export function checkCompanyNumber(text: string): Check<CompanyNumberFacts> {
  const read = normalize(text, OPTIONS)
  if (read.finding !== null) {
    const suggestion = read.suggestion !== null && isCompanyNumber(read.suggestion) ? read.suggestion : null
    return conclude(read, { praise: PRAISE, findings: [read.finding], suggestion })
  }
  const value = withZeros(read.value)
  const padded = value !== read.value
  const filled: Normalized = padded ? { ...read, value, changes: [...read.changes, 'padded_zeros'] } : read
  const judged = judge(value, padded ? read.value.length : null)
  const suggestion = judged.findings.length === 0 ? null : repair(value, isKnown)
  return conclude(filled, { praise: PRAISE, ...judged, suggestion })
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
function faultsOf(value: string): Finding[] {
  const foreign = characterFindings(value, 'company_number')
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

function judge(value: string, given_chars: number | null): Judgement<CompanyNumberFacts> {
  const findings = faultsOf(value)
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
  return { unverifiable: true, findings, warnings: warningsOf(value, facts, given_chars), facts }
}

function warningsOf(value: string, { prefix, number, register }: CompanyNumberFacts, given_chars: number | null): Finding[] {
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
    const message = 'No register that we know uses this prefix; new registers bring new ones.'
    warnings.push(finding('bad_prefix', 'prefix', front, null, message))
  }
  if (prefix === 'R' && !number.startsWith('0')) {
    const message = 'All numbers known with R alone go on with 0: companies registered before 1922.'
    warnings.push(finding('bad_component', 'number', rest, 'R and a 0', message))
  }
  if (/[A-Z]$/.test(number)) {
    const message = 'Only a few old entities have numbers that end in letters; compare it with the register.'
    warnings.push(finding('bad_structure', 'number', rest, 'six digits', message))
  }
  return warnings
}
