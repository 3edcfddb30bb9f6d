/**
 * Calls of the contract of payment channels, and what its views return. Interface: @x402/evm 2.27.0 (abi.ts), read 2026-11-26. Sandboxes run
 * contracts/ChannelSettlement.sol at the same addresses.
 */
import {
  AUTHORIZATION_COLLECTOR,
  type ChannelClaim,
  type ChannelConfig,
  configWords,
  type DepositAuthorization,
  uint128Word,
} from '../payments/channels.ts'
import { addressWord, bytes32Word, bytesTail, splitAbiWords, uintWord } from '../payments/token-calls.ts'

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
