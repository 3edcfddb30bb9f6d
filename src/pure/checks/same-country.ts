import type { Check } from './verdict.ts'
import { COUNTRIES } from './countries.ts'
import { ibanHost, IBAN_REGISTRY } from './iban.ts'
import { datesOf } from '../datasets/table.ts'

/** Codes that people and tax offices use for a country whose ISO 3166 code is another. */
const ALIASES: Readonly<Record<string, string>> = { UK: 'GB', EL: 'GR' }

/** Countries that share the value added tax of another: Monaco that of France, the Isle of Man that of the United Kingdom. */
const VAT_HOSTS: Readonly<Record<string, string>> = { MC: 'FR', IM: 'GB' }

/** The alpha-2 code in upper case, UK and EL read as GB and GR; null when no country has it. */
export function alpha2(code: string): string | null {
  const upper = code.toUpperCase()
  const country = ALIASES[upper] ?? upper
  return COUNTRIES.has(country) ? country : null
}

/** Tests whether an account of a party in one country may have the IBAN of the other: Guernsey banks with GB, Réunion with FR, Åland with FI. */
export function banksWith(country: string, iban_country: string): boolean {
  return country === iban_country || ibanHost(country) === iban_country
}

export function taxedWith(country: string, vat_country: string): boolean {
  return country === vat_country || vatHost(country) === vat_country
}

/** Date of the table that says which country a territory banks and is taxed with. */
export const TERRITORIES_AS_OF = datesOf([IBAN_REGISTRY])

/** The country whose VAT numbers a country or territory uses: its own, if it is none of those with a host. */
export function vatHost(country: string): string {
  return VAT_HOSTS[country] ?? ibanHost(country) ?? country
}

/** Returns the country code in front of an IBAN, even of an invalid one; null when it cannot be read. */
export function ibanCountry({ facts, normalized }: Check<{ country: string }>): string | null {
  if (facts !== null) return facts.country
  const code = /^([A-Z]{2})[0-9]{2}/.exec(normalized)?.[1]
  return code !== undefined && COUNTRIES.has(code) ? code : null
}
