import type { AciComponent, AciFigures, AciGrade } from './aci1.ts'
import { ACI_WORST, mostPoints } from './aci1.ts'
import type { JudgedEdge, Role } from './aci1-edges.ts'

/** One part of a score, and what it rests on. */
export interface ExplainedComponent {
  component: AciComponent
  points: number
  most_points: number
  explanation: string
}

const ORDER: Readonly<Record<Role, readonly AciComponent[]>> = {
  payer: ['volume', 'success', 'disputes', 'age', 'sponsors'],
  // Who buys from a seller asks first how often disputes were lost; the points are the same.
  seller: ['disputes', 'success', 'volume', 'age', 'sponsors'],
}

/** The parts of a score, the one that matters most to the role first. */
export function explainScore(grade: AciGrade, figures: AciFigures, sponsors: number, role: Role): ExplainedComponent[] {
  const calls = figures.settled_calls_90d ?? ACI_WORST.settled_calls_90d
  const days = figures.first_seen_days ?? ACI_WORST.first_seen_days
  const most = mostPoints()
  const explanations: Record<AciComponent, string> = {
    volume: `${calls} settled calls in 90 days.`,
    success: `At least ${percent(grade.success_lower_bp)} succeed, as far as ${calls} calls can tell.`,
    disputes: `At most ${percent(grade.dispute_upper_bp)} end in a lost dispute, as far as ${calls} calls can tell.`,
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

/** A figure of the input and who stands for it. */
export interface Evidence {
  figure: string
  value: number
  basis: 'caller_supplied_unverified' | 'missing_worst_assumed' | 'signatures_verified'
}

/** What the grade rests on: each figure, and how many edges count. */
export function evidenceOf(figures: AciFigures, edges: readonly JudgedEdge[]): Evidence[] {
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
