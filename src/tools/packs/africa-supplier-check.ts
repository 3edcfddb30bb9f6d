import { BIC_DATA_AS_OF, checkBic } from '../../pure/checks/bic.ts'
import {
  abroadFindings,
  accountFindings,
  countryAsHome,
  HOME_REGIONS,
  checkIfGiven,
  PACK_HEADLINES,
  packAnswer,
} from '../../pure/checks/pack.ts'
import { checkIban, IBAN_DATA_AS_OF } from '../../pure/checks/iban.ts'
import { checkKraPin } from '../../pure/checks/kra-pin.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { PACK_CHECK, PACK_VALUE, packInput, packOutput } from '../../service/catalogue/schemas.ts'

/** KRA PIN, IBAN and BIC of one supplier, each by itself and against one another. */
export default defineTool({
  id: 'africa-supplier-check',
  title: 'Check an African supplier',
  description:
    'Checks Kenyan KRA PIN, IBAN and BIC of an African supplier, whichever are given, in one call and one receipt, and ' +
    'holds them against one another: IBAN country and BIC country, accounts outside Kenya (which has no IBANs) or Africa, ' +
    'sanctions by country. No register is asked: a pass proves no supplier.',
  family: 'packs',
  version: '1.1.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: [
      'each value by its own check',
      'IBAN country against BIC country',
      'accounts outside Kenya or Africa',
      'sanctions by country',
    ],
    not_checked: ['that any of the values was issued', 'whose they are', 'that a payment would arrive'],
  },
  headline: PACK_HEADLINES,
  sources: [],
  input: packInput({
    kra_pin: PACK_VALUE.describe('Kenyan KRA PIN, 11 characters.'),
    iban: PACK_VALUE.describe('IBAN to be paid.'),
    swift: PACK_VALUE.describe('BIC (SWIFT code) of the bank, 8 or 11 characters.'),
  }),
  output: packOutput({
    kra_pin: PACK_CHECK.describe('As kra-pin-check answers, or null.'),
    iban: PACK_CHECK.describe('As iban-check answers, or null.'),
    swift: PACK_CHECK.describe('As swift-bic-check answers, or null.'),
  }),
  example: { kra_pin: 'P051365947M', swift: 'KCBLKENX' },
  run(input) {
    const checks = {
      kra_pin: checkIfGiven(input.kra_pin, checkKraPin),
      iban: checkIfGiven(input.iban, checkIban),
      swift: checkIfGiven(input.swift, checkBic),
    }
    const cross_checks = [
      ...accountFindings(checks.iban, checks.swift),
      ...abroadFindings(checks.iban, checks.swift, checks.kra_pin === null ? HOME_REGIONS.africa : countryAsHome('KE', false)),
    ]
    return { ...packAnswer(checks, cross_checks), data_as_of: { ...(checks.iban && IBAN_DATA_AS_OF), ...(checks.swift && BIC_DATA_AS_OF) } }
  },
})
