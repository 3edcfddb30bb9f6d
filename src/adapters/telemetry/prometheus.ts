import { Counter, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import type { Telemetry, TelemetrySnapshot } from '../../ports/telemetry.ts'

const BUCKETS_MS = [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000]

/** Telemetry in the client library of Prometheus; `/metrics` and `/status` read the same counters. */
export function createTelemetry(): Telemetry {
  const register = new Registry()
  collectDefaultMetrics({ register })
  const calls = new Counter({
    name: 'assay_calls_total',
    help: 'Calls by tool and outcome.',
    labelNames: ['tool', 'outcome'],
    registers: [register],
  })
  const latency = new Histogram({
    name: 'assay_call_duration_ms',
    help: 'Time from the read request to the answer.',
    buckets: BUCKETS_MS,
    registers: [register],
  })
  return {
    call(tool, outcome, duration_ms) {
      calls.inc({ tool, outcome })
      latency.observe(duration_ms)
    },
    text: () => register.metrics(),
    snapshot: async () => ({ calls: await counted(calls), latency_ms: await quantiles(latency) }),
  }
}

async function counted(calls: Counter<'tool' | 'outcome'>): Promise<TelemetrySnapshot['calls']> {
  const { values } = await calls.get()
  return values.map(({ labels, value }) => ({ tool: String(labels.tool), outcome: String(labels.outcome), count: value }))
}

async function quantiles(latency: Histogram): Promise<TelemetrySnapshot['latency_ms']> {
  const { values } = await latency.get()
  const buckets = values.filter(({ metricName }) => metricName?.endsWith('_bucket') ?? false)
  const total = buckets.at(-1)?.value ?? 0
  const under = (share: number) => {
    const bound = Number(buckets.find(({ value }) => total > 0 && value >= total * share)?.labels['le'])
    return Number.isFinite(bound) ? bound : null
  }
  return { p50: under(0.5), p99: under(0.99) }
}
