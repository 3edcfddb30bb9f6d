import { z } from 'zod'
import { ASSURED, type AssuredOffer, quoteAssured, RAILS, SETTLING_EVIDENCE } from '../../pure/rulebooks/assured.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { ASSURED_ASKED, RULE_BOOK } from '../../service/catalogue/schemas.ts'

const BPS = z.int().min(0).max(10_000)

/** Terms of the assured lane for a notional amount. */
export default defineTool({
  id: 'assured-quote',
  title: 'Quote the assured lane',
  description:
    'Quotes assured terms for a notional amount in USDC minor units: 20 bps, 15 or 10 at committed volume, 5 more with proof of delivery, USD 25 ' +
    'to 25,000. Tier T0 is refused; above the tier’s advisory cap, or without a tier, proof of delivery and an insurance referral are required. ' +
    'Binds nothing, moves no money.',
  family: 'trust',
  version: '1.0.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['the amount against the published table', 'the tier’s advisory cap'],
    not_checked: ['that the counterparty has this tier', 'that anything was delivered or paid', 'that an insurer would cover it'],
  },
  headline: [
    { when: { status: 'QUOTED' }, tone: 'good', word: 'QUOTED' },
    { when: { status: 'ESCALATED' }, tone: 'caution', word: 'ESCALATED' },
    { when: { status: 'REFUSED' }, tone: 'bad', word: 'REFUSED' },
  ],
  sources: [],
  input: ASSURED_ASKED,
  output: z.strictObject({
    status: z.enum(['QUOTED', 'ESCALATED', 'REFUSED']).describe('ESCALATED: with proof of delivery and an insurance referral.'),
    reason: z.string().describe('One sentence.'),
    notional_minor: z.string().describe('As given.'),
    rail: z.enum(RAILS).describe('As given.'),
    settling_evidence: z.enum(['settled_nonce', 'statement_entry']).describe('What shows that money moved on this rail.'),
    counterparty_tier: z.enum(['unassessed', 'T0', 'T1', 'T2', 'T3']).describe('unassessed when none was given.'),
    advisory_cap_minor: z.string().nullable().describe('Of the tier; null when refused.'),
    rate_bps: BPS.nullable().describe('By committed volume.'),
    pod_bps: BPS.nullable().describe('For proof of delivery.'),
    total_bps: BPS.nullable().describe('Both together.'),
    premium_minor: z.string().nullable().describe('The fee, rounded up, within its bounds.'),
    unbounded_premium_minor: z.string().nullable().describe('Before minimum and cap.'),
    bound: z.enum(['none', 'minimum', 'cap']).nullable().describe('Which of them applied.'),
    pod_required: z.boolean().nullable().describe('Whether a POD-1 delivery proof is required.'),
    insurance_referral: z.boolean().nullable().describe('Whether the case is referred to insurers.'),
    escalation: z.enum(['tier_unassessed', 'above_advisory_cap']).nullable().describe('Why it escalates.'),
    dispute_window_days: z.int().min(0).max(365).describe('From the date of the receipt.'),
    remedy: z.literal('verdict_only').describe('What a dispute yields.'),
    premium_notice: z.string().describe('When the premium is paid.'),
    terms_notice: z.string().describe('What the terms are.'),
    ...RULE_BOOK,
  }),
  example: { notional_minor: '50000000000', rail: 'crypto', counterparty_tier: 'T2' },
  run(asked) {
    const quote = quoteAssured(asked)
    return {
      ...(quote.kind === 'refused' ? REFUSED : offered(quote, asked.rail)),
      notional_minor: asked.notional_minor,
      rail: asked.rail,
      settling_evidence: SETTLING_EVIDENCE[asked.rail],
      counterparty_tier: asked.counterparty_tier ?? ('unassessed' as const),
      dispute_window_days: ASSURED.table.dispute_window_days,
      remedy: 'verdict_only' as const,
      premium_notice: 'The premium is invoiced afterwards.',
      terms_notice: 'Terms are records, not payment instruments.',
      standard: ASSURED.standard,
      policy_hash: ASSURED.policy_hash,
    }
  },
})

const REFUSED = {
  status: 'REFUSED' as const,
  reason: 'The assured lane does not take counterparties of tier T0.',
  advisory_cap_minor: null,
  rate_bps: null,
  pod_bps: null,
  total_bps: null,
  premium_minor: null,
  unbounded_premium_minor: null,
  bound: null,
  pod_required: null,
  insurance_referral: null,
  escalation: null,
}

function offered(offer: AssuredOffer, rail: string) {
  const { rate_bps, pod_bps, total_bps, bound, pod_required, insurance_referral, escalation } = offer
  return {
    status: escalation === null ? ('QUOTED' as const) : ('ESCALATED' as const),
    reason: escalation === null ? `Within the tier’s advisory cap, on the ${rail} rail.` : ESCALATIONS[escalation],
    advisory_cap_minor: String(offer.advisory_cap_minor),
    rate_bps,
    pod_bps,
    total_bps,
    premium_minor: String(offer.premium_minor),
    unbounded_premium_minor: String(offer.unbounded_premium_minor),
    bound,
    pod_required,
    insurance_referral,
    escalation,
  }
}

const ESCALATIONS = {
  tier_unassessed: 'No tier was given: proof of delivery and an insurance referral are required.',
  above_advisory_cap: 'Above the tier’s advisory cap: proof of delivery and an insurance referral are required.',
} as const
