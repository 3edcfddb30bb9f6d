import { checkCompanyNumber, COMPANY_NUMBER_DATA_AS_OF } from '../../pure/checks/company-number.ts'
import { accountFindings, vendorFindings, checkIfGiven, PACK_HEADLINES, packAnswer } from '../../pure/checks/pack.ts'
import { checkIban, IBAN_DATA_AS_OF } from '../../pure/checks/iban.ts'
import { checkLei, LEI_DATA_AS_OF } from '../../pure/checks/lei.ts'
import { checkVat, VAT_DATA_AS_OF } from '../../pure/checks/vat.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { PACK_CHECK, PACK_VALUE, packInput, packOutput } from '../../service/catalogue/schemas.ts'

/** IBAN, LEI, VAT number and company number of one vendor, each by itself and against one another. */
export default defineTool({
  id: 'vendor-onboarding-pack',
  title: 'Screen a new vendor',
  description:
    'Checks IBAN, LEI, VAT number and UK company number of a vendor, whichever are given, in one call and one receipt, and ' +
    'holds them against one another: VAT country and company country against the account, sanctions by country, old LEI ' +
    'prefixes. No register is asked: a pass proves no vendor.',
  family: 'packs',
  version: '1.1.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['each value by its own check', 'country of VAT number, company and account', 'sanctions by country', 'old LEI prefixes'],
    not_checked: ['that any of the values was issued', 'whose they are', 'that a payment would arrive'],
  },
  headline: PACK_HEADLINES,
  sources: [],
  input: packInput({
    iban: PACK_VALUE.describe('IBAN to be paid.'),
    lei: PACK_VALUE.describe('Legal Entity Identifier, 20 characters.'),
    vat_number: PACK_VALUE.describe('VAT number with its country prefix.'),
    company_number: PACK_VALUE.describe('UK company number, 8 characters.'),
  }),
  output: packOutput({
    iban: PACK_CHECK.describe('As iban-check answers, or null.'),
    lei: PACK_CHECK.describe('As lei-check answers, or null.'),
    vat_number: PACK_CHECK.describe('As vat-mod97-check answers, or null.'),
    company_number: PACK_CHECK.describe('As company-number-format answers, or null.'),
  }),
  example: { iban: 'GB82WEST12345698765432', vat_number: 'XI980780684', company_number: 'SC123456' },
  run(input) {
    const checks = {
      iban: checkIfGiven(input.iban, checkIban),
      lei: checkIfGiven(input.lei, checkLei),
      vat_number: checkIfGiven(input.vat_number, checkVat),
      company_number: checkIfGiven(input.company_number, checkCompanyNumber),
    }
    const cross_checks = [
      ...accountFindings(checks.iban, null),
      ...vendorFindings({ iban: checks.iban, lei: checks.lei, vat: checks.vat_number, company: checks.company_number }),
    ]
    return {
      ...packAnswer(checks, cross_checks),
      data_as_of: {
        ...(checks.iban && IBAN_DATA_AS_OF),
        ...(checks.lei && LEI_DATA_AS_OF),
        ...(checks.vat_number && VAT_DATA_AS_OF),
        ...(checks.company_number && COMPANY_NUMBER_DATA_AS_OF),
      },
    }
  },
})
