import { type ProblemCode, PROBLEMS } from '../problems.ts'
import type { ProblemKind } from '../payment-problems.ts'
import type { LatencyBucket, Telemetry, TelemetrySnapshot } from '../../ports/telemetry.ts'
import { type Market, MARKETS, type PriceBook } from '../payments/price-book.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Store } from '../../ports/store.ts'
import { RECONCILE_RULES } from '../payments/reconcile.ts'

/** Four outcomes of a call. */
const OUTCOMES = ['answered', 'payment_required', 'refused', 'failed'] as const

export type OutcomeClass = (typeof OUTCOMES)[number]

/**
 * The class of an outcome word. `answered`: with a result, or 202 while its payment settles. `payment_required`: asked to pay. `refused`:
 * the request was at fault. `failed`: this service or a source of it was, and so is every word that no table knows.
 */
export function outcomeClass(word: string): OutcomeClass {
  if (word === 'answered' || word === 'paid' || word === 'PAYMENT_PENDING') return 'answered'
  if (word === 'PAYMENT_REQUIRED') return 'payment_required'
  if (!Object.hasOwn(PROBLEMS, word)) return 'failed'
  const { fault }: ProblemKind = PROBLEMS[word as ProblemCode]
  return fault === 'caller' ? 'refused' : 'failed'
}

/** Bounds in milliseconds under which so many of the calls stayed; null when there were none, or when it lies beyond the largest bound. */
interface Quantiles {
  p50: number | null
  p95: number | null
  p99: number | null
}

/** Latency quantiles from cumulative buckets. Errs upwards: each call counts as its bucket's upper bound. */
export function quantiles(buckets: readonly LatencyBucket[]): Quantiles {
  const total = buckets.at(-1)?.count ?? 0
  const under = (share: number) => (total === 0 ? null : (buckets.find(({ count }) => count >= total * share)?.le_ms ?? null))
  return { p50: under(0.5), p95: under(0.95), p99: under(0.99) }
}

/** Calls counted between two readings of the same buckets. */
export function bucketsBetween(now: readonly LatencyBucket[], before: readonly LatencyBucket[]): LatencyBucket[] {
  return now.map(({ le_ms, count }, index) => ({ le_ms, count: count - (before[index]?.count ?? 0) }))
}

/** Two spans taken together; either may be empty. */
export function bucketsTogether(one: readonly LatencyBucket[], other: readonly LatencyBucket[]): LatencyBucket[] {
  if (one.length === 0 || other.length === 0) return [...one, ...other]
  return one.map(({ le_ms, count }, index) => ({ le_ms, count: count + (other[index]?.count ?? 0) }))
}

/** Dependencies whose availability is recorded. */
export const WATCHED = ['store', 'chain', 'prices'] as const

type Watched = (typeof WATCHED)[number]

/** State at one moment; null where it could not be determined, or where this deployment does not have the part. */
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
const OPEN_STATES = ['claimed', 'prepared', 'settling', 'unknown'] as const

type OpenState = (typeof OPEN_STATES)[number]

/** Counts of one interval, and the state in it. */
interface Point extends Standing {
  /** Begin of the stretch of the ring, in seconds since 1970. */
  at_s: number
  /** Seconds of it that were counted; less than the whole in the newest point and after a start. */
  counted_s: number
  calls: Readonly<Record<OutcomeClass, number>>
  latency: readonly LatencyBucket[]
}

interface Ring {
  /** Adds to the stretch in which the point lies; points come in order. */
  add(point: Point): void
  points(): readonly Point[]
}

/** The newest `size` stretches of `every_s` seconds; older ones are forgotten. */
function createRing(every_s: number, size: number): Ring {
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

/** Adds counts; of the states the worst counts, so that a short fault stays visible. The price is the later one. */
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
function byName<Name extends string, Value>(names: readonly Name[], valueOf: (name: Name) => Value): Record<Name, Value> {
  return Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<Name, Value>
}

export const MARKET_NAMES = Object.keys(MARKETS) as Market[]

/** Sampling interval of the counters. */
const SAMPLE_MS = 10_000

/** The two spans that are kept, both in the memory of this process. */
const SPANS = { hour: { every_s: 10, size: 360 }, day: { every_s: 300, size: 288 } } as const

export type Span = keyof typeof SPANS

/** A span as charts want it: one list a row, all of one length, oldest first. It names no caller, no tool and no input. */
export interface HistoryView {
  span: Span
  every_s: number
  /** Begin of each stretch, in seconds since 1970, and how many of its seconds were counted. */
  at_s: number[]
  counted_s: number[]
  calls: Record<OutcomeClass, number[]>
  /** Bounds under which so many calls stayed; null where there were none, or beyond the largest bound. */
  latency_ms: { p50: (number | null)[]; p95: (number | null)[]; p99: (number | null)[] }
  /** Decimal text in minor units of USDC. */
  prices_minor: Record<Market, (string | null)[]>
  sources: Record<Watched, (boolean | null)[]>
  settlement: { waiting: (number | null)[]; overdue: (number | null)[] }
  chain_head_age_s: (number | null)[]
}

export interface History {
  /** Samples the counters and the state; one sample at a time. Never rejects. */
  record(): Promise<void>
  /** State at the last sample; null before the first. */
  last(): Standing | null
  /** Points that begin later than `after_s`; all of them without it. */
  view(span: Span, after_s?: number): HistoryView
}

interface HistoryParts {
  telemetry: Pick<Telemetry, 'snapshot'>
  clock: Clock
  /** Never rejects: a part that cannot be determined is null. */
  standing(): Promise<Standing>
}

/** History of this process: one point for each ten seconds of the last hour, and for each five minutes of the last day. */
export function createHistory({ telemetry, clock, standing }: HistoryParts): History {
  const rings = { hour: createRing(SPANS.hour.every_s, SPANS.hour.size), day: createRing(SPANS.day.every_s, SPANS.day.size) }
  let before: { at_ms: number; snapshot: TelemetrySnapshot } = { at_ms: clock.now_ms(), snapshot: { calls: [], latency: [] } }
  let running: Promise<void> | null = null
  let last: Standing | null = null
  const read = async () => {
    const [snapshot, stands] = await Promise.all([telemetry.snapshot(), standing()])
    last = stands
    const at_ms = clock.now_ms()
    const point = pointOf(before.snapshot, snapshot, stands, before.at_ms, at_ms)
    before = { at_ms, snapshot }
    for (const ring of Object.values(rings)) ring.add(point)
  }
  return {
    record: () => (running ??= read().finally(() => (running = null))),
    last: () => last,
    view: (span, after_s = Number.NEGATIVE_INFINITY) =>
      viewOf(
        span,
        rings[span].points().filter(({ at_s }) => at_s > after_s),
      ),
  }
}

function pointOf(before: TelemetrySnapshot, now: TelemetrySnapshot, stands: Standing, from_ms: number, at_ms: number): Point {
  const [total, earlier] = [totals(now), totals(before)]
  return {
    ...stands,
    // The middle, so that a reading on the edge of two stretches falls into the one it counted.
    at_s: Math.floor((from_ms + at_ms) / 2_000),
    counted_s: Math.max(0, Math.round((at_ms - from_ms) / 1_000)),
    calls: byName(OUTCOMES, (name) => total[name] - earlier[name]),
    latency: bucketsBetween(now.latency, before.latency),
  }
}

/** Calls since the start by class. */
export function totals({ calls }: Pick<TelemetrySnapshot, 'calls'>): Record<OutcomeClass, number> {
  const sums = byName(OUTCOMES, () => 0)
  for (const { outcome, count } of calls) sums[outcomeClass(outcome)] += count
  return sums
}

function viewOf(span: Span, points: readonly Point[]): HistoryView {
  const row = <Value>(valueOf: (point: Point) => Value) => points.map(valueOf)
  const bounds = points.map(({ latency }) => quantiles(latency))
  return {
    span,
    every_s: SPANS[span].every_s,
    at_s: row(({ at_s }) => at_s),
    counted_s: row(({ counted_s }) => counted_s),
    calls: byName(OUTCOMES, (name) => row(({ calls }) => calls[name])),
    latency_ms: byName(['p50', 'p95', 'p99'], (name) => bounds.map((bound) => bound[name])),
    prices_minor: byName(MARKET_NAMES, (name) => row(({ prices }) => prices?.[name].toString() ?? null)),
    sources: byName(WATCHED, (name) => row(({ sources }) => sources[name])),
    settlement: { waiting: row(({ waiting }) => waiting), overdue: row(({ overdue }) => overdue) },
    chain_head_age_s: row(({ head_age_s }) => head_age_s),
  }
}

/** Records now and every ten seconds. Returns what ends it; it keeps no process alive. */
export function keepRecording(history: Pick<History, 'record'>): () => Promise<void> {
  let last = history.record()
  const timer = setInterval(() => {
    last = history.record()
  }, SAMPLE_MS)
  timer.unref()
  return () => {
    clearInterval(timer)
    return last
  }
}

/** The newest block that was seen, and when it says it was made. */
export interface ChainHead {
  number: bigint
  timestamp_s: number
}

/** Parts whose state is read. */
export interface OperatorStatusParts {
  clock: Clock
  store: Pick<Store, 'ping'> & { payments: Pick<Store['payments'], 'in_states'> }
  prices: Pick<PriceBook, 'prices'>
  /** A source without a probe is not watched. */
  probes: { chain?: () => Promise<boolean>; prices?: () => Promise<boolean> }
  takes_payments: boolean
  chain_head(): ChainHead | null
}

/** Payments are counted up to here; beyond it there are at least so many. */
export const BACKLOG_MAX = 1_000

/** Current state. Asks no outside source; a part that cannot be determined is null. Never rejects. */
export async function standingNow(parts: OperatorStatusParts): Promise<Standing> {
  const { store, prices, probes, takes_payments } = parts
  const [store_up, chain_up, prices_up, now, backlog] = await Promise.all([
    isUp(() => store.ping().then(() => true)),
    isUp(probes.chain),
    isUp(probes.prices),
    prices.prices().catch(() => null),
    takes_payments ? backlogOf(parts).catch(() => NOT_KNOWN) : NOT_KNOWN,
  ])
  return {
    sources: { store: store_up, chain: chain_up, prices: prices_up },
    prices: now?.amounts ?? null,
    ...backlog,
    head_age_s: headAge(parts),
  }
}

const NOT_KNOWN = { waiting: null, overdue: null, open: null }

/** A probe that fails says that its source is down. */
async function isUp(probe: (() => Promise<boolean>) | undefined): Promise<boolean | null> {
  return probe === undefined ? null : probe().catch(() => false)
}

async function backlogOf({ store, clock }: OperatorStatusParts): Promise<Pick<Standing, 'waiting' | 'overdue' | 'open'>> {
  const now_ms = clock.now_ms()
  const options = { final: null, updated_before_ms: now_ms + 1, limit: BACKLOG_MAX }
  const [early, sent] = await Promise.all([
    store.payments.in_states(['claimed', 'prepared'], options),
    store.payments.in_states(['settling', 'unknown'], options),
  ])
  const all = [...early, ...sent]
  const open = byName(OPEN_STATES, (name) => all.filter(({ state }) => state === name).length)
  return { open, waiting: sent.length, overdue: sent.filter(({ updated_ms }) => updated_ms < now_ms - RECONCILE_RULES.overdue_ms).length }
}

function headAge({ clock, chain_head }: OperatorStatusParts): number | null {
  const head = chain_head()
  return head === null ? null : Math.max(0, Math.floor(clock.now_ms() / 1_000) - head.timestamp_s)
}
