import { checkCnpj } from '../../pure/checks/cnpj.ts'
import {
  abroadFindings,
  accountFindings,
  countryAsHome,
  latamFindings,
  HOME_REGIONS,
  checkIfGiven,
  PACK_HEADLINES,
  packAnswer,
} from '../../pure/checks/pack.ts'
import { checkIban, IBAN_DATA_AS_OF } from '../../pure/checks/iban.ts'
import { checkRfc } from '../../pure/checks/rfc.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { PACK_CHECK, PACK_VALUE, packInput, packOutput } from '../../service/catalogue/schemas.ts'

/** The country whose tax number was given; the region for none or both. Mexico has no IBANs. */
function homeFor(brazilian: boolean, mexican: boolean) {
  if (brazilian === mexican) return HOME_REGIONS.latin_america
  return brazilian ? countryAsHome('BR', true) : countryAsHome('MX', false)
}

/** CNPJ, RFC and IBAN of one supplier, each by itself and against one another. */
export default defineTool({
  id: 'latam-supplier-check',
  title: 'Check a Latin American supplier',
  description:
    'Checks CNPJ (Brazil), RFC (Mexico) and IBAN of a supplier, whichever are given, in one call and one receipt, and holds ' +
    "them against one another: two tax countries, a CNPJ that is the bank's own, accounts abroad, sanctions by country. No " +
    'register is asked: a pass proves no supplier.',
  family: 'packs',
  version: '1.1.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: [
      'each value by its own check',
      'two tax countries, generic RFC, branches',
      'CNPJ root against the bank in the IBAN',
      'accounts abroad and sanctions by country',
    ],
    not_checked: ['that any of the values was issued', 'whose they are', 'that a payment would arrive'],
  },
  headline: PACK_HEADLINES,
  sources: [],
  input: packInput({
    cnpj: PACK_VALUE.describe('Brazilian CNPJ, 14 characters.'),
    rfc: PACK_VALUE.describe('Mexican RFC, 12 or 13 characters.'),
    iban: PACK_VALUE.describe('IBAN to be paid.'),
  }),
  output: packOutput({
    cnpj: PACK_CHECK.describe('As cnpj-check answers, or null.'),
    rfc: PACK_CHECK.describe('As rfc-check answers, or null.'),
    iban: PACK_CHECK.describe('As iban-check answers, or null.'),
  }),
  example: { cnpj: '16.727.230/0001-97', iban: 'BR1500000000000010932840814P2' },
  run(input) {
    const checks = {
      cnpj: checkIfGiven(input.cnpj, checkCnpj),
      rfc: checkIfGiven(input.rfc, (text) => checkRfc(text)),
      iban: checkIfGiven(input.iban, checkIban),
    }
    const cross_checks = [
      ...latamFindings(checks.cnpj, checks.rfc, checks.iban),
      ...accountFindings(checks.iban, null),
      ...abroadFindings(checks.iban, null, homeFor(checks.cnpj !== null, checks.rfc !== null)),
    ]
    return { ...packAnswer(checks, cross_checks), data_as_of: { ...(checks.iban && IBAN_DATA_AS_OF) } }
  },
})
