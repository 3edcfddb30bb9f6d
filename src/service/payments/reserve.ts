import type { Chain, ChainRead } from '../../ports/chain.ts'
import type { ClaimRequest, ClaimResult, PaymentStore } from '../../ports/payments.ts'
import { decodeBool, decodeUint } from '../../pure/payments/abi.ts'
import { authorizationStateCall, balanceCall } from '../../pure/payments/token-calls.ts'
import type { RoundTrips } from './on-chain-bounds.ts'

/** Authorizations looked at beside the balance, in one round trip. */
const LOOKED_AT = 90

/** What a payer holds, and which of these nonces were used at that very block. Null when the chain is not to be asked, or says nothing clear. */
export type Holdings = (payer: string, nonces: readonly string[]) => Promise<{ balance_minor: bigint; spent: string[] } | null>

/** Draws on the budget of verification; a chain that fails says nothing. */
export function createHoldings(chain: Pick<Chain, 'read'>, token: string, trips: Pick<RoundTrips, 'take'>): Holdings {
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
 * Claims within what the payer holds. A payment that is in a block already, while its row is still open, is counted twice at first: it has
 * left the balance and is in flight. So before a payer is told that it holds too little, both are looked at once more, at one block.
 */
export async function claimReserved(
  { store, holdings }: { store: Pick<PaymentStore, 'claim' | 'nonces_in_flight'>; holdings: Holdings },
  asked: ClaimRequest,
): Promise<ClaimResult> {
  const first = await store.claim(asked)
  if (first.kind !== 'over_reserved') return first
  const now = await holdings(asked.payer, await store.nonces_in_flight(asked.payer, LOOKED_AT))
  return now === null ? first : store.claim({ ...asked, ...now })
}
