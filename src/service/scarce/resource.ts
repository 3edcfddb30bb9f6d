import type { ProblemCode } from '../problems.ts'

/** Largest use by one party; absent where the party has no separate bound. */
export interface Bounds {
  /** An IPv4 address, or an IPv6 /64. */
  client?: number
  /** An IPv4 /24, or an IPv6 /48. */
  network?: number
  /** An IPv4 /16, or an IPv6 /32. */
  wide_network?: number
  /** A merchant, payer or account, by its address. */
  owner?: number
  all?: number
}

export interface ScarceResource {
  /** Name of the row, and of its attack in the tests. */
  id: string
  /** Noun that pages show. */
  name: string
  /** Process: each instance has its own. Deployment: counted in the store, for all instances. */
  scope: 'process' | 'deployment'
  /** `held`: in use at one time. Otherwise the span of a rate. */
  per: 'held' | 'second' | 'minute' | 'hour' | 'day'
  bounds: Bounds
  /** Share that others cannot use up; null where nothing is kept. */
  kept: string | null
  gives_way: string
  ends: string
  /** Command, page or metric that shows the use; commands that remove entries are named too. */
  shown_by: string
  /** Problem of a refusal; null where nothing is refused. */
  code: ProblemCode | null
  /** Gauge of the use, and the label of the queue where it has several. */
  metric?: { name: string; queue?: string }
  /** Files of src/ that hold or count it. */
  files: readonly string[]
}

export const HOLD = 'when the request ends'
export const MINUTE = 'with the minute'
export const DAY = 'at 00:00 UTC'
export const PAYERS = 'payers draw on none of it'

const PARTIES = {
  client: 'one client',
  network: 'one network',
  wide_network: 'one wide network',
  owner: 'one owner',
  all: 'all',
} as const satisfies Record<keyof Bounds, string>

/** Bounds as a page shows them, from the smallest party: `one client 256`. */
export function boundTexts(bounds: Bounds): string[] {
  return (Object.keys(PARTIES) as (keyof Bounds)[]).flatMap((party) => {
    const bound = bounds[party]
    return bound === undefined ? [] : [`${PARTIES[party]} ${bound.toLocaleString('en-US')}`]
  })
}
