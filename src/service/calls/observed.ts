import type { Log } from '../../ports/log.ts'
import type { CallPhase, Surface, Telemetry, Tier, TurnedAway } from '../../ports/telemetry.ts'
import type { TracedCall, Tracing } from '../../ports/tracing.ts'
import { outcomeClass } from '../telemetry/outcomes.ts'
import type { ObservedFlow } from '../admission/flow.ts'
import { createGate, type GateParts } from '../admission/gate.ts'
import { createRows, type Pacer, type PacerParts, type Row } from '../admission/pacer.ts'
import type { Problem } from '../problems.ts'
import { call, type CallDeps } from './call.ts'
import { outcomeWord, type CallRequest, type Outcome, type PhaseMarks } from './outcome.ts'

/** Serves one call, whichever surface it came through. */
export type ServeCall = (request: CallRequest, request_id: string) => Promise<Outcome>

/** What watches calls, and what may hold them up. */
export interface ObservedParts extends GateParts, Omit<PacerParts, 'payers'> {
  telemetry: Pick<Telemetry, 'call' | 'phase' | 'turned_away'>
  log: Pick<Log, 'info'>
  /** Null, as mostly, when nobody traces. */
  tracing: Tracing | null
  /** Keeps a refusal back for a moment, so that who asks again at once does not spend the time of others. */
  hold(): Promise<void>
}

/** Calls through one door: bounded, paced, counted and logged. */
export interface ObservedCalls extends ObservedFlow {
  on(surface: Surface): ServeCall
  /** The turn of a request that is no call; null when it may begin at once. */
  turn(row: Exclude<Row, 'calls'>): Promise<void> | null
}

interface Asked {
  request: CallRequest
  request_id: string
  pays: boolean
  /** Its claim to pay is taken for true, so that it waits for no turn. */
  believed: boolean
  surface: Surface
}

/** Calls that are bounded, counted and logged: one line each, without its input. Those that were turned away are counted only. */
export function observedCalls(deps: CallDeps, parts: ObservedParts): ObservedCalls {
  const { telemetry, log, tracing } = parts
  const gate = createGate(parts)
  const rows = createRows({ ...parts, payers: gate.payers })
  const turnedAway = async (reason: TurnedAway, found: Problem, surface: Surface): Promise<Outcome> => {
    telemetry.turned_away(reason, found.code, surface)
    await parts.hold()
    return { kind: 'refused', tool: null, problem: found }
  }
  const observe = async ({ request, request_id, pays, believed, surface }: Asked, traced: TracedCall | null): Promise<Outcome> => {
    const started_ms = performance.now()
    const marks = new Marks(telemetry.phase, started_ms, traced)
    const outcome = await call(deps, withMarks(request, marks, believed ? null : rows.calls))
    // What is refused unread has not waited yet.
    if (!believed && !marks.any) await rows.calls.begin()
    const duration_ms = performance.now() - started_ms
    const tool = outcome.tool ?? 'unknown'
    const word = outcomeWord(outcome)
    const tier = tierOf(outcome, pays)
    telemetry.call({ tool, outcome: word, tier, surface, duration_ms })
    traced?.ended({ tool, outcome: word, tier, surface }, outcomeClass(word) === 'failed')
    log.info({ request_id, tool, outcome: word, duration_ms: Math.round(duration_ms * 100) / 100 }, 'call')
    return outcome
  }
  const on = (surface: Surface): ServeCall => {
    return async (request, request_id) => {
      const pays = isPaying(deps, request)
      const entered = gate.enter(request.address, pays)
      if (!entered.ok) return turnedAway(entered.reason, entered.problem, surface)
      let failed_claim = pays
      try {
        const asked = { request, request_id, pays, believed: entered.believed, surface }
        const outcome = await (tracing === null
          ? observe(asked, null)
          : tracing.call(request.traceparent ?? null, (traced) => observe(asked, traced)))
        failed_claim = pays && (outcome.kind === 'payment_required' || outcome.kind === 'refused')
        return outcome
      } finally {
        entered.leave(failed_claim)
      }
    }
  }
  const waiting = () => Object.values(rows).reduce((sum, row) => sum + row.waiting(), 0)
  return { on, turn: (row) => rows[row].begin(), in_flight: gate.in_flight, clients: gate.clients, waiting }
}

/** Whether the request carries what may pay for it; a tool that costs nothing takes no payment. */
function isPaying({ catalogue }: CallDeps, { tool, payments, credit }: CallRequest): boolean {
  return (payments.length > 0 || credit !== null) && (catalogue.find(tool)?.price ?? 'free') !== 'free'
}

/** The request, with marks of its phases. Who sends slowly holds no place in the turn: a call waits for it when its input is there. */
function withMarks(request: CallRequest, marks: Marks, pacer: Pacer | null): CallRequest {
  const read: CallRequest['read'] = async (bounds, mayReadLarge) => {
    const found = await request.read(bounds, mayReadLarge)
    marks.mark('read')
    const turn = pacer === null ? null : pacer.begin()
    if (turn === null) return found
    await turn
    marks.mark('wait')
    return found
  }
  const { tool, address, payments, credit, prev_receipt_hash } = request
  return { tool, address, payments, credit, prev_receipt_hash, read, marks }
}

/** Tells how long each phase took, from the end of the one before. */
class Marks implements PhaseMarks {
  readonly #phase: Telemetry['phase']
  readonly #traced: TracedCall | null
  #last_ms: number
  /** Whether any phase has ended. */
  any = false

  constructor(phase: Telemetry['phase'], begin_ms: number, traced: TracedCall | null) {
    this.#phase = phase
    this.#last_ms = begin_ms
    this.#traced = traced
  }

  mark(phase: CallPhase): void {
    const now_ms = performance.now()
    this.any = true
    this.#phase(phase, now_ms - this.#last_ms)
    this.#traced?.phase(phase, now_ms - this.#last_ms)
    this.#last_ms = now_ms
  }
}

/** Who was to pay: the answer says it, a refusal goes by what the request carried. */
function tierOf(outcome: Outcome, pays: boolean): Tier {
  if (outcome.kind === 'answered') return outcome.answer.tier
  return pays ? 'paid' : 'free'
}
