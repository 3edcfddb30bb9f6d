import type { Clock } from '../../ports/clock.ts'
import type { Telemetry, TelemetrySnapshot } from '../../ports/telemetry.ts'
import type { Market } from '../payments/price.ts'
import { outcomeClass, OUTCOMES, type OutcomeClass } from './outcomes.ts'
import { bucketsBetween, quantiles } from './quantiles.ts'
import { byName, createRing, MARKET_NAMES, WATCHED, type Point, type Standing, type Watched } from './ring.ts'

/** How often the counters are read. */
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
  /** Reads the counters and how things stand; one at a time. Never rejects. */
  record(): Promise<void>
  /** How things stood when they were last looked at; null before that. */
  last(): Standing | null
  /** Points that begin later than `after_s`; all of them without it. */
  view(span: Span, after_s?: number): HistoryView
}

interface HistoryParts {
  telemetry: Pick<Telemetry, 'snapshot'>
  clock: Clock
  /** Never rejects: what cannot be told is null. */
  standing(): Promise<Standing>
}

/** What this process counted: ten seconds a point for an hour, five minutes a point for a day. */
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
