import type { HeadlineRule } from '../headline.ts'
import type { Check } from './verdict.ts'
import type { BicFacts } from './bic.ts'
import { COUNTRIES, PROHIBITED_JURISDICTIONS, sanctionsHint } from './countries.ts'
import { doubtWords, fieldDoubts } from './field-doubts.ts'
import { IBAN_REGISTRY, type IbanFacts } from './iban.ts'
import { datesOf } from '../datasets/table.ts'
import { banksWith, ibanCountry } from './same-country.ts'

/** Headlines of every pack of checks. */
export const PACK_HEADLINES: readonly HeadlineRule[] = [
  { when: { verdict: 'fail' }, tone: 'bad', word: 'FAIL', sentence: '{summary}' },
  { when: { verdict: 'review' }, tone: 'caution', word: 'REVIEW', sentence: '{summary}' },
  { when: { verdict: 'pass' }, tone: 'good', word: 'PASS', sentence: '{summary}' },
]

/** `fatal`: the values cannot belong together, or must not be paid. `warning`: ask. `info`: good to know. */
type Severity = 'fatal' | 'warning' | 'info'

/** Finding about two values compared, or about one value and the expected kind of party. */
export interface CrossFinding {
  code: string
  fields: string[]
  severity: Severity
  message: string
}

export interface PackAnswer<Field extends string> {
  /** No given check is invalid and no cross finding is fatal. */
  valid: boolean
  /** `review`: valid, with warnings to read. */
  verdict: 'pass' | 'review' | 'fail'
  summary: string
  /** Each check whole, null where nothing was given. */
  checks: Record<Field, Record<string, unknown> | null>
  cross_checks: CrossFinding[]
}

/** The check of a field that was given; null for one that was not. */
export function checkIfGiven<Facts>(text: string | undefined, check: (text: string) => Check<Facts>): Check<Facts> | null {
  return text === undefined ? null : check(text)
}

/** An alias, not an interface: the schema library asks for an open shape, which only aliases fit. */
type MissingField = { code: 'custom'; input: undefined; path: string[]; message: string; params: { code: 'missing' } }

/** For the schema of an input that needs one of these fields: a fault that names each, when none is there. */
export function missingFieldIssues(fields: readonly string[], input: Readonly<Record<string, unknown>>): MissingField[] {
  if (fields.some((field) => input[field] !== undefined)) return []
  const message = `Give at least one of ${fields.join(', ')}.`
  return fields.map((field) => ({ code: 'custom', input: undefined, path: [field], message, params: { code: 'missing' } }))
}

/** Facts of a value that is not invalid; cross findings look at nothing else. */
export function usableFacts<Facts>(check: Check<Facts> | null): Facts | null {
  return check === null || check.verdict === 'invalid' ? null : check.facts
}

/**
 * Puts the checks of a pack and their cross findings into one answer. There is no score: each finding counts alone. `concern` is why a person must look at the
 * name of the party, which one of the findings states; null for none.
 */
export function packAnswer<Field extends string>(
  checks: Record<Field, Check<unknown> | null>,
  cross_checks: CrossFinding[],
  concern: string | null,
): PackAnswer<Field> {
  const done = Object.values(checks).filter((check) => check !== null).length
  const doubts = fieldDoubts(checks)
  const faults = [
    ...doubts.filter(({ kind }) => kind === 'invalid').map(({ field, code }) => `${field} fails (${code})`),
    ...cross_checks.filter(({ severity }) => severity === 'fatal').map(({ code }) => code),
  ]
  const cross_remarks = cross_checks.filter(({ severity }) => severity === 'warning').length
  const remarks = doubts.filter(({ kind }) => kind !== 'invalid').length + cross_remarks
  const verdict = faults.length > 0 ? 'fail' : remarks > 0 ? 'review' : 'pass'
  const open = doubts.filter(({ kind }) => kind === 'unconfirmed').map(doubtWords)
  const summary = summaryOf(faults, open, done, remarks)
  return {
    valid: faults.length === 0,
    verdict,
    summary: verdict === 'fail' ? [summary, concern].filter(Boolean).join(' ') : [concern, summary].filter(Boolean).join(' '),
    checks: wholeChecks(checks),
    cross_checks,
  }
}

function summaryOf(faults: readonly string[], open: readonly string[], count: number, remarks: number): string {
  if (faults.length > 0) return `Do not rely on these values: ${faults.join('; ')}.`
  if (open.length > 0) return `Confirm before you pay: ${open.join('; ')}. No register was queried.`
  const values = count === 1 ? 'The given value is valid' : `All ${count} given values are valid`
  if (remarks > 0) return `${values}; ${remarks === 1 ? 'one remark needs' : `${remarks} remarks need`} a look. No register was queried.`
  return `${values}${count === 1 ? '' : ', and agree where they can be compared'}. No register was queried.`
}

function wholeChecks<Field extends string>(checks: Record<Field, Check<unknown> | null>): Record<Field, Record<string, unknown> | null> {
  const whole = entriesOf(checks).map(([field, check]) => [field, check === null ? null : { ...check }])
  return Object.fromEntries(whole) as Record<Field, Record<string, unknown> | null>
}

/** `Object.entries` forgets the names of the fields. */
function entriesOf<Field extends string>(checks: Record<Field, Check<unknown> | null>) {
  return Object.entries(checks) as [Field, Check<unknown> | null][]
}

/** Country or region where the party is expected to have its account. */
interface HomeRegion {
  /** As it reads in a sentence. */
  name: string
  countries: ReadonlySet<string>
  /** False for countries that print no IBANs: an IBAN then always names another country. */
  has_ibans: boolean
}

/** Dates of the tables from which a pack judges a BIC: the IBAN registry says under which country a territory banks. */
export const PACK_BIC_DATA_AS_OF = datesOf([IBAN_REGISTRY, PROHIBITED_JURISDICTIONS])

type Iban = Check<IbanFacts> | null
type Bic = Check<BicFacts> | null

/**
 * Compares IBAN and BIC: their country must be the same, where Guernsey, Jersey and the Isle of Man bank under GB and the
 * French territories under FR; and what is publicly known of sanctions by country.
 */
export function accountFindings(iban: Iban, bic: Bic): CrossFinding[] {
  const [account, bank] = [usableFacts(iban), usableFacts(bic)]
  // An IBAN names its country also when it is wrong, as each one of a country without IBANs is.
  const findings = [
    ...sanctionFindings('iban', iban === null ? null : ibanCountry(iban)),
    ...sanctionFindings('swift', bank?.country ?? null),
  ]
  if (account === null || bank === null || banksWith(bank.country, account.country)) return findings
  const message = `The account lies in ${account.country_name}, the bank code in ${bank.country_name}: the transfer would fail.`
  return [{ code: 'iban_bic_country_mismatch', fields: ['iban', 'swift'], severity: 'fatal', message }, ...findings]
}

function sanctionFindings(field: string, country: string | null): CrossFinding[] {
  const sanctions = country === null ? null : sanctionsHint(country)
  if (country === null || sanctions === null) return []
  const comprehensive = sanctions.level === 'comprehensive'
  const programmes = comprehensive ? 'nearly all dealings are prohibited' : 'there are list-based or sectoral programmes'
  return [
    {
      code: comprehensive ? 'country_sanctioned' : 'country_elevated',
      fields: [field],
      severity: comprehensive ? 'fatal' : 'warning',
      message: `${COUNTRIES.get(country)?.name ?? country}: ${programmes} under US sanctions (table of ${sanctions.as_of}).`,
    },
  ]
}

/** Accounts outside the country or region that the other values, or the pack itself, lead to expect. A reason to ask, no fault. */
export function abroadFindings(iban: Iban, bic: Bic, home: HomeRegion): CrossFinding[] {
  const abroad = [
    { field: 'iban', facts: usableFacts(iban) },
    { field: 'swift', facts: usableFacts(bic) },
  ].flatMap(({ field, facts }) => (facts === null || isHome(facts.country, home) ? [] : [{ field, name: facts.country_name }]))
  if (abroad.length === 0) return []
  const where = [...new Set(abroad.map(({ name }) => name))].join(', ')
  const why = usableFacts(iban) !== null && !home.has_ibans ? ` ${home.name} has no IBANs.` : ''
  const message = `The account is held in ${where}, not in ${home.name}: ask the payee why.${why}`
  return [{ code: 'account_abroad', fields: abroad.map(({ field }) => field), severity: 'warning', message }]
}

function isHome(country: string, { countries }: HomeRegion): boolean {
  if (countries.has(country)) return true
  for (const one of countries) if (banksWith(country, one)) return true
  return false
}

/** One country as a home, by its alpha-2 code. */
export function countryAsHome(country: string, has_ibans: boolean): HomeRegion {
  return { name: COUNTRIES.get(country)?.name ?? country, countries: new Set([country]), has_ibans }
}

const set = (codes: string) => new Set(codes.split(' '))

/** Regions of packs, for calls that name no country. UN geoscheme for Africa; the Gulf Cooperation Council; Latin America as commonly meant. */
export const HOME_REGIONS = {
  africa: {
    name: 'Africa',
    countries: set(
      'AO BF BI BJ BW CD CF CG CI CM CV DJ DZ EG EH ER ET GA GH GM GN GQ GW KE KM LR LS LY MA MG ML MR MU MW MZ NA NE NG RW SC SD ' +
        'SL SN SO SS ST SZ TD TG TN TZ UG ZA ZM ZW',
    ),
    has_ibans: true,
  },
  gulf: { name: 'the Gulf states', countries: set('AE BH KW OM QA SA'), has_ibans: true },
  latin_america: {
    name: 'Latin America',
    countries: set('AR BO BR CL CO CR CU DO EC GT HN HT MX NI PA PE PR PY SV UY VE'),
    has_ibans: true,
  },
} as const satisfies Record<string, HomeRegion>
