/**
 * The two primitives that receipts stand on, keccak-256 and secp256k1 recovery, behind one small interface, so that a server may
 * bring faster ones. `nobleCrypto` is the default and runs anywhere.
 */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'

export interface ReceiptCrypto {
  /** keccak-256 (the original padding, not SHA3-256); text is hashed as UTF-8. 32 bytes. */
  keccak256(data: Uint8Array | string): Uint8Array
  /** The same as 0x-prefixed lower-case hex. */
  keccak256Hex(data: Uint8Array | string): string
  /** The address whose key made the 64-byte signature r, s over the 32-byte digest; null when there is none. Takes high s too. */
  recover(digest: Uint8Array, rs: Uint8Array, recovery: 0 | 1): string | null
}

export function toHex(bytes: Uint8Array): string {
  return `0x${bytesToHex(bytes)}`
}

/** The bytes behind 0x-prefixed hex of either case; null when the text is anything else. */
export function fromHex(text: string): Uint8Array | null {
  return /^0x(?:[0-9a-fA-F]{2})*$/.test(text) ? hexToBytes(text.slice(2)) : null
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
    // noble throws for scalars out of range and for r that is no point: nobody signed this.
    return null
  }
}

export const nobleCrypto: ReceiptCrypto = { keccak256, keccak256Hex: (data) => toHex(keccak256(data)), recover }
