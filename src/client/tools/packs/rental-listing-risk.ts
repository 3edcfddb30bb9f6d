// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Scope } from '../shapes.ts'

/** Rate the risk of a rental listing. */
export interface RentalListingRiskInput {
  /** Payment is asked by transfer service, gift card, crypto or otherwise without return. */
  payment_irreversible?: boolean
  /** The contact is moved off the platform of the listing. */
  contact_moves_offplatform?: boolean
  /** The landlord says to be abroad and unable to meet. */
  landlord_abroad_cannot_meet?: boolean
  /** The place cannot be viewed in person. */
  no_in_person_viewing?: boolean
  /** There is pressure to decide at once. */
  urgency_pressure?: boolean
  /** A reverse image search finds the photos elsewhere. */
  photos_reverse_image_hit?: boolean
  /** Identity documents are asked before anything else. */
  identity_docs_requested_upfront?: boolean
  /** Percent below the usual rent; negative when above. */
  price_below_market_pct?: number
}

export interface RentalListingRiskOutput {
  /** Sum of the points, at most 100. */
  risk_score: number
  /** 0-19, 20-44, 45-69, 70-100. */
  band: 'low' | 'elevated' | 'high' | 'critical'
  /** What to do. */
  recommendation: string
  /** The factors that were found; their points add up to the score. */
  flags: readonly { factor: string; points: number; reason: string }[]
  /** How many. */
  flags_fired: number
  /** The rule book. */
  standard: string
  /** keccak-256 of the canonical text of {standard, table}. */
  policy_hash: string
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'rental-listing-risk'
}
