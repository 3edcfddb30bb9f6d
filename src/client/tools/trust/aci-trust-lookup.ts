// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Gate, Scope } from '../shapes.ts'

/** Grade a counterparty (ACI-1). */
export interface AciTrustLookupInput {
  /** EVM address, or c402: and a name of a-z 0-9 . _ -; a name is not resolved. */
  subject: string
  /** In which role it is graded; payer when absent. */
  role?: 'payer' | 'seller'
  /** Calls settled in the last 90 days; 0 when absent. */
  settled_calls_90d?: number
  /** Share of calls that settled, 0 to 1; 0 when absent. */
  settlement_success_rate?: number
  /** Share of calls that ended in a lost dispute, 0 to 1; 1 when absent. */
  dispute_loss_rate?: number
  /** Days since it was first seen; 0 when absent. */
  first_seen_days?: number
  /** Signed sponsor edges; at most five sponsors count. */
  sponsor_attestations?: readonly {
    sponsor: string
    subject: string
    scope: string
    issued_at: number
    expires_at: number
    signature: string
  }[]
}

export interface AciTrustLookupOutput {
  /** The figures were graded. */
  ok: true
  /** The highest tier all of whose gates are passed. */
  tier: 'T0' | 'T1' | 'T2' | 'T3'
  /** As it was graded; addresses in lower case. */
  subject: string
  /** The role. */
  role: 'payer' | 'seller'
  /** Sum of the points, 0-10,000. */
  score_bp: number
  /** Cautious: the lower bound below, as a share. */
  success_rate: number
  /** Lower 95 % bound of the success rate, basis points. */
  success_lower_bp: number
  /** Upper 95 % bound of the dispute rate, basis points. */
  dispute_upper_bp: number
  /** Cap of the tier times score, whole dollars, in USDC minor units. */
  max_suggested_exposure_minor: string
  /** The same sum: what may be open at any one time. */
  unsettled_exposure_hint_minor: string
  /** The parts of the score, the weightiest for the role first. */
  components: readonly {
    component: 'volume' | 'success' | 'disputes' | 'age' | 'sponsors'
    points: number
    most_points: number
    explanation: string
  }[]
  /** What the grade rests on. */
  evidence: readonly {
    figure: string
    value: number
    basis: 'caller_supplied_unverified' | 'missing_worst_assumed' | 'signatures_verified'
  }[]
  /** Each sponsor edge. */
  sponsors: readonly {
    index: number
    sponsor: string | null
    counted: boolean
    void_reason:
      | 'malformed'
      | 'wrong_subject'
      | 'self'
      | 'other_scope'
      | 'not_yet_valid'
      | 'expired'
      | 'duplicate_sponsor'
      | 'bad_signature'
      | null
    message: string | null
  }[]
  /** All that keeps the subject out of higher tiers. */
  gates_failed: readonly { tier: 'T1' | 'T2' | 'T3'; gate: Gate; needed: number; have: number }[]
  /** null at T3. */
  next_tier: 'T1' | 'T2' | 'T3' | null
  /** What the next tier still needs. */
  next_tier_requirements: readonly { gate: Gate; needed: number; have: number }[]
  /** How far the grade reaches. */
  policy_notice: string
  /** Always null: the receipt covers this result and stands beside it. */
  receipt_digest: null
  /** The rule book. */
  standard: string
  /** keccak-256 of the canonical text of {standard, table}. */
  policy_hash: string
  /** Time of the answer, against which edges expire. */
  evaluated_at: string
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'aci-trust-lookup'
}
