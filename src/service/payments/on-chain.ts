import { isChainFault } from '../chain-fault.ts'
import type { Chain, ChainRead, ChainReadResult } from '../../ports/chain.ts'
import { bytes32Word, bytesTail, decodeBool, decodeString, decodeUint, uintWord } from '../../pure/payments/abi.ts'
import type { Authorization, SignedAuthorization } from '../../pure/payments/authorization.ts'
import { normaliseSignature } from '../../pure/payments/eip3009.ts'
import { isInSignatureWrapper, readSignatureWrapper, type SignatureWrapper } from '../../pure/payments/signature-wrapper.ts'
import * as calls from '../../pure/payments/token-calls.ts'
import { toHex } from '../../pure/receipts/crypto.ts'
import { decodeRevert, NAME_CALL, VERSION_CALL } from '../../pure/payments/token-calls.ts'
import type { Clock, SteadyClock } from '../../ports/clock.ts'
import {
  createFailureCount,
  createLowBalances,
  createRoundTrips,
  type FailureCount,
  type LowBalances,
  type OnChainLimits,
  type RoundTrips,
} from './on-chain-bounds.ts'

/** One look at the chain for one payment: what is asked, and what the answers are. */

/** What the token is given for a payer with code: the signature, or what its wrapper holds. */
export function tokenSignature(authorization: SignedAuthorization): string {
  return wrapperOf(authorization)?.inner_signature ?? authorization.signature
}

type NamedReads = Record<string, ChainRead>

interface LookOptions {
  token_address: string
  /** Code was seen there before; USDC cannot lose it. */
  token_known: boolean
  authorization: SignedAuthorization
  /** Whether an account's key made the signature; then the form for accounts may apply. */
  account_signed: boolean
  /** Who would send the transaction; some wallets look. */
  settle_from: string | undefined
  gas: bigint
}

/** Null: the token does not answer that question. */
interface Sight {
  payer_has_code: boolean
  token_has_code: boolean
  balance_minor: bigint | null
  used: boolean | null
  paused: boolean | null
  payer_blocked: boolean | null
  recipient_blocked: boolean | null
  /** The transfer in the form that applies to this payer; null when none does. */
  simulation: ChainReadResult | null
}

/** An ERC-6492 wrapper is for verifiers; the token gets what is inside. A wrapper without a factory is taken for the wallet's own format. */
function wrapperOf({ signature }: SignedAuthorization): SignatureWrapper | null {
  const wrapper = readSignatureWrapper(signature)
  return wrapper === null || BigInt(wrapper.factory) === 0n ? null : wrapper
}

/** The reads of one round trip by their names. */
function readsFor({ token_address: to, token_known, authorization, account_signed, settle_from, gas }: LookOptions): NamedReads {
  const ask = (data: string): ChainRead => ({ kind: 'call', to, data })
  const simulate = (data: string): ChainRead => ({ kind: 'call', to, data, gas, ...(settle_from !== undefined && { from: settle_from }) })
  const account = account_signed ? normaliseSignature(authorization.signature) : null
  return {
    payer_code: { kind: 'code', address: authorization.from },
    balance: ask(calls.balanceCall(authorization.from)),
    used: ask(calls.authorizationStateCall(authorization.from, authorization.nonce)),
    paused: ask(calls.PAUSED_CALL),
    payer_blocked: ask(calls.blacklistedCall(authorization.from)),
    recipient_blocked: ask(calls.blacklistedCall(authorization.to)),
    bytes_form: simulate(calls.transferBytesCall(authorization, tokenSignature(authorization))),
    ...(account !== null && { account_form: simulate(calls.transferCall(authorization, account)) }),
    ...(!token_known && { token_code: { kind: 'code', address: to } }),
  }
}

async function takeSight(chain: Pick<Chain, 'read'>, options: LookOptions): Promise<Sight> {
  const reads = readsFor(options)
  const results = await chain.read(Object.values(reads))
  const seen: Record<string, ChainReadResult | undefined> = Object.fromEntries(
    Object.keys(reads).map((name, index) => [name, results[index]]),
  )
  const payer_has_code = hasCode(seen['payer_code'])
  return {
    payer_has_code,
    token_has_code: options.token_known || hasCode(seen['token_code']),
    balance_minor: seen['balance']?.ok === true ? decodeUint(seen['balance'].data) : null,
    used: flag(seen['used']),
    paused: flag(seen['paused']),
    payer_blocked: flag(seen['payer_blocked']),
    recipient_blocked: flag(seen['recipient_blocked']),
    // FiatToken v2.2 asks any signer that has code, a delegated account (EIP-7702) included.
    simulation: (payer_has_code ? seen['bytes_form'] : seen['account_form']) ?? null,
  }
}

function hasCode(result: ChainReadResult | undefined): boolean {
  return result?.ok === true && result.data !== '0x'
}

function flag(result: ChainReadResult | undefined): boolean | null {
  return result?.ok === true ? decodeBool(result.data) : null
}

/** What the chain can say against a payment: our code for it, the word of the official facilitator, and what we tell the payer. */

type OnChainCode =
  | 'BAD_SIGNATURE'
  | 'ERC6492_NOT_SUPPORTED'
  | 'REPLAY'
  | 'EXPIRED'
  | 'NOT_YET_VALID'
  | 'ASSET_MISCONFIGURED'
  | 'INSUFFICIENT_FUNDS'
  | 'PAYER_BLOCKED'
  | 'SIMULATION_FAILED'
  | 'ASSET_NOT_DEPLOYED'
  | 'EIP3009_NOT_SUPPORTED'
  | 'TOKEN_PAUSED'
  | 'RECIPIENT_BLOCKED'
  | 'UPSTREAM_RPC_UNAVAILABLE'
  | 'VERIFICATION_BUSY'
  | 'RATE_LIMITED'

interface OnChainRefusal {
  ok: false
  code: OnChainCode
  detail: string
  /** As @x402/evm 2.27.0 says it; null where it would have said nothing against the payment. */
  x402_reason: string | null
  /** The same payment may pass later. */
  retryable: boolean
  retry_after_s?: number
  /** It speaks against the payment, not against us or the chain; such refusals are counted against the client. */
  payers_fault: boolean
}

/** What the official facilitator says when the simulation fails and its diagnosis finds nothing. It knows neither blacklist nor pause. */
const SIMULATION = 'invalid_exact_evm_transaction_simulation_failed'

function payers(code: OnChainCode, x402_reason: string, detail: string, retryable = false): OnChainRefusal {
  return { ok: false, code, detail, x402_reason, retryable, payers_fault: true }
}

function ours(code: OnChainCode, x402_reason: string | null, detail: string, retry_after_s?: number): OnChainRefusal {
  const retry = retry_after_s === undefined ? { retryable: false } : { retryable: true, retry_after_s }
  return { ok: false, code, detail, x402_reason, ...retry, payers_fault: false }
}

/** A pause or a blacklist is lifted by people, not within seconds. */
const BLOCKED_RETRY_S = 60
const RPC_RETRY_S = 5

export const REFUSALS = {
  accountSignature: payers(
    'BAD_SIGNATURE',
    'invalid_exact_evm_signature',
    'The signature does not recover to authorization.from. Sign over the token name, version, chain and address of the terms.',
  ),
  walletSignature: payers(
    'BAD_SIGNATURE',
    'invalid_exact_evm_signature',
    'The wallet at authorization.from refuses the signature (EIP-1271).',
  ),
  factoryNotAllowed: payers(
    'ERC6492_NOT_SUPPORTED',
    'eip6492_factory_not_allowed',
    'The wallet at authorization.from is not deployed and its factory is not on the allow-list. Deploy the wallet, then pay.',
  ),
  undeployedWallet: payers(
    'ERC6492_NOT_SUPPORTED',
    'invalid_exact_evm_payload_undeployed_smart_wallet',
    'The wallet at authorization.from is not deployed, and wallets are not deployed here. Deploy it, then pay.',
  ),
  used: payers('REPLAY', 'invalid_exact_evm_nonce_already_used', 'This authorization was used or cancelled on chain before.'),
  expired: payers(
    'EXPIRED',
    'invalid_exact_evm_payload_authorization_valid_before',
    'By the time of the chain the authorization has expired.',
  ),
  notYetValid: {
    ...payers(
      'NOT_YET_VALID',
      'invalid_exact_evm_payload_authorization_valid_after',
      'By the time of the chain the authorization is not valid yet. Send the same payment again shortly.',
      true,
    ),
    retry_after_s: 2,
  },
  insufficient: payers(
    'INSUFFICIENT_FUNDS',
    'invalid_exact_evm_insufficient_balance',
    'The payer holds less of the token than the authorization moves.',
    true,
  ),
  payerBlocked: payers('PAYER_BLOCKED', SIMULATION, 'The token has blacklisted the payer.'),
  simulation: payers('SIMULATION_FAILED', SIMULATION, 'The token refuses the transfer and names no reason that is known here.'),
  simulationText: payers('SIMULATION_FAILED', SIMULATION, 'The token refuses the transfer for a reason of its own.'),
  assetNotDeployed: ours('ASSET_NOT_DEPLOYED', 'asset_not_deployed_contract', 'There is no contract at the token address of the terms.'),
  notSupported: ours(
    'EIP3009_NOT_SUPPORTED',
    'invalid_exact_evm_eip3009_not_supported',
    'The token of the terms does not take signed transfers (EIP-3009).',
  ),
  tokenName: ours(
    'ASSET_MISCONFIGURED',
    'invalid_exact_evm_token_name_mismatch',
    'The token calls itself otherwise than the terms do, so no signature over them can settle.',
  ),
  tokenVersion: ours(
    'ASSET_MISCONFIGURED',
    'invalid_exact_evm_token_version_mismatch',
    'The token has another version than the terms say, so no signature over them can settle.',
  ),
  paused: ours('TOKEN_PAUSED', SIMULATION, 'The token is paused: nobody can pay with it now.', BLOCKED_RETRY_S),
  recipientBlocked: ours('RECIPIENT_BLOCKED', SIMULATION, 'The token has blacklisted the recipient of the terms.', BLOCKED_RETRY_S),
  chainSilent: ours(
    'UPSTREAM_RPC_UNAVAILABLE',
    'unexpected_verify_error',
    'The chain cannot be read now. The payment was left untouched.',
    RPC_RETRY_S,
  ),
  busy: ours('VERIFICATION_BUSY', null, 'Too many payments are being verified. The payment was left untouched; send it again.', 1),
} as const satisfies Record<string, OnChainRefusal>

function tooManyFailures(retry_after_s: number): OnChainRefusal {
  return ours('RATE_LIMITED', null, 'Too many payments of this client failed verification. The payment was left untouched.', retry_after_s)
}

/** isValidSignature(bytes32,bytes) and what it returns for yes (EIP-1271, final). */
const IS_VALID_SIGNATURE = '0x1626ba7e'

interface DiagnosisParts {
  chain: Pick<Chain, 'read'>
  token: { address: string; name: string; version: string }
  digest: (authorization: Authorization) => Uint8Array
  gas: bigint
}

/**
 * Why a simulated transfer failed, in the order in which @x402/evm 2.27.0 looks for it: signature of a wallet, token that is none, used
 * authorization, domain, balance; then what only FiatToken has, then the token's own words. Asks the chain once more.
 */
async function diagnose(parts: DiagnosisParts, authorization: SignedAuthorization, sight: Sight): Promise<OnChainRefusal> {
  const [name, version, wallet] = await parts.chain.read(furtherReads(parts, authorization, sight))
  if (sight.payer_has_code && !isYes(wallet)) return REFUSALS.walletSignature
  if (sight.used === null) return REFUSALS.notSupported
  if (sight.used) return REFUSALS.used
  if (differs(name, parts.token.name)) return REFUSALS.tokenName
  if (differs(version, parts.token.version)) return REFUSALS.tokenVersion
  if (sight.balance_minor !== null && sight.balance_minor < authorization.value_minor) return REFUSALS.insufficient
  if (sight.payer_blocked === true) return REFUSALS.payerBlocked
  if (sight.paused === true) return REFUSALS.paused
  if (sight.recipient_blocked === true) return REFUSALS.recipientBlocked
  return fromWords(sight.simulation, sight.payer_has_code)
}

function furtherReads({ token, digest, gas }: DiagnosisParts, authorization: SignedAuthorization, sight: Sight): ChainRead[] {
  const reads: ChainRead[] = [
    { kind: 'call', to: token.address, data: NAME_CALL },
    { kind: 'call', to: token.address, data: VERSION_CALL },
  ]
  if (sight.payer_has_code) {
    const hash = toHex(digest(authorization))
    const data = IS_VALID_SIGNATURE + bytes32Word(hash) + uintWord(64n) + bytesTail(tokenSignature(authorization))
    reads.push({ kind: 'call', to: authorization.from, data, gas })
  }
  return reads
}

function isYes(result: ChainReadResult | undefined): boolean {
  return result?.ok === true && result.data.startsWith(IS_VALID_SIGNATURE)
}

/** A token that does not say who it is contradicts nothing. */
function differs(result: ChainReadResult | undefined, expected: string): boolean {
  const found = result?.ok === true ? decodeString(result.data) : null
  return found !== null && found !== expected
}

/** What tokens revert with, as texts of FiatToken and errors of OpenZeppelin. The words are read, never repeated. */
const WORDS: readonly (readonly [RegExp, OnChainRefusal])[] = [
  [/not yet valid/i, REFUSALS.notYetValid],
  [/expired/i, REFUSALS.expired],
  [/used or cancell?ed/i, REFUSALS.used],
  [/exceeds balance|insufficient balance/i, REFUSALS.insufficient],
]

function fromWords(simulation: ChainReadResult | null, payer_has_code: boolean): OnChainRefusal {
  if (simulation === null || simulation.ok) return REFUSALS.simulation
  const reason = decodeRevert(simulation.revert)
  if (reason.kind !== 'text') return REFUSALS.simulation
  if (/invalid signature/i.test(reason.text)) return payer_has_code ? REFUSALS.walletSignature : REFUSALS.accountSignature
  return WORDS.find(([words]) => words.test(reason.text))?.[1] ?? REFUSALS.simulationText
}

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
