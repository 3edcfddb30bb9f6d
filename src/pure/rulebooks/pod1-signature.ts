import { ed25519 } from '@noble/curves/ed25519.js'
import { p256 } from '@noble/curves/nist.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { addressOfPublicKey, fromHex, toHex, type ReceiptCrypto } from '../receipts/crypto.ts'
import { readSignature } from '../receipts/signature.ts'

/** 1 secp256k1 with recovery, 2 Ed25519, 3 P-256. */
export type Scheme = 1 | 2 | 3

export function readScheme(number: number): Scheme | null {
  return number === 1 || number === 2 || number === 3 ? number : null
}

/** `key` is the one form in which two spellings of a key are the same text. */
export type SignatureReading =
  | { ok: true; key: string }
  | { ok: false; code: 'signature_malformed' | 'signature_high_s' | 'signature_wrong' | 'key_unknown' }

/**
 * The one form of a key: the address in scheme 1 (given as 20 bytes, or as a point of 33 or 65), the 32 bytes in scheme 2, the 33-byte point
 * in scheme 3 (given as 33 or 65). Lower-case hex. Null for what is no key of the scheme.
 */
export function readKey(scheme: Scheme, text: string, crypto: ReceiptCrypto): string | null {
  const bytes = fromHex(text)
  if (bytes === null) return null
  try {
    switch (scheme) {
      case 1:
        if (bytes.length === 20) return bytes.some((byte) => byte !== 0) ? toHex(bytes) : null
        return addressOfPublicKey(secp256k1.Point.fromBytes(bytes).toBytes(false), crypto.keccak256)
      case 2:
        return isPlainPoint(bytes) ? toHex(bytes) : null
      case 3:
        return toHex(p256.Point.fromBytes(bytes).toBytes(true))
    }
  } catch {
    // noble throws for bytes that are no point of the curve.
    return null
  }
}

/**
 * Whose signature over the 32-byte digest this is. Scheme 1 recovers the key and needs none; the others are held against `key`, a result of
 * `readKey`. Errs towards refusing: a second form of a valid signature, which some libraries take, is not one here, but for the s of scheme 3.
 */
export function readRoleSignature(
  scheme: Scheme,
  text: string,
  digest: Uint8Array,
  key: string | null,
  crypto: ReceiptCrypto,
): SignatureReading {
  if (scheme === 1) return recovered(text, digest, key, crypto)
  const signature = fromHex(text)
  if (signature?.length !== 64) return { ok: false, code: 'signature_malformed' }
  const key_bytes = key === null ? null : fromHex(key)
  if (key === null || key_bytes === null) return { ok: false, code: 'key_unknown' }
  return scheme === 2 ? edwards(signature, digest, key_bytes, key) : nist(signature, digest, key_bytes, key)
}

/** r, s and v of 65 bytes; v is 0, 1, 27 or 28. */
function recovered(text: string, digest: Uint8Array, key: string | null, crypto: ReceiptCrypto): SignatureReading {
  const reading = readSignature(text)
  if (!reading.ok) return { ok: false, code: 'signature_malformed' }
  if (reading.high_s) return { ok: false, code: 'signature_high_s' }
  const address = crypto.recover(digest, reading.rs, reading.recovery)
  if (address === null || (key !== null && address !== key)) return { ok: false, code: 'signature_wrong' }
  return { ok: true, key: address }
}

/**
 * RFC 8032 (January 2017) with canonical encodings. Key and R must lie in the group of prime order: outside of it libraries disagree on what
 * is valid, and no honest signer gets there.
 */
function edwards(signature: Uint8Array, digest: Uint8Array, key_bytes: Uint8Array, key: string): SignatureReading {
  const made = isPlainPoint(signature.subarray(0, 32)) && ed25519.verify(signature, digest, key_bytes, { zip215: false })
  return made ? { ok: true, key } : { ok: false, code: 'signature_wrong' }
}

function isPlainPoint(bytes: Uint8Array): boolean {
  try {
    const point = ed25519.Point.fromBytes(bytes, false)
    return !point.is0() && point.isTorsionFree()
  } catch {
    // No canonical encoding of a point.
    return false
  }
}

/**
 * ES256: the 32 bytes of the digest are the message, hashed once more with SHA-256 as secure elements do (FIPS 186-5, 2023). That standard
 * knows no low s, and its signers give the high one half of the time; both are taken, for only the key of a signature is told.
 */
function nist(signature: Uint8Array, digest: Uint8Array, key_bytes: Uint8Array, key: string): SignatureReading {
  try {
    p256.Signature.fromBytes(signature, 'compact')
  } catch {
    // r or s is zero or not below the order.
    return { ok: false, code: 'signature_malformed' }
  }
  const made = p256.verify(signature, digest, key_bytes, { lowS: false, prehash: true, format: 'compact' })
  return made ? { ok: true, key } : { ok: false, code: 'signature_wrong' }
}
