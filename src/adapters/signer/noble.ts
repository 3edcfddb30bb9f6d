/** Signs with pure JavaScript: the reference that runs everywhere, and the judge of anything faster. */
import { createECDH } from 'node:crypto'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { addressOfPublicKey, nobleCrypto, toHex } from '../../pure/receipts/crypto.ts'
import type { Signer } from '../../ports/signer.ts'

export function isPrivateKey(private_key: Uint8Array): boolean {
  return secp256k1.utils.isValidSecretKey(private_key)
}

/**
 * Throws for a key that `isPrivateKey` refuses. By OpenSSL, which is wherever Node is: the first multiplication in JavaScript costs thirty
 * milliseconds of tables.
 */
export function addressOf(private_key: Uint8Array): string {
  // OpenSSL takes shorter keys too.
  if (!isPrivateKey(private_key)) throw new RangeError('A key of secp256k1 has 32 bytes and lies below the order of the group.')
  const curve = createECDH('secp256k1')
  curve.setPrivateKey(private_key)
  return addressOfPublicKey(curve.getPublicKey(), nobleCrypto.keccak256)
}

/** Throws for a key that `isPrivateKey` refuses. */
export function nobleSigner(private_key: Uint8Array): Signer {
  const key = Uint8Array.from(private_key)
  return {
    address: addressOf(key),
    implementation: 'noble',
    sign(digest) {
      // The format is v, r, s with v 0 or 1; low s is the default of the curve, RFC 6979 that of the library.
      const bytes = secp256k1.sign(digest, key, { prehash: false, lowS: true, format: 'recovered' })
      return toHex(bytes.subarray(1)) + (bytes[0] === 0 ? '1b' : '1c')
    },
  }
}
