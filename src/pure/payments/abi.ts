/**
 * The few shapes of the contract ABI (Solidity documentation, "Contract ABI Specification") that payments need. Everything is hex: a word is
 * 64 lower-case digits without prefix. Writers throw a RangeError for what has no such word, since wrong calldata could move money wrongly;
 * readers take what a contract returned, which may be anything, and answer null.
 */
import { fromHex } from '../receipts/crypto.ts'

const WORD_DIGITS = 64
const UINT256_END = 1n << 256n
/** Longest text or byte string that is read, in bytes. Names, versions and reasons of tokens are far shorter. */
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

/** The tail of a `bytes` argument: its length, then the bytes, filled up with zeros to whole words. */
export function bytesTail(hex: string): string {
  if (!/^0x(?:[0-9a-fA-F]{2})*$/.test(hex)) throw new RangeError('not bytes')
  const digits = hex.slice(2).toLowerCase()
  return uintWord(BigInt(digits.length / 2)) + digits.padEnd(paddedDigits(digits.length), '0')
}

/** The words of return data or of a log; null unless it is 0x-prefixed hex of whole words. */
export function wordsOf(data: string): string[] | null {
  if (!/^0x(?:[0-9a-fA-F]{64})*$/.test(data)) return null
  return data.slice(2).toLowerCase().match(/.{64}/g) ?? []
}

/** The address in a word, 0x-prefixed; null when the upper twelve bytes are not zero. */
export function addressOf(word: string): string | null {
  return /^0{24}[0-9a-f]{40}$/.test(word) ? `0x${word.slice(24)}` : null
}

export function decodeUint(data: string): bigint | null {
  const words = wordsOf(data)
  const [word] = words ?? []
  return words?.length === 1 && word !== undefined ? BigInt(`0x${word}`) : null
}

/** Only 0 and 1 are booleans. */
export function decodeBool(data: string): boolean | null {
  const value = decodeUint(data)
  return value === 0n ? false : value === 1n ? true : null
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** One text, at most 8 KiB. Null for any other layout and for what is not UTF-8; old tokens that return bytes32 get null too. */
export function decodeString(data: string): string | null {
  const words = wordsOf(data)
  if (words === null || words[0] !== uintWord(32n)) return null
  const tail = readTail(words, 1)
  const bytes = tail === null || tail.next !== words.length ? null : fromHex(tail.bytes)
  if (bytes === null) return null
  try {
    return UTF8.decode(bytes)
  } catch {
    return null
  }
}

/** The byte string whose length stands in word `at`, and the word after it. Null when it is cut off, too long or not filled up with zeros. */
export function readTail(words: readonly string[], at: number): { bytes: string; next: number } | null {
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
