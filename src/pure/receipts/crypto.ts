/**
 * keccak-256, secp256k1 recovery and the 65-byte signatures (r, s, recovery byte v, as 0x-prefixed hex) of receipts, behind one small interface, so
 * that a server can use faster implementations. `nobleCrypto` is the default and runs anywhere.
 */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { ReceiptCode } from './reasons.ts'

export interface ReceiptCrypto {
  /** keccak-256 (the original padding, not SHA3-256); text is hashed as UTF-8. 32 bytes. */
  keccak256(data: Uint8Array | string): Uint8Array
  keccak256Hex(data: Uint8Array | string): string
  /** Address whose key made the 64-byte signature r, s over the 32-byte digest; null if there is none. Accepts high s. */
  recover(digest: Uint8Array, rs: Uint8Array, recovery: 0 | 1): string | null
}

export function toHex(bytes: Uint8Array): string {
  return `0x${bytesToHex(bytes)}`
}

const NO_DIGIT = 0xff

/** Value of a hexadecimal digit by its character code. */
const HEX_DIGITS = new Uint8Array(128).fill(NO_DIGIT)
for (let value = 0; value < 16; value++) {
  const digit = value.toString(16)
  HEX_DIGITS[digit.charCodeAt(0)] = value
  HEX_DIGITS[digit.toUpperCase().charCodeAt(0)] = value
}

/** Bytes of 0x-prefixed hex of either case; null if invalid. */
export function fromHex(text: string): Uint8Array | null {
  const { length } = text
  if (length < 2 || length % 2 !== 0 || !text.startsWith('0x')) return null
  const bytes = new Uint8Array(length / 2 - 1)
  for (let at = 0, index = 2; index < length; at++, index += 2) {
    const high = HEX_DIGITS[text.charCodeAt(index)] ?? NO_DIGIT
    const low = HEX_DIGITS[text.charCodeAt(index + 1)] ?? NO_DIGIT
    if (high === NO_DIGIT || low === NO_DIGIT) return null
    bytes[at] = (high << 4) | low
  }
  return bytes
}

/** EVM address of an uncompressed 65-byte public key: the last 20 bytes of the hash of its two coordinates. */
export function addressOfPublicKey(public_key: Uint8Array, hash: ReceiptCrypto['keccak256']): string {
  return toHex(hash(public_key.subarray(1)).subarray(12))
}

function keccak256(data: Uint8Array | string): Uint8Array {
  return keccak_256(typeof data === 'string' ? utf8ToBytes(data) : data)
}

function recover(digest: Uint8Array, rs: Uint8Array, recovery: 0 | 1): string | null {
  try {
    const point = secp256k1.Signature.fromBytes(rs, 'compact').addRecoveryBit(recovery).recoverPublicKey(digest)
    return addressOfPublicKey(point.toBytes(false), keccak256)
  } catch {
    // noble throws for scalars out of range and for r that is not on the curve: no key made this signature.
    return null
  }
}

export const nobleCrypto: ReceiptCrypto = { keccak256, keccak256Hex: (data) => toHex(keccak256(data)), recover }

/** Order of the secp256k1 group and its half, rounded down (SEC 2 v2.0 §2.4.1), as hex of equal length, which compares like numbers. */
const ORDER = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'
const HALF_ORDER = '7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0'
const ZERO = '0'.repeat(64)

type SignatureReading =
  | { ok: true; rs: Uint8Array; recovery: 0 | 1; high_s: boolean }
  | {
      ok: false
      code: Extract<
        ReceiptCode,
        'bad_signature_format' | 'bad_signature_length' | 'bad_recovery_id' | 'zero_signature' | 'signature_out_of_range'
      >
    }

/**
 * v may be 0, 1, 27 or 28, as wallets and libraries write it. Values with a chain id (EIP-155) and compact signatures (EIP-2098) are
 * refused. High s is reported, so that the caller can give the reason.
 */
export function readSignature(text: string): SignatureReading {
  const bytes = fromHex(text)
  if (bytes === null) return { ok: false, code: 'bad_signature_format' }
  if (bytes.length !== 65) return { ok: false, code: 'bad_signature_length' }
  const recovery = RECOVERY.get(bytes[64] ?? -1)
  if (recovery === undefined) return { ok: false, code: 'bad_recovery_id' }
  const [r, s] = scalars(text)
  if (r === ZERO || s === ZERO) return { ok: false, code: 'zero_signature' }
  if (r >= ORDER || s >= ORDER) return { ok: false, code: 'signature_out_of_range' }
  return { ok: true, rs: bytes.subarray(0, 64), recovery, high_s: s > HALF_ORDER }
}

/** True if s of a well-formed 65-byte signature is in the lower half. The other s recovers to the same signer. */
export function isLowS(signature: string): boolean {
  return scalars(signature)[1] <= HALF_ORDER
}

const RECOVERY: ReadonlyMap<number, 0 | 1> = new Map([
  [0, 0],
  [1, 1],
  [27, 0],
  [28, 1],
])

function scalars(signature: string): [r: string, s: string] {
  return [signature.slice(2, 66).toLowerCase(), signature.slice(66, 130).toLowerCase()]
}
