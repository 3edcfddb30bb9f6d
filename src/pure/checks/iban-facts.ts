import sepa from '../../../data/sepa-countries.json' with { type: 'json' }
import type { Part } from './check-result.ts'
import { COUNTRIES } from './countries.ts'
import { IBAN_REGISTRY_RELEASE, type IbanFormat } from './iban-format.ts'
import type { NationalCheck } from './national-check.ts'
import { sanctionsHint, SANCTIONS_AS_OF, type SanctionsHint } from './sanctions.ts'
import { dataDate } from '../data-date.ts'

export interface IbanFacts {
  country: string
  country_name: string
  country_alpha3: string
  check_digits: string
  bban: string
  bank_code: string | null
  branch_code: string | null
  account: string
  /** The check digits inside the BBAN; null when the country has none or its rule is not known here. */
  national_check: NationalCheck | null
  /** Whether the two check digits hold, whatever else is wrong. */
  checksum_ok: boolean
  /** The country is in the geographical scope of the SEPA schemes. A bank may stay out, as do territories such as NC, whose code is FR. */
  sepa_scope: boolean
  sepa_as_of: string
  /** Whether the country is in the IBAN registry. */
  iban_registry: boolean
  registry_release: string
  /** Territories whose accounts carry this country code. */
  territories: string[]
  sanctions: SanctionsHint | null
  /** Groups of four, as on paper. */
  print_form: string
  parts: Part[]
}

/** Publication dates of the tables that an answer is read from. */
export const IBAN_DATA_AS_OF = {
  iban_registry: `release ${IBAN_REGISTRY_RELEASE}`,
  sanctioned_countries: SANCTIONS_AS_OF,
  sepa_countries: dataDate(sepa),
} as const

const SEPA: ReadonlySet<string> = new Set(sepa.rows.map(({ country }) => country))

/** All that can be read off an IBAN whose structure holds. */
export function ibanFacts(value: string, format: IbanFormat, national_check: NationalCheck | null, checksum_ok: boolean): IbanFacts {
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
    print_form: inFours(value),
    registry_release: IBAN_REGISTRY_RELEASE,
    sanctions: sanctionsHint(country),
    sepa_as_of: dataDate(sepa),
    sepa_scope: SEPA.has(country),
    territories: [...format.territories],
  }
}

function inFours(value: string): string {
  let form = value.slice(0, 4)
  for (let start = 4; start < value.length; start += 4) form += ` ${value.slice(start, start + 4)}`
  return form
}
