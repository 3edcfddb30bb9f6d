import type { Clock } from '../../ports/clock.ts'
import type { AllowanceRequest, Store } from '../../ports/store.ts'
import { clientHasher } from '../clients.ts'

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

export interface Taken {
  granted: boolean
  state: AllowanceState
  /** Gives the unit back, when the call then failed by our fault. */
  give_back(): Promise<void>
}

/** The free calls of a day: taken before a call runs, shown in each answer. */
export interface Allowance {
  take(tool: string, address: string): Promise<Taken>
  peek(tool: string, address: string): Promise<AllowanceState>
}

export interface AllowanceRules {
  free_daily: number
  /** Tools that are counted apart. */
  overrides: Readonly<Record<string, number>>
}

/** The allowance over a store: exact over all instances that share it. */
export function createAllowance(
  store: Pick<Store, 'take' | 'give_back' | 'used'>,
  clock: Clock,
  secret: Uint8Array,
  rules: AllowanceRules,
): Allowance {
  const clientHash = clientHasher(secret)
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
  const stateOf = (request: AllowanceRequest, used: number): AllowanceState => {
    const resets_ms = (request.day + 1) * DAY_MS
    return {
      limit: request.limit,
      remaining: Math.max(0, request.limit - used),
      resets_at: new Date(resets_ms).toISOString().replace('.000Z', 'Z'),
      resets_in_s: Math.max(1, Math.ceil((resets_ms - clock.now_ms()) / 1000)),
    }
  }
  return {
    async take(tool, address) {
      const request = requestFor(tool, address)
      const grant = await store.take(request)
      return { granted: grant.granted, state: stateOf(request, grant.used), give_back: () => store.give_back(request) }
    },
    async peek(tool, address) {
      const request = requestFor(tool, address)
      return stateOf(request, await store.used(request))
    },
  }
}
