import type {
  CallPhase,
  EndedCall,
  Gauge,
  GaugeValue,
  LatencyBucket,
  Telemetry,
  TelemetrySnapshot,
  CallTier,
  TurnedAway,
} from '../../ports/telemetry.ts'
import { once } from '../../pure/once.ts'

type Labels = Readonly<Record<string, string>>

/** The text of one metric (Prometheus exposition format 0.0.4): its help, its type, and a line a value; nothing for a metric without values. */
function metricText(name: string, help: string, type: 'gauge' | 'counter' | 'histogram', lines: readonly string[]): string {
  return lines.length === 0 ? '' : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('\n')}\n`
}

function valueLine(name: string, { labels, value }: GaugeValue): string {
  return `${name}${labelText(labels)} ${String(value)}`
}

function labelText(labels: Labels): string {
  const parts = Object.entries(labels).map(([label, value]) => `${label}="${escaped(value)}"`)
  return parts.length === 0 ? '' : `{${parts.join(',')}}`
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

/** Counts times under fixed bounds. Made for the hot path: an observation allocates nothing and looks up no label. */
class Times {
  readonly #bounds_ms: readonly number[]
  readonly #counts: Float64Array
  #sum_ms = 0

  /** Bounds ascend. */
  constructor(bounds_ms: readonly number[]) {
    this.#bounds_ms = bounds_ms
    this.#counts = new Float64Array(bounds_ms.length + 1)
  }

  observe(duration_ms: number): void {
    let at = 0
    while (at < this.#bounds_ms.length && duration_ms > (this.#bounds_ms[at] ?? 0)) at++
    this.#counts[at] = (this.#counts[at] ?? 0) + 1
    this.#sum_ms += duration_ms
  }

  /** Cumulative, the last without a bound. */
  buckets(): { le_ms: number | null; count: number }[] {
    let count = 0
    return Array.from(this.#counts, (own, at) => ({ le_ms: this.#bounds_ms[at] ?? null, count: (count += own) }))
  }

  lines(name: string, labels: Labels): string[] {
    const buckets = this.buckets()
    const count = buckets.at(-1)?.count ?? 0
    const under = buckets.map((bucket) => ({ labels: { ...labels, le: String(bucket.le_ms ?? '+Inf') }, value: bucket.count }))
    return [
      ...under.map((one) => valueLine(`${name}_bucket`, one)),
      valueLine(`${name}_sum`, { labels, value: this.#sum_ms }),
      valueLine(`${name}_count`, { labels, value: count }),
    ]
  }
}

/** The last lies beyond the longest wait for a settlement. */
const BUCKETS_MS = [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 60_000]
const PHASE_BUCKETS_MS = [0.1, 0.5, 1, 2, 5, 10, 50, 200, 1000, 5000, 20_000]

type Counted = Omit<EndedCall, 'duration_ms'> & { count: number }

/**
 * Metrics of the process come from the Prometheus client library; calls are counted here, because each call passes this code. `/metrics`
 * and `/status` read the same counters. The library is loaded, and begins to watch loop and memory, when the metrics are first read or
 * soon after the start, so that it does not delay the start.
 */
export function createTelemetry(): Telemetry {
  const ofProcess = once(processMetrics)
  const calls = new Map<string, Counted>()
  const away: Record<TurnedAway, number> = { in_flight: 0, lag: 0, client: 0 }
  const latency: Record<CallTier, Times> = { free: new Times(BUCKETS_MS), paid: new Times(BUCKETS_MS) }
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
    values: (name) => gauges.find((gauge) => gauge.name === name)?.read() ?? [],
    text: async (audience) =>
      [
        audience === 'operator' ? await (await ofProcess()).metrics() : '',
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
