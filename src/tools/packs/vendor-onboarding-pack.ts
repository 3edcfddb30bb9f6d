import { checkCompanyNumber, COMPANY_NUMBER_DATA_AS_OF } from '../../pure/checks/company-number.ts'
import { checkIban, IBAN_DATA_AS_OF } from '../../pure/checks/iban.ts'
import { checkLei, LEI_DATA_AS_OF } from '../../pure/checks/lei.ts'
import { accountFindings, vendorFindings } from '../../pure/checks/pack.ts'
import { checkVat, VAT_DATA_AS_OF } from '../../pure/checks/vat.ts'
import { definePack } from '../../service/catalogue/packs.ts'

/** IBAN, LEI, VAT number and company number of one vendor, each by itself and against one another. */
export default definePack({
  id: 'vendor-onboarding-pack',
  title: 'Screen a new vendor',
  description:
    'Checks IBAN, LEI, VAT number and UK company number of a vendor, whichever are given, in one call and one receipt, and ' +
    'holds them against one another: VAT country and company country against the account, sanctions by country, old LEI ' +
    'prefixes. A given name is screened against sanctions lists. No register is asked: a pass proves no vendor.',
  version: '1.2.0',
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
