import type { CompanyNumberFacts } from './company-number.ts'
import type { IbanFacts } from './iban-facts.ts'
import type { LeiFacts } from './lei.ts'
import { type CrossFinding, sound } from './pack.ts'
import { banksWith, taxedWith } from './same-country.ts'
import type { VatFacts } from './vat.ts'
import type { Check } from './verdict.ts'

interface VendorChecks {
  iban: Check<IbanFacts> | null
  lei: Check<LeiFacts> | null
  vat: Check<VatFacts> | null
  company: Check<CompanyNumberFacts> | null
}

/** Prefixes of bodies from abroad on the registers of Companies House; they bank and pay tax at home. */
const OVERSEAS = new Set(['BR', 'FC', 'NF', 'OE', 'SF'])

/**
 * What the identifiers of one vendor say of its country. Firms may well bank or pay tax abroad (inside the single euro payments area an
 * account abroad must not even be refused), so each difference is a reason to ask, never a fault.
 */
export function vendorFindings({ iban, lei, vat, company }: VendorChecks): CrossFinding[] {
  const [account, entity, tax, register] = [sound(iban), sound(lei), sound(vat), sound(company)]
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

/** Guernsey banks with Britain, Réunion with France; Monaco has IBANs of its own but shares the tax of France. */
function sameCountry(iban_country: string, vat_country: string): boolean {
  return banksWith(vat_country, iban_country) || taxedWith(iban_country, vat_country)
}
