import { BIC_DATA_AS_OF, checkBic } from '../../pure/checks/bic.ts'
import { abroadFindings, accountFindings, countryAsHome, checkIfGiven, PACK_HEADLINES, packAnswer } from '../../pure/checks/pack.ts'
import { checkIban, IBAN_DATA_AS_OF } from '../../pure/checks/iban.ts'
import { checkUscc, USCC_DATA_AS_OF } from '../../pure/checks/uscc.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { PACK_CHECK, PACK_VALUE, packInput, packOutput } from '../../service/catalogue/schemas.ts'

const HOME = countryAsHome('CN', false)

/** Code, IBAN and BIC of one supplier, each by itself and against one another. */
export default defineTool({
  id: 'china-supplier-check',
  title: 'Check a Chinese supplier',
  description:
    'Checks unified social credit code, IBAN and BIC of a Chinese supplier, whichever are given, in one call and one ' +
    'receipt, and holds them against one another: IBAN country and BIC country, accounts outside China (which has no ' +
    'IBANs), sanctions by country. No register is asked: a pass proves no supplier.',
  family: 'packs',
  version: '1.1.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['each value by its own check', 'IBAN country against BIC country', 'accounts outside China', 'sanctions by country'],
    not_checked: ['that any of the values was issued', 'whose they are', 'that a payment would arrive'],
  },
  headline: PACK_HEADLINES,
  sources: [],
  input: packInput({
    uscc: PACK_VALUE.describe('Unified social credit code, 18 characters.'),
    iban: PACK_VALUE.describe('IBAN to be paid.'),
    swift: PACK_VALUE.describe('BIC (SWIFT code) of the bank, 8 or 11 characters.'),
  }),
  output: packOutput({
    uscc: PACK_CHECK.describe('As uscc-check answers, or null.'),
    iban: PACK_CHECK.describe('As iban-check answers, or null.'),
    swift: PACK_CHECK.describe('As swift-bic-check answers, or null.'),
  }),
  example: { uscc: '91110000600037341L', swift: 'BKCHCNBJ' },
  run(input) {
    const checks = {
      uscc: checkIfGiven(input.uscc, checkUscc),
      iban: checkIfGiven(input.iban, checkIban),
      swift: checkIfGiven(input.swift, checkBic),
    }
    const cross_checks = [...accountFindings(checks.iban, checks.swift), ...abroadFindings(checks.iban, checks.swift, HOME)]
    return {
      ...packAnswer(checks, cross_checks),
      data_as_of: { ...(checks.uscc && USCC_DATA_AS_OF), ...(checks.iban && IBAN_DATA_AS_OF), ...(checks.swift && BIC_DATA_AS_OF) },
    }
  },
})
