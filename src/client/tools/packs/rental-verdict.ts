// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Scope } from '../shapes.ts'

/** One verdict on a tenancy. */
export interface RentalVerdictInput {
  /** The account that the deposit is asked to. */
  deposit_iban: string
  /** Country of the property, ISO 3166-1 alpha-2. */
  property_country?: string
  /** Whether the deposit is asked before a viewing. */
  deposit_before_viewing?: boolean
  /** Legal Entity Identifier of the landlord. */
  landlord_lei?: string
  /** UK company number of the landlord. */
  landlord_company_no?: string
  /** Payment is asked by transfer service, gift card, crypto or otherwise without return. */
  payment_irreversible?: boolean
  /** The contact is moved off the platform of the listing. */
  contact_moves_offplatform?: boolean
  /** The place cannot be viewed in person. */
  no_in_person_viewing?: boolean
  /** There is pressure to decide at once. */
  urgency_pressure?: boolean
  /** Percent below the usual rent; negative when above. */
  price_below_market_pct?: number
}

export interface RentalVerdictOutput {
  /** Below 20, below 45, from 45. */
  verdict: 'PROCEED' | 'CAUTION' | 'STOP'
  /** The score of the verdict. */
  risk_score: number
  /** 0-19, 20-44, 45-69, 70-100. */
  band: 'low' | 'elevated' | 'high' | 'critical'
  /** One sentence. */
  summary: string
  /** The factors that were found. */
  flags: readonly { component: 'deposit' | 'listing' | 'landlord'; factor: string; points: number; reason: string }[]
  /** What the score is made of. */
  components: { deposit_score: number; listing_score: number; landlord_points: number }
  /** The checks of the identifiers. */
  checks: {
    deposit_iban: Readonly<Record<string, unknown>>
    landlord_lei: Readonly<Record<string, unknown>> | null
    landlord_company_no: Readonly<Record<string, unknown>> | null
  }
  /** The rule book. */
  standard: string
  /** keccak-256 of the canonical text of {standard, table}. */
  policy_hash: string
  /** Publication date or release of each reference table used; "compiled <date>" where a person compiled it. */
  data_as_of: Readonly<Record<string, string>>
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'rental-verdict'
}
