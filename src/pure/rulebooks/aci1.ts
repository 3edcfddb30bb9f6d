import { typedSigner } from '../payments/typed-data.ts'
import { type ReceiptCrypto, nobleCrypto } from '../receipts/crypto.ts'
import { ruleBook, type RuleBook } from './rule-book.ts'

/**
 * Sponsor edges of ACI-1: an address vouches for a subject, in one role or any, until a time. The edge is signed like a receipt: raw
 * keccak-256 over `ACI-1-EDGE`, sponsor, subject, scope, issued_at and expires_at joined by bars, a 65-byte signature with low s. No field
 * of the grammar can hold a bar, and the text can be neither an EIP-191 or EIP-712 message nor a transaction.
 *
 * An edge says that a key signed it. It costs nothing to make keys, so sponsors weigh little and never lift anybody to T3.
 */

export interface SponsorEdge {
  /** Address, letters of any case. */
  sponsor: string
  /** Address or `c402:` name. */
  subject: string
  /** The role that is vouched for: payer, seller or any. */
  scope: string
  /** Seconds since 1970, both included. */
  issued_at: number
  expires_at: number
  /** 0x-prefixed hex of 65 bytes. */
  signature: string
}

type Role = 'payer' | 'seller'

/** Reasons why an edge does not count, in the order of the checks. */
export const EDGE_REASONS = {
  malformed: 'A field of the edge does not have the form that ACI-1 requires.',
  wrong_subject: 'The edge vouches for another subject.',
  self: 'The sponsor and the subject are the same.',
  other_scope: 'The edge vouches for another role.',
  not_yet_valid: 'The edge is dated later than now.',
  expired: 'The edge has expired.',
  duplicate_sponsor: 'Another edge of this sponsor counts already.',
  bad_signature: 'The sponsor did not sign exactly this edge.',
} as const

type EdgeFault = keyof typeof EDGE_REASONS

interface EdgeValidation {
  /** Its place among the edges that were given. */
  index: number
  /** Lower-case address; null when none could be read. */
  sponsor: string | null
  /** Null: the edge counts. */
  void_reason: EdgeFault | null
}

/** A subject as it is compared and signed; null when it is neither an address nor a c402 name. Nothing is resolved. */
export function readSubject(text: string): string | null {
  if (C402.test(text)) return text
  return ADDRESS.test(text) ? text.toLowerCase() : null
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const C402 = /^c402:[a-z0-9._-]{1,64}$/
const SCOPES: readonly string[] = ['payer', 'seller', 'any']
/** As many digits as the date of a receipt may have. */
const TIME_MAX_S = 999_999_999_999

/** The text that is signed. Sponsor and address subjects are lower-case in it. */
export function edgeText({ sponsor, subject, scope, issued_at, expires_at }: Omit<SponsorEdge, 'signature'>): string {
  return `ACI-1-EDGE|${sponsor}|${subject}|${scope}|${issued_at}|${expires_at}`
}

interface EdgeQuestion {
  /** As `readSubject` gave it. */
  subject: string
  role: Role
  now_s: number
}

/** Says of each edge whether it counts, in the order given. Of several good edges of one sponsor the first counts. */
export function validateEdges(edges: readonly SponsorEdge[], asked: EdgeQuestion, crypto: ReceiptCrypto = nobleCrypto): EdgeValidation[] {
  const counted = new Set<string>()
  return edges.map((edge, index) => {
    const sponsor = ADDRESS.test(edge.sponsor) ? edge.sponsor.toLowerCase() : null
    const void_reason = sponsor === null ? 'malformed' : findEdgeFault({ ...edge, sponsor }, asked, counted, crypto)
    if (sponsor !== null && void_reason === null) counted.add(sponsor)
    return { index, sponsor, void_reason }
  })
}

function findEdgeFault(edge: SponsorEdge, asked: EdgeQuestion, counted: ReadonlySet<string>, crypto: ReceiptCrypto): EdgeFault | null {
  const subject = readSubject(edge.subject)
  if (subject === null || !SCOPES.includes(edge.scope) || !isTime(edge.issued_at) || !isTime(edge.expires_at)) return 'malformed'
  if (edge.expires_at < edge.issued_at) return 'malformed'
  if (subject !== asked.subject) return 'wrong_subject'
  if (subject === edge.sponsor) return 'self'
  if (edge.scope !== 'any' && edge.scope !== asked.role) return 'other_scope'
  if (edge.issued_at > asked.now_s) return 'not_yet_valid'
  if (edge.expires_at < asked.now_s) return 'expired'
  // Before the expensive signature check; the result is the same in either order.
  if (counted.has(edge.sponsor)) return 'duplicate_sponsor'
  const digest = crypto.keccak256(edgeText({ ...edge, subject }))
  return typedSigner(digest, edge.signature, crypto) === edge.sponsor ? null : 'bad_signature'
}

function isTime(seconds: number): boolean {
  return Number.isSafeInteger(seconds) && seconds >= 0 && seconds <= TIME_MAX_S
}

/** Trust tiers by figures that the caller supplied. Each number is a judgement; the table is published so that it can be checked and replaced. */
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

type EarnedTier = keyof typeof ACI_TABLE.tiers
export type Tier = 'T0' | EarnedTier
const ACI: RuleBook<typeof ACI_TABLE> = ruleBook('ACI-1', ACI_TABLE)

/** Supplied figures; a missing one counts as the worst value. */
export interface AciFigures {
  /** Whole calls settled in the last 90 days. */
  settled_calls_90d?: number | undefined
  /** 0 to 1. */
  settlement_success_rate?: number | undefined
  /** 0 to 1. */
  dispute_loss_rate?: number | undefined
  first_seen_days?: number | undefined
}

const ACI_WORST: Readonly<Record<keyof AciFigures, number>> = {
  settled_calls_90d: 0,
  settlement_success_rate: 0,
  dispute_loss_rate: 1,
  first_seen_days: 0,
}

/** Figures with a minimum or maximum for each tier. */
type Gate = 'score_bp' | 'settled_calls_90d' | 'success_lower_bp' | 'dispute_upper_bp' | 'first_seen_days'

interface FailedGate {
  tier: EarnedTier
  gate: Gate
  /** At least this; of `dispute_upper_bp`, at most. */
  needed: number
  have: number
}

type AciComponent = 'volume' | 'success' | 'disputes' | 'age' | 'sponsors'

interface AciGrade {
  tier: Tier
  /** 0 to 10,000. */
  score_bp: number
  success_lower_bp: number
  dispute_upper_bp: number
  points: Record<AciComponent, number>
  /** Of every tier above the one reached, lowest tier first. */
  gates_failed: FailedGate[]
  /** The tier's cap times the score, in whole dollars as millionths. */
  exposure_minor: bigint
}

/** The most points that a component gives. */
function mostPoints({ table } = ACI): Record<AciComponent, number> {
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
 * Grades unverified figures. `sponsors` is the number of valid edges of different sponsors. A better figure never lowers score or tier. The
 * arithmetic rounds towards distrust; false figures still raise the grade.
 */
export function gradeAci(figures: AciFigures, sponsors: number, { table } = ACI): AciGrade {
  const calls = figures.settled_calls_90d ?? ACI_WORST.settled_calls_90d
  const { z_milli } = table.interval
  const days = figures.first_seen_days ?? ACI_WORST.first_seen_days
  const success_lower_bp = lowerBoundBp(figures.settlement_success_rate ?? ACI_WORST.settlement_success_rate, calls, z_milli)
  const dispute_upper_bp = upperBoundBp(figures.dispute_loss_rate ?? ACI_WORST.dispute_loss_rate, calls, z_milli)
  const points = {
    volume: bestStep(table.volume, (step) => calls >= step.calls),
    success: bestStep(table.success, (step) => success_lower_bp >= step.lower_bp),
    disputes: bestStep(table.disputes, (step) => dispute_upper_bp <= step.upper_bp),
    age: bestStep(table.age, (step) => days >= step.days),
    sponsors: table.sponsors.points_each * Math.min(sponsors, table.sponsors.counted_at_most),
  }
  const score_bp = Object.values(points).reduce((sum, one) => sum + one, 0)
  const reached = { score_bp, own_score_bp: score_bp - points.sponsors, calls, days, success_lower_bp, dispute_upper_bp }
  const failed = EARNED.map((tier) => ({ tier, gates: failedGates(tier, reached, table) }))
  const tier = failed.findLast(({ gates }) => gates.length === 0)?.tier ?? 'T0'
  const gates_failed = failed.filter((one) => isAbove(one.tier, tier)).flatMap(({ gates }) => gates)
  return { tier, score_bp, success_lower_bp, dispute_upper_bp, points, gates_failed, exposure_minor: tierExposure(tier, score_bp, table) }
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

function bestStep<Step extends { points: number }>(steps: readonly Step[], reaches: (step: Step) => boolean): number {
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

function tierExposure(tier: Tier, score_bp: number, { tiers }: typeof ACI_TABLE): bigint {
  const cap_usd = tier === 'T0' ? 0n : BigInt(tiers[tier].cap_usd)
  return ((cap_usd * BigInt(score_bp)) / WHOLE_BP) * MINOR_PER_USD
}

/** One part of a score, and what it rests on. */
interface ExplainedComponent {
  component: AciComponent
  points: number
  most_points: number
  explanation: string
}

const ORDER: Readonly<Record<Role, readonly AciComponent[]>> = {
  payer: ['volume', 'success', 'disputes', 'age', 'sponsors'],
  // A buyer first asks how often a seller lost disputes; the points are the same.
  seller: ['disputes', 'success', 'volume', 'age', 'sponsors'],
}

/** The parts of a score, the one that matters most to the role first. */
function explainScore(grade: AciGrade, figures: AciFigures, sponsors: number, role: Role): ExplainedComponent[] {
  const calls = figures.settled_calls_90d ?? ACI_WORST.settled_calls_90d
  const days = figures.first_seen_days ?? ACI_WORST.first_seen_days
  const most = mostPoints()
  const explanations: Record<AciComponent, string> = {
    volume: `${calls} settled calls in 90 days.`,
    success: `At least ${percent(grade.success_lower_bp)} succeed (95 % bound from ${calls} calls).`,
    disputes: `At most ${percent(grade.dispute_upper_bp)} end in a lost dispute (95 % bound from ${calls} calls).`,
    age: `First seen ${days} days ago.`,
    sponsors: `${sponsors} valid edges of different sponsors.`,
  }
  return ORDER[role].map((component) => {
    return { component, points: grade.points[component], most_points: most[component], explanation: explanations[component] }
  })
}

function percent(bp: number): string {
  return `${Math.floor(bp / 100)}.${String(bp % 100).padStart(2, '0')} %`
}

/** A figure of the input and its source. */
interface Evidence {
  figure: string
  value: number
  basis: 'caller_supplied_unverified' | 'missing_worst_assumed' | 'signatures_verified'
}

/** Lists the evidence of a grade: each figure, and the number of counted edges. */
function listEvidence(figures: AciFigures, edges: readonly EdgeValidation[]): Evidence[] {
  const names = Object.keys(ACI_WORST) as (keyof AciFigures)[]
  const supplied = names.map((figure): Evidence => {
    const value = figures[figure]
    if (value === undefined) return { figure, value: ACI_WORST[figure], basis: 'missing_worst_assumed' }
    return { figure, value, basis: 'caller_supplied_unverified' }
  })
  const counted = edges.filter(({ void_reason }) => void_reason === null).length
  // Without an edge no signature was there to be verified.
  const basis = edges.length === 0 ? 'missing_worst_assumed' : 'signatures_verified'
  return [...supplied, { figure: 'sponsor_attestations', value: counted, basis }]
}

const POLICY_NOTICE =
  'Advisory only. The caller supplied the figures and they were not verified; missing ones count as the worst value. Sponsors never lift to T3.'

interface AciRequest {
  /** Address or `c402:` name. */
  subject: string
  role: Role
  figures: AciFigures
  edges: readonly SponsorEdge[]
  now_s: number
}

/** The whole answer about a subject: its grade, what it rests on, and what the next tier still needs. Addresses become lower-case. */
export function answerAci({ subject: given, role, figures, edges: given_edges, now_s }: AciRequest, crypto: ReceiptCrypto) {
  // The schema of the tool passes nothing else than what can be read.
  const subject = readSubject(given) ?? given
  const edges = validateEdges(given_edges, { subject, role, now_s }, crypto)
  const sponsors = edges.filter(({ void_reason }) => void_reason === null).length
  const grade = gradeAci(figures, sponsors)
  const next_tier = nextTier(grade.tier)
  return {
    tier: grade.tier,
    subject,
    role,
    score_bp: grade.score_bp,
    success_rate: grade.success_lower_bp / SHARE_BP,
    success_lower_bp: grade.success_lower_bp,
    dispute_upper_bp: grade.dispute_upper_bp,
    max_suggested_exposure_minor: String(grade.exposure_minor),
    unsettled_exposure_hint_minor: String(grade.exposure_minor),
    components: explainScore(grade, figures, sponsors, role),
    evidence: listEvidence(figures, edges),
    sponsors: edges.map(({ index, sponsor, void_reason }) => {
      const message = void_reason === null ? null : EDGE_REASONS[void_reason]
      return { index, sponsor, counted: void_reason === null, void_reason, message }
    }),
    gates_failed: grade.gates_failed,
    next_tier,
    next_tier_requirements: grade.gates_failed
      .filter(({ tier }) => tier === next_tier)
      .map(({ gate, needed, have }) => ({ gate, needed, have })),
    policy_notice: POLICY_NOTICE,
    receipt_digest: null,
    standard: ACI.standard,
    policy_hash: ACI.policy_hash,
  }
}

/**
 * Bounds of a share seen in `calls` calls: the score interval of E. B. Wilson (Journal of the American Statistical Association 22, 1927)
 * for two-sided 95 %, z = 1.96. They draw together as the number of calls grows, so that a small sample never looks perfect.
 *
 * Whole numbers only. A bound x is where (p − x)² · n = z² · x(1 − x); instead of taking its root, each basis point is asked on which side
 * of it it lies, which is exact. The lower bound is rounded down to a basis point and the upper one up: both err against the agent.
 */

const SHARE_BP = 10_000
/** A share is read to nine decimals. */
const DECIMALS = 9
const WHOLE_PPB = 10n ** BigInt(DECIMALS)
const PPB_PER_BP = WHOLE_PPB / BigInt(SHARE_BP)

/** Basis points that the true share is at least, 0 without calls. `share` lies in 0 to 1; `calls` is a whole number from 0, `z_milli` counts thousandths. */
export function lowerBoundBp(share: number, calls: number, z_milli: number): number {
  return lowerBound(toPpb(share), BigInt(calls), BigInt(z_milli))
}

/** Basis points that the true share is at most, 10,000 without calls. */
export function upperBoundBp(share: number, calls: number, z_milli: number): number {
  return SHARE_BP - lowerBound(WHOLE_PPB - toPpb(share), BigInt(calls), BigInt(z_milli))
}

/** The decimals as they are written, rounded at the ninth: toFixed is exact, a multiplication is not. */
function toPpb(share: number): bigint {
  return BigInt(share.toFixed(DECIMALS).replace('.', ''))
}

/** The highest basis point that is not above the bound. */
function lowerBound(share_ppb: bigint, calls: bigint, z_milli: bigint): number {
  let [holds, fails] = [0, SHARE_BP + 1]
  while (fails - holds > 1) {
    const middle = Math.floor((holds + fails) / 2)
    if (isBelow(BigInt(middle), share_ppb, calls, z_milli)) holds = middle
    else fails = middle
  }
  return holds
}

/** Returns whether x is at or below the lower bound: less than the share, and at least as far from it as the bound. */
function isBelow(x_bp: bigint, share_ppb: bigint, calls: bigint, z_milli: bigint): boolean {
  const distance = share_ppb - x_bp * PPB_PER_BP
  if (distance <= 0n) return false
  // d² counts 10^18, z² counts 10^6 and x(1 − x) counts 10^8: what is left between the two sides is 10^4.
  return distance * distance * calls >= z_milli * z_milli * x_bp * (10_000n - x_bp) * 10_000n
}
