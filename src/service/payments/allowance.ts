import type { Clock, SteadyClock } from '../../ports/clock.ts'
import type { AllowanceGrant, AllowanceRequest, Store } from '../../ports/store.ts'
import { createFairTurns } from '../admission/fair-turns.ts'
import {
  clientHasher,
  createRateGuard,
  networkHasher,
  type NetworkHash,
  providerHasher,
  providerNetwork,
  quotaClient,
  widerNetwork,
} from '../clients.ts'
import { limits } from '../limits.ts'
import { createRecentMap } from '../recent.ts'
import { problem, type Problem } from '../problems.ts'
import { createRoundTrips, ON_CHAIN_LIMITS, type FailureCount } from './reserved-balances.ts'

const DAY_MS = 86_400_000

/** Free calls of a client today, as shown in every answer. */
export interface AllowanceState {
  limit: number
  remaining: number
  /** RFC 3339, the next midnight UTC. */
  resets_at: string
  resets_in_s: number
}

/** Returns the members of an answer; the seconds are for headers. */
export function publicAllowance({ limit, remaining, resets_at }: Omit<AllowanceState, 'resets_in_s'>): Omit<AllowanceState, 'resets_in_s'> {
  return { limit, remaining, resets_at }
}

/**
 * Budget that is used up: the client's, that of its IPv6 /48, or, for calls that read outside sources, that of its network or of all
 * clients.
 */
type SpentBudget = 'own' | 'wide' | 'network' | 'all'

export interface AllowanceTaken {
  granted: boolean
  /** Null when granted. */
  spent: SpentBudget | null
  state: AllowanceState
  /** Returns the unit after a failure of the service. */
  give_back(): Promise<void>
}

/** Free calls per client and UTC day: taken before a call runs, shown in each answer. */
export interface Allowance {
  /** `reads_sources`: the call reads outside sources, and also uses the budgets of its network and of all clients. */
  take(tool: string, address: string, reads_sources?: boolean): Promise<AllowanceTaken>
  peek(tool: string, address: string): Promise<AllowanceState>
}

export interface AllowanceRules {
  free_daily: number
  /** Daily free calls of tools that have a separate count. */
  overrides: Readonly<Record<string, number>>
}

/** Free calls of a day that read sources. */
export interface SourceBudgets {
  network: number
  all: number
}

const SOURCE_BUDGETS: SourceBudgets = { network: limits.source_reads_daily_network, all: limits.source_reads_daily }

/** Period for which a used-up allowance is cached. */
export const SPENT_REMEMBERED_MS = 1_000
/** Maximum number of cached entries. */
const REMEMBERED_CLIENTS = 100_000

/**
 * Creates the allowance over a store; it is exact over all instances that share the store. A used-up allowance is cached for a second, so
 * that a flood of unpaid calls does not cost one transaction each. The cache errs in one direction only: when another instance returns a
 * unit, the client may be asked to pay for up to one second although a free call is left. Every granted unit is granted by the store.
 */
export function createAllowance(
  store: Pick<Store, 'take' | 'give_back' | 'used'>,
  clock: Clock & SteadyClock,
  secret: Uint8Array,
  rules: AllowanceRules,
  budgets: SourceBudgets = SOURCE_BUDGETS,
): Allowance {
  const clientHash = rememberedHash(clientHasher(secret))
  const networkHash = networkHasher(secret)
  const spent = spentMemory(clock)
  const requestFor = (tool: string, address: string): AllowanceRequest => {
    const day = Math.floor(clock.now_ms() / DAY_MS)
    const own = Object.hasOwn(rules.overrides, tool) ? rules.overrides[tool] : undefined
    return {
      day,
      bucket: own === undefined ? 'general' : tool,
      client: clientHash(day, address),
      limit: own ?? rules.free_daily,
    }
  }
  /** Returns the request for the free calls of a whole IPv6 /48: as many as the addresses of an IPv4 /24 have together. */
  const networkRequests = (own: AllowanceRequest, address: string): [SpentBudget, AllowanceRequest][] => {
    if (!address.includes(':')) return []
    const limit = Math.min(own.limit * limits.free_network_clients, limits.free_daily_max)
    return [['wide', { ...own, client: networkHash(own.day, address), limit }]]
  }
  const counted = {
    take: (request: AllowanceRequest) => spent.watch(request, store.take(request)),
    give_back: (request: AllowanceRequest) => store.give_back(request).finally(() => spent.forget(request)),
  }
  return {
    async take(tool, address, reads_sources = false) {
      const own = requestFor(tool, address)
      const wide: [SpentBudget, AllowanceRequest][] = reads_sources ? sourceRequests(clock, networkHash, address, budgets) : []
      const all: [SpentBudget, AllowanceRequest][] = [['own', own], ...networkRequests(own, address), ...wide]
      const known = all.find(([, request]) => spent.used(request) !== null)
      if (known !== undefined) return refusedAllowance(known[0], allowanceState(own, spent.used(own) ?? (await store.used(own)), clock))
      const { granted, grants, give_back } = await takeEach(
        counted,
        all.map(([, request]) => request),
      )
      const used = grants[0]?.used ?? 0
      if (granted) return { granted, spent: null, state: allowanceState(own, used, clock), give_back }
      const [budget] = all[grants.length - 1] ?? ['own' as const]
      return refusedAllowance(budget, allowanceState(own, budget === 'own' ? used : used - 1, clock))
    },
    async peek(tool, address) {
      const own = requestFor(tool, address)
      const unitsUsed = async (request: AllowanceRequest) => spent.used(request) ?? (await store.used(request))
      const state = allowanceState(own, await unitsUsed(own), clock)
      const [network] = networkRequests(own, address)
      if (network === undefined) return state
      return { ...state, remaining: Math.min(state.remaining, Math.max(0, network[1].limit - (await unitsUsed(network[1])))) }
    },
  }
}

function refusedAllowance(spent: SpentBudget, state: AllowanceState): AllowanceTaken {
  return { granted: false, spent, state, give_back: () => Promise.resolve() }
}

/** Budgets of a UTC day for unpaid reads of outside sources: of one client network (/24, /48), of one provider network (/16, /32), and of all clients. */
export interface SourceBudget {
  /** Takes one unit of each budget, or none; `spent` names the budget that is used up. Known accounts have some more where that of all is. */
  take(address: string, known?: boolean): Promise<{ spent: 'network' | 'provider' | 'all' | null; give_back(): Promise<void> }>
  /** Seconds until the budgets reset. */
  resets_in_s(): number
}

export function createSourceBudget(
  store: Pick<Store, 'take' | 'give_back'>,
  clock: Clock,
  secret: Uint8Array,
  budgets: SourceBudgets = SOURCE_BUDGETS,
): SourceBudget {
  const networkHash = networkHasher(secret)
  const providerHash = providerHasher(secret)
  return {
    async take(address, known = false) {
      const day = Math.floor(clock.now_ms() / DAY_MS)
      // A setting that allows one network more or less does the same for the network of its provider.
      const limit = Math.ceil((budgets.network * limits.source_reads_daily_provider) / limits.source_reads_daily_network)
      const provider: AllowanceRequest = { day, bucket: 'source-providers', client: providerHash(day, address), limit }
      const [network, all] = sourceRequests(clock, networkHash, address, budgets)
      const own = [network, ['provider', provider]] as const
      const first = await takeEach(
        store,
        [...own, all].map(([, request]) => request),
      )
      if (first.granted) return { spent: null, give_back: first.give_back }
      const spent = [...own, all][first.grants.length - 1]?.[0] ?? 'network'
      if (spent !== 'all' || !known) return { spent, give_back: first.give_back }
      const kept: AllowanceRequest = { day, bucket: 'sources-known', client: 'all', limit: limits.unpaid_reads_known.daily }
      const second = await takeEach(store, [...own.map(([, request]) => request), kept])
      return { spent: second.granted ? null : spent, give_back: second.give_back }
    },
    resets_in_s: () => Math.max(1, Math.ceil((DAY_MS - (clock.now_ms() % DAY_MS)) / 1_000)),
  }
}

/** Returns the budgets that a free call uses when it reads outside sources: of its client network, and of all clients. */
function sourceRequests(
  clock: Clock,
  networkHash: NetworkHash,
  address: string,
  budgets: SourceBudgets,
): [['network', AllowanceRequest], ['all', AllowanceRequest]] {
  const day = Math.floor(clock.now_ms() / DAY_MS)
  return [
    ['network', { day, bucket: 'sources', client: networkHash(day, address), limit: budgets.network }],
    ['all', allSourceReads(clock, budgets)],
  ]
}

/** Returns how many free calls that read sources all callers together made today. */
export function sourceReadsUsed(store: Pick<Store, 'used'>, clock: Clock, budgets: SourceBudgets): Promise<number> {
  return store.used(allSourceReads(clock, budgets))
}

function allSourceReads(clock: Clock, { all }: SourceBudgets): AllowanceRequest {
  return { day: Math.floor(clock.now_ms() / DAY_MS), bucket: 'sources', client: 'all', limit: all }
}

function allowanceState(request: AllowanceRequest, used: number, clock: Clock): AllowanceState {
  const resets_ms = (request.day + 1) * DAY_MS
  return {
    limit: request.limit,
    remaining: Math.max(0, request.limit - used),
    resets_at: midnightText(resets_ms),
    resets_in_s: Math.max(1, Math.ceil((resets_ms - clock.now_ms()) / 1000)),
  }
}

/** Cached text of the last reset time, which is the same for a whole day. */
let midnight = { ms: Number.NaN, text: '' }

function midnightText(ms: number): string {
  if (midnight.ms !== ms) midnight = { ms, text: new Date(ms).toISOString().replace('.000Z', 'Z') }
  return midnight.text
}

/** Caches for a second which clients have used up their free calls. */
function spentMemory(clock: SteadyClock) {
  const entries = createRecentMap<{ used: number; requested_ms: number }>(REMEMBERED_CLIENTS)
  const cacheKey = ({ day, bucket, client }: AllowanceRequest) => `${day}|${bucket}|${client}`
  let returns = 0
  return {
    /** Returns the units used by a client whose allowance is known to be used up; null otherwise. */
    used(request: AllowanceRequest): number | null {
      const entry = entries.get(cacheKey(request))
      if (entry === undefined) return null
      return clock.steady_ms() - entry.requested_ms < SPENT_REMEMBERED_MS ? entry.used : null
    },
    /** Caches a refusal of the store, unless a unit was returned while the request was running: the refusal may then be out of date. */
    async watch(request: AllowanceRequest, pending: Promise<AllowanceGrant>): Promise<AllowanceGrant> {
      const requested_ms = clock.steady_ms()
      const returns_before = returns
      const grant = await pending
      if (!grant.granted && returns === returns_before) entries.set(cacheKey(request), { used: grant.used, requested_ms })
      return grant
    },
    forget(request: AllowanceRequest): void {
      returns++
      entries.delete(cacheKey(request))
    },
  }
}

/** Caches the keyed hash of each address. Addresses stay in the memory of this process until the first call of the next day. */
function rememberedHash(clientHash: (day: number, address: string) => string) {
  const hashes = createRecentMap<string>(REMEMBERED_CLIENTS)
  let today = Number.NaN
  return (day: number, address: string): string => {
    if (day !== today) hashes.clear()
    today = day
    const known = hashes.get(address)
    if (known !== undefined) return known
    const hash = clientHash(day, address)
    hashes.set(address, hash)
    return hash
  }
}

/** Units taken from several budgets: one of each, or none. */
interface TakenBudgets {
  granted: boolean
  /** Answers of the store in the order of the budgets; when `granted` is false the last one is the refusal. */
  grants: readonly AllowanceGrant[]
  /** Returns every unit that is still taken; a second call returns nothing more. */
  give_back(): Promise<void>
}

/**
 * Takes one unit of each budget in turn. A refusal or a store error at any of them returns the units of those before it, so that a request
 * that was not served uses up nothing.
 */
export async function takeEach(store: Pick<Store, 'take' | 'give_back'>, budgets: readonly AllowanceRequest[]): Promise<TakenBudgets> {
  const taken: AllowanceRequest[] = []
  const grants: AllowanceGrant[] = []
  const give_back = async () => void (await Promise.all(taken.splice(0).map((budget) => store.give_back(budget))))
  try {
    for (const budget of budgets) {
      const grant = await store.take(budget)
      grants.push(grant)
      if (!grant.granted) break
      taken.push(budget)
    }
  } catch (error) {
    // The caller gets the first error; a store that cannot take units may not be able to return them either.
    await give_back().catch(() => undefined)
    throw error
  }
  const granted = taken.length === budgets.length
  if (!granted) await give_back()
  return { granted, grants, give_back }
}

/** Problem codes of the endpoints that read outside sources for requests without a payment. */
export type RateLimitCode = 'INSURANCE_RATE_LIMITED' | 'INVOICE_RATE_LIMITED' | 'CREDIT_RATE_LIMITED' | 'WEBHOOK_RATE_LIMITED'

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
  /**
   * Takes one read before it is made; waits for a while where all clients together make too many. `address` is that of the client; a refusal
   * carries `code`. `known`: an account that proved who it is, and was paid or proven here before: a share is kept for those.
   */
  take(address: string, code: RateLimitCode, known?: boolean): Promise<OutsideRead>
}

interface OutsideReadParts {
  clock: Clock & SteadyClock
  /** Daily budgets of the client's network and of all clients, shared with free calls that read sources. */
  sources: SourceBudget
  /** Failures of each client, shared with the verification of payments. */
  failures: FailureCount
}

/**
 * Checks five bounds, cheapest first: failed verifications of the client in the last minute, reads of its network and of its provider's network in this
 * minute, reads of this process in the last second, and the daily budgets in the store. The bound per second is separate from that of payment
 * verification, so that unpaid requests cannot use up the reads that payers need. Where it is reached, requests wait and networks take turns, so
 * that many networks cannot keep another one out.
 */
export function createOutsideReads({ clock, sources, failures }: OutsideReadParts): OutsideReads {
  const {
    unpaid_reads_known: KNOWN,
    unpaid_reads_waiting: WAITING,
    unpaid_reads_burst: burst,
    unpaid_reads_per_second: per_second,
  } = limits
  const ofNetwork = createRateGuard(clock, limits.unpaid_reads_per_minute_network)
  const ofProvider = createRateGuard(clock, limits.unpaid_reads_per_minute_provider)
  const tripsOf = (rate: { burst: number; per_second: number }) =>
    createRoundTrips(clock, { ...ON_CHAIN_LIMITS, round_trips_burst: rate.burst, round_trips_per_second: rate.per_second })
  const trips = tripsOf({ burst, per_second })
  const known_trips = tripsOf(KNOWN)
  const turns = createFairTurns({ take: () => trips.take(), every_ms: 1_000 / per_second, ...WAITING })
  return {
    async take(address, code, known = false) {
      const client = quotaClient(address)
      const wait_s = failures.wait_s(client)
      if (wait_s > 0) return refusedRead(code, 'Too many signatures or payments of this client failed verification.', wait_s)
      const of_network = ofNetwork(widerNetwork(address))
      if (!of_network.ok) return refusedRead(code, NETWORK_RATE, of_network.retry_after_s)
      const of_provider = ofProvider(providerNetwork(address))
      if (!of_provider.ok) return refusedRead(code, PROVIDER_RATE, of_provider.retry_after_s)
      // Waiting requests come first, so that those who come later do not take their turns.
      const has_turn = turns.is_idle() && trips.take()
      if (!has_turn && !(known && known_trips.take()) && !(await turns.wait(address)))
        return refusedRead(code, SERVICE_RATE, WAITING_RETRY_S)
      const taken = await sources.take(address, known)
      if (taken.spent === null) return { ok: true, failed: () => failures.add(client), give_back: taken.give_back }
      return refusedRead(code, BUDGET_SPENT[taken.spent], sources.resets_in_s())
    },
  }
}

const WAITING_RETRY_S = 5

const NETWORK_RATE = `Requests without a payment from your network (/24, /48) may read outside sources ${limits.unpaid_reads_per_minute_network} times a minute, and did.`
const PROVIDER_RATE = `Requests without a payment from your provider's network (/16, /32) may read outside sources ${limits.unpaid_reads_per_minute_provider} times a minute, and did.`
const SERVICE_RATE =
  `All clients together use up the ${limits.unpaid_reads_per_second} reads of outside sources a second that the service makes without a payment. ` +
  "This limit is the service's, not yours: you are within your own. Nothing was charged; send the request again."

const BUDGET_SPENT = {
  network: 'Your network (/24, /48) has used up its reads of outside sources for requests without a payment until 00:00 UTC.',
  provider: "Your provider's network (/16, /32) has used up its reads of outside sources for requests without a payment until 00:00 UTC.",
  all:
    "All clients together have used up the reads of outside sources that the service makes without a payment until 00:00 UTC. This limit is the service's, " +
    'not yours: you are within your own.',
} as const

function refusedRead(code: RateLimitCode, detail: string, retry_after_s: number): OutsideRead {
  return { ok: false, problem: problem(code, detail, { retry_after_s }) }
}
