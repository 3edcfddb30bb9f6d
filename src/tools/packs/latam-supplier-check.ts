import { checkCnpj } from '../../pure/checks/cnpj.ts'
import { checkIban, IBAN_DATA_AS_OF } from '../../pure/checks/iban.ts'
import { abroadFindings, accountFindings, countryAsHome, HOME_REGIONS, latamFindings } from '../../pure/checks/pack.ts'
import { checkRfc } from '../../pure/checks/rfc.ts'
import { definePack } from '../../service/catalogue/packs.ts'

/** The country whose tax number was given; the region for none or both. Mexico has no IBANs. */
function homeFor(brazilian: boolean, mexican: boolean) {
  if (brazilian === mexican) return HOME_REGIONS.latin_america
  return brazilian ? countryAsHome('BR', true) : countryAsHome('MX', false)
}

/** CNPJ, RFC and IBAN of one supplier, each by itself and against one another. */
export default definePack({
  id: 'latam-supplier-check',
  title: 'Check a Latin American supplier',
  description:
    'Checks CNPJ (Brazil), RFC (Mexico) and IBAN of a supplier, whichever are given, in one call and one receipt, and holds ' +
    "them against one another: two tax countries, a CNPJ that is the bank's own, accounts abroad, sanctions by country. A " +
    'given name is screened against sanctions lists. No register is asked: a pass proves no supplier.',
  version: '1.2.0',
  party: 'supplier',
  checked: [
    'two tax countries, generic RFC, branches',
    'CNPJ root against the bank in the IBAN',
    'accounts abroad and sanctions by country',
  ],
  parts: {
    cnpj: { check: checkCnpj, input: 'Brazilian CNPJ, 14 characters.', tool: 'cnpj-check' },
    rfc: { check: (text: string) => checkRfc(text), input: 'Mexican RFC, 12 or 13 characters.', tool: 'rfc-check' },
    iban: { check: checkIban, input: 'IBAN; the account to be paid.', tool: 'iban-check', dates: IBAN_DATA_AS_OF },
  },
  example: { cnpj: '16.727.230/0001-97', iban: 'BR1500000000000010932840814P2' },
  cross: ({ cnpj, rfc, iban }) => [
    ...latamFindings(cnpj, rfc, iban),
    ...accountFindings(iban, null),
    ...abroadFindings(iban, null, homeFor(cnpj !== null, rfc !== null)),
  ],
})
