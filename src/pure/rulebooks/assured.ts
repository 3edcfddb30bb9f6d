import { ruleBook, type RuleBook } from './rule-book.ts'
import type { Tier } from './aci1.ts'

/** What the assured lane asks, in millionths of a US dollar. Each number is a judgement; the table is there to be seen and replaced. */
export const ASSURED_TABLE = {
  /** Committed annual volume from which on a rate applies; the highest that is reached counts. */
  rates: [
    { from_minor: '0', bps: 20 },
    { from_minor: '10000000000000', bps: 15 },
    { from_minor: '100000000000000', bps: 10 },
  ],
  pod_bps: 5,
  /** Both hold for the whole premium, additions included. */
  least_minor: '25000000',
  most_minor: '25000000000',
  /** Above it the lane escalates. T0 is refused; without a tier everything is above. */
  advisory_cap_minor: { unassessed: '0', T1: '10000000000', T2: '100000000000', T3: '1000000000000' },
  dispute_window_days: 7,
} as const

export const ASSURED: RuleBook<typeof ASSURED_TABLE> = ruleBook('ASSURED-1', ASSURED_TABLE)

export const RAILS = ['crypto', 'fiat'] as const
export type Rail = (typeof RAILS)[number]

/** What a rail takes as evidence that money moved. */
export const SETTLING_EVIDENCE = { crypto: 'settled_nonce', fiat: 'statement_entry' } as const satisfies Record<Rail, string>

/** What is asked for. Amounts are decimal texts without leading zeros, in millionths of a US dollar. */
export interface AssuredAsked {
  notional_minor: string
  rail: Rail
  counterparty_tier?: Tier | undefined
  annual_volume_minor?: string | undefined
  pod_required?: boolean | undefined
}

export type EscalationReason = 'tier_unassessed' | 'above_advisory_cap'

export interface AssuredOffer {
  rate_bps: number
  pod_bps: number
  total_bps: number
  /** At `total_bps`, rounded up. */
  unbounded_premium_minor: bigint
  premium_minor: bigint
  bound: 'minimum' | 'cap' | 'none'
  advisory_cap_minor: bigint
  pod_required: boolean
  insurance_referral: boolean
  /** Null: the lane does not escalate. */
  escalation: EscalationReason | null
}

export type AssuredQuote = { kind: 'refused' } | ({ kind: 'offered' } & AssuredOffer)

const WHOLE_BP = 10_000n

/**
 * The terms for a notional amount. Refuses tier T0 and nothing else. The premium errs upwards by less than a millionth; it is never below the
 * exact basis points except where the cap cuts it.
 */
export function quoteAssured(asked: AssuredAsked, { table } = ASSURED): AssuredQuote {
  const { counterparty_tier: tier } = asked
  if (tier === 'T0') return { kind: 'refused' }
  const notional = BigInt(asked.notional_minor)
  const advisory_cap_minor = BigInt(table.advisory_cap_minor[tier ?? 'unassessed'])
  const above = notional > advisory_cap_minor ? 'above_advisory_cap' : null
  const escalation = tier === undefined ? 'tier_unassessed' : above
  const pod_required = escalation !== null || asked.pod_required === true
  const rate_bps = rateOf(BigInt(asked.annual_volume_minor ?? '0'), table)
  const pod_bps = pod_required ? table.pod_bps : 0
  const total_bps = rate_bps + pod_bps
  const premium = premiumOf(notional, BigInt(total_bps), table)
  const insurance_referral = escalation !== null
  return { kind: 'offered', rate_bps, pod_bps, total_bps, ...premium, advisory_cap_minor, pod_required, insurance_referral, escalation }
}

function rateOf(volume_minor: bigint, { rates }: typeof ASSURED_TABLE): number {
  const reached = rates.filter(({ from_minor }) => volume_minor >= BigInt(from_minor))
  return Math.min(...reached.map(({ bps }) => bps))
}

function premiumOf(notional_minor: bigint, bps: bigint, table: typeof ASSURED_TABLE) {
  const [least, most] = [BigInt(table.least_minor), BigInt(table.most_minor)]
  const exact = (notional_minor * bps + WHOLE_BP - 1n) / WHOLE_BP
  if (exact < least) return { unbounded_premium_minor: exact, premium_minor: least, bound: 'minimum' as const }
  if (exact > most) return { unbounded_premium_minor: exact, premium_minor: most, bound: 'cap' as const }
  return { unbounded_premium_minor: exact, premium_minor: exact, bound: 'none' as const }
}
