import { z } from 'zod'
import { rateTenancy } from '../../pure/rulebooks/tenancy.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import {
  answerWithName,
  LANDLORD_INPUT,
  LANDLORD_OUTPUT,
  LANDLORD_SCOPE,
  nameConcern,
  withNameRemark,
} from '../../service/catalogue/packs.ts'
import { COUNTRY_CODE, DATA_AS_OF, IDENTIFIER, RULE_BOOK } from '../../service/catalogue/schemas.ts'

const SIGNAL = z.boolean().optional()
const SCORE = z.int().min(0).max(100)
const CHECK = z.record(z.string(), z.unknown())

/** One verdict on a tenancy: the account, the landlord's numbers and the listing. */
export default defineTool({
  id: 'rental-verdict',
  title: 'One verdict on a tenancy',
  description:
    'Combines the account for the deposit, its country, the landlord’s LEI and UK company number and what you observed of the listing into ' +
    'PROCEED, CAUTION or STOP. Score: the higher of deposit and listing, a third of the lower, and the landlord’s points.',
  family: 'packs',
  version: '1.4.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: [
      'IBAN, LEI and UK company number by their own rules',
      'country of the account',
      'your observations against the rule book',
      LANDLORD_SCOPE.checked,
    ],
    not_checked: [
      'who owns the account or the place',
      'that the landlord is registered',
      'that your observations are so',
      LANDLORD_SCOPE.not_checked,
    ],
  },
  headline: [
    { when: { verdict: 'STOP' }, tone: 'bad', word: 'STOP', sentence: '{summary}' },
    { when: { verdict: 'CAUTION' }, tone: 'caution', word: 'CAUTION', sentence: '{summary}' },
    { when: { verdict: 'PROCEED' }, tone: 'good', word: 'PROCEED', sentence: '{summary}' },
  ],
  sources: ['clock', 'names'],
  reads_outside: ({ landlord_name }) => landlord_name !== undefined,
  input: z.strictObject({
    deposit_iban: IDENTIFIER.describe('The account that the deposit is asked to.'),
    property_country: COUNTRY_CODE.optional().describe('Country of the property; ISO 3166-1 alpha-2.'),
    deposit_before_viewing: SIGNAL.describe('Whether the deposit is asked before a viewing.'),
    landlord_lei: IDENTIFIER.optional().describe('LEI of the landlord; Legal Entity Identifier of 20 characters.'),
    landlord_company_no: IDENTIFIER.optional().describe('UK company number of the landlord.'),
    payment_irreversible: SIGNAL.describe('Payment is asked by transfer service, gift card, crypto or otherwise without return.'),
    contact_moves_offplatform: SIGNAL.describe('The contact is moved off the platform of the listing.'),
    no_in_person_viewing: SIGNAL.describe('The place cannot be viewed in person.'),
    urgency_pressure: SIGNAL.describe('There is pressure to decide immediately.'),
    price_below_market_pct: z.number().min(-1_000).max(100).optional().describe('Percent below the usual rent; negative when above.'),
    ...LANDLORD_INPUT,
  }),
  output: z.strictObject({
    verdict: z
      .enum(['PROCEED', 'CAUTION', 'STOP'])
      .describe(
        'Below 20, below 45, from 45; at least CAUTION with a value that is invalid or has a warning, or a name that a person must look at.',
      ),
    risk_score: SCORE.describe('The score of the verdict.'),
    band: z
      .enum(['low', 'elevated', 'high', 'critical'])
      .describe('0-19, 20-44, 45-69, 70-100; at least elevated with such a value or name.'),
    summary: z.string().describe('One sentence.'),
    flags: z
      .array(
        z.strictObject({
          component: z.enum(['deposit', 'listing', 'landlord']).describe('Where it was found.'),
          factor: z.string().describe('Name of the factor in the rule book.'),
          points: SCORE.describe('What it weighs in its component.'),
          reason: z.string().describe('Why it was found.'),
        }),
      )
      .describe('The factors that were found.'),
    components: z
      .strictObject({
        deposit_score: SCORE.describe('0-100.'),
        listing_score: SCORE.describe('0-100.'),
        landlord_points: SCORE.describe('Added as they are.'),
      })
      .describe('What the score is made of.'),
    checks: z
      .strictObject({
        deposit_iban: CHECK.describe('As iban-check answers.'),
        landlord_lei: CHECK.nullable().describe('As lei-check answers, or null.'),
        landlord_company_no: CHECK.nullable().describe('As company-number-format answers, or null.'),
      })
      .describe('The checks of the identifiers.'),
    ...RULE_BOOK,
    ...LANDLORD_OUTPUT,
    data_as_of: DATA_AS_OF,
  }),
  example: { deposit_iban: 'GB82 WEST 1234 5698 7654 32', property_country: 'GB', landlord_company_no: '00000006', urgency_pressure: true },
  run(asked, sources) {
    const { landlord_name: name, birth_date } = asked
    return answerWithName({ name, birth_date }, sources, (names) => {
      const answer = rateTenancy(asked, nameConcern(names))
      return { ...answer, summary: withNameRemark(answer.summary, names) }
    })
  },
})
