/**
 * Payment channels of the x402 scheme `batch-settlement` on EVM: ids, signed messages, and the decision on a voucher. Source: @x402/evm 2.27.0
 * and the contract x402BatchSettlement of x402-foundation/x402, read 2026-11-26. The signed messages are EIP-712 (final as of 2023).
 */
import { fromHex, type ReceiptCrypto, toHex } from '../receipts/crypto.ts'
import { domainSeparator, normaliseSignature, recoverPayer } from './eip3009.ts'
import { addressWord, bytes32Word, bytesTail, splitAbiWords, uintWord } from './token-calls.ts'

/** Addresses of the contracts, the same on every chain. */
export const CHANNEL_SETTLEMENT = '0x4020074e9df2ce1dee5a9c1b5c3f541d02a10003'
export const AUTHORIZATION_COLLECTOR = '0x4020806089470a89826cb9fb1f4059150b550004'

/** Fixed parts of a channel; its id is their hash. Addresses and salt are 0x-prefixed lower-case hex. */
export interface ChannelConfig {
  payer: string
  /** Signs the vouchers. */
  payer_authorizer: string
  receiver: string
  /** Signs claims and refunds. */
  receiver_authorizer: string
  token: string
  withdraw_delay_s: number
  salt: string
}

/** State of a channel on the chain, in minor units of the token. */
export interface ChannelState {
  /** Deposits less refunds and withdrawals; what was claimed is still part of it. */
  balance_minor: bigint
  claimed_minor: bigint
  /** Withdrawal that the payer has started; zero without one. */
  withdraw_minor: bigint
  withdraw_requested_s: number
  /** Number of refunds so far. */
  refund_nonce: bigint
}

/** One channel of a claim: its last voucher, for at most `ceiling_minor`, and the total that is claimed with it. */
export interface ChannelClaim {
  config: ChannelConfig
  signature: string
  ceiling_minor: bigint
  total_minor: bigint
}

const CONFIG_TYPE =
  'ChannelConfig(address payer,address payerAuthorizer,address receiver,address receiverAuthorizer,address token,uint40 withdrawDelay,bytes32 salt)'
const VOUCHER_TYPE = 'Voucher(bytes32 channelId,uint128 maxClaimableAmount)'
const REFUND_TYPE = 'Refund(bytes32 channelId,uint256 nonce,uint128 amount)'
const CLAIM_ENTRY_TYPE = 'ClaimEntry(bytes32 channelId,uint128 maxClaimableAmount,uint128 totalClaimed)'
const RECEIVE_TYPE = 'ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)'

/** EIP-712 hashes of one chain. Each throws a RangeError for a value that does not fit its type. */
export interface ChannelHashes {
  channelId(config: ChannelConfig): string
  voucher(channel_id: string, total_minor: bigint): Uint8Array
  refund(channel_id: string, nonce: bigint, amount_minor: bigint): Uint8Array
  claims(claims: readonly ChannelClaim[]): Uint8Array
}

export function createChannelHashes(chain_id: number, crypto: Pick<ReceiptCrypto, 'keccak256' | 'keccak256Hex'>): ChannelHashes {
  const hash = crypto.keccak256Hex
  const domain = { name: 'x402 Batch Settlement', version: '1', chain_id, verifying_contract: CHANNEL_SETTLEMENT }
  const prefix = `1901${toHex(domainSeparator(domain, crypto.keccak256)).slice(2)}`
  const [config_type, voucher_type, refund_type, entry_type] = [CONFIG_TYPE, VOUCHER_TYPE, REFUND_TYPE, CLAIM_ENTRY_TYPE].map((type) =>
    hash(type).slice(2),
  )
  const claims_type = hash(`ClaimBatch(ClaimEntry[] claims)${CLAIM_ENTRY_TYPE}`).slice(2)
  const structHash = (words: string) => hash(hexBytes(words)).slice(2)
  const digest = (words: string) => crypto.keccak256(hexBytes(prefix + structHash(words)))
  const channelId = (config: ChannelConfig) => toHex(digest(`${config_type}${configWords(config)}`))
  return {
    channelId,
    voucher: (channel_id, total_minor) => digest(`${voucher_type}${bytes32Word(channel_id)}${uint128Word(total_minor)}`),
    refund: (channel_id, nonce, amount) => digest(`${refund_type}${bytes32Word(channel_id)}${uintWord(nonce)}${uint128Word(amount)}`),
    claims(claims) {
      const entries = claims.map(({ config, ceiling_minor, total_minor }) =>
        structHash(`${entry_type}${bytes32Word(channelId(config))}${uint128Word(ceiling_minor)}${uint128Word(total_minor)}`),
      )
      return digest(`${claims_type}${structHash(entries.join(''))}`)
    },
  }
}

/** Words of the config in the order of the contract. */
function configWords(config: ChannelConfig): string {
  const { payer, payer_authorizer, receiver, receiver_authorizer, token, withdraw_delay_s, salt } = config
  const addresses = [payer, payer_authorizer, receiver, receiver_authorizer, token].map(addressWord).join('')
  return addresses + uintWord(BigInt(withdraw_delay_s)) + bytes32Word(salt)
}

const UINT128_END = 1n << 128n

function uint128Word(value: bigint): string {
  if (value >= UINT128_END) throw new RangeError('not a uint128')
  return uintWord(value)
}

function hexBytes(digits: string): Uint8Array {
  const bytes = fromHex(`0x${digits}`)
  if (bytes === null) throw new RangeError('not hexadecimal')
  return bytes
}

/** Deposit that the payer has signed as EIP-3009 `receiveWithAuthorization`, to AUTHORIZATION_COLLECTOR. */
export interface DepositAuthorization {
  amount_minor: bigint
  valid_after_s: bigint
  valid_before_s: bigint
  /** uint256; hashed with the channel id, it gives the nonce. */
  salt: bigint
  signature: string
}

/** Nonce of the authorization: it names the channel, so that a signature deposits into no other. */
export function depositNonce(channel_id: string, salt: bigint, crypto: Pick<ReceiptCrypto, 'keccak256Hex'>): string {
  return crypto.keccak256Hex(hexBytes(bytes32Word(channel_id) + uintWord(salt)))
}

/** EIP-712 digest that the payer signs for a deposit. */
export function depositDigest(
  token: { name: string; version: string; chain_id: number; address: string },
  deposit: DepositAuthorization & { payer: string; nonce: string },
  crypto: Pick<ReceiptCrypto, 'keccak256' | 'keccak256Hex'>,
): Uint8Array {
  const { name, version, chain_id, address } = token
  const separator = domainSeparator({ name, version, chain_id, verifying_contract: address }, crypto.keccak256)
  const parties = addressWord(deposit.payer) + addressWord(AUTHORIZATION_COLLECTOR)
  const numbers = [deposit.amount_minor, deposit.valid_after_s, deposit.valid_before_s].map(uintWord).join('')
  const struct = crypto.keccak256Hex(hexBytes(crypto.keccak256Hex(RECEIVE_TYPE).slice(2) + parties + numbers + bytes32Word(deposit.nonce)))
  return crypto.keccak256(hexBytes(`1901${toHex(separator).slice(2)}${struct.slice(2)}`))
}

const CONTRACT_SIGNATURE = /^0x[0-9a-fA-F]{128}1[bBcC]$/

/** Account whose key signed the digest; null for high s and for everything that is not a signature of an account. */
export function signerOf(digest: Uint8Array, signature: string, { recover }: Pick<ReceiptCrypto, 'recover'>): string | null {
  // The contract takes 65 bytes with a v of 27 or 28 only: any other form would be a voucher that cannot be claimed.
  const read = CONTRACT_SIGNATURE.test(signature) ? normaliseSignature(signature) : null
  return read === null ? null : recoverPayer(digest, read, recover)
}

/** Error codes of the scheme, as @x402/evm 2.27.0 names them; the rest of `invalid_batch_settlement_evm_…`. */
export const CHANNEL_ERRORS = {
  scheme: 'invalid_batch_settlement_evm_scheme',
  network: 'invalid_batch_settlement_evm_network_mismatch',
  payload_type: 'invalid_batch_settlement_evm_payload_type',
  channel_id: 'invalid_batch_settlement_evm_channel_id_mismatch',
  receiver: 'invalid_batch_settlement_evm_receiver_mismatch',
  receiver_authorizer: 'invalid_batch_settlement_evm_receiver_authorizer_mismatch',
  token: 'invalid_batch_settlement_evm_token_mismatch',
  withdraw_delay: 'invalid_batch_settlement_evm_withdraw_delay_mismatch',
  voucher_signature: 'invalid_batch_settlement_evm_voucher_signature',
  channel_not_found: 'invalid_batch_settlement_evm_channel_not_found',
  cumulative_mismatch: 'invalid_batch_settlement_evm_cumulative_amount_mismatch',
  exceeds_balance: 'invalid_batch_settlement_evm_cumulative_exceeds_balance',
  below_claimed: 'invalid_batch_settlement_evm_cumulative_below_claimed',
  busy: 'invalid_batch_settlement_evm_channel_busy',
  state_unavailable: 'invalid_batch_settlement_evm_verification_state_unavailable',
  authorization_required: 'invalid_batch_settlement_evm_erc3009_authorization_required',
  valid_before: 'invalid_batch_settlement_evm_payload_authorization_valid_before',
  valid_after: 'invalid_batch_settlement_evm_payload_authorization_valid_after',
  receive_signature: 'invalid_batch_settlement_evm_receive_authorization_signature',
  insufficient_balance: 'invalid_batch_settlement_evm_insufficient_balance',
  deposit_below_min: 'invalid_batch_settlement_evm_deposit_below_min_deposit',
  deposit_simulation: 'invalid_batch_settlement_evm_deposit_simulation_failed',
  deposit_failed: 'invalid_batch_settlement_evm_deposit_transaction_failed',
  refund_payload: 'invalid_batch_settlement_evm_refund_payload',
  refund_no_balance: 'invalid_batch_settlement_evm_refund_no_balance',
  refund_amount: 'invalid_batch_settlement_evm_refund_amount_invalid',
} as const

export type ChannelError = keyof typeof CHANNEL_ERRORS

/** Compares a config with the terms of this deployment, in the order of the official facilitator; null when it fits. */
export function configFault(
  config: ChannelConfig,
  terms: Pick<ChannelConfig, 'receiver' | 'receiver_authorizer' | 'token' | 'withdraw_delay_s'>,
): Extract<ChannelError, 'receiver' | 'receiver_authorizer' | 'token' | 'withdraw_delay'> | null {
  if (config.receiver !== terms.receiver) return 'receiver'
  if (config.receiver_authorizer !== terms.receiver_authorizer) return 'receiver_authorizer'
  if (config.token !== terms.token) return 'token'
  return config.withdraw_delay_s === terms.withdraw_delay_s ? null : 'withdraw_delay'
}

/** Total that vouchers of the channel may reach: what a withdrawal that has begun takes is left out. */
function coveredMinor({ balance_minor, withdraw_minor }: Pick<ChannelState, 'balance_minor' | 'withdraw_minor'>): bigint {
  return balance_minor > withdraw_minor ? balance_minor - withdraw_minor : 0n
}

/**
 * Decides whether a voucher for `total_minor` pays `price_minor`; null when it does. `charged_minor` is the total charged before. The
 * signature is checked separately. A voucher must be exactly the next one: a higher total would let the channel be charged more than the
 * payer means to pay, a lower one has been charged already.
 */
export function voucherFault(
  voucher: { total_minor: bigint; price_minor: bigint },
  charged_minor: bigint,
  state: ChannelState,
): Extract<ChannelError, 'channel_not_found' | 'cumulative_mismatch' | 'exceeds_balance' | 'below_claimed'> | null {
  const { total_minor, price_minor } = voucher
  if (state.balance_minor === 0n) return 'channel_not_found'
  if (total_minor !== charged_minor + price_minor) return 'cumulative_mismatch'
  if (total_minor > coveredMinor(state)) return 'exceeds_balance'
  return total_minor <= state.claimed_minor ? 'below_claimed' : null
}

const SELECTORS = {
  /** multicall(bytes[]) */
  multicall: '0xac9650d8',
  /** deposit((address,address,address,address,address,uint40,bytes32),uint128,address,bytes) */
  deposit: '0x140f1e75',
  /** claimWithSignature((((address,address,address,address,address,uint40,bytes32),uint128),bytes,uint128)[],bytes) */
  claim: '0xe43ce1f2',
  /** refundWithSignature((address,address,address,address,address,uint40,bytes32),uint128,uint256,bytes) */
  refund: '0xb77433e9',
  /** settle(address,address) */
  settle: '0x9db32a8f',
  /** channels(bytes32) */
  channels: '0x7a7ebd7b',
  /** pendingWithdrawals(bytes32) */
  withdrawals: '0xb7f06ebe',
  /** refundNonce(bytes32) */
  refund_nonce: '0xf0dc792e',
  /** receivers(address,address) */
  receivers: '0x21ff6389',
} as const

const WORD_BYTES = 32n
const CONFIG_WORDS = 7n

/** Gas of a deposit, of a claim with its settlement, of each channel in it, and of a refund: measured with reserve for the real token. */
export const CHANNEL_GAS = { deposit: 300_000n, transaction: 180_000n, claim: 70_000n, refund: 150_000n } as const

export function depositCall(config: ChannelConfig, deposit: DepositAuthorization): string {
  const { amount_minor, valid_after_s, valid_before_s, salt, signature } = deposit
  const head = uintWord(valid_after_s) + uintWord(valid_before_s) + uintWord(salt) + uintWord(4n * WORD_BYTES)
  const data = bytesTail(`0x${head}${bytesTail(signature)}`)
  const offset = uintWord((CONFIG_WORDS + 3n) * WORD_BYTES)
  return SELECTORS.deposit + configWords(config) + uint128Word(amount_minor) + addressWord(AUTHORIZATION_COLLECTOR) + offset + data
}

/** Claims the total of each channel; `signature` is that of the receiving side over all of them. */
export function claimCall(claims: readonly ChannelClaim[], signature: string): string {
  const items = claims.map(claimWords)
  const list = withOffsets(items)
  const list_bytes = BigInt(list.length) / 2n
  return SELECTORS.claim + uintWord(2n * WORD_BYTES) + uintWord(2n * WORD_BYTES + list_bytes) + list + bytesTail(signature)
}

/** ((config, uint128), bytes, uint128): the voucher has a fixed size, so only the signature is at an offset. */
function claimWords({ config, signature, ceiling_minor, total_minor }: ChannelClaim): string {
  const offset = uintWord((CONFIG_WORDS + 3n) * WORD_BYTES)
  return configWords(config) + uint128Word(ceiling_minor) + offset + uint128Word(total_minor) + bytesTail(signature)
}

/** A list of items of different lengths: their number, the offset of each from there, the items. */
function withOffsets(items: readonly string[]): string {
  let offset = BigInt(items.length) * WORD_BYTES
  const offsets = items.map((item) => {
    const word = uintWord(offset)
    offset += BigInt(item.length) / 2n
    return word
  })
  return uintWord(BigInt(items.length)) + offsets.join('') + items.join('')
}

export function refundCall(config: ChannelConfig, amount_minor: bigint, nonce: bigint, signature: string): string {
  const offset = uintWord((CONFIG_WORDS + 3n) * WORD_BYTES)
  return SELECTORS.refund + configWords(config) + uint128Word(amount_minor) + uintWord(nonce) + offset + bytesTail(signature)
}

export function settleCall(receiver: string, token: string): string {
  return SELECTORS.settle + addressWord(receiver) + addressWord(token)
}

export function multicall(calls: readonly string[]): string {
  return SELECTORS.multicall + uintWord(WORD_BYTES) + withOffsets(calls.map((call) => bytesTail(call)))
}

export function channelsCall(channel_id: string): string {
  return SELECTORS.channels + bytes32Word(channel_id)
}

export function withdrawalsCall(channel_id: string): string {
  return SELECTORS.withdrawals + bytes32Word(channel_id)
}

export function refundNonceCall(channel_id: string): string {
  return SELECTORS.refund_nonce + bytes32Word(channel_id)
}

export function receiversCall(receiver: string, token: string): string {
  return SELECTORS.receivers + addressWord(receiver) + addressWord(token)
}

/** Two unsigned numbers, as `channels`, `pendingWithdrawals` and `receivers` return them; null for any other answer. */
export function decodePair(data: string): [bigint, bigint] | null {
  const words = splitAbiWords(data)
  const [one, other] = words ?? []
  return words?.length === 2 && one !== undefined && other !== undefined ? [BigInt(`0x${one}`), BigInt(`0x${other}`)] : null
}
