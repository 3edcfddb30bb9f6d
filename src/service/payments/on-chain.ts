import type { Chain } from '../../ports/chain.ts'
import type { Clock, SteadyClock } from '../../ports/clock.ts'
import type { Authorization, SignedAuthorization } from '../../pure/payments/authorization.ts'
import { isInSignatureWrapper } from '../../pure/payments/signature-wrapper.ts'
import {
  createFailureCount,
  createLowBalances,
  createRoundTrips,
  type FailureCount,
  type LowBalances,
  type OnChainLimits,
  type RoundTrips,
} from './on-chain-bounds.ts'
import { diagnose } from './on-chain-diagnosis.ts'
import { takeSight, tokenSignature, wrapperOf, type Sight } from './on-chain-reads.ts'
import { REFUSALS, tooManyFailures, type OnChainRefusal } from './on-chain-refusals.ts'

export interface OnChainParts {
  chain: Pick<Chain, 'read' | 'answers'>
  /** The token of the terms; name and version are what payers sign over. */
  token: { address: string; name: string; version: string }
  clock: Clock & SteadyClock
  limits: OnChainLimits
  /** EIP-712 digest of an authorization for this token. */
  digest: (authorization: Authorization) => Uint8Array
  /** The gas wallet, so that the simulation comes from whoever will send. */
  settle_from?: string
  /** Factories of ERC-6492 wallets that are trusted; lower-case hex. None unless told otherwise. */
  erc6492_factories?: readonly string[]
  /** The budget of round trips where others draw on it too; its own where it is left out. */
  trips?: RoundTrips
  /** Failures of clients where others count them too; its own where it is left out. */
  failures?: FailureCount
}

export interface OnChainPass {
  ok: true
  balance_minor: bigint
  /** The payer has code, so it settles alone, in the `bytes` form of the transfer. */
  contract_payer: boolean
  /** What to give the token: the signature itself, or what its ERC-6492 wrapper holds. */
  signature: string
}

export type OnChain = OnChainPass | OnChainRefusal

/**
 * Whether the token would carry out this very transfer now. `recovered` is the account whose key made the signature, null when none did;
 * `client` is who is charged for failures. Never rejects for what the chain does: a chain that cannot be read is a refusal of ours.
 */
export type OnChainCheck = (authorization: SignedAuthorization, recovered: string | null, client: string) => Promise<OnChain>

/**
 * The part of verifying that needs the chain: one round trip when the payment is good, two when it is not. It ends in a simulation, since
 * only the token knows what it takes from whom. Terms and window have been checked before.
 */
export function createOnChainCheck(parts: OnChainParts): OnChainCheck {
  const failures = parts.failures ?? createFailureCount(parts.clock, parts.limits)
  const state: CheckState = {
    low: createLowBalances(parts.clock, parts.limits),
    trips: parts.trips ?? createRoundTrips(parts.clock, parts.limits),
    token_known: false,
  }
  const under_way = new Map<string, Promise<OnChain>>()

  function shared(authorization: SignedAuthorization, account_signed: boolean): Promise<OnChain> {
    const key = keyOf(authorization)
    const known = under_way.get(key)
    if (known !== undefined) return known
    const started = look(parts, state, authorization, account_signed).finally(() => under_way.delete(key))
    under_way.set(key, started)
    return started
  }

  return async (authorization, recovered, client) => {
    const wait_s = failures.wait_s(client)
    if (wait_s > 0) return tooManyFailures(wait_s)
    const found = await shared(authorization, recovered === authorization.from)
    if (!found.ok && found.payers_fault) failures.add(client)
    return found
  }
}

interface CheckState {
  low: LowBalances
  trips: RoundTrips
  /** The token was seen to have code. */
  token_known: boolean
}

async function look(parts: OnChainParts, state: CheckState, authorization: SignedAuthorization, account_signed: boolean): Promise<OnChain> {
  const low = state.low.find(authorization.from)
  // Only for who proved to be the payer, then or now: a stranger is told that the signature is wrong.
  if (low !== null && authorization.value_minor > low.balance_minor && (account_signed || low.contract_payer)) return REFUSALS.insufficient
  if (!state.trips.take()) return REFUSALS.busy
  try {
    if (!(await parts.chain.answers())) return REFUSALS.chainSilent
    return await lookOnce(parts, state, authorization, account_signed)
  } catch (error) {
    if (isChainFault(error)) return REFUSALS.chainSilent
    throw error
  }
}

async function lookOnce(
  parts: OnChainParts,
  state: CheckState,
  authorization: SignedAuthorization,
  account_signed: boolean,
): Promise<OnChain> {
  const { chain, token, limits, settle_from, digest } = parts
  const gas = limits.simulation_gas
  const { token_known } = state
  const sight = await takeSight(chain, { token_address: token.address, token_known, authorization, account_signed, settle_from, gas })
  state.token_known = sight.token_has_code
  const unsigned = accountFault(parts, authorization, account_signed, sight)
  if (unsigned !== null) return unsigned
  if (!sight.token_has_code) return REFUSALS.assetNotDeployed
  if (sight.simulation?.ok === true && sight.balance_minor !== null) {
    const signature = sight.payer_has_code ? tokenSignature(authorization) : authorization.signature
    return { ok: true, balance_minor: sight.balance_minor, contract_payer: sight.payer_has_code, signature }
  }
  state.trips.owe()
  const refusal = await diagnose({ chain, token, digest, gas }, authorization, sight)
  if (refusal.code === 'INSUFFICIENT_FUNDS' && sight.balance_minor !== null) {
    state.low.remember(authorization.from, sight.balance_minor, sight.payer_has_code)
  }
  return refusal
}

/** What an account without code has to bring: its own signature, in 65 bytes. Null when it did, or when the payer has code and judges itself. */
function accountFault(
  { erc6492_factories = [] }: OnChainParts,
  authorization: SignedAuthorization,
  account_signed: boolean,
  sight: Sight,
): OnChainRefusal | null {
  if (sight.payer_has_code || account_signed) return null
  if (!isInSignatureWrapper(authorization.signature)) return REFUSALS.accountSignature
  const wrapper = wrapperOf(authorization)
  if (wrapper === null) return REFUSALS.accountSignature
  return erc6492_factories.includes(wrapper.factory) ? REFUSALS.undeployedWallet : REFUSALS.factoryNotAllowed
}

function keyOf({ from, to, value_minor, valid_after_s, valid_before_s, nonce, signature }: SignedAuthorization): string {
  return [from, to, value_minor, valid_after_s, valid_before_s, nonce, signature].join('|')
}

function isChainFault(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'CHAIN_UNAVAILABLE'
}
