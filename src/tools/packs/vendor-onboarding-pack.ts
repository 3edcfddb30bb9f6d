import { checkCompanyNumber, COMPANY_NUMBER_DATA_AS_OF, type CompanyNumberFacts } from '../../pure/checks/company-number.ts'
import { checkIban, IBAN_DATA_AS_OF, type IbanFacts } from '../../pure/checks/iban.ts'
import { checkLei, LEI_DATA_AS_OF, type LeiFacts } from '../../pure/checks/lei.ts'
import { accountFindings, type CrossFinding, usableFacts } from '../../pure/checks/pack.ts'
import { banksWith, taxedWith } from '../../pure/checks/same-country.ts'
import { checkVat, VAT_DATA_AS_OF, type VatFacts } from '../../pure/checks/vat.ts'
import type { Check } from '../../pure/checks/verdict.ts'
import { definePack } from '../../service/catalogue/packs.ts'

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
function vendorFindings({ iban, lei, vat, company }: VendorChecks): CrossFinding[] {
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

/** IBAN, LEI, VAT number and company number of one vendor, each by itself and against one another. */
export default definePack({
  id: 'vendor-onboarding-pack',
  title: 'Screen a new vendor',
  description:
    'Checks IBAN, LEI, VAT number and UK company number of a vendor, whichever are given, in one call and one receipt, and ' +
    'holds them against one another: VAT country and company country against the account, sanctions by country, old LEI ' +
    'prefixes. A given name is screened if this service has an engine for it. No register is asked: a pass proves no vendor.',
  version: '1.3.0',
  party: 'vendor',
  checked: ['country of VAT number, company and account', 'sanctions by country', 'old LEI prefixes'],
  parts: {
    iban: { check: checkIban, input: 'IBAN; the account to be paid.', tool: 'iban-check', dates: IBAN_DATA_AS_OF },
    lei: { check: checkLei, input: 'LEI; Legal Entity Identifier of 20 characters.', tool: 'lei-check', dates: LEI_DATA_AS_OF },
    vat_number: { check: checkVat, input: 'VAT number with its country prefix.', tool: 'vat-mod97-check', dates: VAT_DATA_AS_OF },
    company_number: {
      check: checkCompanyNumber,
      input: 'UK company number, 8 characters.',
      tool: 'company-number-format',
      dates: COMPANY_NUMBER_DATA_AS_OF,
    },
  },
  example: { iban: 'GB82WEST12345698765432', vat_number: 'XI980780684', company_number: 'SC123456' },
  cross: ({ iban, lei, vat_number: vat, company_number: company }) => [
    ...accountFindings(iban, null),
    ...vendorFindings({ iban, lei, vat, company }),
  ],
})
