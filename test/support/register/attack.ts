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

const NETWORKS = 400
const WIDE_NETWORKS = 40
const ADDRESSES = 250

/** Addresses of the loopback networks; those of two rows are in different networks. */
export function addressesOf(shape: Shape, row: number): string[] {
  if (shape === 'one address') return [`127.10.${row}.1`]
  if (shape === 'one /24') return Array.from({ length: ADDRESSES }, (_, index) => `127.11.${row}.${index + 1}`)
  return Array.from(
    { length: NETWORKS },
    (_, index) => `127.${20 + (index % WIDE_NETWORKS)}.${Math.floor(index / WIDE_NETWORKS) + 10 * (row % 25)}.${1 + Math.floor(row / 25)}`,
  )
}

/** Connections of each address, for about `total` in all. */
export function spread(shape: Shape, total: number): number {
  return Math.ceil(total / addressesOf(shape, 0).length)
}
