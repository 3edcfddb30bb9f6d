import type { Log } from '../../ports/log.ts'
import type { CallPhase, Surface, Telemetry, CallTier } from '../../ports/telemetry.ts'
import type { TracedCall, Tracing } from '../../ports/tracing.ts'
import { outcomeClass } from '../telemetry/history.ts'
import { createLanes, type LaneName, type LaneParts, type Lanes } from '../admission/lanes.ts'
import { createSlots, type AdmissionLoad, type Refused, type Slot, type SlotParts } from '../admission/slots.ts'
import { quotaClient } from '../clients.ts'
import type { Tool } from '../catalogue/define.ts'
import { readPayment } from '../payments/payment-header.ts'
import type { Problem } from '../problems.ts'
import { call, type CallDeps } from './call.ts'
import type { CallRequest, Outcome, PhaseMarks } from './outcome.ts'

/** Serves one call, whichever surface it came through. */
export type ServeCall = (request: CallRequest, request_id: string) => Promise<Outcome>

/** Watches calls, and bounds them. */
interface InstrumentedCallParts extends Omit<SlotParts, 'displace'>, Omit<LaneParts, 'payers' | 'busy'> {
  telemetry: Pick<Telemetry, 'call' | 'phase' | 'turned_away'>
  log: Pick<Log, 'info'>
  /** Null where nothing is traced. */
  tracing: Tracing | null
  /** Delays a refusal, so that a client which retries in a loop does not use the time of others. */
  hold(): Promise<void>
}

/** All calls, through whichever surface: bounded, queued, counted and logged. */
export interface InstrumentedCalls extends AdmissionLoad {
  on(surface: Surface): ServeCall
  /** Waits until a request other than a call may start. */
  turn(lane: Exclude<LaneName, 'calls'>, address: string): Promise<unknown>
}

/** One call on its way through admission. */
interface Visit {
  request: CallRequest
  request_id: string
  client: string
  pays: boolean
  surface: Surface
  slot: Slot | null
  refused: Refused | null
}

/** Returns the outcome in one word for metrics and logs. */
function outcomeLabel(outcome: Outcome): string {
  return outcome.kind === 'answered' || outcome.kind === 'paid' ? outcome.kind : outcome.problem.code
}

/** Calls that are bounded, counted and logged: one line each, without its input. Refusals of admission are counted only. */
export function createInstrumentedCalls(deps: CallDeps, parts: InstrumentedCallParts): InstrumentedCalls {
  const { telemetry, log, tracing } = parts
  const slots = createSlots({ ...parts, displace: (client) => lanes.calls.displace(client) })
  const busy = () => Object.values(slots.in_flight()).some((count) => count > 0)
  const lanes: Lanes = createLanes({ ...parts, payers: slots.payers, busy })

  const observe = async (visit: Visit, traced: TracedCall | null): Promise<Outcome> => {
    const { request_id, client, pays, surface } = visit
    const started_ms = performance.now()
    const marks = new Marks(telemetry.phase, started_ms, traced)
    const outcome = await call(deps, admitted(deps, slots, lanes, visit, marks))
    if (visit.refused !== null) {
      telemetry.turned_away(visit.refused.reason, visit.refused.problem.code, surface)
      await parts.hold()
      return { kind: 'refused', tool: null, problem: visit.refused.problem }
    }
    // A request that was refused before its body was read has not waited yet.
    if (visit.slot === null) await lanes.calls.begin(client)
    const duration_ms = performance.now() - started_ms
    const tool = outcome.tool ?? 'unknown'
    const word = outcomeLabel(outcome)
    const tier = tierOf(outcome, pays)
    telemetry.call({ tool, outcome: word, tier, surface, duration_ms })
    traced?.ended({ tool, outcome: word, tier, surface }, outcomeClass(word) === 'failed')
    const { client_request_id = null } = visit.request
    const ids = client_request_id === null ? { request_id } : { request_id, client_request_id }
    log.info({ ...ids, tool, outcome: word, duration_ms: Math.round(duration_ms * 100) / 100 }, 'call')
    return outcome
  }
  const on = (surface: Surface): ServeCall => {
    return async (request, request_id) => {
      const pays = isPaying(deps, request)
      const visit: Visit = { request, request_id, client: quotaClient(request.address), pays, surface, slot: null, refused: null }
      let failed_claim = pays
      try {
        const outcome = await (tracing === null
          ? observe(visit, null)
          : tracing.call(request.traceparent ?? null, (traced) => observe(visit, traced)))
        failed_claim = pays && (outcome.kind === 'payment_required' || outcome.kind === 'refused')
        return outcome
      } finally {
        visit.slot?.leave(failed_claim)
      }
    }
  }
  const waiting = () => LANES.reduce((sum, name) => sum + lanes[name].waiting(), 0)
  const turn: InstrumentedCalls['turn'] = (name, address) => lanes[name].begin(quotaClient(address))
  return { on, turn, in_flight: slots.in_flight, clients: slots.clients, waiting }
}

const LANES: readonly LaneName[] = ['calls', 'intake', 'reads', 'probes']

/** The request with admission in it: it takes a slot and waits in a lane once its body is there, and its work is measured. */
function admitted(deps: CallDeps, slots: ReturnType<typeof createSlots>, lanes: Lanes, visit: Visit, marks: Marks): CallRequest {
  const { request, client } = visit
  const tool = deps.catalogue.find(request.tool)
  const refuse = (refused: Refused): Problem => {
    visit.refused = refused
    return refused.problem
  }
  const enter = async (): Promise<Problem | null> => {
    const entered = slots.enter(client, visit.pays)
    if (!entered.ok) return refuse(entered)
    const { slot } = entered
    visit.slot = slot
    if (slot.kind() === 'claim') {
      await lanes.intake.begin(client)
      // A credit is looked up when it is claimed.
      if (request.credit !== null || isSigned(deps, request.payments)) {
        marks.mark('wait')
        return null
      }
      const refused = slot.demote()
      if (refused !== null) return refuse(refused)
    }
    const begun = await lanes.calls.begin(client)
    marks.mark('wait')
    return begun ? null : refuse(slots.displaced())
  }
  marks.measureRun = isMeasured(tool) ? (cost_ms) => lanes.charge(client, cost_ms) : null
  return { ...request, marks, enter, verified: () => visit.slot?.verify() }
}

/** The run of a pure tool on this thread is work of its client; one that waits for a source or a worker is mostly waiting. */
function isMeasured(tool: Tool | undefined): boolean {
  return tool !== undefined && tool.heavy !== true && tool.sources.length === 0
}

/** Returns true when the request carries a payment or a credit code and the tool has a price. */
function isPaying({ catalogue }: CallDeps, { tool, payments, credit }: CallRequest): boolean {
  return (payments.length > 0 || credit !== null) && (catalogue.find(tool)?.price ?? 'free') !== 'free'
}

/** Returns true when one of these payments can be decoded and its signature recovers to its payer, which needs no request to the chain. */
export function isSigned({ payments: taken }: Pick<CallDeps, 'payments'>, payments: CallRequest['payments']): boolean {
  return payments.some((given) => {
    const read = readPayment(given)
    return read.ok && taken !== null && taken.service.isSigned(read.payment)
  })
}

/** Records how long each phase took, from the end of the one before. */
class Marks implements PhaseMarks {
  readonly #phase: Telemetry['phase']
  readonly #traced: TracedCall | null
  #last_ms: number
  /** Receives the time of the run; null where it is not measured. */
  measureRun: ((cost_ms: number) => void) | null = null

  constructor(phase: Telemetry['phase'], begin_ms: number, traced: TracedCall | null) {
    this.#phase = phase
    this.#last_ms = begin_ms
    this.#traced = traced
  }

  mark(phase: CallPhase): void {
    const now_ms = performance.now()
    const duration_ms = now_ms - this.#last_ms
    if (phase === 'run') this.measureRun?.(duration_ms)
    this.#phase(phase, duration_ms)
    this.#traced?.phase(phase, duration_ms)
    this.#last_ms = now_ms
  }
}

/** The tier of the answer; for a refusal, by whether the request carried a payment. */
function tierOf(outcome: Outcome, pays: boolean): CallTier {
  if (outcome.kind === 'answered') return outcome.answer.tier
  return pays ? 'paid' : 'free'
}
