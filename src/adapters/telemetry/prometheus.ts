import { once } from '../../pure/once.ts'
import type { CallPhase, EndedCall, Gauge, LatencyBucket, Telemetry, TelemetrySnapshot, Tier, TurnedAway } from '../../ports/telemetry.ts'
import { metricText, Times, valueLine } from './exposition.ts'

/** The last lies beyond the longest wait for a settlement. */
const BUCKETS_MS = [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 60_000]
const PHASE_BUCKETS_MS = [0.1, 0.5, 1, 2, 5, 10, 50, 200, 1000, 5000, 20_000]

type Counted = Omit<EndedCall, 'duration_ms'> & { count: number }

/**
 * What the process is like comes from the client library of Prometheus; calls are counted here, since that is on the way of each of them.
 * `/metrics` and `/status` read the same counters. The library is loaded, and
 * begins to watch loop and memory, when they are first read or soon after the start, which keeps it out of the start.
 */
export function createTelemetry(): Telemetry {
  const ofProcess = once(processMetrics)
  const calls = new Map<string, Counted>()
  const away: Record<TurnedAway, number> = { in_flight: 0, lag: 0, client: 0 }
  const latency: Record<Tier, Times> = { free: new Times(BUCKETS_MS), paid: new Times(BUCKETS_MS) }
  const phases: Record<CallPhase, Times> = {
    receive: new Times(PHASE_BUCKETS_MS),
    wait: new Times(PHASE_BUCKETS_MS),
    read: new Times(PHASE_BUCKETS_MS),
    admit: new Times(PHASE_BUCKETS_MS),
    run: new Times(PHASE_BUCKETS_MS),
    sign: new Times(PHASE_BUCKETS_MS),
    settle: new Times(PHASE_BUCKETS_MS),
  }
  const gauges: Gauge[] = []
  const count = ({ tool, outcome, tier, surface }: Omit<Counted, 'count'>) => {
    const name = `${tool} ${outcome} ${tier} ${surface}`
    const known = calls.get(name)
    if (known === undefined) calls.set(name, { tool, outcome, tier, surface, count: 1 })
    else known.count++
  }
  return {
    call(ended) {
      count(ended)
      latency[ended.tier].observe(ended.duration_ms)
    },
    phase: (phase, duration_ms) => phases[phase].observe(duration_ms),
    turned_away(reason, outcome, surface) {
      count({ tool: 'unknown', outcome, tier: 'free', surface })
      away[reason]++
    },
    watch: (gauge) => void gauges.push(gauge),
    text: async (audience) =>
      [
        await (await ofProcess()).metrics(),
        callsText(calls.values()),
        timesText('assay_call_duration_ms', 'Time from the read request to the answer, by who was to pay.', 'tier', latency),
        timesText('assay_call_phase_ms', 'Time of the phases of calls: receive, wait, read, admit, run, sign, settle.', 'phase', phases),
        awayText(away),
        ...gauges.filter(({ operator = false }) => audience === 'operator' || !operator).map(gaugeText),
      ].join(''),
    snapshot: () =>
      Promise.resolve({ calls: byOutcome(calls.values()), latency: calls.size === 0 ? [] : together(latency.free, latency.paid) }),
  }
}

async function processMetrics() {
  const { collectDefaultMetrics, Registry } = await import('prom-client')
  const register = new Registry()
  collectDefaultMetrics({ register })
  return register
}

function callsText(calls: Iterable<Counted>): string {
  const name = 'assay_calls_total'
  const lines = Array.from(calls, ({ count, tool, outcome, tier, surface }) =>
    valueLine(name, { labels: { tool, outcome, tier, surface }, value: count }),
  )
  return metricText(name, 'Calls by tool, outcome, who was to pay, and the interface they came by.', 'counter', lines)
}

function timesText(name: string, help: string, label: string, times: Readonly<Record<string, Times>>): string {
  const lines = Object.entries(times).flatMap(([value, one]) => one.lines(name, { [label]: value }))
  return metricText(name, help, 'histogram', lines)
}

function awayText(away: Readonly<Record<TurnedAway, number>>): string {
  const name = 'assay_calls_turned_away_total'
  const lines = Object.entries(away).map(([reason, value]) => valueLine(name, { labels: { reason }, value }))
  return metricText(name, 'Calls refused before anything of them was looked at, by reason.', 'counter', lines)
}

function gaugeText({ name, help, kind, read }: Gauge): string {
  const lines = read().map((one) => valueLine(name, one))
  return metricText(name, help, kind, lines)
}

function byOutcome(calls: Iterable<Counted>): TelemetrySnapshot['calls'] {
  const sums = new Map<string, TelemetrySnapshot['calls'][number]>()
  for (const { tool, outcome, count } of calls) {
    const known = sums.get(`${tool} ${outcome}`)
    if (known === undefined) sums.set(`${tool} ${outcome}`, { tool, outcome, count })
    else known.count += count
  }
  return [...sums.values()]
}

/** The buckets of two that have the same bounds. */
function together(one: Times, other: Times): LatencyBucket[] {
  const more = other.buckets()
  return one.buckets().map(({ le_ms, count }, at) => ({ le_ms, count: count + (more[at]?.count ?? 0) }))
}
