import { ADMISSION_RULES } from '../limits.ts'

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

export interface LaneParts {
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

export interface Lanes extends Record<LaneName, Lane> {
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
