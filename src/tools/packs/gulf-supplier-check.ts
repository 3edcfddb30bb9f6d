import { BIC_DATA_AS_OF, checkBic } from '../../pure/checks/bic.ts'
import {
  abroadFindings,
  accountFindings,
  countryAsHome,
  HOME_REGIONS,
  trnFindings,
  checkIfGiven,
  PACK_HEADLINES,
  packAnswer,
} from '../../pure/checks/pack.ts'
import { checkIban, IBAN_DATA_AS_OF } from '../../pure/checks/iban.ts'
import { checkUaeTrn } from '../../pure/checks/uae-trn.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { PACK_CHECK, PACK_VALUE, packInput, packOutput } from '../../service/catalogue/schemas.ts'

/** TRN, IBAN and BIC of one supplier, each by itself and against one another. */
export default defineTool({
  id: 'gulf-supplier-check',
  title: 'Check a Gulf supplier',
  description:
    'Checks UAE tax registration number, IBAN and BIC of a Gulf supplier, whichever are given, in one call and one receipt, ' +
    'and holds them against one another: IBAN country and BIC country, accounts outside the Emirates (or the Gulf), ' +
    'sanctions by country; names TIN and Peppol id. No register is asked.',
  family: 'packs',
  version: '1.1.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: [
      'each value by its own check',
      'TIN inside the TRN',
      'IBAN country against BIC country',
      'accounts abroad and sanctions by country',
    ],
    not_checked: ['that any of the values was issued', 'whose they are', 'that a payment would arrive'],
  },
  headline: PACK_HEADLINES,
  sources: [],
  input: packInput({
    trn: PACK_VALUE.describe('UAE tax registration number, 15 digits.'),
    iban: PACK_VALUE.describe('IBAN to be paid.'),
    swift: PACK_VALUE.describe('BIC (SWIFT code) of the bank, 8 or 11 characters.'),
  }),
  output: packOutput({
    trn: PACK_CHECK.describe('As uae-trn-check answers, or null.'),
    iban: PACK_CHECK.describe('As iban-check answers, or null.'),
    swift: PACK_CHECK.describe('As swift-bic-check answers, or null.'),
  }),
  example: { trn: '100123456700003', iban: 'AE070331234567890123456', swift: 'EBILAEAD' },
  run(input) {
    const checks = {
      trn: checkIfGiven(input.trn, checkUaeTrn),
      iban: checkIfGiven(input.iban, checkIban),
      swift: checkIfGiven(input.swift, checkBic),
    }
    const cross_checks = [
      ...trnFindings(checks.trn),
      ...accountFindings(checks.iban, checks.swift),
      ...abroadFindings(checks.iban, checks.swift, checks.trn === null ? HOME_REGIONS.gulf : countryAsHome('AE', true)),
    ]
    return { ...packAnswer(checks, cross_checks), data_as_of: { ...(checks.iban && IBAN_DATA_AS_OF), ...(checks.swift && BIC_DATA_AS_OF) } }
  },
})
