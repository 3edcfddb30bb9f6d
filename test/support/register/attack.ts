import type { AttackSpec, HostileRequest } from '../hostile.ts'
import type { Side } from './sides.ts'

/** Shapes in which each attack comes. */
export const SHAPES = ['one address', 'one /24', '400 /24s'] as const
export type Shape = (typeof SHAPES)[number]

/** Addresses and connections of an attack, and what is sent on them. */
export type Flood = Partial<Omit<AttackSpec, 'port' | 'addresses'>> & {
  requests: HostileRequest[]
  /** Each address has connections of its own; by default a trusted proxy sends the requests of all on a few. */
  direct?: boolean
}

export interface RowAttack {
  /** The requests that use the resource up. */
  by: string
  /** Settings of the service that lower a bound, so that seconds suffice to reach it. */
  settings?: Record<string, string>
  flood(side: Side, shape: Shape): Flood | Promise<Flood>
  /**
   * A request that is refused with the code of the row while the attack goes on, if it is another than those of the attack; null where the
   * bound is reached by connections that are held open, or not in the seconds of a test.
   */
  refused?: ((side: Side) => HostileRequest | Promise<HostileRequest>) | null
}

/** A test that attacks the row already: its file names the id of the row. */
interface ShownElsewhere {
  shown_by: string
}

export type RowAttacks = Readonly<Record<string, RowAttack | ShownElsewhere>>
