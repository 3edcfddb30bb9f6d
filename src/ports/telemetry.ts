/** Surface of a call, and how it was to be paid. */
export type Surface = 'rest' | 'mcp' | 'a2a'
export type CallTier = 'free' | 'paid'

/**
 * The phases of a call: its body arrives, it waits in the admission queue, its input is read, its allowance is taken or its payment verified, the
 * tool runs, the answer is signed, the payment is settled. A phase that did not take place is not recorded.
 */
export type CallPhase = 'receive' | 'read' | 'wait' | 'admit' | 'run' | 'sign' | 'settle'

/** Why a call was not even begun: too many in flight, an event loop that runs late, too many of one client. */
export type TurnedAway = 'in_flight' | 'lag' | 'client'

export interface EndedCall {
  tool: string
  /** `answered`, `paid` or a problem code. */
  outcome: string
  tier: CallTier
  surface: Surface
  duration_ms: number
}

/** Value computed when the metrics are read. It must not send requests, and must be cheap. */
export interface Gauge {
  /** Name in the exposition text: lower case, the unit last; the name of a counter ends in `_total`. */
  name: string
  help: string
  kind: 'gauge' | 'counter'
  /** Shown on the operator port alone. */
  operator?: boolean
  /** Values by their labels; empty without values. */
  read(): readonly GaugeValue[]
}

export interface GaugeValue {
  labels: Readonly<Record<string, string>>
  value: number
}

/** Measurements of the service: tools, outcomes and times; never client or input. */
export interface Telemetry {
  /** One call ended. */
  call(ended: EndedCall): void
  /** One part of a call took so long. */
  phase(phase: CallPhase, duration_ms: number): void
  /** A call was refused before anything of it was looked at; `outcome` is the problem code. */
  turned_away(reason: TurnedAway, outcome: string, surface: Surface): void
  /** Shows this too from now on. */
  watch(gauge: Gauge): void
  /** Values of a watched gauge now; empty for a name that is not watched. */
  values(name: string): readonly GaugeValue[]
  /** Prometheus exposition text; with what the operator port alone shows if it is for that. */
  text(audience?: 'operator'): Promise<string>
  snapshot(): Promise<TelemetrySnapshot>
}

/** Number of calls since the start that took at most `le_ms`; null: all calls. */
export interface LatencyBucket {
  le_ms: number | null
  count: number
}

export interface TelemetrySnapshot {
  /** Calls since the start, by tool and outcome; those that were turned away under the tool `unknown`. */
  calls: { tool: string; outcome: string; count: number }[]
  /** From the narrowest bound to none; counts are cumulative. Empty before the first call. */
  latency: LatencyBucket[]
}
