/** Signs and recovers with libsecp256k1 through the addon `secp256k1`: about ten and twenty times as fast as JavaScript. */
import { createRequire } from 'node:module'
import { addressOfPublicKey, nobleCrypto, type ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import type { Signer } from '../../ports/signer.ts'

/** The part of the addon that is used, as its API.md (5.0.2) describes it. */
export interface NativeSecp256k1 {
  publicKeyCreate(private_key: Uint8Array, compressed: boolean): Uint8Array
  /** By default RFC 6979 and low s. */
  ecdsaSign(digest: Uint8Array, private_key: Uint8Array): { signature: Uint8Array; recid: number }
  ecdsaRecover(signature: Uint8Array, recid: number, digest: Uint8Array, compressed: boolean): Uint8Array
}

/**
 * Loads the addon, never its JavaScript fallback, which is what the package's main entry would silently take. Throws where there is no
 * binary for this platform.
 */
export function loadNative(): NativeSecp256k1 {
  const loaded: unknown = createRequire(import.meta.url)('secp256k1/bindings.js')
  if (!isNative(loaded)) throw new Error('the addon secp256k1 has another interface than expected')
  return loaded
}

function isNative(value: unknown): value is NativeSecp256k1 {
  return typeof value === 'object' && value !== null && ['publicKeyCreate', 'ecdsaSign', 'ecdsaRecover'].every((name) => name in value)
}

/** Throws for a key outside the group. */
export function nativeSigner(native: NativeSecp256k1, private_key: Uint8Array): Signer {
  const key = Uint8Array.from(private_key)
  return {
    address: addressOfPublicKey(native.publicKeyCreate(key, false), nobleCrypto.keccak256),
    implementation: 'secp256k1-native',
    sign(digest) {
      const { signature, recid } = native.ecdsaSign(digest, key)
      return `0x${Buffer.from(signature.buffer, signature.byteOffset, 64).toString('hex')}${recid === 0 ? '1b' : '1c'}`
    },
  }
}

export function nativeRecover(native: NativeSecp256k1, keccak256: ReceiptCrypto['keccak256']): ReceiptCrypto['recover'] {
  return (digest, rs, recovery) => {
    try {
      return addressOfPublicKey(native.ecdsaRecover(rs, recovery, digest, false), keccak256)
    } catch {
      // The addon throws for scalars out of range and for r that is not a point: no signer can be recovered.
      return null
    }
  }
}
