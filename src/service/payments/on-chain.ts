import { isChainFault } from '../chain-fault.ts'
import type { Chain, ChainRead, ChainReadResult } from '../../ports/chain.ts'
import {
  bytes32Word,
  bytesTail,
  decodeBool,
  decodeString,
  decodeUint,
  uintWord,
  decodeRevert,
  NAME_CALL,
  VERSION_CALL,
} from '../../pure/payments/token-calls.ts'
import { type Authorization, type SignedAuthorization, normaliseSignature } from '../../pure/payments/eip3009.ts'
import { isWrappedSignature, readSignatureWrapper, type SignatureWrapper } from '../../pure/payments/signature-wrapper.ts'
import * as calls from '../../pure/payments/token-calls.ts'
import { toHex } from '../../pure/receipts/crypto.ts'
import type { Clock, SteadyClock } from '../../ports/clock.ts'
import {
  createFailureCount,
  createLowBalances,
  createRoundTrips,
  type FailureCount,
  type LowBalances,
  type OnChainLimits,
  type RoundTrips,
} from './reserved-balances.ts'

/**
 * Returns the signature that the token gets for a payer with code: the signature itself, or the inner signature of its ERC-6492 wrapper.
 */
export function tokenSignature(authorization: SignedAuthorization): string {
  return wrapperOf(authorization)?.inner_signature ?? authorization.signature
}

type NamedReads = Record<string, ChainRead>

interface TransferFactOptions {
  token_address: string
  /** Code was found at the token address before; USDC cannot lose it. */
  token_known: boolean
  authorization: SignedAuthorization
  /** The signature was made by an account's key, so the transfer function for accounts may apply. */
  account_signed: boolean
  /** Sender of the settlement transaction; some wallets check it. */
  settle_from: string | undefined
  gas: bigint
}

/** Chain reads for one payment. Null: the token did not answer that read. */
interface TransferFacts {
  payer_has_code: boolean
  token_has_code: boolean
  balance_minor: bigint | null
  used: boolean | null
  paused: boolean | null
  payer_blocked: boolean | null
  recipient_blocked: boolean | null
  /** Simulated transfer by the function that applies to this payer; null when none does. */
  simulation: ChainReadResult | null
}

/**
 * Returns the ERC-6492 wrapper of a signature. The wrapper is for verifiers; the token gets the inner signature. A wrapper without a
 * factory is treated as the wallet's own signature format.
 */
function wrapperOf({ signature }: SignedAuthorization): SignatureWrapper | null {
  const wrapper = readSignatureWrapper(signature)
  return wrapper === null || BigInt(wrapper.factory) === 0n ? null : wrapper
}

/** Returns the reads of one round trip by name. */
function readsFor({ token_address: to, token_known, authorization, account_signed, settle_from, gas }: TransferFactOptions): NamedReads {
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

async function readTransferFacts(chain: Pick<Chain, 'read'>, options: TransferFactOptions): Promise<TransferFacts> {
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
    used: booleanResult(seen['used']),
    paused: booleanResult(seen['paused']),
    payer_blocked: booleanResult(seen['payer_blocked']),
    recipient_blocked: booleanResult(seen['recipient_blocked']),
    // FiatToken v2.2 calls any signer that has code, including a delegated account (EIP-7702).
    simulation: (payer_has_code ? seen['bytes_form'] : seen['account_form']) ?? null,
  }
}

function hasCode(result: ChainReadResult | undefined): boolean {
  return result?.ok === true && result.data !== '0x'
}

function booleanResult(result: ChainReadResult | undefined): boolean | null {
  return result?.ok === true ? decodeBool(result.data) : null
}

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
  /** Reason code of @x402/evm 2.27.0; null where that facilitator would accept the payment. */
  x402_reason: string | null
  /** The same payment may pass later. */
  retryable: boolean
  retry_after_s?: number
  /** The payment is at fault, not the service or the chain; such refusals count against the client. */
  payer_fault: boolean
  /** The chain showed the authorization as unused. */
  is_unused?: boolean
}

/** Code of the official facilitator when the simulation fails and its diagnosis finds no cause. It has no code for blacklist and pause. */
const SIMULATION_FAILED_REASON = 'invalid_exact_evm_transaction_simulation_failed'

function payerRefusal(code: OnChainCode, x402_reason: string, detail: string, retryable = false): OnChainRefusal {
  return { ok: false, code, detail, x402_reason, retryable, payer_fault: true }
}

function serviceRefusal(code: OnChainCode, x402_reason: string | null, detail: string, retry_after_s?: number): OnChainRefusal {
  const retry = retry_after_s === undefined ? { retryable: false } : { retryable: true, retry_after_s }
  return { ok: false, code, detail, x402_reason, ...retry, payer_fault: false }
}

/** People lift a pause or a blacklist, which takes longer than seconds. */
const BLOCKED_RETRY_S = 60
const RPC_RETRY_S = 5

export const ON_CHAIN_REFUSALS = {
  accountSignature: payerRefusal(
    'BAD_SIGNATURE',
    'invalid_exact_evm_signature',
    'The signature does not recover to authorization.from. Sign over the token name, version, chain and address of the terms.',
  ),
  walletSignature: payerRefusal(
    'BAD_SIGNATURE',
    'invalid_exact_evm_signature',
    'The wallet at authorization.from rejected the signature (EIP-1271).',
  ),
  factoryNotAllowed: payerRefusal(
    'ERC6492_NOT_SUPPORTED',
    'eip6492_factory_not_allowed',
    'The wallet at authorization.from is not deployed and its factory is not on the allow-list. Deploy the wallet, then pay.',
  ),
  undeployedWallet: payerRefusal(
    'ERC6492_NOT_SUPPORTED',
    'invalid_exact_evm_payload_undeployed_smart_wallet',
    'The wallet at authorization.from is not deployed, and assay does not deploy wallets. Deploy the wallet, then pay.',
  ),
  /** Counted against the client only after it is known what the authorization was used for. */
  used: {
    ...payerRefusal(
      'REPLAY',
      'invalid_exact_evm_nonce_already_used',
      'This authorization was cancelled on chain, or used for another transfer, and moved nothing to the recipient of the terms. Sign a new one.',
    ),
    payer_fault: false,
  },
  expired: payerRefusal(
    'EXPIRED',
    'invalid_exact_evm_payload_authorization_valid_before',
    'The authorization has expired by the time of the chain. Sign a new one.',
  ),
  notYetValid: {
    ...payerRefusal(
      'NOT_YET_VALID',
      'invalid_exact_evm_payload_authorization_valid_after',
      'The authorization is not valid yet by the time of the chain. Send the same payment again in 2 seconds.',
      true,
    ),
    retry_after_s: 2,
  },
  insufficient: payerRefusal(
    'INSUFFICIENT_FUNDS',
    'invalid_exact_evm_insufficient_balance',
    'The token balance of the payer is less than the amount of the authorization.',
    true,
  ),
  payerBlocked: payerRefusal('PAYER_BLOCKED', SIMULATION_FAILED_REASON, 'The token has blacklisted the payer.'),
  simulation: payerRefusal(
    'SIMULATION_FAILED',
    SIMULATION_FAILED_REASON,
    'The token rejected the simulated transfer without a reason that assay recognises.',
  ),
  simulationText: payerRefusal(
    'SIMULATION_FAILED',
    SIMULATION_FAILED_REASON,
    'The token rejected the simulated transfer with a message that assay does not recognise.',
  ),
  assetNotDeployed: serviceRefusal(
    'ASSET_NOT_DEPLOYED',
    'asset_not_deployed_contract',
    'There is no contract at the token address of the payment terms.',
  ),
  notSupported: serviceRefusal(
    'EIP3009_NOT_SUPPORTED',
    'invalid_exact_evm_eip3009_not_supported',
    'The token of the payment terms does not support signed transfers (EIP-3009).',
  ),
  tokenName: serviceRefusal(
    'ASSET_MISCONFIGURED',
    'invalid_exact_evm_token_name_mismatch',
    'The token reports another name than the payment terms, so no signature over these terms can settle.',
  ),
  tokenVersion: serviceRefusal(
    'ASSET_MISCONFIGURED',
    'invalid_exact_evm_token_version_mismatch',
    'The token reports another version than the payment terms, so no signature over these terms can settle.',
  ),
  paused: serviceRefusal(
    'TOKEN_PAUSED',
    SIMULATION_FAILED_REASON,
    'The token is paused, so it cannot be used for payments now. Send the same payment again later.',
    BLOCKED_RETRY_S,
  ),
  recipientBlocked: serviceRefusal(
    'RECIPIENT_BLOCKED',
    SIMULATION_FAILED_REASON,
    'The token has blacklisted the recipient of the terms.',
    BLOCKED_RETRY_S,
  ),
  chainSilent: serviceRefusal(
    'UPSTREAM_RPC_UNAVAILABLE',
    'unexpected_verify_error',
    'The chain cannot be read now. Nothing was sent for this request; send the same payment again.',
    RPC_RETRY_S,
  ),
  busy: serviceRefusal(
    'VERIFICATION_BUSY',
    null,
    'Too many payments are being verified. Nothing was sent for this request; send the same payment again.',
    1,
  ),
} as const satisfies Record<string, OnChainRefusal>

export function tooManyFailures(retry_after_s: number): OnChainRefusal {
  return serviceRefusal(
    'RATE_LIMITED',
    null,
    'Too many payments of this client failed verification. Nothing was sent for this request; send the same payment again later.',
    retry_after_s,
  )
}

/** Selector of isValidSignature(bytes32,bytes), which is also its return value for a valid signature (EIP-1271, final). */
const IS_VALID_SIGNATURE = '0x1626ba7e'

interface DiagnosisParts {
  chain: Pick<Chain, 'read'>
  token: { address: string; name: string; version: string }
  digest: (authorization: Authorization) => Uint8Array
  gas: bigint
}

/**
 * Finds the reason of a failed simulation with one more round trip, in the order of @x402/evm 2.27.0: wallet signature, EIP-3009 support of
 * the token, used authorization, domain, balance; then the checks that only FiatToken has, then the revert text of the token.
 */
async function diagnose(parts: DiagnosisParts, authorization: SignedAuthorization, facts: TransferFacts): Promise<OnChainRefusal> {
  const [name, version, wallet] = await parts.chain.read(diagnosisReads(parts, authorization, facts))
  if (facts.payer_has_code && !acceptsSignature(wallet)) return ON_CHAIN_REFUSALS.walletSignature
  if (facts.used === null) return ON_CHAIN_REFUSALS.notSupported
  if (facts.used) return ON_CHAIN_REFUSALS.used
  if (differs(name, parts.token.name)) return ON_CHAIN_REFUSALS.tokenName
  if (differs(version, parts.token.version)) return ON_CHAIN_REFUSALS.tokenVersion
  if (facts.balance_minor !== null && facts.balance_minor < authorization.value_minor) return ON_CHAIN_REFUSALS.insufficient
  if (facts.payer_blocked === true) return ON_CHAIN_REFUSALS.payerBlocked
  if (facts.paused === true) return ON_CHAIN_REFUSALS.paused
  if (facts.recipient_blocked === true) return ON_CHAIN_REFUSALS.recipientBlocked
  return refusalFromRevert(facts.simulation, facts.payer_has_code)
}

function diagnosisReads({ token, digest, gas }: DiagnosisParts, authorization: SignedAuthorization, facts: TransferFacts): ChainRead[] {
  const reads: ChainRead[] = [
    { kind: 'call', to: token.address, data: NAME_CALL },
    { kind: 'call', to: token.address, data: VERSION_CALL },
  ]
  if (facts.payer_has_code) {
    const hash = toHex(digest(authorization))
    const data = IS_VALID_SIGNATURE + bytes32Word(hash) + uintWord(64n) + bytesTail(tokenSignature(authorization))
    reads.push({ kind: 'call', to: authorization.from, data, gas })
  }
  return reads
}

function acceptsSignature(result: ChainReadResult | undefined): boolean {
  return result?.ok === true && result.data.startsWith(IS_VALID_SIGNATURE)
}

/** Returns true when the token reports another value; a token that reports none does not contradict the terms. */
function differs(result: ChainReadResult | undefined, expected: string): boolean {
  const found = result?.ok === true ? decodeString(result.data) : null
  return found !== null && found !== expected
}

/** Revert texts of FiatToken and OpenZeppelin, and the refusal for each. The texts of the token are never repeated to the caller. */
const REVERT_TEXTS: readonly (readonly [RegExp, OnChainRefusal])[] = [
  [/not yet valid/i, ON_CHAIN_REFUSALS.notYetValid],
  [/expired/i, ON_CHAIN_REFUSALS.expired],
  [/used or cancell?ed/i, ON_CHAIN_REFUSALS.used],
  [/exceeds balance|insufficient balance/i, ON_CHAIN_REFUSALS.insufficient],
]

function refusalFromRevert(simulation: ChainReadResult | null, payer_has_code: boolean): OnChainRefusal {
  if (simulation === null || simulation.ok) return ON_CHAIN_REFUSALS.simulation
  const reason = decodeRevert(simulation.revert)
  if (reason.kind !== 'text') return ON_CHAIN_REFUSALS.simulation
  if (/invalid signature/i.test(reason.text)) return payer_has_code ? ON_CHAIN_REFUSALS.walletSignature : ON_CHAIN_REFUSALS.accountSignature
  return REVERT_TEXTS.find(([words]) => words.test(reason.text))?.[1] ?? ON_CHAIN_REFUSALS.simulationText
}

export interface OnChainParts {
  chain: Pick<Chain, 'read' | 'answers'>
  /** Token of the terms; payers sign over its name and version. */
  token: { address: string; name: string; version: string }
  clock: Clock & SteadyClock
  limits: OnChainLimits
  /** EIP-712 digest of an authorization for this token. */
  digest: (authorization: Authorization) => Uint8Array
  /** Address of the gas wallet, so that the simulation has the same sender as the settlement. */
  settle_from?: string
  /** Trusted factories of ERC-6492 wallets, lower-case hex. Default: none. */
  erc6492_factories?: readonly string[]
  /** Budget of round trips, when shared with other parts; default: a separate one. */
  trips?: RoundTrips
  /** Failure count of clients, when shared with other parts; default: a separate one. */
  failures?: FailureCount
}

export interface OnChainPass {
  ok: true
  balance_minor: bigint
  /** The payer has code, so its payment settles in a separate transaction, by the `bytes` function of the transfer. */
  contract_payer: boolean
  /** Signature for the token: the signature itself, or the inner signature of its ERC-6492 wrapper. */
  signature: string
}

export type OnChainResult = OnChainPass | OnChainRefusal

/**
 * Checks that the token would execute this transfer now. `recovered` is the account whose key made the signature, null when none did;
 * `client` is the client that failures count against. Never rejects because of the chain: an unreadable chain gives a refusal that is not
 * the payer's fault.
 */
export type OnChainCheck = (authorization: SignedAuthorization, recovered: string | null, client: string) => Promise<OnChainResult>

/**
 * Creates the part of verification that needs the chain: one round trip for a good payment, two for a bad one. It ends with a simulation,
 * since only the token knows which transfers it accepts. Terms and validity window are checked before.
 */
export function createOnChainCheck(parts: OnChainParts): OnChainCheck {
  const failures = parts.failures ?? createFailureCount(parts.clock, parts.limits)
  const state: CheckState = {
    low: createLowBalances(parts.clock, parts.limits),
    trips: parts.trips ?? createRoundTrips(parts.clock, parts.limits),
    token_known: false,
  }
  const under_way = new Map<string, Promise<OnChainResult>>()

  function shared(authorization: SignedAuthorization, account_signed: boolean): Promise<OnChainResult> {
    const key = authorizationKey(authorization)
    const known = under_way.get(key)
    if (known !== undefined) return known
    const started = checkWithinBudget(parts, state, authorization, account_signed).finally(() => under_way.delete(key))
    under_way.set(key, started)
    return started
  }

  return async (authorization, recovered, client) => {
    const wait_s = failures.wait_s(client)
    if (wait_s > 0) return tooManyFailures(wait_s)
    const found = await shared(authorization, recovered === authorization.from)
    if (!found.ok && found.payer_fault) failures.add(client)
    return found
  }
}

interface CheckState {
  low: LowBalances
  trips: RoundTrips
  /** Code was found at the token address. */
  token_known: boolean
}

async function checkWithinBudget(
  parts: OnChainParts,
  state: CheckState,
  authorization: SignedAuthorization,
  account_signed: boolean,
): Promise<OnChainResult> {
  const low = state.low.find(authorization.from)
  // Only when the signature is known to be the payer's, from this request or an earlier one: any other signature has to be reported as
  // wrong.
  if (low !== null && authorization.value_minor > low.balance_minor && (account_signed || low.contract_payer))
    return ON_CHAIN_REFUSALS.insufficient
  if (!state.trips.take()) return ON_CHAIN_REFUSALS.busy
  try {
    if (!(await parts.chain.answers())) return ON_CHAIN_REFUSALS.chainSilent
    return await checkTransfer(parts, state, authorization, account_signed)
  } catch (error) {
    if (isChainFault(error)) return ON_CHAIN_REFUSALS.chainSilent
    throw error
  }
}

async function checkTransfer(
  parts: OnChainParts,
  state: CheckState,
  authorization: SignedAuthorization,
  account_signed: boolean,
): Promise<OnChainResult> {
  const { chain, token, limits, settle_from, digest } = parts
  const gas = limits.simulation_gas
  const { token_known } = state
  const facts = await readTransferFacts(chain, {
    token_address: token.address,
    token_known,
    authorization,
    account_signed,
    settle_from,
    gas,
  })
  state.token_known = facts.token_has_code
  const unsigned = accountFault(parts, authorization, account_signed, facts)
  if (unsigned !== null) return facts.used === false ? { ...unsigned, is_unused: true } : unsigned
  if (!facts.token_has_code) return ON_CHAIN_REFUSALS.assetNotDeployed
  if (facts.simulation?.ok === true && facts.balance_minor !== null) {
    const signature = facts.payer_has_code ? tokenSignature(authorization) : authorization.signature
    return { ok: true, balance_minor: facts.balance_minor, contract_payer: facts.payer_has_code, signature }
  }
  state.trips.takeOwed()
  const refusal = await diagnose({ chain, token, digest, gas }, authorization, facts)
  if (refusal.code === 'INSUFFICIENT_FUNDS' && facts.balance_minor !== null) {
    state.low.remember(authorization.from, facts.balance_minor, facts.payer_has_code)
  }
  return facts.used === false ? { ...refusal, is_unused: true } : refusal
}

/**
 * Returns the refusal for an account without code that did not sign with its key in 65 bytes; null when it did, or when the payer has code
 * and verifies signatures by itself.
 */
function accountFault(
  { erc6492_factories = [] }: OnChainParts,
  authorization: SignedAuthorization,
  account_signed: boolean,
  facts: TransferFacts,
): OnChainRefusal | null {
  if (facts.payer_has_code || account_signed) return null
  if (!isWrappedSignature(authorization.signature)) return ON_CHAIN_REFUSALS.accountSignature
  const wrapper = wrapperOf(authorization)
  if (wrapper === null) return ON_CHAIN_REFUSALS.accountSignature
  return erc6492_factories.includes(wrapper.factory) ? ON_CHAIN_REFUSALS.undeployedWallet : ON_CHAIN_REFUSALS.factoryNotAllowed
}

function authorizationKey({ from, to, value_minor, valid_after_s, valid_before_s, nonce, signature }: SignedAuthorization): string {
  return [from, to, value_minor, valid_after_s, valid_before_s, nonce, signature].join('|')
}
