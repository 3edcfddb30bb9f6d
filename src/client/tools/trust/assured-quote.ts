// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Scope } from '../shapes.ts'

/** Quote the assured lane. */
export interface AssuredQuoteInput {
  /** Amount at stake in USDC minor units (1000000 = 1 USD), decimal text. */
  notional_minor: string
  /** Where the money moves; says which evidence settles. */
  rail: 'crypto' | 'fiat'
  /** ACI-1 tier; without one the lane escalates. */
  counterparty_tier?: 'T0' | 'T1' | 'T2' | 'T3'
  /** Committed annual volume in USDC minor units; 0 when absent. */
  annual_volume_minor?: string
  /** Whether a POD-1 delivery mandate applies. */
  pod_required?: boolean
}

export interface AssuredQuoteOutput {
  /** ESCALATED: with proof of delivery and an insurance referral. */
  status: 'QUOTED' | 'ESCALATED' | 'REFUSED'
  /** One sentence. */
  reason: string
  /** As given. */
  notional_minor: string
  /** As given. */
  rail: 'crypto' | 'fiat'
  /** What shows that money moved on this rail. */
  settling_evidence: 'settled_nonce' | 'statement_entry'
  /** unassessed when none was given. */
  counterparty_tier: 'unassessed' | 'T0' | 'T1' | 'T2' | 'T3'
  /** Of the tier; null when refused. */
  advisory_cap_minor: string | null
  /** By committed volume. */
  rate_bps: number | null
  /** For proof of delivery. */
  pod_bps: number | null
  /** Both together. */
  total_bps: number | null
  /** The fee, rounded up, within its bounds. */
  premium_minor: string | null
  /** Before minimum and cap. */
  unbounded_premium_minor: string | null
  /** Which of them applied. */
  bound: 'none' | 'minimum' | 'cap' | null
  /** Whether a POD-1 delivery proof is required. */
  pod_required: boolean | null
  /** Whether the case is referred to insurers. */
  insurance_referral: boolean | null
  /** Why it escalates. */
  escalation: 'tier_unassessed' | 'above_advisory_cap' | null
  /** From the date of the receipt. */
  dispute_window_days: number
  /** What a dispute yields. */
  remedy: 'verdict_only'
  /** When the premium is paid. */
  premium_notice: string
  /** What the terms are. */
  terms_notice: string
  /** The rule book. */
  standard: string
  /** keccak-256 of the canonical text of {standard, table}. */
  policy_hash: string
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'assured-quote'
}
