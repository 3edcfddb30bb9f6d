import { z } from 'zod'
import { IBAN_DATA_AS_OF } from '../../pure/checks/iban.ts'
import { bandWithConcern, depositRisk, TENANCY, TENANCY_HEADLINES, type Band } from '../../pure/rulebooks/tenancy.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { answerWithName, LANDLORD_INPUT, LANDLORD_OUTPUT, LANDLORD_SCOPE, nameConcern } from '../../service/catalogue/packs.ts'
import { IDENTIFIER } from '../../service/catalogue/schemas.ts'

const RECOMMENDATIONS: Readonly<Record<Band, string>> = {
  low: 'Nothing here speaks against the account. View the place and see the contract before you pay.',
  elevated: 'Ask why, and pay only after a viewing and to an account that you have checked with the landlord.',
  high: 'Do not pay before each flag is explained and you have seen the place and the landlord.',
  critical: 'Do not pay to this account.',
}

const FLAG = z.strictObject({
  factor: z.string().describe('Name of the factor in the rule book.'),
  points: z.int().min(0).max(100).describe('What it weighs.'),
  reason: z.string().describe('Why it was found.'),
})

/** Lists reasons not to pay a rental deposit to an account. */
export default defineTool({
  id: 'rent-deposit-guard',
  title: 'Check where a rental deposit goes',
  description:
    'Checks the IBAN for a rental deposit and whether its country is that of the property, and flags deposits asked before a viewing. Adds ' +
    'up named factors of a published rule book to a score of 0-100. Does not establish whose account it is.',
  family: 'packs',
  version: '1.2.0',
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
  sources: ['clock', 'screening'],
  input: z.strictObject({
    deposit_iban: IDENTIFIER.describe('The account that the deposit is asked to.'),
    property_country: z
      .string()
      .max(2)
      .regex(/^[A-Za-z]{2}$/)
      .optional()
      .describe('Country of the property; ISO 3166-1 alpha-2.'),
    deposit_before_viewing: z.boolean().optional().describe('Whether the deposit is asked before a viewing.'),
    ...LANDLORD_INPUT,
  }),
  output: z.strictObject({
    risk_score: z.int().min(0).max(100).describe('Sum of the points, at most 100.'),
    band: z
      .enum(['low', 'elevated', 'high', 'critical'])
      .describe('0-19, 20-44, 45-69, 70-100; at least elevated with a name that a person must look at.'),
    recommendation: z.string().describe('What to do.'),
    flags: z.array(FLAG).describe('The factors that were found; their points add up to the score.'),
    flags_fired: z.int().min(0).max(100).describe('How many.'),
    iban: z.record(z.string(), z.unknown()).describe('As iban-check answers.'),
    iban_country: z.string().nullable().describe('Country read off the IBAN, or null.'),
    property_country: z.string().nullable().describe('Country of the property as it was read, or null.'),
    standard: z.string().describe('The rule book.'),
    policy_hash: z.string().describe('keccak-256 of the canonical text of {standard, table}.'),
    ...LANDLORD_OUTPUT,
  }),
  example: { deposit_iban: 'GB82 WEST 1234 5698 7654 32', property_country: 'GB', deposit_before_viewing: true },
  run(asked, sources) {
    const { landlord_name: name, country, birth_date } = asked
    return answerWithName({ name, country, birth_date }, sources, (names) => {
      const { check, score, band: by_score, fired, iban_country, property_country } = depositRisk(asked)
      const concern = nameConcern(names)
      const band = bandWithConcern(by_score, concern)
      return {
        risk_score: score,
        band,
        recommendation: concern === null ? RECOMMENDATIONS[band] : `${concern} ${RECOMMENDATIONS[band]}`,
        flags: fired,
        flags_fired: fired.length,
        iban: { ...check },
        iban_country,
        property_country,
        standard: TENANCY.standard,
        policy_hash: TENANCY.policy_hash,
        data_as_of: IBAN_DATA_AS_OF,
      }
    })
  },
})
