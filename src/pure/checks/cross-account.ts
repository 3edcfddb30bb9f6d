import type { BicFacts } from './bic.ts'
import { COUNTRIES } from './countries.ts'
import type { IbanFacts } from './iban-facts.ts'
import { type CrossFinding, sound } from './pack.ts'
import { banksWith, ibanCountry } from './same-country.ts'
import { sanctionsHint } from './sanctions.ts'
import type { Check } from './verdict.ts'

/** Where the party that was asked about should hold its account. */
interface Home {
  /** As it reads in a sentence. */
  name: string
  countries: ReadonlySet<string>
  /** False for countries that print no IBANs: an IBAN then always names another country. */
  has_ibans: boolean
}

type Iban = Check<IbanFacts> | null
type Bic = Check<BicFacts> | null

/**
 * What IBAN and BIC say of one another: the countries must be one, where Guernsey, Jersey and the Isle of Man bank under GB and the
 * French territories under FR; and what is publicly known of sanctions by country.
 */
export function accountFindings(iban: Iban, bic: Bic): CrossFinding[] {
  const [account, bank] = [sound(iban), sound(bic)]
  // An IBAN names its country also when it is wrong, as each one of a country without IBANs is.
  const findings = [
    ...sanctionFindings('iban', iban === null ? null : ibanCountry(iban)),
    ...sanctionFindings('swift', bank?.country ?? null),
  ]
  if (account === null || bank === null || banksWith(bank.country, account.country)) return findings
  const message = `The account lies in ${account.country_name}, the bank code in ${bank.country_name}: a transfer would go astray.`
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
export function abroadFindings(iban: Iban, bic: Bic, home: Home): CrossFinding[] {
  const abroad = [
    { field: 'iban', facts: sound(iban) },
    { field: 'swift', facts: sound(bic) },
  ].flatMap(({ field, facts }) => (facts === null || isHome(facts.country, home) ? [] : [{ field, name: facts.country_name }]))
  if (abroad.length === 0) return []
  const where = [...new Set(abroad.map(({ name }) => name))].join(', ')
  const why = sound(iban) !== null && !home.has_ibans ? ` ${home.name} has no IBANs.` : ''
  const message = `The account is held in ${where}, not in ${home.name}: ask the payee why.${why}`
  return [{ code: 'account_abroad', fields: abroad.map(({ field }) => field), severity: 'warning', message }]
}

function isHome(country: string, { countries }: Home): boolean {
  if (countries.has(country)) return true
  for (const one of countries) if (banksWith(country, one)) return true
  return false
}

/** One country as a home, by its alpha-2 code. */
export function homeOf(country: string, has_ibans: boolean): Home {
  return { name: COUNTRIES.get(country)?.name ?? country, countries: new Set([country]), has_ibans }
}

const set = (codes: string) => new Set(codes.split(' '))

/** Regions of packs, for calls that name no country. UN geoscheme for Africa; the Gulf Cooperation Council; Latin America as commonly meant. */
export const REGIONS = {
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
} as const satisfies Record<string, Home>
