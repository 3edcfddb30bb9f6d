import { canonicalText } from '../receipts/canonical.ts'
import { nobleCrypto } from '../receipts/crypto.ts'

/** A versioned table of points. The hash can be computed from the table, and a score from the factors of an answer. */
export interface RuleBook<Table> {
  readonly standard: string
  readonly table: Table
  /** keccak-256 of the RFC 8785 text of {standard, table}. */
  readonly policy_hash: string
}

export function ruleBook<Table>(standard: string, table: Table): RuleBook<Table> {
  return { standard, table, policy_hash: nobleCrypto.keccak256Hex(canonicalText({ standard, table })) }
}

/** A factor that was found, what it weighs and why it was found. */
export interface FiredFactor<Factor extends string = string> {
  factor: Factor
  points: number
  reason: string
}

/** The sum of the points, at most `cap`. No table has negative points, so a further factor never lowers it. */
export function scoreOf(fired: readonly FiredFactor[], cap: number): number {
  return Math.min(
    cap,
    fired.reduce((sum, { points }) => sum + points, 0),
  )
}

/** The name whose floor is the highest that the score reaches. `floors` go up from 0. */
export function bandOf<Name extends string>(score: number, floors: Readonly<Record<Name, number>>): Name {
  const names = Object.keys(floors) as Name[]
  return names.reduce((best, name) => (floors[name] <= score && floors[name] >= floors[best] ? name : best))
}
