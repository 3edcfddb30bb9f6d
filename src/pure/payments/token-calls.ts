/**
 * Calls to the token, its logs and its refusals: EIP-20, EIP-3009 and what Circle's FiatToken v2.2 adds (the `bytes` form of
 * transferWithAuthorization, paused, isBlacklisted, version). Hex is 0x-prefixed and lower case.
 */
import { addressOf, addressWord, bytes32Word, bytesTail, decodeString, decodeUint, uintWord, wordsOf } from './abi.ts'
import type { Authorization } from './authorization.ts'
import type { AccountSignature } from './eip3009.ts'

/** First four bytes of keccak-256 of the signature. */
const SELECTORS = {
  /** transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32) */
  transfer_vrs: '0xe3ee160e',
  /** transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes) */
  transfer_bytes: '0xcf092995',
  /** authorizationState(address,bytes32) */
  authorization_state: '0xe94a0102',
  /** balanceOf(address) */
  balance_of: '0x70a08231',
  /** isBlacklisted(address) */
  is_blacklisted: '0xfe575a87',
  /** Error(string) */
  error: '0x08c379a0',
  /** Panic(uint256) */
  panic: '0x4e487b71',
} as const

/** Calldata of the reads that take no argument: paused(), name() and version(). */
export const PAUSED_CALL = '0x5c975abb'
export const NAME_CALL = '0x06fdde03'
export const VERSION_CALL = '0x54fd4d50'

/** keccak-256 of AuthorizationUsed(address,bytes32), EIP-3009. */
export const AUTHORIZATION_USED_TOPIC = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5'
/** keccak-256 of Transfer(address,address,uint256), EIP-20. */
export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** Moves the money on an account's signature. Every EIP-3009 token has this form; FiatToken v2.2 sends signers with code to ERC-1271. */
export function transferCall(authorization: Authorization, { v, r, s }: Pick<AccountSignature, 'v' | 'r' | 's'>): string {
  return SELECTORS.transfer_vrs + transferWords(authorization) + uintWord(BigInt(v)) + bytes32Word(r) + bytes32Word(s)
}

/** Moves the money on a signature of any length, as contract wallets make it. */
export function transferBytesCall(authorization: Authorization, signature: string): string {
  // Seven words of head; the seventh says where the signature starts.
  return SELECTORS.transfer_bytes + transferWords(authorization) + uintWord(7n * 32n) + bytesTail(signature)
}

/** Whether this authorization was used or cancelled; a boolean. */
export function authorizationStateCall(payer: string, nonce: string): string {
  return SELECTORS.authorization_state + addressWord(payer) + bytes32Word(nonce)
}

/** A uint256, minor units. */
export function balanceCall(account: string): string {
  return SELECTORS.balance_of + addressWord(account)
}

/** A boolean; tokens without a blacklist revert. */
export function blacklistedCall(account: string): string {
  return SELECTORS.is_blacklisted + addressWord(account)
}

/** An address as an indexed field of a log. */
export function addressTopic(address: string): string {
  return `0x${addressWord(address)}`
}

interface TokenLog {
  topics: readonly string[]
  data: string
}

/** Which authorization a log says was used; null for every other log. Who emitted it is for the caller to check. */
export function decodeAuthorizationUsed({ topics, data }: TokenLog): { payer: string; nonce: string } | null {
  const [payer, nonce] = indexedWords(topics, AUTHORIZATION_USED_TOPIC)
  const account = payer === undefined ? null : addressOf(payer)
  return account === null || nonce === undefined || data !== '0x' ? null : { payer: account, nonce: `0x${nonce}` }
}

/** The transfer in a log; null for every other log, such as one of ERC-721, whose amount is indexed. */
export function decodeTransfer({ topics, data }: TokenLog): { from: string; to: string; value_minor: bigint } | null {
  const [sender, recipient] = indexedWords(topics, TRANSFER_TOPIC)
  const from = sender === undefined ? null : addressOf(sender)
  const to = recipient === undefined ? null : addressOf(recipient)
  const value_minor = decodeUint(data)
  return from === null || to === null || value_minor === null ? null : { from, to, value_minor }
}

export type RevertReason =
  | { kind: 'text'; text: string }
  | { kind: 'panic'; code: bigint }
  | { kind: 'custom'; selector: string }
  /** Nothing, or less than a selector: out of gas, a failed require without text, or an account that has no such function. */
  | { kind: 'none' }

/** Longest text of a revert that is kept, in UTF-16 units. Whoever deploys a contract chooses that text. */
const REVERT_TEXT_CHARS = 256

/** Why a contract refused. Custom errors are told by their selector alone; `Error(string)` that does not decode is one of them. */
export function decodeRevert(data: string): RevertReason {
  const selector = /^0x[0-9a-fA-F]{8}/.exec(data)?.[0].toLowerCase()
  if (selector === undefined) return { kind: 'none' }
  const rest = `0x${data.slice(10)}`
  const text = selector === SELECTORS.error ? decodeString(rest) : null
  if (text !== null) return { kind: 'text', text: text.slice(0, REVERT_TEXT_CHARS).toWellFormed() }
  const code = selector === SELECTORS.panic ? decodeUint(rest) : null
  return code === null ? { kind: 'custom', selector } : { kind: 'panic', code }
}

function transferWords({ from, to, value_minor, valid_after_s, valid_before_s, nonce }: Authorization): string {
  const parties = addressWord(from) + addressWord(to)
  return parties + uintWord(value_minor) + uintWord(valid_after_s) + uintWord(valid_before_s) + bytes32Word(nonce)
}

/** The two indexed fields of an event; none unless the topics are exactly the event and two words. */
function indexedWords(topics: readonly string[], event: string): string[] {
  if (topics.length !== 3 || topics[0] !== event) return []
  const words = topics.slice(1).map((topic) => wordsOf(topic))
  return words.every((found) => found?.length === 1) ? words.flatMap((found) => found ?? []) : []
}
