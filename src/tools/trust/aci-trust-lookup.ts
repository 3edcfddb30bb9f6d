import { z } from 'zod'
import { answerAci, EDGE_REASONS } from '../../pure/rulebooks/aci1.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { RULE_BOOK } from '../../service/catalogue/schemas.ts'

const EDGES_MAX = 32
const SUBJECT_CHARS = 69
const TIME = z.int().min(0).max(999_999_999_999)
const RATE = z.number().min(0).max(1).optional()
const BP = z.int().min(0).max(10_000)
const VOID_REASONS = Object.keys(EDGE_REASONS) as (keyof typeof EDGE_REASONS)[]

const EDGE = z.strictObject({
  sponsor: z.string().max(64).describe('Address that vouches and signs.'),
  subject: z.string().max(SUBJECT_CHARS).describe('Whom it vouches for: the subject of the call.'),
  scope: z.string().max(64).describe('The role that is vouched for: payer, seller or any.'),
  issued_at: TIME.describe('Seconds since 1970.'),
  expires_at: TIME.describe('Last second, since 1970.'),
  signature: z
    .string()
    .max(256)
    .describe('65 bytes as hex, low s, over keccak-256 of ACI-1-EDGE and the five fields above, joined by |, addresses in lower case.'),
})

const GATE = {
  gate: z
    .enum(['score_bp', 'settled_calls_90d', 'success_lower_bp', 'dispute_upper_bp', 'first_seen_days'])
    .describe('What it asks about.'),
  needed: z.number().describe('At least this; of dispute_upper_bp, at most.'),
  have: z.number().describe('What there is; for T3 the score without sponsors.'),
}

/** Trust tier of an agent from the figures of its last ninety days, by a published table. */
export default defineTool({
  id: 'aci-trust-lookup',
  title: 'Grade a counterparty (ACI-1)',
  description:
    'Grades a counterparty T0-T3 from figures that you supply: settled calls, success and dispute rates, age, signed sponsor edges. Rates count ' +
    'by their cautious 95 % bounds, so small samples stay low. Returns score, success rate, suggested exposure and what the next tier needs. ' +
    'Looks nothing up; advisory only.',
  family: 'trust',
  version: '1.0.1',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['the figures against the published table', 'signature, subject, role and time of each sponsor edge'],
    not_checked: ['that the figures are true', 'who controls an address, a c402 name or a sponsor', 'what happens after today'],
  },
  headline: [
    { when: { tier: 'T0' }, tone: 'caution', word: 'TIER T0', sentence: 'The lowest tier: score {score_bp} of 10000. Advisory only.' },
    { when: { tier: 'T1' }, tone: 'neutral', word: 'TIER T1', sentence: 'Score {score_bp} of 10000. Advisory only.' },
    { when: { tier: 'T2' }, tone: 'good', word: 'TIER T2', sentence: 'Score {score_bp} of 10000. Advisory only.' },
    { when: { tier: 'T3' }, tone: 'good', word: 'TIER T3', sentence: 'The highest tier: score {score_bp} of 10000. Advisory only.' },
  ],
  sources: ['clock', 'crypto'],
  input: z.strictObject({
    subject: z
      .string()
      .max(SUBJECT_CHARS)
      .regex(/^(?:0x[0-9a-fA-F]{40}|c402:[a-z0-9._-]{1,64})$/)
      .describe('EVM address, or c402: and a name of a-z 0-9 . _ -; a name is not resolved.'),
    role: z.enum(['payer', 'seller']).optional().describe('In which role it is graded; payer when absent.'),
    settled_calls_90d: z.int().min(0).max(1_000_000_000).optional().describe('Calls settled in the last 90 days; 0 when absent.'),
    settlement_success_rate: RATE.describe('Share of calls that settled, 0 to 1; 0 when absent.'),
    dispute_loss_rate: RATE.describe('Share of calls that ended in a lost dispute, 0 to 1; 1 when absent.'),
    first_seen_days: z.number().min(0).max(100_000).optional().describe('Days since it was first seen; 0 when absent.'),
    sponsor_attestations: z.array(EDGE).max(EDGES_MAX).optional().describe('Signed sponsor edges; at most five sponsors count.'),
  }),
  output: z.strictObject({
    ok: z.literal(true).describe('The figures were graded.'),
    tier: z.enum(['T0', 'T1', 'T2', 'T3']).describe('The highest tier all of whose gates are passed.'),
    subject: z.string().describe('As it was graded; addresses in lower case.'),
    role: z.enum(['payer', 'seller']).describe('The role.'),
    score_bp: BP.describe('Sum of the points, 0-10,000.'),
    success_rate: z.number().min(0).max(1).describe('Cautious: the lower bound below, as a share.'),
    success_lower_bp: BP.describe('Lower 95 % bound of the success rate, basis points.'),
    dispute_upper_bp: BP.describe('Upper 95 % bound of the dispute rate, basis points.'),
    max_suggested_exposure_minor: z.string().describe('Cap of the tier times score, whole dollars, in USDC minor units.'),
    unsettled_exposure_hint_minor: z.string().describe('The same sum: what may be open at any one time.'),
    components: z
      .array(
        z.strictObject({
          component: z.enum(['volume', 'success', 'disputes', 'age', 'sponsors']).describe('Part of the score.'),
          points: BP.describe('What it gave.'),
          most_points: BP.describe('What it can give.'),
          explanation: z.string().describe('What it rests on.'),
        }),
      )
      .describe('The parts of the score, the weightiest for the role first.'),
    evidence: z
      .array(
        z.strictObject({
          figure: z.string().describe('Name of the input.'),
          value: z.number().describe('As it was counted.'),
          basis: z.enum(['caller_supplied_unverified', 'missing_worst_assumed', 'signatures_verified']).describe('Source of the value.'),
        }),
      )
      .describe('What the grade rests on.'),
    sponsors: z
      .array(
        z.strictObject({
          index: z.int().min(0).max(EDGES_MAX).describe('Place in the input.'),
          sponsor: z.string().nullable().describe('Address, or null when unreadable.'),
          counted: z.boolean().describe('Whether the edge is valid.'),
          void_reason: z.enum(VOID_REASONS).nullable().describe('Why it is void.'),
          message: z.string().nullable().describe('One sentence.'),
        }),
      )
      .describe('Each sponsor edge.'),
    gates_failed: z
      .array(z.strictObject({ tier: z.enum(['T1', 'T2', 'T3']).describe('Tier that asks it.'), ...GATE }))
      .describe('All that keeps the subject out of higher tiers.'),
    next_tier: z.enum(['T1', 'T2', 'T3']).nullable().describe('null at T3.'),
    next_tier_requirements: z.array(z.strictObject(GATE)).describe('What the next tier still needs.'),
    policy_notice: z.string().describe('How far the grade reaches.'),
    receipt_digest: z.null().describe('Always null: the receipt that covers this result is a separate member of the answer.'),
    ...RULE_BOOK,
    evaluated_at: z.string().describe('Time of the answer, against which edges expire.'),
  }),
  example: {
    subject: 'c402:acme.shop',
    role: 'seller',
    settled_calls_90d: 200,
    settlement_success_rate: 1,
    dispute_loss_rate: 0,
    first_seen_days: 60,
  },
  run({ subject, role = 'payer', sponsor_attestations = [], ...figures }, { clock, crypto }) {
    const now_ms = clock.now_ms()
    const now_s = Math.floor(now_ms / 1_000)
    return {
      ok: true as const,
      ...answerAci({ subject, role, figures, edges: sponsor_attestations, now_s }, crypto),
      evaluated_at: new Date(now_ms).toISOString(),
    }
  },
})
