/**
 * Calls to the token, its logs and its refusals: EIP-20, EIP-3009 and the additions of Circle's FiatToken v2.2 (the `bytes` form of
 * transferWithAuthorization, paused, isBlacklisted, version), with the parts of the contract ABI (Solidity documentation, "Contract ABI Specification")
 * that payments need. All hex is 0x-prefixed and lower case; an ABI word is 64 digits without prefix. Writers throw a RangeError for a value
 * without such a word, because wrong calldata could move money wrongly; readers accept any contract output and return null if it does not fit.
 */
import type { Authorization, AccountSignature } from './eip3009.ts'
import { fromHex } from '../receipts/crypto.ts'

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

/**
 * Encodes the transfer with an account's signature. Every EIP-3009 token has this function; FiatToken v2.2 verifies signers with code by
 * ERC-1271.
 */
export function transferCall(authorization: Authorization, { v, r, s }: Pick<AccountSignature, 'v' | 'r' | 's'>): string {
  return SELECTORS.transfer_vrs + transferWords(authorization) + uintWord(BigInt(v)) + bytes32Word(r) + bytes32Word(s)
}

/** Encodes the transfer with a signature of any length, as contract wallets make it. */
export function transferBytesCall(authorization: Authorization, signature: string): string {
  // The head has seven words; the seventh is the offset of the signature.
  return SELECTORS.transfer_bytes + transferWords(authorization) + uintWord(7n * 32n) + bytesTail(signature)
}

/** Reads a boolean: the authorization was used or cancelled. */
export function authorizationStateCall(payer: string, nonce: string): string {
  return SELECTORS.authorization_state + addressWord(payer) + bytes32Word(nonce)
}

/** Reads a uint256 in minor units. */
export function balanceCall(account: string): string {
  return SELECTORS.balance_of + addressWord(account)
}

/** Reads a boolean; tokens without a blacklist revert. */
export function blacklistedCall(account: string): string {
  return SELECTORS.is_blacklisted + addressWord(account)
}

/** Encodes an address as an indexed field of a log. */
export function addressTopic(address: string): string {
  return `0x${addressWord(address)}`
}

interface TokenLog {
  topics: readonly string[]
  data: string
}

/** Decodes the authorization that a log reports as used; null for every other log. The caller checks which contract emitted it. */
export function decodeAuthorizationUsed({ topics, data }: TokenLog): { payer: string; nonce: string } | null {
  const [payer, nonce] = indexedWords(topics, AUTHORIZATION_USED_TOPIC)
  const account = payer === undefined ? null : addressInWord(payer)
  return account === null || nonce === undefined || data !== '0x' ? null : { payer: account, nonce: `0x${nonce}` }
}

/** Decodes the transfer in a log; null for every other log, such as one of ERC-721, whose amount is indexed. */
export function decodeTransfer({ topics, data }: TokenLog): { from: string; to: string; value_minor: bigint } | null {
  const [sender, recipient] = indexedWords(topics, TRANSFER_TOPIC)
  const from = sender === undefined ? null : addressInWord(sender)
  const to = recipient === undefined ? null : addressInWord(recipient)
  const value_minor = decodeUint(data)
  return from === null || to === null || value_minor === null ? null : { from, to, value_minor }
}

export type RevertReason =
  | { kind: 'text'; text: string }
  | { kind: 'panic'; code: bigint }
  | { kind: 'custom'; selector: string }
  /** No data, or less than a selector: out of gas, a failed require without text, or an account without such a function. */
  | { kind: 'none' }

/** Maximum length of a stored revert text, in UTF-16 units. The text is chosen by the author of the contract. */
const REVERT_TEXT_CHARS = 256

/**
 * Decodes the reason of a revert. A custom error is identified by its selector only; an `Error(string)` that does not decode counts as one.
 */
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

/** Returns the two indexed fields of an event; none unless the topics are exactly the event and two words. */
function indexedWords(topics: readonly string[], event: string): string[] {
  if (topics.length !== 3 || topics[0] !== event) return []
  const words = topics.slice(1).map((topic) => splitAbiWords(topic))
  return words.every((found) => found?.length === 1) ? words.flatMap((found) => found ?? []) : []
}

const WORD_DIGITS = 64
const UINT256_END = 1n << 256n
/** Maximum length of a decoded text or byte string, in bytes. Names, versions and revert reasons of tokens are far shorter. */
const DYNAMIC_BYTES_MAX = 8_192

export function addressWord(address: string): string {
  if (!/^0x[0-9a-fA-F]{40}$/.test(address)) throw new RangeError('not an address')
  return address.slice(2).toLowerCase().padStart(WORD_DIGITS, '0')
}

export function bytes32Word(hex: string): string {
  if (!/^0x[0-9a-fA-F]{64}$/.test(hex)) throw new RangeError('not 32 bytes')
  return hex.slice(2).toLowerCase()
}

export function uintWord(value: bigint): string {
  if (value < 0n || value >= UINT256_END) throw new RangeError('not a uint256')
  return value.toString(16).padStart(WORD_DIGITS, '0')
}

/** Encodes the tail of a `bytes` argument: its length, then the bytes, padded with zeros to whole words. */
export function bytesTail(hex: string): string {
  if (!/^0x(?:[0-9a-fA-F]{2})*$/.test(hex)) throw new RangeError('not bytes')
  const digits = hex.slice(2).toLowerCase()
  return uintWord(BigInt(digits.length / 2)) + digits.padEnd(paddedDigits(digits.length), '0')
}

/** Splits return data or log data into 32-byte words; null unless it is 0x-prefixed hex of whole words. */
export function splitAbiWords(data: string): string[] | null {
  if (!/^0x(?:[0-9a-fA-F]{64})*$/.test(data)) return null
  return data.slice(2).toLowerCase().match(/.{64}/g) ?? []
}

/** Returns the address in a word, 0x-prefixed; null when the upper twelve bytes are not zero. */
export function addressInWord(word: string): string | null {
  return /^0{24}[0-9a-f]{40}$/.test(word) ? `0x${word.slice(24)}` : null
}

export function decodeUint(data: string): bigint | null {
  const words = splitAbiWords(data)
  const [word] = words ?? []
  return words?.length === 1 && word !== undefined ? BigInt(`0x${word}`) : null
}

/** Accepts only 0 and 1 as booleans. */
export function decodeBool(data: string): boolean | null {
  const value = decodeUint(data)
  return value === 0n ? false : value === 1n ? true : null
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Decodes a single string of at most 8 KiB. Null for any other layout, for invalid UTF-8, and for old tokens that return bytes32. */
export function decodeString(data: string): string | null {
  const words = splitAbiWords(data)
  if (words === null || words[0] !== uintWord(32n)) return null
  const tail = readAbiBytes(words, 1)
  const bytes = tail === null || tail.next !== words.length ? null : fromHex(tail.bytes)
  if (bytes === null) return null
  try {
    return UTF8.decode(bytes)
  } catch {
    return null
  }
}

/**
 * Reads the byte string whose length is in word `at`, and returns it with the index of the word after it. Null when it is truncated, too
 * long or not padded with zeros.
 */
export function readAbiBytes(words: readonly string[], at: number): { bytes: string; next: number } | null {
  const length = words[at]
  if (length === undefined || BigInt(`0x${length}`) > BigInt(DYNAMIC_BYTES_MAX)) return null
  const digits = 2 * Number.parseInt(length, 16)
  const next = at + 1 + paddedDigits(digits) / WORD_DIGITS
  if (next > words.length) return null
  const body = words.slice(at + 1, next).join('')
  return /^0*$/.test(body.slice(digits)) ? { bytes: `0x${body.slice(0, digits)}`, next } : null
}

function paddedDigits(digits: number): number {
  return Math.ceil(digits / WORD_DIGITS) * WORD_DIGITS
}
