import type { Log } from '../../ports/log.ts'
import type { CallPhase, Surface, Telemetry, CallTier } from '../../ports/telemetry.ts'
import type { TracedCall, Tracing } from '../../ports/tracing.ts'
import { outcomeClass } from '../telemetry/history.ts'
import { createSlots, type AdmissionLoad, type Refused, type Slot, type SlotParts } from '../admission/slots.ts'
import { quotaClient } from '../clients.ts'
import type { Tool } from '../catalogue/define.ts'
import { readPayment } from '../payments/payment-header.ts'
import type { Problem } from '../problems.ts'
import { call, type CallDeps } from './call.ts'
import type { CallRequest, Outcome, PhaseMarks } from './outcome.ts'
import { ADMISSION_RULES } from '../limits.ts'

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
    log.info({ request_id, tool, outcome: word, duration_ms: Math.round(duration_ms * 100) / 100 }, 'call')
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

/** `calls`: unpaid calls; `intake`: messages to read and payments to verify; `reads`: pages, documents and records; `probes`: health, metrics and paid answers. */
export type LaneName = keyof typeof ADMISSION_RULES.lanes

/** Queue of requests that start a few at a time, the client with the least recent work first. */
interface Lane {
  /** Resolves with true when the request may start, with false when it was displaced and must be refused. */
  begin(client: string): Promise<boolean>
  /** Refuses the newest waiting request of the client; false when it has none. */
  displace(client: string): boolean
  waiting(): number
}

interface LaneParts {
  /** A verified payer is being served. */
  payers(): boolean
  /** Calls are in flight that a busy lane would delay. */
  busy(): boolean
  /** Milliseconds by a monotonic clock. */
  time_ms(): number
  /** Runs the step in the next turn of the event loop; steps run in order, and promises settle between two of them. */
  nextTurn(step: () => void): void
  /** Runs the step after this time. */
  later(step: () => void, delay_ms: number): void
}

interface Lanes extends Record<LaneName, Lane> {
  /** Adds measured work of a client, in milliseconds of this thread. */
  charge(client: string, cost_ms: number): void
}

export function createLanes(parts: LaneParts): Lanes {
  const accounts = createAccounts(parts.time_ms)
  const lane = (name: LaneName) => new FairLane(parts, accounts, ADMISSION_RULES.lanes[name])
  return {
    calls: lane('calls'),
    intake: lane('intake'),
    reads: lane('reads'),
    probes: lane('probes'),
    charge: (client, cost_ms) => charge(accounts(client), cost_ms, parts.time_ms()),
  }
}

/** Recent work of a client on this thread, which halves with time. */
interface Account {
  used_ms: number
  at_ms: number
  /** Logarithm of the recent work as of time 0: orders accounts without computing the decay of each. */
  score: number
}

function charge(account: Account, cost_ms: number, now_ms: number): void {
  const half_life_ms = ADMISSION_RULES.cost_half_life_ms
  account.used_ms = account.used_ms * 2 ** ((account.at_ms - now_ms) / half_life_ms) + cost_ms
  account.at_ms = now_ms
  account.score = Math.log2(account.used_ms) + now_ms / half_life_ms
}

/** The account of a client; those that were asked for longest ago are forgotten. */
function createAccounts(time_ms: () => number): (client: string) => Account {
  const known = new Map<string, Account>()
  return (client) => {
    const account = known.get(client) ?? { used_ms: 0, at_ms: time_ms(), score: Number.NEGATIVE_INFINITY }
    known.delete(client)
    known.set(client, account)
    const [oldest] = known.size > ADMISSION_RULES.cost_clients ? known.keys() : []
    if (oldest !== undefined) known.delete(oldest)
    return account
  }
}

interface LaneRules {
  most: number
  while_paying: number
  slice_ms: number
  rest: number
}

/** Requests of one client that wait. */
interface ClientQueue {
  account: Account
  waiting: ((begun: boolean) => void)[]
}

/**
 * Each step starts one request, and the step behind it measures the work that it did up to its first wait. A turn of the event loop has as
 * many steps as may start in it, and starts nothing more once its slice of time is used, so that neither a crowd nor a costly kind of request
 * makes a turn long.
 */
class FairLane implements Lane {
  readonly #parts: LaneParts
  readonly #accounts: (client: string) => Account
  readonly #rules: LaneRules
  readonly #queues = new Map<string, ClientQueue>()
  #waiting = 0
  /** Steps requested for the next turn, and steps of the present turn that are still to run. */
  #next_turn_steps = 0
  #this_turn_steps = 0
  /** Requests started in this turn, and the measured time of their work. */
  #begun = 0
  #spent_ms = 0
  #running: { account: Account; from_ms: number } | null = null
  #resting = false

  constructor(parts: LaneParts, accounts: (client: string) => Account, rules: LaneRules) {
    this.#parts = parts
    this.#accounts = accounts
    this.#rules = rules
  }

  begin(client: string): Promise<boolean> {
    const queue = this.#queues.get(client) ?? { account: this.#accounts(client), waiting: [] }
    if (queue.waiting.length === 0) this.#queues.set(client, queue)
    this.#waiting++
    if (!this.#resting) this.#askFor(Math.min(this.#waiting, this.#share()))
    return new Promise((resolve) => queue.waiting.push(resolve))
  }

  displace(client: string): boolean {
    const queue = this.#queues.get(client)
    const newest = queue?.waiting.pop()
    if (queue === undefined || newest === undefined) return false
    this.#waiting--
    if (queue.waiting.length === 0) this.#queues.delete(client)
    newest(false)
    return true
  }

  waiting(): number {
    return this.#waiting
  }

  #share(): number {
    return this.#parts.payers() ? this.#rules.while_paying : this.#rules.most
  }

  /** Steps to start so many requests, and one behind them to measure the last. */
  #askFor(requests: number): void {
    for (; this.#next_turn_steps <= requests; this.#next_turn_steps++) this.#parts.nextTurn(this.#step)
  }

  readonly #step = (): void => {
    if (this.#this_turn_steps === 0) this.#beginTurn()
    this.#this_turn_steps--
    this.#measure()
    const may_start = this.#this_turn_steps > 0 && !this.#resting && this.#begun < this.#share() && this.#spent_ms < this.#rules.slice_ms
    if (may_start && this.#waiting > 0) this.#start()
    if (this.#this_turn_steps === 0 && this.#waiting > 0 && !this.#resting) this.#endTurn()
  }

  #beginTurn(): void {
    this.#this_turn_steps = this.#next_turn_steps
    this.#next_turn_steps = 0
    this.#begun = 0
    this.#spent_ms = 0
  }

  #measure(): void {
    if (this.#running === null) return
    const now_ms = this.#parts.time_ms()
    const cost_ms = now_ms - this.#running.from_ms
    charge(this.#running.account, cost_ms, now_ms)
    this.#spent_ms += cost_ms
    this.#running = null
  }

  #start(): void {
    const [client, queue] = this.#next()
    const begin = queue.waiting.shift()
    this.#waiting--
    // Behind the others that wait.
    this.#queues.delete(client)
    if (queue.waiting.length > 0) this.#queues.set(client, queue)
    this.#begun++
    this.#running = { account: queue.account, from_ms: this.#parts.time_ms() }
    begin?.(true)
  }

  /** The waiting client with the least recent work; among equals the one that waits longest. */
  #next(): [client: string, queue: ClientQueue] {
    let least: [string, ClientQueue] | null = null
    for (const one of this.#queues) if (least === null || one[1].account.score < least[1].account.score) least = one
    if (least === null) throw new Error('requests wait, but no client has a queue')
    return least
  }

  #endTurn(): void {
    const rest_ms = this.#parts.busy() ? this.#spent_ms * this.#rules.rest : 0
    const goOn = () => {
      this.#resting = false
      this.#askFor(Math.min(this.#waiting, this.#share()))
    }
    if (rest_ms < 1) return goOn()
    this.#resting = true
    this.#parts.later(goOn, rest_ms)
  }
}
