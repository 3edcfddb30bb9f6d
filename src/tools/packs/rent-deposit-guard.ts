import { z } from 'zod'
import { IBAN_DATA_AS_OF } from '../../pure/checks/iban.ts'
import { bandAnswer, depositRisk, TENANCY_HEADLINES, type Band } from '../../pure/rulebooks/tenancy.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import {
  answerWithName,
  BAND_OUTPUT,
  LANDLORD_INPUT,
  LANDLORD_OUTPUT,
  LANDLORD_SCOPE,
  nameConcern,
  withRemark,
} from '../../service/catalogue/packs.ts'
import { COUNTRY_CODE, DATA_AS_OF, IDENTIFIER, RULE_BOOK } from '../../service/catalogue/schemas.ts'

const RECOMMENDATIONS: Readonly<Record<Band, string>> = {
  low: 'Nothing here speaks against the account. View the place and see the contract before you pay.',
  elevated: 'Ask why, and pay only after a viewing and to an account that you have checked with the landlord.',
  high: 'Do not pay before each flag is explained and you have seen the place and the landlord.',
  critical: 'Do not pay to this account.',
}

/** Lists reasons not to pay a rental deposit to an account. */
export default defineTool({
  id: 'rent-deposit-guard',
  title: 'Check where a rental deposit goes',
  description:
    'Checks the IBAN for a rental deposit and whether its country is that of the property, and flags deposits asked before a viewing. Adds ' +
    'up named factors of a published rule book to a score of 0-100. Does not establish whose account it is.',
  family: 'packs',
  version: '1.4.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: [
      'IBAN: country format and check digits',
      'country of the account against that of the property',
      'deposit before a viewing, as you say',
      LANDLORD_SCOPE.checked,
    ],
    not_checked: ['who owns the account', 'that the landlord owns the place', 'that your answers are so', LANDLORD_SCOPE.not_checked],
  },
  headline: TENANCY_HEADLINES,
  sources: ['clock', 'names'],
  reads_outside: ({ landlord_name }) => landlord_name !== undefined,
  input: z.strictObject({
    deposit_iban: IDENTIFIER.describe('The account that the deposit is asked to.'),
    property_country: COUNTRY_CODE.optional().describe('Country of the property; ISO 3166-1 alpha-2.'),
    deposit_before_viewing: z.boolean().optional().describe('Whether the deposit is asked before a viewing.'),
    ...LANDLORD_INPUT,
  }),
  output: z.strictObject({
    ...BAND_OUTPUT,
    iban: z.record(z.string(), z.unknown()).describe('As iban-check answers.'),
    iban_country: z.string().nullable().describe('Country read off the IBAN, or null.'),
    property_country: z.string().nullable().describe('Country of the property as it was read, or null.'),
    ...RULE_BOOK,
    ...LANDLORD_OUTPUT,
    data_as_of: DATA_AS_OF,
  }),
  example: { deposit_iban: 'GB82 WEST 1234 5698 7654 32', property_country: 'GB', deposit_before_viewing: true },
  run(asked, sources) {
    const { landlord_name: name, birth_date } = asked
    return answerWithName({ name, birth_date }, sources, (names) => {
      const { check, iban_country, property_country, ...risk } = depositRisk(asked)
      return {
        ...withRemark(bandAnswer(risk, nameConcern(names), RECOMMENDATIONS), names),
        iban: { ...check },
        iban_country,
        property_country,
        data_as_of: IBAN_DATA_AS_OF,
      }
    })
  },
})
