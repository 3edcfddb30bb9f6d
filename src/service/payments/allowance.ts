import type { Clock, SteadyClock } from '../../ports/clock.ts'
import type { AllowanceGrant, AllowanceRequest, Store } from '../../ports/store.ts'
import { clientHasher, networkHasher, type NetworkHash } from '../clients.ts'
import { limits } from '../limits.ts'
import { takeEach } from './budgets.ts'
import { createRecent } from '../recent.ts'

const DAY_MS = 86_400_000

/** What a caller has left today, as every answer says it. */
export interface AllowanceState {
  limit: number
  remaining: number
  /** RFC 3339, the next midnight UTC. */
  resets_at: string
  resets_in_s: number
}

/** The state as bodies show it; the seconds are for headers. */
export function allowanceShown({ limit, remaining, resets_at }: AllowanceState): Omit<AllowanceState, 'resets_in_s'> {
  return { limit, remaining, resets_at }
}

/** The budget that is used up: the client's own, that of its IPv6 /48, or that of its network or of all clients for calls that read sources. */
export type Spent = 'own' | 'wide' | 'network' | 'all'

export interface Taken {
  granted: boolean
  /** Null when granted. */
  spent: Spent | null
  state: AllowanceState
  /** Gives the unit back, when the call then failed by our fault. */
  give_back(): Promise<void>
}

/** The free calls of a day: taken before a call runs, shown in each answer. */
export interface Allowance {
  /** `reads_sources`: the call asks others, who bear only so much; it then draws on the budgets of its network and of all as well. */
  take(tool: string, address: string, reads_sources?: boolean): Promise<Taken>
  peek(tool: string, address: string): Promise<AllowanceState>
}

export interface AllowanceRules {
  free_daily: number
  /** Tools that are counted apart. */
  overrides: Readonly<Record<string, number>>
}

/** Free calls of a day that read sources. */
export interface SourceBudgets {
  network: number
  all: number
}

const SOURCE_BUDGETS: SourceBudgets = { network: limits.source_reads_daily_network, all: limits.source_reads_daily }

/** How long it is remembered that a client has used up its allowance. */
export const SPENT_MS = 1_000
/** Entries of each memory. */
const REMEMBERED_CLIENTS = 100_000

/**
 * The allowance over a store: exact over all instances that share it. That a client's units are used up is remembered for a second, so that
 * a flood of unpaid calls costs no transaction each. This may err in one way: when another instance gives a unit back, the client may for
 * one second more be asked to pay although one free call is left. Never the other way round: what is granted is granted by the store.
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
  /** Free calls of a whole IPv6 /48: as many as the addresses of an IPv4 /24 have together. */
  const networkRequests = (own: AllowanceRequest, address: string): [Spent, AllowanceRequest][] => {
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
      const wide: [Spent, AllowanceRequest][] = reads_sources ? sourceRequests(clock, networkHash, address, budgets) : []
      const all: [Spent, AllowanceRequest][] = [['own', own], ...networkRequests(own, address), ...wide]
      const known = all.find(([, request]) => spent.used(request) !== null)
      if (known !== undefined) return refused(known[0], stateOf(own, spent.used(own) ?? (await store.used(own)), clock))
      const { granted, grants, give_back } = await takeEach(
        counted,
        all.map(([, request]) => request),
      )
      const used = grants[0]?.used ?? 0
      if (granted) return { granted, spent: null, state: stateOf(own, used, clock), give_back }
      const [whose] = all[grants.length - 1] ?? ['own' as const]
      return refused(whose, stateOf(own, whose === 'own' ? used : used - 1, clock))
    },
    async peek(tool, address) {
      const own = requestFor(tool, address)
      const usedOf = async (request: AllowanceRequest) => spent.used(request) ?? (await store.used(request))
      const state = stateOf(own, await usedOf(own), clock)
      const [network] = networkRequests(own, address)
      if (network === undefined) return state
      return { ...state, remaining: Math.min(state.remaining, Math.max(0, network[1].limit - (await usedOf(network[1])))) }
    },
  }
}

function refused(spent: Spent, state: AllowanceState): Taken {
  return { granted: false, spent, state, give_back: () => Promise.resolve() }
}

/** The two budgets of a UTC day for reads of outside sources that nobody pays for: of one wider network, and of all clients. */
export interface SourceBudget {
  /** Takes one unit of both, or of neither; `spent` names the budget that is used up. */
  take(address: string): Promise<{ spent: 'network' | 'all' | null; give_back(): Promise<void> }>
  /** Seconds until both start again. */
  resets_in_s(): number
}

export function createSourceBudget(
  store: Pick<Store, 'take' | 'give_back'>,
  clock: Clock,
  secret: Uint8Array,
  budgets: SourceBudgets = SOURCE_BUDGETS,
): SourceBudget {
  const networkHash = networkHasher(secret)
  return {
    async take(address) {
      const all = sourceRequests(clock, networkHash, address, budgets)
      const { granted, grants, give_back } = await takeEach(
        store,
        all.map(([, request]) => request),
      )
      return { spent: granted ? null : (all[grants.length - 1]?.[0] ?? 'network'), give_back }
    },
    resets_in_s: () => Math.max(1, Math.ceil((DAY_MS - (clock.now_ms() % DAY_MS)) / 1_000)),
  }
}

/** The budgets that a free call draws on when it reads outside sources: of the network around it, and of all clients. */
function sourceRequests(
  clock: Clock,
  networkHash: NetworkHash,
  address: string,
  budgets: SourceBudgets,
): ['network' | 'all', AllowanceRequest][] {
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

function stateOf(request: AllowanceRequest, used: number, clock: Clock): AllowanceState {
  const resets_ms = (request.day + 1) * DAY_MS
  return {
    limit: request.limit,
    remaining: Math.max(0, request.limit - used),
    resets_at: midnightText(resets_ms),
    resets_in_s: Math.max(1, Math.ceil((resets_ms - clock.now_ms()) / 1000)),
  }
}

/** The one that was last asked for: it is the same for a day. */
let midnight = { ms: Number.NaN, text: '' }

function midnightText(ms: number): string {
  if (midnight.ms !== ms) midnight = { ms, text: new Date(ms).toISOString().replace('.000Z', 'Z') }
  return midnight.text
}

/** Who has nothing left, for a second each. */
function spentMemory(clock: SteadyClock) {
  const entries = createRecent<{ used: number; asked_ms: number }>(REMEMBERED_CLIENTS)
  const keyOf = ({ day, bucket, client }: AllowanceRequest) => `${day}|${bucket}|${client}`
  let given_back = 0
  return {
    /** Units used, when they are known to be all. */
    used(request: AllowanceRequest): number | null {
      const entry = entries.get(keyOf(request))
      if (entry === undefined) return null
      return clock.steady_ms() - entry.asked_ms < SPENT_MS ? entry.used : null
    },
    /** Remembers an answer of the store, unless a unit came back while it was on its way: it may then speak of the time before. */
    async watch(request: AllowanceRequest, asked: Promise<AllowanceGrant>): Promise<AllowanceGrant> {
      const asked_ms = clock.steady_ms()
      const seen = given_back
      const grant = await asked
      if (!grant.granted && seen === given_back) entries.set(keyOf(request), { used: grant.used, asked_ms })
      return grant
    },
    forget(request: AllowanceRequest): void {
      given_back++
      entries.delete(keyOf(request))
    },
  }
}

/** Spares the keyed hash for an address that was seen today. Addresses stay in the memory of this process, until the first call of the next day. */
function rememberedHash(clientHash: (day: number, address: string) => string) {
  const hashes = createRecent<string>(REMEMBERED_CLIENTS)
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
