import { z } from 'zod'
import { bandAnswer, listingRisk, TENANCY_HEADLINES, type Band } from '../../pure/rulebooks/tenancy.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import {
  answerWithName,
  BAND_OUTPUT,
  LANDLORD_INPUT,
  LANDLORD_OUTPUT,
  LANDLORD_SCOPE,
  nameConcern,
  packInput,
  withRemark,
} from '../../service/catalogue/packs.ts'
import { RULE_BOOK } from '../../service/catalogue/schemas.ts'

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
  version: '1.3.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['your observations against the rule book', LANDLORD_SCOPE.checked],
    not_checked: ['the listing, its photos and its price themselves', 'that your observations are so', LANDLORD_SCOPE.not_checked],
  },
  headline: TENANCY_HEADLINES,
  sources: ['clock', 'names'],
  reads_outside: ({ landlord_name }) => landlord_name !== undefined,
  input: INPUT,
  output: z.strictObject({
    ...BAND_OUTPUT,
    ...RULE_BOOK,
    ...LANDLORD_OUTPUT,
  }),
  example: { payment_irreversible: true, no_in_person_viewing: true, price_below_market_pct: 38 },
  run(asked, sources) {
    const { landlord_name: name, country: _, birth_date, ...signals } = asked
    return answerWithName({ name, birth_date }, sources, (names) => {
      return {
        ...withRemark(bandAnswer(listingRisk(signals), nameConcern(names), RECOMMENDATIONS), names),
      }
    })
  },
})
