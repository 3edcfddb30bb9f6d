import { ruleBook, type RuleBook } from './rule-book.ts'
import { lowerBoundBp, upperBoundBp } from './aci1-wilson.ts'

/** How far an agent may be trusted on figures that somebody supplied. Each number is a judgement; the table is there to be seen and replaced. */
export const ACI_TABLE = {
  /** Bounds of both rates: Wilson score interval, z in thousandths, rounded against the agent to whole basis points. */
  interval: { kind: 'wilson_score', z_milli: 1_960 },
  /** Points in basis points of the score; the best step that is reached counts. */
  volume: [
    { calls: 1, points: 250 },
    { calls: 10, points: 750 },
    { calls: 50, points: 1_250 },
    { calls: 250, points: 1_750 },
    { calls: 1_000, points: 2_250 },
    { calls: 5_000, points: 2_500 },
  ],
  success: [
    { lower_bp: 8_000, points: 600 },
    { lower_bp: 9_000, points: 1_500 },
    { lower_bp: 9_500, points: 2_100 },
    { lower_bp: 9_800, points: 2_600 },
    { lower_bp: 9_900, points: 3_000 },
  ],
  disputes: [
    { upper_bp: 500, points: 400 },
    { upper_bp: 200, points: 1_000 },
    { upper_bp: 100, points: 1_500 },
    { upper_bp: 50, points: 2_000 },
    { upper_bp: 10, points: 2_500 },
  ],
  age: [
    { days: 7, points: 200 },
    { days: 30, points: 400 },
    { days: 90, points: 700 },
    { days: 180, points: 850 },
    { days: 365, points: 1_000 },
  ],
  sponsors: { points_each: 200, counted_at_most: 5 },
  /** All gates of a tier must be passed. The score for T3 is taken without sponsors. */
  tiers: {
    T1: { score: 1_500, calls: 25, lower_bp: 8_000, upper_bp: 1_500, days: 14, cap_usd: 1_000 },
    T2: { score: 5_000, calls: 200, lower_bp: 9_500, upper_bp: 300, days: 60, cap_usd: 25_000 },
    T3: { score: 8_000, calls: 1_000, lower_bp: 9_800, upper_bp: 100, days: 180, cap_usd: 250_000, without_sponsors: true },
  },
} as const

export type EarnedTier = keyof typeof ACI_TABLE.tiers
export type Tier = 'T0' | EarnedTier
export const ACI: RuleBook<typeof ACI_TABLE> = ruleBook('ACI-1', ACI_TABLE)

/** What was supplied; what is absent counts as the worst that it can be. */
export interface AciFigures {
  /** Whole calls settled in the last 90 days. */
  settled_calls_90d?: number | undefined
  /** 0 to 1. */
  settlement_success_rate?: number | undefined
  /** 0 to 1. */
  dispute_loss_rate?: number | undefined
  first_seen_days?: number | undefined
}

export const ACI_WORST: Readonly<Record<keyof AciFigures, number>> = {
  settled_calls_90d: 0,
  settlement_success_rate: 0,
  dispute_loss_rate: 1,
  first_seen_days: 0,
}

/** What the gates of a tier ask about. */
type Gate = 'score_bp' | 'settled_calls_90d' | 'success_lower_bp' | 'dispute_upper_bp' | 'first_seen_days'

interface FailedGate {
  tier: EarnedTier
  gate: Gate
  /** At least this; of `dispute_upper_bp`, at most. */
  needed: number
  have: number
}

export type AciComponent = 'volume' | 'success' | 'disputes' | 'age' | 'sponsors'

export interface AciGrade {
  tier: Tier
  /** 0 to 10,000. */
  score_bp: number
  success_lower_bp: number
  dispute_upper_bp: number
  points: Record<AciComponent, number>
  /** Of every tier above the one reached, lowest tier first. */
  gates_failed: FailedGate[]
  /** What the tier's cap leaves at this score, in whole dollars as millionths. */
  exposure_minor: bigint
}

/** The most points that a component gives. */
export function mostPoints({ table } = ACI): Record<AciComponent, number> {
  const { points_each, counted_at_most } = table.sponsors
  const most = (steps: readonly { points: number }[]) => Math.max(...steps.map(({ points }) => points))
  return {
    volume: most(table.volume),
    success: most(table.success),
    disputes: most(table.disputes),
    age: most(table.age),
    sponsors: points_each * counted_at_most,
  }
}

/**
 * Grades figures that nobody has checked. `sponsors` is the number of valid edges of different sponsors. A better figure never lowers score
 * or tier. Errs towards distrust in arithmetic, and towards trust as far as the figures are false.
 */
export function gradeAci(figures: AciFigures, sponsors: number, { table } = ACI): AciGrade {
  const calls = figures.settled_calls_90d ?? ACI_WORST.settled_calls_90d
  const { z_milli } = table.interval
  const days = figures.first_seen_days ?? ACI_WORST.first_seen_days
  const success_lower_bp = lowerBoundBp(figures.settlement_success_rate ?? ACI_WORST.settlement_success_rate, calls, z_milli)
  const dispute_upper_bp = upperBoundBp(figures.dispute_loss_rate ?? ACI_WORST.dispute_loss_rate, calls, z_milli)
  const points = {
    volume: best(table.volume, (step) => calls >= step.calls),
    success: best(table.success, (step) => success_lower_bp >= step.lower_bp),
    disputes: best(table.disputes, (step) => dispute_upper_bp <= step.upper_bp),
    age: best(table.age, (step) => days >= step.days),
    sponsors: table.sponsors.points_each * Math.min(sponsors, table.sponsors.counted_at_most),
  }
  const score_bp = Object.values(points).reduce((sum, one) => sum + one, 0)
  const reached = { score_bp, own_score_bp: score_bp - points.sponsors, calls, days, success_lower_bp, dispute_upper_bp }
  const failed = EARNED.map((tier) => ({ tier, gates: failedGates(tier, reached, table) }))
  const tier = failed.findLast(({ gates }) => gates.length === 0)?.tier ?? 'T0'
  const gates_failed = failed.filter((one) => isAbove(one.tier, tier)).flatMap(({ gates }) => gates)
  return { tier, score_bp, success_lower_bp, dispute_upper_bp, points, gates_failed, exposure_minor: exposure(tier, score_bp, table) }
}

const EARNED = ['T1', 'T2', 'T3'] as const satisfies EarnedTier[]
const TIERS: readonly Tier[] = ['T0', ...EARNED]

function isAbove(tier: Tier, other: Tier): boolean {
  return TIERS.indexOf(tier) > TIERS.indexOf(other)
}

/** The tier after this one; null for the highest. */
export function nextTier(tier: Tier): EarnedTier | null {
  return EARNED.find((candidate) => isAbove(candidate, tier)) ?? null
}

function best<Step extends { points: number }>(steps: readonly Step[], reaches: (step: Step) => boolean): number {
  return Math.max(0, ...steps.filter(reaches).map(({ points }) => points))
}

interface Reached {
  score_bp: number
  own_score_bp: number
  calls: number
  days: number
  success_lower_bp: number
  dispute_upper_bp: number
}

function failedGates(tier: EarnedTier, reached: Reached, { tiers }: typeof ACI_TABLE): FailedGate[] {
  const needed = tiers[tier]
  const score = 'without_sponsors' in needed ? reached.own_score_bp : reached.score_bp
  const gates: [Gate, number, number, boolean][] = [
    ['score_bp', needed.score, score, score >= needed.score],
    ['settled_calls_90d', needed.calls, reached.calls, reached.calls >= needed.calls],
    ['success_lower_bp', needed.lower_bp, reached.success_lower_bp, reached.success_lower_bp >= needed.lower_bp],
    ['dispute_upper_bp', needed.upper_bp, reached.dispute_upper_bp, reached.dispute_upper_bp <= needed.upper_bp],
    ['first_seen_days', needed.days, reached.days, reached.days >= needed.days],
  ]
  return gates.filter(([, , , passed]) => !passed).map(([gate, least, have]) => ({ tier, gate, needed: least, have }))
}

const WHOLE_BP = 10_000n
const MINOR_PER_USD = 1_000_000n

function exposure(tier: Tier, score_bp: number, { tiers }: typeof ACI_TABLE): bigint {
  const cap_usd = tier === 'T0' ? 0n : BigInt(tiers[tier].cap_usd)
  return ((cap_usd * BigInt(score_bp)) / WHOLE_BP) * MINOR_PER_USD
}
