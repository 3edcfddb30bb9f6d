import type { SteadyClock } from '../../ports/clock.ts'
import { limits } from '../limits.ts'
import { createRecent } from '../recent.ts'

/** Bounds of verification on chain. All of them hold for one process. */
export interface OnChainLimits {
  /** Failed verifications of one client, in any minute. */
  failures_per_minute: number
  /** Clients, and payers, that are remembered at once. */
  remembered: number
  /** How long a balance that was too low is believed. */
  insufficient_ms: number
  /** Round trips to the chain: this many a second, and this many at once after a quiet time. */
  round_trips_per_second: number
  round_trips_burst: number
  /** Gas of a simulated transfer, so that a wallet cannot burn the node. Settlement must send no less. */
  simulation_gas: bigint
}

export const ON_CHAIN_LIMITS: OnChainLimits = {
  failures_per_minute: limits.failed_verifications_per_minute,
  remembered: 10_000,
  insufficient_ms: limits.insufficient_remembered_ms,
  round_trips_per_second: limits.verification_round_trips_per_second,
  round_trips_burst: limits.verification_round_trips_burst,
  simulation_gas: 300_000n,
}

const MINUTE_MS = 60_000

export interface FailureCount {
  /** Seconds until the client may try again; 0 when it may now. */
  wait_s(client: string): number
  add(client: string): void
}

/** Counts the failures of each client over the last minute, whenever it began. A client that is forgotten for others starts anew. */
export function createFailureCount(clock: SteadyClock, bounds: OnChainLimits): FailureCount {
  const failures = createRecent<number[]>(bounds.remembered)
  const lately = (client: string) => (failures.get(client) ?? []).filter((at_ms) => clock.steady_ms() - at_ms < MINUTE_MS)
  return {
    wait_s(client) {
      const [oldest, ...others] = lately(client)
      if (oldest === undefined || others.length + 1 < bounds.failures_per_minute) return 0
      return Math.max(1, Math.ceil((oldest + MINUTE_MS - clock.steady_ms()) / 1_000))
    },
    add: (client) => failures.set(client, [...lately(client), clock.steady_ms()].slice(-bounds.failures_per_minute)),
  }
}

export interface RoundTrips {
  /** False when there are none left now. */
  take(): boolean
  /** For a round trip that has to follow one that was granted. */
  owe(): void
}

/** One budget for all clients together. */
export function createRoundTrips(clock: SteadyClock, { round_trips_burst, round_trips_per_second }: OnChainLimits): RoundTrips {
  let left = round_trips_burst
  let counted_ms = clock.steady_ms()
  const refill = () => {
    const now_ms = clock.steady_ms()
    // A clock that was set back grants nothing, and takes nothing away.
    const grown = (Math.max(0, now_ms - counted_ms) / 1_000) * round_trips_per_second
    counted_ms = now_ms
    left = Math.min(round_trips_burst, left + grown)
  }
  return {
    take() {
      refill()
      if (left < 1) return false
      left -= 1
      return true
    },
    owe() {
      refill()
      left -= 1
    },
  }
}

/** What a payer was seen to hold when it was too little. */
interface LowBalance {
  balance_minor: bigint
  contract_payer: boolean
  until_ms: number
}

export interface LowBalances {
  remember(payer: string, balance_minor: bigint, contract_payer: boolean): void
  find(payer: string): LowBalance | null
}

export function createLowBalances(clock: SteadyClock, bounds: OnChainLimits): LowBalances {
  const known = createRecent<LowBalance>(bounds.remembered)
  return {
    remember: (payer, balance_minor, contract_payer) =>
      known.set(payer, { balance_minor, contract_payer, until_ms: clock.steady_ms() + bounds.insufficient_ms }),
    find(payer) {
      const found = known.get(payer)
      return found !== undefined && clock.steady_ms() < found.until_ms ? found : null
    },
  }
}
