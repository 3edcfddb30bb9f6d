import { abroadFindings, accountFindings, countryAsHome, checkIfGiven, PACK_HEADLINES, packAnswer } from '../../pure/checks/pack.ts'
import { checkIban, IBAN_DATA_AS_OF } from '../../pure/checks/iban.ts'
import { checkJapanCorp } from '../../pure/checks/japan-corp.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { PACK_CHECK, PACK_VALUE, packInput, packOutput } from '../../service/catalogue/schemas.ts'

const HOME = countryAsHome('JP', false)

/** Corporate number and IBAN of one supplier. */
export default defineTool({
  id: 'japan-supplier-check',
  title: 'Check a Japanese supplier',
  description:
    'Checks corporate number and IBAN of a Japanese supplier, whichever are given, in one call and one receipt. Japan has ' +
    'no IBANs, so an IBAN always means an account abroad, which is a warning; sanctions by country are looked at too. No ' +
    'register is asked: a pass proves no supplier.',
  family: 'packs',
  version: '1.1.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['each value by its own check', 'accounts outside Japan', 'sanctions by country'],
    not_checked: ['that any of the values was issued', 'whose they are', 'that a payment would arrive'],
  },
  headline: PACK_HEADLINES,
  sources: [],
  input: packInput({
    corporate_number: PACK_VALUE.describe('Corporate number, 13 digits.'),
    iban: PACK_VALUE.describe('IBAN to be paid.'),
  }),
  output: packOutput({
    corporate_number: PACK_CHECK.describe('As japan-corp-check answers, or null.'),
    iban: PACK_CHECK.describe('As iban-check answers, or null.'),
  }),
  example: { corporate_number: '7000012050002' },
  run(input) {
    const checks = {
      corporate_number: checkIfGiven(input.corporate_number, checkJapanCorp),
      iban: checkIfGiven(input.iban, checkIban),
    }
    const cross_checks = [...accountFindings(checks.iban, null), ...abroadFindings(checks.iban, null, HOME)]
    return { ...packAnswer(checks, cross_checks), data_as_of: { ...(checks.iban && IBAN_DATA_AS_OF) } }
  },
})
