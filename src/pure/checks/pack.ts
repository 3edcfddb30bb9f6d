import type { HeadlineRule } from '../headline.ts'
import type { Check } from './verdict.ts'
import type { BicFacts } from './bic.ts'
import { COUNTRIES, sanctionsHint } from './countries.ts'
import type { IbanFacts } from './iban.ts'
import { banksWith, ibanCountry, taxedWith } from './same-country.ts'
import type { UaeTrnFacts } from './uae-trn.ts'
import type { GstinFacts } from './gstin.ts'
import type { PanFacts } from './pan.ts'
import type { UpiVpaFacts } from './upi-vpa.ts'
import type { CnpjFacts } from './cnpj.ts'
import type { RfcFacts } from './rfc.ts'
import type { CompanyNumberFacts } from './company-number.ts'
import type { LeiFacts } from './lei.ts'
import type { VatFacts } from './vat.ts'

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
function usableFacts<Facts>(check: Check<Facts> | null): Facts | null {
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
  const done = entriesOf(checks).flatMap(([field, check]) => (check === null ? [] : [{ field, check }]))
  const faults = [
    ...done.filter(({ check }) => check.verdict === 'invalid').map(({ field, check }) => `${field} fails (${check.reason_code})`),
    ...cross_checks.filter(({ severity }) => severity === 'fatal').map(({ code }) => code),
  ]
  const cross_remarks = cross_checks.filter(({ severity }) => severity === 'warning').length
  // Well formed, but not confirmed by a published list or series: a warning, not a failure.
  const unconfirmed = done.filter(({ check }) => check.verdict !== 'invalid' && !check.valid)
  const remarks = done.reduce((sum, { check }) => sum + check.warnings.length, cross_remarks) + unconfirmed.length
  const verdict = faults.length > 0 ? 'fail' : remarks > 0 ? 'review' : 'pass'
  const open = unconfirmed.map(({ field, check }) => `${field} could not be confirmed (${check.reason_code})`)
  const summary = summaryOf(faults, open, done.length, remarks)
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

/** Reports the TIN inside the number, by which invoices reach the supplier over Peppol. */
export function trnFindings(trn: Check<UaeTrnFacts> | null): CrossFinding[] {
  const facts = usableFacts(trn)
  if (facts === null) return []
  const message = `The first ten digits are the TIN ${facts.tin}; an invoice that names another TIN or Peppol id than ${facts.peppol_participant_id} is not this supplier’s.`
  return [{ code: 'trn_holds_tin', fields: ['trn'], severity: 'info', message }]
}

/** Compares GSTIN, PAN and UPI address of one Indian supplier. */
export function indiaFindings(
  gstin: Check<GstinFacts> | null,
  pan: Check<PanFacts> | null,
  vpa: Check<UpiVpaFacts> | null,
): CrossFinding[] {
  const registration = usableFacts(gstin)
  const address = usableFacts(vpa)
  return [
    ...(registration !== null && pan !== null && pan.valid ? panFindings(registration, pan.normalized) : []),
    ...(registration === null ? [] : registrationFindings(registration)),
    ...(address === null ? [] : addressFindings(address)),
  ]
}

function panFindings({ pan: inside, kind }: GstinFacts, pan: string): CrossFinding[] {
  const fields = ['gstin', 'pan']
  if (inside === null) {
    const message = `A GSTIN of this kind (${kind}) contains no PAN, so the two cannot be compared.`
    return [{ code: 'gstin_without_pan', fields, severity: 'warning', message }]
  }
  if (inside === pan) return [{ code: 'pan_in_gstin', fields, severity: 'info', message: 'The GSTIN contains this PAN.' }]
  const message = `The GSTIN contains another PAN, ${inside}: they belong to different taxpayers.`
  return [{ code: 'pan_not_in_gstin', fields, severity: 'fatal', message }]
}

function registrationFindings({ kind, state_code, state_name }: GstinFacts): CrossFinding[] {
  const fields = ['gstin']
  if (kind === 'oidar' || kind === 'non_resident') {
    const message = 'The registration is that of a supplier abroad; an Indian account or UPI address would be unusual.'
    return [{ code: 'gstin_of_foreign_supplier', fields, severity: 'warning', message }]
  }
  if (kind === 'uin') {
    const message = 'A UIN is given to embassies and bodies of the United Nations for refunds; they do not sell under it.'
    return [{ code: 'gstin_of_no_supplier', fields, severity: 'warning', message }]
  }
  return [{ code: 'gstin_state', fields, severity: 'info', message: `Registered in ${state_name} (${state_code}).` }]
}

function addressFindings({ handle, handle_status, sebi_category }: UpiVpaFacts): CrossFinding[] {
  const fields = ['vpa']
  if (handle_status === 'unknown') {
    const message = `The partial registry of handles lacks @${handle}: confirm it before you pay.`
    return [{ code: 'upi_handle_unknown', fields, severity: 'warning', message }]
  }
  if (sebi_category === null) return []
  const message = `A validated handle, given only to intermediaries of SEBI: ${sebi_category}.`
  return [{ code: 'upi_handle_validated', fields, severity: 'info', message }]
}

/** Compares CNPJ, RFC and IBAN of one Latin American supplier. */
export function latamFindings(cnpj: Check<CnpjFacts> | null, rfc: Check<RfcFacts> | null, iban: Check<IbanFacts> | null): CrossFinding[] {
  const [brazilian, mexican, account] = [usableFacts(cnpj), usableFacts(rfc), usableFacts(iban)]
  const findings: CrossFinding[] = []
  if (brazilian !== null && mexican !== null) {
    const message = 'A Brazilian and a Mexican tax number for one supplier: find out which of the two is paid.'
    findings.push({ code: 'two_tax_countries', fields: ['cnpj', 'rfc'], severity: 'warning', message })
  }
  if (mexican !== null && mexican.generic !== null) {
    const message = 'A generic RFC is used for the public or for parties abroad and names no supplier.'
    findings.push({ code: 'rfc_generic', fields: ['rfc'], severity: 'warning', message })
  }
  // A Brazilian IBAN begins with the ISPB of the bank, which is the root of the bank's own CNPJ.
  if (brazilian !== null && account?.country === 'BR' && account.bank_code === brazilian.root) {
    const message = 'The CNPJ is that of the bank of the account, so it may not be the supplier’s own.'
    findings.push({ code: 'cnpj_root_is_bank', fields: ['cnpj', 'iban'], severity: 'warning', message })
  }
  if (brazilian !== null && !brazilian.is_head_office) {
    const message = `The CNPJ is that of branch ${brazilian.branch}; the head office has the same root ${brazilian.root}.`
    findings.push({ code: 'cnpj_of_branch', fields: ['cnpj'], severity: 'info', message })
  }
  return findings
}

interface VendorChecks {
  iban: Check<IbanFacts> | null
  lei: Check<LeiFacts> | null
  vat: Check<VatFacts> | null
  company: Check<CompanyNumberFacts> | null
}

/** Prefixes of bodies from abroad on the registers of Companies House; they bank and pay tax at home. */
const OVERSEAS = new Set(['BR', 'FC', 'NF', 'OE', 'SF'])

/**
 * Compares the countries of the identifiers of one vendor. Firms may well bank or pay tax abroad (inside the single euro payments area an
 * account abroad must not even be refused), so each difference is a reason to ask, never a fault.
 */
export function vendorFindings({ iban, lei, vat, company }: VendorChecks): CrossFinding[] {
  const [account, entity, tax, register] = [usableFacts(iban), usableFacts(lei), usableFacts(vat), usableFacts(company)]
  const findings: CrossFinding[] = []
  const warn = (code: string, fields: string[], message: string) => findings.push({ code, fields, severity: 'warning', message })
  const tax_country = tax?.country ?? null
  if (account !== null && tax !== null && tax_country !== null && !sameCountry(account.country, tax_country))
    warn('vat_iban_country_mismatch', ['vat_number', 'iban'], `VAT number of ${tax.country_name}, account in ${account.country_name}.`)
  const british = register !== null && !OVERSEAS.has(register.prefix)
  if (british && account !== null && account.country !== 'GB')
    warn('company_iban_country_mismatch', ['company_number', 'iban'], `British company number, account in ${account.country_name}.`)
  if (british && tax !== null && tax_country !== null && tax_country !== 'GB')
    warn('company_vat_country_mismatch', ['company_number', 'vat_number'], `British company number, VAT number of ${tax.country_name}.`)
  if (entity?.legacy_prefix === true) {
    const message = 'The LEI is older than the scheme of 2012, so its first four characters do not name who issued it.'
    findings.push({ code: 'lei_legacy_prefix', fields: ['lei'], severity: 'info', message })
  }
  return findings
}

/** Guernsey banks with Britain, Réunion with France; Monaco has its own IBANs but shares the tax of France. */
function sameCountry(iban_country: string, vat_country: string): boolean {
  return banksWith(vat_country, iban_country) || taxedWith(iban_country, vat_country)
}
