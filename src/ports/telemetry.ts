/** What the service counts about itself: tools, outcomes and times; never who called or with what. */
export interface Telemetry {
  /** One call ended. `outcome` is `answered`, `payment_required` or a problem code. */
  call(tool: string, outcome: string, duration_ms: number): void
  /** Prometheus exposition text. */
  text(): Promise<string>
  snapshot(): Promise<TelemetrySnapshot>
}

export interface TelemetrySnapshot {
  /** Calls since the start, by tool and outcome. */
  calls: { tool: string; outcome: string; count: number }[]
  /** Upper bounds, in milliseconds, under which half and 99 % of the calls stayed; null before the first call. */
  latency_ms: { p50: number | null; p99: number | null }
}
