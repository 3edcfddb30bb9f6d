import type { LatencyBucket } from '../../ports/telemetry.ts'
import { MARKETS, type Market } from '../payments/price.ts'
import { OUTCOMES, type OutcomeClass } from './outcomes.ts'
import { bucketsTogether } from './quantiles.ts'

/** What can be up or down by itself. */
export const WATCHED = ['store', 'chain', 'prices'] as const

export type Watched = (typeof WATCHED)[number]

/** How things stood at one moment; null where nobody could tell, or where this deployment has no such thing. */
export interface Standing {
  sources: Readonly<Record<Watched, boolean | null>>
  /** Minor units of USDC. */
  prices: Readonly<Record<Market, bigint>> | null
  /** Payments whose transfer is under way or unknown, and those of them that are open for too long. */
  waiting: number | null
  overdue: number | null
  /** Payments that are not closed, by state. */
  open: Readonly<Record<OpenState, number>> | null
  /** Seconds since the newest block that was seen. */
  head_age_s: number | null
}

/** The states of a payment that may still close. */
export const OPEN_STATES = ['claimed', 'prepared', 'settling', 'unknown'] as const

type OpenState = (typeof OPEN_STATES)[number]

/** What was counted in a stretch of time, and how things stood. */
export interface Point extends Standing {
  /** Begin of the stretch of the ring, in seconds since 1970. */
  at_s: number
  /** Seconds of it that were counted; less than the whole in the newest point and after a start. */
  counted_s: number
  calls: Readonly<Record<OutcomeClass, number>>
  latency: readonly LatencyBucket[]
}

export interface Ring {
  /** Adds to the stretch in which the point lies; points come in order. */
  add(point: Point): void
  points(): readonly Point[]
}

/** The newest `size` stretches of `every_s` seconds; older ones are forgotten. */
export function createRing(every_s: number, size: number): Ring {
  const kept: Point[] = []
  return {
    add(point) {
      const at_s = Math.floor(point.at_s / every_s) * every_s
      const last = kept.at(-1)
      if (last !== undefined && last.at_s >= at_s) {
        kept[kept.length - 1] = { ...together(last, point), at_s: last.at_s }
        return
      }
      kept.push({ ...point, at_s })
      if (kept.length > size) kept.shift()
    },
    points: () => kept,
  }
}

/** Counts add up; of what stands, the worst counts, so that a short fault stays seen. The price is the later one. */
function together(one: Point, other: Point): Point {
  return {
    at_s: one.at_s,
    counted_s: one.counted_s + other.counted_s,
    calls: byName(OUTCOMES, (name) => one.calls[name] + other.calls[name]),
    latency: bucketsTogether(one.latency, other.latency),
    sources: byName(WATCHED, (name) => worse(one.sources[name], other.sources[name])),
    prices: other.prices ?? one.prices,
    waiting: larger(one.waiting, other.waiting),
    overdue: larger(one.overdue, other.overdue),
    open: other.open ?? one.open,
    head_age_s: larger(one.head_age_s, other.head_age_s),
  }
}

function worse(one: boolean | null, other: boolean | null): boolean | null {
  if (one === null || other === null) return one ?? other
  return one && other
}

function larger(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other)
}

/** A record over a fixed list of names. */
export function byName<Name extends string, Value>(names: readonly Name[], valueOf: (name: Name) => Value): Record<Name, Value> {
  return Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<Name, Value>
}

export const MARKET_NAMES = Object.keys(MARKETS) as Market[]
