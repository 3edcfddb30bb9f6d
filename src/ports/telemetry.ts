/** How a call came in, and who was to pay for it. */
export type Surface = 'rest' | 'mcp' | 'a2a'
export type Tier = 'free' | 'paid'

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
  tier: Tier
  surface: Surface
  duration_ms: number
}

/** Something that is looked at when the metrics are read. It must ask nobody and cost next to nothing. */
export interface Gauge {
  /** As it stands in the exposition text: lower case, the unit last; of a counter it ends in `_total`. */
  name: string
  help: string
  kind: 'gauge' | 'counter'
  /** Shown on the operator port alone. */
  operator?: boolean
  /** Values by their labels; none where there is nothing to tell. */
  read(): readonly GaugeValue[]
}

export interface GaugeValue {
  labels: Readonly<Record<string, string>>
  value: number
}

/** What the service counts about itself: tools, outcomes and times; never who called or with what. */
export interface Telemetry {
  /** One call ended. */
  call(ended: EndedCall): void
  /** One part of a call took so long. */
  phase(phase: CallPhase, duration_ms: number): void
  /** A call was refused before anything of it was looked at; `outcome` is the problem code. */
  turned_away(reason: TurnedAway, outcome: string, surface: Surface): void
  /** Shows this too from now on. */
  watch(gauge: Gauge): void
  /** Prometheus exposition text; with what the operator port alone shows if it is for that. */
  text(audience?: 'operator'): Promise<string>
  snapshot(): Promise<TelemetrySnapshot>
}

/** Calls whose time was at most `le_ms`, since the start; null stands for no bound, and so for all calls. */
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
