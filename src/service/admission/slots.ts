import type { TurnedAway } from '../../ports/telemetry.ts'
import { ADMISSION_RULES, limits } from '../limits.ts'
import { problem, type Problem } from '../problems.ts'

/** `claim`: a payment is present but not yet verified. `paid`: it was verified and claimed. */
type SlotKind = 'free' | 'claim' | 'paid'

export interface Refused {
  ok: false
  reason: TurnedAway
  problem: Problem
}

/** Capacity that one call holds from the arrival of its body until its end. */
export interface Slot {
  kind(): SlotKind
  /** The request carries no valid payment: moves the call to the free slots, or refuses it when they are full. */
  demote(): Refused | null
  /** The payment was verified and claimed. */
  verify(): void
  /** Releases the slot. `failed_claim`: a payment was present and was refused. */
  leave(failed_claim: boolean): void
}

export type Entered = { ok: true; slot: Slot } | Refused

interface Slots {
  /** `pays`: the request carries a payment or a credit for a tool that has a price; it is not verified yet. */
  enter(client: string, pays: boolean): Entered
  /** A call of this client that waited in the queue gave its slot to a client that holds fewer. */
  displaced(): Refused
  in_flight(): { free: number; paid: number }
  /** Clients with calls in flight. */
  clients(): number
  /** A payment was verified a moment ago, or its call is running. */
  payers(): boolean
}

/** Current use of the admission slots. */
export interface AdmissionLoad {
  in_flight(): { free: number; paid: number }
  /** Requests that wait in a lane. */
  waiting(): number
  /** Clients with calls in flight. */
  clients(): number
}

export interface SlotParts {
  lag_ms(): number
  /** Milliseconds by a monotonic clock. */
  time_ms(): number
  /** Bound of calls of one client in flight without a verified payment. */
  client_free: number
  /** Removes one waiting call of the client from the queue; false when none waits. */
  displace(client: string): boolean
}

const MINUTE_MS = 60_000

/**
 * Bounds the calls in flight in this process, by client and in all. A share is reserved for verified payers; an unverified payment holds one
 * of a few slots and falls back to the free ones. When the free slots are full, the client that holds the most gives one of its waiting
 * calls up for a client that holds fewer, so that no crowd of one client keeps another out.
 */
export function createSlots({ lag_ms, time_ms, client_free, displace }: SlotParts): Slots {
  const held = { free: new Holders(), claim: new Holders(), paid: new Holders() }
  const failing = createFailing(time_ms)
  let paid_until_ms = Number.NEGATIVE_INFINITY

  const makeRoom = (client: string): boolean => {
    const [greatest, most] = held.free.greatest()
    return most > held.free.of(client) + 1 && displace(greatest)
  }
  const total = () => held.free.total + held.claim.total + held.paid.total
  const freeRefusal = (client: string): Refused | null => {
    if (held.free.of(client) >= client_free) return CLIENT
    const full = held.free.total >= ADMISSION_RULES.free_in_flight || total() >= limits.calls_in_flight
    if (full && !makeRoom(client)) return IN_FLIGHT
    return held.free.total >= ADMISSION_RULES.lag_spares && lag_ms() > ADMISSION_RULES.lag_ms ? LATE : null
  }
  const takesClaim = (client: string): boolean =>
    !failing.has(client) &&
    held.claim.of(client) < ADMISSION_RULES.client_unverified &&
    held.claim.total < ADMISSION_RULES.unverified_in_flight &&
    held.paid.of(client) < ADMISSION_RULES.client_paid &&
    total() < limits.calls_in_flight

  const slotOf = (client: string, first: SlotKind): Slot => {
    let kind = first
    held[kind].add(client)
    const move = (to: SlotKind) => {
      held[kind].remove(client)
      held[to].add(client)
      kind = to
    }
    return {
      kind: () => kind,
      demote() {
        const refused = freeRefusal(client)
        if (refused === null) move('free')
        return refused
      },
      verify: () => move('paid'),
      leave(failed_claim) {
        held[kind].remove(client)
        if (failed_claim) failing.add(client)
        if (kind === 'paid') paid_until_ms = time_ms() + ADMISSION_RULES.payer_lately_ms
      },
    }
  }
  return {
    enter(client, pays) {
      if (pays && takesClaim(client)) return { ok: true, slot: slotOf(client, 'claim') }
      return freeRefusal(client) ?? { ok: true, slot: slotOf(client, 'free') }
    },
    displaced: () => IN_FLIGHT,
    in_flight: () => ({ free: held.free.total, paid: held.claim.total + held.paid.total }),
    clients: () => new Set(Object.values(held).flatMap((holders) => holders.names())).size,
    payers: () => held.paid.total > 0 || time_ms() < paid_until_ms,
  }
}

/** Counts what each client holds; a client leaves memory with its last slot. */
class Holders {
  readonly #counts = new Map<string, number>()
  total = 0

  of(client: string): number {
    return this.#counts.get(client) ?? 0
  }

  add(client: string): void {
    this.#counts.set(client, this.of(client) + 1)
    this.total++
  }

  remove(client: string): void {
    const left = this.of(client) - 1
    if (left > 0) this.#counts.set(client, left)
    else this.#counts.delete(client)
    this.total--
  }

  /** The client that holds the most, and how much. */
  greatest(): [client: string, count: number] {
    let found: [string, number] = ['', 0]
    for (const entry of this.#counts) if (entry[1] > found[1]) found = entry
    return found
  }

  names(): string[] {
    return [...this.#counts.keys()]
  }
}

/** Clients whose payments failed too often within this minute. Forgets clients beyond its bound: errs towards believing. */
function createFailing(time_ms: () => number): { has(client: string): boolean; add(client: string): void } {
  const counts = new Map<string, number>()
  let minute = Number.NaN
  const turn = () => {
    const now = Math.floor(time_ms() / MINUTE_MS)
    if (now !== minute) counts.clear()
    minute = now
  }
  return {
    has(client) {
      if (counts.size > 0) turn()
      return (counts.get(client) ?? 0) >= ADMISSION_RULES.failed_claims_per_minute
    },
    add(client) {
      turn()
      if (counts.size < ADMISSION_RULES.failing_clients || counts.has(client)) counts.set(client, (counts.get(client) ?? 0) + 1)
    },
  }
}

const retry = { retry_after_s: limits.overload_retry_s }
const IN_FLIGHT = refusal('in_flight', problem('OVERLOADED', 'All slots for unpaid calls are taken. Retry in a moment.', retry))
const LATE = refusal(
  'lag',
  problem('OVERLOADED', 'The event loop of this process is delayed; it starts no more unpaid calls. Retry in a moment.', retry),
)
const CLIENT = refusal('client', problem('CLIENT_BUSY', 'You have too many calls in flight. Wait until some of them have ended.', retry))

function refusal(reason: TurnedAway, found: Problem): Refused {
  return { ok: false, reason, problem: found }
}

/** Keeps a refusal back for a moment, or not at all when too many are kept back already. */
export function createRefusalDelay(pause: (pause_ms: number) => Promise<void>): () => Promise<void> {
  let held = 0
  return async () => {
    if (held >= ADMISSION_RULES.refusals_held) return
    held++
    try {
      await pause(ADMISSION_RULES.refusal_hold_ms)
    } finally {
      held--
    }
  }
}

const TICK_MS = 50
/** One long turn is an accident; a loop is late when it was so this often in a row. */
const READINGS = 3

/** Takes readings of a timer that is due every `every_ms`. Errs downwards: the smallest of the last readings counts. */
export function createDelayMeter(every_ms: number): { tick(at_ms: number): void; lag_ms(): number } {
  const readings = Array.from({ length: READINGS }, () => 0)
  let due_ms: number | null = null
  let next = 0
  return {
    tick(at_ms) {
      if (due_ms !== null) readings[next++ % READINGS] = Math.max(0, at_ms - due_ms)
      due_ms = at_ms + every_ms
    },
    lag_ms: () => Math.min(...readings),
  }
}

let watched: (() => number) | null = null

/**
 * Delay of the event loop of this process. A process has one loop, so one meter is started on the first call; it does not keep the process
 * alive.
 */
export function eventLoopDelay(): number {
  watched ??= startDelayMeter()
  return watched()
}

function startDelayMeter(): () => number {
  const meter = createDelayMeter(TICK_MS)
  setInterval(() => meter.tick(performance.now()), TICK_MS).unref()
  return meter.lag_ms
}
