import { totals, quantiles, type OperatorStatusParts } from '../service/telemetry/history.ts'
import type { AppDeps } from './deps.ts'

/** Dependencies of the status summary. */
export function statusSources(deps: Pick<AppDeps, 'call' | 'store' | 'prices' | 'takes_payments' | 'chain_head'>): OperatorStatusParts {
  const { store, prices, takes_payments, chain_head, call } = deps
  return { clock: call.issuer.clock, store, prices, probes: call.probes, takes_payments, chain_head }
}

/** Counts and times since the start of this process. */
export interface StatusBody {
  ok: true
  mode: AppDeps['mode']
  version: string
  uptime_s: number
  in_flight: number
  calls: {
    total: number
    by_outcome: ReturnType<typeof totals>
    by_tool: { tool: string; outcome: string; count: number }[]
  }
  /** Upper bounds; null before the first call or above the largest bucket. */
  latency_ms: ReturnType<typeof quantiles>
  /** Address of the counts of the last hour and day. */
  history: string
}

/** Body of `/status` for programs; the status page shows the same values. */
export async function statusBody(deps: AppDeps): Promise<StatusBody> {
  const snapshot = await deps.telemetry.snapshot()
  const by_outcome = totals(snapshot)
  return {
    ok: true,
    mode: deps.mode,
    version: deps.version,
    uptime_s: Math.floor((deps.call.issuer.clock.now_ms() - deps.started_ms) / 1000),
    in_flight: deps.inFlight(),
    calls: { total: snapshot.calls.reduce((sum, { count }) => sum + count, 0), by_outcome, by_tool: snapshot.calls },
    latency_ms: quantiles(snapshot.latency),
    history: `${deps.origins.api_url}/status/history.json`,
  }
}
