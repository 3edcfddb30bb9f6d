import type { Clock } from '../../ports/clock.ts'
import type { AllowanceGrant, AllowanceRequest, Store } from '../../ports/store.ts'
import { clientHasher, networkHasher, type NetworkHash } from '../clients.ts'
import { limits } from '../limits.ts'
import { createRecent } from './recent.ts'

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

/** Whose free calls are used up: the caller's own, those of its network that read sources, or those of all callers that do. */
export type Spent = 'own' | 'network' | 'all'

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
  clock: Clock,
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
  /** Units of the two wider budgets, both or none. */
  const takeWide = async (address: string): Promise<{ spent: Spent | null; give_back: () => Promise<void> }> => {
    const wide = wideRequests(clock, networkHash, address, budgets)
    const taken: AllowanceRequest[] = []
    const give_back = async () => void (await Promise.all(taken.map((request) => store.give_back(request))))
    for (const [whose, request] of wide) {
      if (!(await store.take(request)).granted) {
        await give_back()
        return { spent: whose, give_back: () => Promise.resolve() }
      }
      taken.push(request)
    }
    return { spent: null, give_back }
  }
  const giveBack = (request: AllowanceRequest) => store.give_back(request).finally(() => spent.forget(request))
  return {
    async take(tool, address, reads_sources = false) {
      const request = requestFor(tool, address)
      const known = spent.used(request)
      const grant = known === null ? await spent.watch(request, store.take(request)) : { granted: false, used: known }
      const state = stateOf(request, grant.used, clock)
      if (!grant.granted) return { granted: false, spent: 'own', state, give_back: () => Promise.resolve() }
      if (!reads_sources) return { granted: true, spent: null, state, give_back: () => giveBack(request) }
      const wide = await takeWide(address)
      const give_back = async () => void (await Promise.all([wide.give_back(), giveBack(request)]))
      if (wide.spent === null) return { granted: true, spent: null, state, give_back }
      await giveBack(request)
      return { granted: false, spent: wide.spent, state: stateOf(request, grant.used - 1, clock), give_back: () => Promise.resolve() }
    },
    async peek(tool, address) {
      const request = requestFor(tool, address)
      return stateOf(request, spent.used(request) ?? (await store.used(request)), clock)
    },
  }
}

/** The budgets beyond the caller's own that a free call draws on when it reads sources: of the network around it, and of everybody. */
function wideRequests(clock: Clock, networkHash: NetworkHash, address: string, budgets: SourceBudgets): [Spent, AllowanceRequest][] {
  const day = Math.floor(clock.now_ms() / DAY_MS)
  return [
    ['network', { day, bucket: 'sources', client: networkHash(day, address), limit: budgets.network }],
    ['all', { day, bucket: 'sources', client: 'all', limit: budgets.all }],
  ]
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
function spentMemory(clock: Clock) {
  const entries = createRecent<{ used: number; asked_ms: number }>(REMEMBERED_CLIENTS)
  const keyOf = ({ day, bucket, client }: AllowanceRequest) => `${day}|${bucket}|${client}`
  let given_back = 0
  return {
    /** Units used, when they are known to be all. */
    used(request: AllowanceRequest): number | null {
      const entry = entries.get(keyOf(request))
      if (entry === undefined) return null
      const age_ms = clock.now_ms() - entry.asked_ms
      return age_ms >= 0 && age_ms < SPENT_MS ? entry.used : null
    },
    /** Remembers an answer of the store, unless a unit came back while it was on its way: it may then speak of the time before. */
    async watch(request: AllowanceRequest, asked: Promise<AllowanceGrant>): Promise<AllowanceGrant> {
      const asked_ms = clock.now_ms()
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
