import type { GaugeValue } from '../../ports/telemetry.ts'

type Labels = Readonly<Record<string, string>>

/** The text of one metric (Prometheus exposition format 0.0.4): its help, its type, and a line a value; nothing for a metric without values. */
export function metricText(name: string, help: string, type: 'gauge' | 'counter' | 'histogram', lines: readonly string[]): string {
  return lines.length === 0 ? '' : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('\n')}\n`
}

export function valueLine(name: string, { labels, value }: GaugeValue): string {
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
export class Times {
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
