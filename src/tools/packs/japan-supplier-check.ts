import { checkIban, IBAN_DATA_AS_OF } from '../../pure/checks/iban.ts'
import { checkJapanCorp } from '../../pure/checks/japan-corp.ts'
import { abroadFindings, accountFindings, countryAsHome } from '../../pure/checks/pack.ts'
import { definePack } from '../../service/catalogue/packs.ts'

const HOME = countryAsHome('JP', false)

/** Corporate number and IBAN of one supplier. */
export default definePack({
  id: 'japan-supplier-check',
  title: 'Check a Japanese supplier',
  description:
    'Checks corporate number and IBAN of a Japanese supplier, whichever are given, in one call and one receipt. Japan has no ' +
    'IBANs, so an IBAN always means an account abroad, which is a warning; sanctions by country are looked at too. A given ' +
    'name is screened if this service has an engine. No register is asked: a pass proves no supplier.',
  version: '1.3.0',
  party: 'supplier',
  checked: ['accounts outside Japan', 'sanctions by country'],
  parts: {
    corporate_number: { check: checkJapanCorp, input: 'Corporate number, 13 digits.', tool: 'japan-corp-check' },
    iban: { check: checkIban, input: 'IBAN; the account to be paid.', tool: 'iban-check', dates: IBAN_DATA_AS_OF },
  },
  example: { corporate_number: '7000012050002' },
  cross: ({ iban }) => [...accountFindings(iban, null), ...abroadFindings(iban, null, HOME)],
})
