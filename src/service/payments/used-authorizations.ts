import type { Chain } from '../../ports/chain.ts'
import type { Binding, PaymentKey } from '../../ports/payments.ts'
import type { Clock, SteadyClock } from '../../ports/clock.ts'
import type { Store } from '../../ports/store.ts'
import type { Authorization } from '../../pure/payments/eip3009.ts'
import type { ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import { isChainFault } from '../chain-fault.ts'
import type { NetworkHash } from '../clients.ts'
import { limits } from '../limits.ts'
import { createRecentMap } from '../recent.ts'
import { type EchoedOffer, readEchoedOffer } from './extensions.ts'
import { createFailureCount, createRoundTrips, ON_CHAIN_LIMITS, type RoundTrips } from './reserved-balances.ts'
import { paymentContext } from './resends.ts'
import { findUse, type FoundUse, usedStates } from './settlement.ts'

/** Claim of this process, by which it still knows a payment whose row was lost with the store. */
interface RememberedClaim extends Binding {
  value_minor: bigint
  network_hash: string | null
  identifier_hash: string | null
  claimed_ms: number
}

/** `unread`: it is not known whether the authorization is used. */
type AuthorizationUse = FoundUse | { kind: 'unused' } | { kind: 'unread' }

/** Knowledge about authorizations of one token that have no row in the store. */
export interface UsedAuthorizations {
  /** Asks the chain, within the budgets of verification; several requests with one authorization ask once. */
  find(authorization: Authorization, client: string): Promise<AuthorizationUse>
  /** Counts a lookup for a payment of the client that was refused. */
  countRefused(client: string): void
  /**
   * Says whether the authorization is used, or may be: a claim that this process remembers. Null where it cannot be read now. It has the budget of
   * reads without a payment.
   */
  isUsed(key: PaymentKey): Promise<boolean | null>
  remember(key: PaymentKey, claim: RememberedClaim): void
  remembered(key: PaymentKey): RememberedClaim | null
  /** Offers of this service among those that a client sent back. */
  offers(values: readonly unknown[]): EchoedOffer[]
  /** Counts a restored payment whose sender proved nothing; false beyond the number of a day and client network. */
  takeUnproven(address: string): Promise<boolean>
}

interface UsedAuthorizationsParts {
  chain: Pick<Chain, 'head' | 'header' | 'read' | 'receipt' | 'logs'>
  /** Address of the token, lower case, and its asset as in the rows of payments. */
  token: string
  asset: string | null
  trips: RoundTrips
  clock: Clock & SteadyClock
  store: Pick<Store, 'take'>
  networkHash: NetworkHash
  signing_address: string
  crypto: ReceiptCrypto
}

const DAY_MS = 86_400_000

export function createUsedAuthorizations(parts: UsedAuthorizationsParts): UsedAuthorizations {
  const { clock, store, networkHash, signing_address, crypto } = parts
  const claims = createRecentMap<RememberedClaim>(limits.remembered_claims)
  const under_way = new Map<string, Promise<AuthorizationUse>>()
  // Separate from failed verifications: a client that sends expired payments must still get that answer.
  const refused = createFailureCount(clock, { ...ON_CHAIN_LIMITS, failures_per_minute: limits.refused_lookups_per_minute })
  // Separate from verification: anyone may ask for the state of any authorization.
  const unpaid_trips = createRoundTrips(clock, {
    ...ON_CHAIN_LIMITS,
    round_trips_burst: limits.unpaid_reads_burst,
    round_trips_per_second: limits.unpaid_reads_per_second,
  })
  return {
    async find(authorization, client) {
      if (refused.wait_s(client) > 0) return { kind: 'unread' }
      const { from, to, value_minor, nonce } = authorization
      const name = [from, to, value_minor, nonce].join('|')
      const asked = under_way.get(name) ?? lookUp(parts, authorization).finally(() => under_way.delete(name))
      under_way.set(name, asked)
      return asked
    },
    countRefused: (client) => refused.add(client),
    isUsed: async (key) =>
      (await readUsed({ ...parts, trips: unpaid_trips }, key)) ?? (claims.get(paymentContext(key)) === undefined ? null : true),
    remember: (key, claim) => claims.set(paymentContext(key), claim),
    remembered: (key) => claims.get(paymentContext(key)) ?? null,
    offers: (values) => values.map((value) => readEchoedOffer(value, signing_address, crypto)).filter((offer) => offer !== null),
    async takeUnproven(address) {
      const day = Math.floor(clock.now_ms() / DAY_MS)
      const limit = limits.restores_daily_network
      return (await store.take({ day, bucket: 'restored-payment', client: networkHash(day, address), limit })).granted
    },
  }
}

async function readUsed({ chain, token, asset, trips }: UsedAuthorizationsParts, key: PaymentKey): Promise<boolean | null> {
  if (!trips.take()) return null
  try {
    const [used] = await usedStates({ chain, token }, [{ ...key, asset }])
    return used ?? null
  } catch (error) {
    if (isChainFault(error)) return null
    throw error
  }
}

async function lookUp(parts: UsedAuthorizationsParts, authorization: Authorization): Promise<AuthorizationUse> {
  const { asset, token, clock } = parts
  const { from: payer, nonce, to, value_minor, valid_after_s, valid_before_s } = authorization
  const used = await readUsed(parts, { payer, nonce })
  if (used !== true) return used === null ? { kind: 'unread' } : { kind: 'unused' }
  // Nothing is taken here that is valid for longer, so it was not used earlier, unless by another sender.
  const now_s = Math.floor(clock.now_ms() / 1_000)
  const end_s = Number(valid_before_s) < now_s ? Number(valid_before_s) : now_s
  const from_s = Math.max(Number(valid_after_s), end_s - limits.payment_longest_s - limits.payment_skew_s)
  if (from_s < now_s - limits.answer_kept_ms / 1_000) return { kind: 'undecided' }
  try {
    return await findUse({ chain: countedChain(parts), token }, { payer, nonce, asset, to, value_minor }, from_s)
  } catch (error) {
    if (isChainFault(error)) return { kind: 'undecided' }
    throw error
  }
}

/** The chain, each read of which draws on the budget of verification: a search that began is finished, and others wait. */
function countedChain({ chain, trips }: UsedAuthorizationsParts): UsedAuthorizationsParts['chain'] {
  const owed = <Args extends unknown[], Result>(read: (...args: Args) => Result) => {
    return (...args: Args): Result => {
      trips.takeOwed()
      return read(...args)
    }
  }
  return {
    head: owed(() => chain.head()),
    header: owed((at) => chain.header(at)),
    read: owed((reads, at) => chain.read(reads, at)),
    receipt: owed((hash) => chain.receipt(hash)),
    logs: owed((filter) => chain.logs(filter)),
  }
}
