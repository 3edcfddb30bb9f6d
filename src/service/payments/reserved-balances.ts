import type { Chain, ChainRead } from '../../ports/chain.ts'
import type { ClaimRequest, ClaimResult, PaymentStore, Payment } from '../../ports/payments.ts'
import { decodeBool, decodeUint, authorizationStateCall, balanceCall } from '../../pure/payments/token-calls.ts'
import type { Clock, SteadyClock } from '../../ports/clock.ts'
import type { Sealer } from '../../ports/signer.ts'
import { PAYER_ACTS } from '../../pure/payments/states.ts'
import { widerNetwork } from '../clients.ts'
import { limits } from '../limits.ts'
import { type PaymentRefusal, refusedPayment } from './payment-refusals.ts'
import type { Settler } from './settlement.ts'
import { createRecentMap } from '../recent.ts'
import { problem } from '../problems.ts'

/** Maximum number of authorizations read together with the balance, in one round trip. */
const NONCES_READ_MAX = 90

/** Reads the balance of a payer and which of these nonces are used, at one block. Null when the read budget is used up or the chain gives no clear answer. */
export type PayerBalances = (payer: string, nonces: readonly string[]) => Promise<{ balance_minor: bigint; spent: string[] } | null>

/** Uses the budget of verification reads; a chain fault gives null. */
export function createPayerBalances(chain: Pick<Chain, 'read'>, token: string, trips: Pick<RoundTrips, 'take'>): PayerBalances {
  const ask = (data: string): ChainRead => ({ kind: 'call', to: token, data })
  return async (payer, nonces) => {
    if (!trips.take()) return null
    const reads = [balanceCall(payer), ...nonces.map((nonce) => authorizationStateCall(payer, nonce))].map(ask)
    const [held, ...states] = await chain.read(reads).catch(() => [])
    const balance_minor = held?.ok === true ? decodeUint(held.data) : null
    if (balance_minor === null) return null
    const spent = nonces.filter((_, index) => {
      const state = states[index]
      return state?.ok === true && decodeBool(state.data) === true
    })
    return { balance_minor, spent }
  }
}

/**
 * Claims a payment if the payer's balance covers it together with the payments in flight. A payment that is in a block while its row is still
 * open would be subtracted twice: it has left the balance, and is still counted as in flight. So before a payment is refused, balance and nonces
 * are read again, at one block.
 */
export async function claimWithinBalance(
  { store, payerBalances }: { store: Pick<PaymentStore, 'claim' | 'nonces_in_flight'>; payerBalances: PayerBalances },
  request: ClaimRequest,
): Promise<ClaimResult> {
  const first = await store.claim(request)
  if (first.kind !== 'over_reserved') return first
  const now = await payerBalances(request.payer, await store.nonces_in_flight(request.payer, request.asset, NONCES_READ_MAX))
  return now === null ? first : store.claim({ ...request, ...now })
}

/**
 * Record of payers that made accepted payments fail, at the operator's expense. Only acts of the payer count (a cancelled authorization, a balance spent
 * elsewhere, a wallet that takes its signature back), never a delay, an outage, a paused token or a reorganisation. A payer may do so once a
 * day; a client network (/24, /48) may cost its share of the daily gas budget, which also limits the total.
 */
export interface PayerStatus {
  /** Returns the refusal of a payment of this payer from this address; null when it may be taken. */
  refusal(payer: string, address: string): Promise<PaymentRefusal | null>
  /** Records a refused settlement. One that ends after its sender was answered counts against the payer alone. */
  failed(payment: Pick<Payment, 'reason'>, address: string): Promise<void>
}

interface PayerStatusParts {
  store: Pick<PaymentStore, 'refused_since' | 'spend_gas' | 'gas_spent'>
  clock: Clock
  sealer: Sealer
  settler: Pick<Settler, 'gas_share'>
  /** Network whose gas is counted, whose coin differs from that of others; left out, that of the deployment. */
  network?: string
}

const DAY_MS = 86_400_000

export function createPayerStatus({ store, clock, sealer, settler, network }: PayerStatusParts): PayerStatus {
  const dayOf = (now_ms: number) => Math.floor(now_ms / DAY_MS)
  // Hashed with the day, so that a network cannot be followed from day to day.
  const place = network === undefined ? '' : `|${network}`
  const gasShareAccount = (address: string, day: number) => `share:${sealer.token(`gas share|${day}|${widerNetwork(address)}${place}`)}`
  return {
    async refusal(payer, address) {
      const now_ms = clock.now_ms()
      const share = settler.gas_share()
      const [acts, spent_wei] = await Promise.all([
        store.refused_since(payer, now_ms - limits.payer_acts_ms),
        share === null ? 0n : store.gas_spent(gasShareAccount(address, dayOf(now_ms)), dayOf(now_ms)),
      ])
      if (acts >= limits.payer_acts) return payerShutOut()
      return share !== null && spent_wei >= share.network_wei ? networkShutOut(Math.ceil((DAY_MS - (now_ms % DAY_MS)) / 1_000)) : null
    },
    async failed({ reason }, address) {
      const share = settler.gas_share()
      if (share === null || !(PAYER_ACTS as readonly (string | null)[]).includes(reason)) return
      const day = dayOf(clock.now_ms())
      await store.spend_gas(gasShareAccount(address, day), day, share.failure_wei)
    },
  }
}

/** Limits of verification on chain, each per process. */
export interface OnChainLimits {
  /** Failed verifications of one client, in any minute. */
  failures_per_minute: number
  /** Maximum number of cached clients, and of cached payers. */
  remembered: number
  /** Period for which an insufficient balance is cached. */
  insufficient_ms: number
  /** Rate of round trips to the chain, and the burst after a quiet period. */
  round_trips_per_second: number
  round_trips_burst: number
  /** Gas limit of a simulated transfer, so that a wallet contract cannot overload the node. Settlement must send at least as much. */
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

/** Counts the failures of each client over the last minute, whenever it began. A client that is evicted from memory starts again at 0. */
export function createFailureCount(clock: SteadyClock, bounds: OnChainLimits): FailureCount {
  const failures = createRecentMap<number[]>(bounds.remembered)
  const recentFailures = (client: string) => (failures.get(client) ?? []).filter((at_ms) => clock.steady_ms() - at_ms < MINUTE_MS)
  return {
    wait_s(client) {
      const [oldest, ...others] = recentFailures(client)
      if (oldest === undefined || others.length + 1 < bounds.failures_per_minute) return 0
      return Math.max(1, Math.ceil((oldest + MINUTE_MS - clock.steady_ms()) / 1_000))
    },
    add: (client) => failures.set(client, [...recentFailures(client), clock.steady_ms()].slice(-bounds.failures_per_minute)),
  }
}

export interface RoundTrips {
  /** Takes a round trip; false when none is left now. */
  take(): boolean
  /** Takes a round trip that must follow a granted one, even when none is left. */
  takeOwed(): void
}

/** Creates one budget for all clients together. */
export function createRoundTrips(clock: SteadyClock, { round_trips_burst, round_trips_per_second }: OnChainLimits): RoundTrips {
  let left = round_trips_burst
  let counted_ms = clock.steady_ms()
  const refill = () => {
    const now_ms = clock.steady_ms()
    // A clock that was set back grants nothing and takes nothing.
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
    takeOwed() {
      refill()
      left -= 1
    },
  }
}

/** Cached balance of a payer that was too low. */
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
  const known = createRecentMap<LowBalance>(bounds.remembered)
  return {
    remember: (payer, balance_minor, contract_payer) =>
      known.set(payer, { balance_minor, contract_payer, until_ms: clock.steady_ms() + bounds.insufficient_ms }),
    find(payer) {
      const found = known.get(payer)
      return found !== undefined && clock.steady_ms() < found.until_ms ? found : null
    },
  }
}

function payerShutOut(): PaymentRefusal {
  const detail =
    `${limits.payer_acts} payments of this payer were accepted within a day and then cancelled, or their money was spent elsewhere. ` +
    'Try again tomorrow, or pay from another address.'
  return refusedPayment(problem('PAYER_SHUT_OUT', detail, { retry_after_s: limits.payer_acts_ms / 1_000 }))
}

function networkShutOut(retry_after_s: number): PaymentRefusal {
  const detail =
    'Payments from your network were accepted and then cancelled, or their money was spent elsewhere. They have used up the part of the daily ' +
    'gas budget that one network may cost. Try again tomorrow (UTC), or pay from another network.'
  return refusedPayment(problem('PAYER_SHUT_OUT', detail, { retry_after_s }))
}
