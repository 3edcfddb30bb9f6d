import type { TurnedAway } from '../../ports/telemetry.ts'
import { widerNetwork } from '../clients.ts'
import { limits } from '../limits.ts'
import { problem, type Problem } from '../problems.ts'
import { ADMISSION_RULES } from './rules.ts'

/** `believed`: the call is taken for a paid one. `leave` gives the place back; it is told whether a payment came and did not hold. */
export type Entered =
  | { ok: true; believed: boolean; leave(failed_claim: boolean): void }
  | { ok: false; reason: TurnedAway; problem: Problem }

/** Decides, before a body is read, whether a call may begin. It knows counts and lateness, and asks nobody. */
export interface Gate {
  /** `pays`: the request carries a payment or a credit for a tool that costs something. Whether it is good is found out later. */
  enter(address: string, pays: boolean): Entered
  in_flight(): { free: number; paid: number }
  /** Clients with calls in flight. */
  clients(): number
  /** Somebody pays now, or did a moment ago. */
  payers(): boolean
}

export interface GateParts {
  lag_ms(): number
  /** Milliseconds by any clock that does not jump. */
  time_ms(): number
  /** Calls of one client in flight that nobody pays for. */
  client_free: number
}

const MINUTE_MS = 60_000

/**
 * A share of the places is kept for callers who pay, so that no number of free calls keeps them out. Claims are believed until too many of a
 * client fail. Counted in this process; addresses leave memory with their last call, those of failed claims with their minute.
 */
export function createGate({ lag_ms, time_ms, client_free }: GateParts): Gate {
  const free = new Map<string, number>()
  const paid = new Map<string, number>()
  const failing = createFailing(time_ms)
  const count = { free: 0, paid: 0 }
  let paid_until_ms = Number.NEGATIVE_INFINITY

  const refusal = (own: number, believed: boolean): Entered | null => {
    if (own >= (believed ? ADMISSION_RULES.client_paid : client_free)) return CLIENT
    if (count.free + count.paid >= limits.calls_in_flight) return IN_FLIGHT
    if (believed) return null
    if (count.free >= ADMISSION_RULES.free_in_flight) return IN_FLIGHT
    return count.free >= ADMISSION_RULES.lag_spares && lag_ms() > ADMISSION_RULES.lag_ms ? LATE : null
  }

  return {
    enter(address, pays) {
      const client = placeOf(address)
      const believed = pays && !failing.has(client)
      const [kind, places] = believed ? (['paid', paid] as const) : (['free', free] as const)
      const own = places.get(client) ?? 0
      const refused = refusal(own, believed)
      if (refused !== null) return refused
      count[kind]++
      places.set(client, own + 1)
      const leave = (failed_claim: boolean) => {
        count[kind]--
        const left = (places.get(client) ?? 1) - 1
        if (left === 0) places.delete(client)
        else places.set(client, left)
        if (failed_claim) failing.add(client)
        if (believed) paid_until_ms = time_ms() + ADMISSION_RULES.payer_lately_ms
      }
      return { ok: true, believed, leave }
    },
    in_flight: () => ({ ...count }),
    clients: () => new Set([...free.keys(), ...paid.keys()]).size,
    payers: () => count.paid > 0 || time_ms() < paid_until_ms,
  }
}

/** Clients whose payments failed too often within this minute. Errs towards believing when more fail than are kept. */
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

/** An IPv4 address, or an IPv6 /48: one customer of a provider often has all of it. */
function placeOf(address: string): string {
  return address.includes(':') ? widerNetwork(address) : address
}

const retry = { retry_after_s: limits.overload_retry_s }
const IN_FLIGHT = turnedAway('in_flight', problem('OVERLOADED', 'Try again in a moment.', retry))
const LATE = turnedAway(
  'lag',
  problem('OVERLOADED', 'This process answers too late to begin more free calls. Try again in a moment.', retry),
)
const CLIENT = turnedAway('client', problem('CLIENT_BUSY', 'Wait until some of the calls that are under way have ended.', retry))

function turnedAway(reason: TurnedAway, found: Problem): Entered {
  return { ok: false, reason, problem: found }
}
