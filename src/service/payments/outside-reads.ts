import type { Clock, SteadyClock } from '../../ports/clock.ts'
import { quotaClient, widerNetwork } from '../clients.ts'
import { limits } from '../limits.ts'
import { createRateGuard } from '../admission/rate.ts'
import { problem, type Problem } from '../problems.ts'
import type { SourceBudget } from './allowance.ts'
import { createRoundTrips, ON_CHAIN_LIMITS, type FailureCount } from './on-chain-bounds.ts'

/** Problem codes of the endpoints that read outside sources for requests without a payment. */
export type RateLimitCode = 'INSURANCE_RATE_LIMITED' | 'INVOICE_RATE_LIMITED' | 'CREDIT_RATE_LIMITED'

type OutsideRead =
  | {
      ok: true
      /** Counts against the client as a failed verification of a payment does. */
      failed(): void
      /** Returns the units of the day after a failure that is not the client's. */
      give_back(): Promise<void>
    }
  | { ok: false; problem: Problem }

/** Budget of the chain reads and fetches that the service makes for requests that bring no payment. */
export interface OutsideReads {
  /** Takes one read before it is made. `address` is that of the client; a refusal carries `code`. */
  take(address: string, code: RateLimitCode): Promise<OutsideRead>
}

export interface OutsideReadParts {
  clock: Clock & SteadyClock
  /** Daily budgets of the client's network and of all clients, shared with free calls that read sources. */
  sources: SourceBudget
  /** Failures of each client, shared with the verification of payments. */
  failures: FailureCount
}

/**
 * Checks four bounds, cheapest first: failed verifications of the client in the last minute, reads of its network in this minute, reads of this
 * process in the last second, and the daily budgets in the store. The bound per second is separate from that of payment verification, so that
 * unpaid requests cannot use up the reads that payers need; the bound per network keeps one network from using it up for the others.
 */
export function createOutsideReads({ clock, sources, failures }: OutsideReadParts): OutsideReads {
  const admit = createRateGuard(clock, limits.unpaid_reads_per_minute_network)
  const trips = createRoundTrips(clock, {
    ...ON_CHAIN_LIMITS,
    round_trips_burst: limits.unpaid_reads_burst,
    round_trips_per_second: limits.unpaid_reads_per_second,
  })
  return {
    async take(address, code) {
      const client = quotaClient(address)
      const wait_s = failures.wait_s(client)
      if (wait_s > 0) return refused(code, 'Too many signatures or payments of this client failed verification.', wait_s)
      const admitted = admit(widerNetwork(address))
      if (!admitted.ok)
        return refused(code, 'Too many requests of this network without a payment read outside sources.', admitted.retry_after_s)
      if (!trips.take()) return refused(code, 'Too many requests without a payment read outside sources now.', 1)
      const taken = await sources.take(address)
      if (taken.spent === null) return { ok: true, failed: () => failures.add(client), give_back: taken.give_back }
      return refused(code, SPENT[taken.spent], sources.resets_in_s())
    },
  }
}

const SPENT = {
  network: 'The reads of outside sources for requests without a payment are used up for this network until 00:00 UTC.',
  all: 'The reads of outside sources for requests without a payment are used up for all clients until 00:00 UTC.',
} as const

function refused(code: RateLimitCode, detail: string, retry_after_s: number): OutsideRead {
  return { ok: false, problem: problem(code, detail, { retry_after_s }) }
}
