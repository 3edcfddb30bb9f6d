import { z } from 'zod'
import { bandWithConcern, listingRisk, TENANCY, TENANCY_HEADLINES, type Band } from '../../pure/rulebooks/tenancy.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { answerWithName, LANDLORD_INPUT, LANDLORD_OUTPUT, LANDLORD_SCOPE, nameConcern, packInput } from '../../service/catalogue/packs.ts'

const RECOMMENDATIONS: Readonly<Record<Band, string>> = {
  low: 'Little speaks against the listing. View the place and see the contract before you pay.',
  elevated: 'Ask about each flag, and pay nothing before a viewing.',
  high: 'Do not pay and send no documents before each flag is explained.',
  critical: 'Leave it: this is how rental fraud looks.',
}

const SIGNAL = z.boolean().optional()

// Without any observation there is nothing to judge, and "low" would be a lie.
const INPUT = packInput(
  {
    payment_irreversible: SIGNAL.describe('Payment is asked by transfer service, gift card, crypto or otherwise without return.'),
    contact_moves_offplatform: SIGNAL.describe('The contact is moved off the platform of the listing.'),
    landlord_abroad_cannot_meet: SIGNAL.describe('The landlord claims to be abroad and unable to meet.'),
    no_in_person_viewing: SIGNAL.describe('The place cannot be viewed in person.'),
    urgency_pressure: SIGNAL.describe('There is pressure to decide immediately.'),
    photos_reverse_image_hit: SIGNAL.describe('A reverse image search finds the photos elsewhere.'),
    identity_docs_requested_upfront: SIGNAL.describe('Identity documents are asked before anything else.'),
    price_below_market_pct: z.number().min(-1_000).max(100).optional().describe('Percent below the usual rent; negative when above.'),
  },
  LANDLORD_INPUT,
)

/** Scores signs of fraud in a rental listing, point by point. */
export default defineTool({
  id: 'rental-listing-risk',
  title: 'Rate the risk of a rental listing',
  description:
    'Adds up what speaks against a rental listing, from your own observations: each factor has its points in a published rule book, and the ' +
    'answer names those that were found. The same observations always give the same score. Give at least one.',
  family: 'packs',
  version: '1.2.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['your observations against the rule book', LANDLORD_SCOPE.checked],
    not_checked: ['the listing, its photos and its price themselves', 'that your observations are so', LANDLORD_SCOPE.not_checked],
  },
  headline: TENANCY_HEADLINES,
  sources: ['clock', 'screening'],
  input: INPUT,
  output: z.strictObject({
    risk_score: z.int().min(0).max(100).describe('Sum of the points, at most 100.'),
    band: z
      .enum(['low', 'elevated', 'high', 'critical'])
      .describe('0-19, 20-44, 45-69, 70-100; at least elevated with a name that a person must look at.'),
    recommendation: z.string().describe('What to do.'),
    flags: z
      .array(
        z.strictObject({
          factor: z.string().describe('Name of the factor in the rule book.'),
          points: z.int().min(0).max(100).describe('What it weighs.'),
          reason: z.string().describe('Why it was found.'),
        }),
      )
      .describe('The factors that were found; their points add up to the score.'),
    flags_fired: z.int().min(0).max(100).describe('How many.'),
    standard: z.string().describe('The rule book.'),
    policy_hash: z.string().describe('keccak-256 of the canonical text of {standard, table}.'),
    ...LANDLORD_OUTPUT,
  }),
  example: { payment_irreversible: true, no_in_person_viewing: true, price_below_market_pct: 38 },
  run(asked, sources) {
    const { landlord_name: name, country, birth_date, ...signals } = asked
    return answerWithName({ name, country, birth_date }, sources, (names) => {
      const { score, band: by_score, fired } = listingRisk(signals)
      const concern = nameConcern(names)
      const band = bandWithConcern(by_score, concern)
      return {
        risk_score: score,
        band,
        recommendation: concern === null ? RECOMMENDATIONS[band] : `${concern} ${RECOMMENDATIONS[band]}`,
        flags: fired,
        flags_fired: fired.length,
        standard: TENANCY.standard,
        policy_hash: TENANCY.policy_hash,
        data_as_of: {},
      }
    })
  },
})
