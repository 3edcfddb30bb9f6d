import { type PlaceE7, RING_VERTICES_MAX, type RingFault } from '../geometry/geofence.ts'
import { ruleBook } from './rule-book.ts'
import { ed25519 } from '@noble/curves/ed25519.js'
import { p256 } from '@noble/curves/nist.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { addressOfPublicKey, fromHex, toHex, type ReceiptCrypto, readSignature } from '../receipts/crypto.ts'

/** Terms of a delivery as the caller sent them. An absent member makes the verdict incomplete, not rejected. */
export interface DeliveryMandate {
  readonly mandate_id?: string | undefined
  readonly order_ref?: string | undefined
  readonly geofence?:
    | {
        readonly type: string
        /** Pairs of latitude and longitude in E7. */
        readonly ring: readonly (readonly number[])[]
        readonly crosses_antimeridian?: boolean | undefined
      }
    | undefined
  /** Unix seconds, or any unit that `ts` shares. */
  readonly window?: { readonly not_before: number; readonly not_after: number } | undefined
  readonly max_accuracy_m?: number | undefined
  readonly required_signers?: readonly string[] | undefined
  /** Binds a role to the only key that may sign for it. */
  readonly signer_keys?: Readonly<Record<string, string>> | undefined
}

/** Statement of a device and its co-signers about a delivery. */
export interface Attestation {
  readonly mandate_id?: string | undefined
  readonly device_id?: string | undefined
  readonly device_pubkey?: string | undefined
  readonly scheme?: number | undefined
  readonly geo?: (PlaceE7 & { readonly accuracy_m?: number | undefined }) | undefined
  readonly ts?: number | undefined
  readonly counter?: number | undefined
  readonly signatures?: Readonly<Record<string, string>> | undefined
}

/** Maximum number of roles of a delivery: verifying a signature on Ed25519 takes milliseconds. */
export const POD1_ROLES_MAX = 8

/** The role whose key is `device_pubkey`. */
export const DEVICE_ROLE = 'device'

type FormCode = 'text_malformed' | 'mandate_mismatch' | 'mandate_id_missing'
type PlaceCode = 'geofence_missing' | 'geofence_type_unknown' | 'outside_geofence' | 'position_missing' | 'position_out_of_range'
type SensorCode =
  | 'accuracy_missing'
  | 'accuracy_out_of_range'
  | 'accuracy_too_coarse'
  | 'window_missing'
  | 'window_reversed'
  | 'before_window'
  | 'after_window'
  | 'counter_missing'
  | 'counter_out_of_range'
  | 'counter_replayed'
type SignerCode =
  | 'scheme_missing'
  | 'unsupported_scheme'
  | 'device_missing'
  | 'key_malformed'
  | 'device_key_mismatch'
  | 'signers_missing'
  | 'role_repeated'
  | 'signature_missing'
  | 'signature_malformed'
  | 'signature_high_s'
  | 'signature_wrong'
  | 'key_unknown'
  | 'key_reused'

export type Pod1Code = FormCode | PlaceCode | RingFault | SensorCode | SignerCode

/** `missing`: something is not there, so the rule can neither hold nor fail. `not_checked`: another check has to hold first. */
export type CheckOutcome = { outcome: 'pass' | 'not_checked'; code: null } | { outcome: 'fail' | 'missing'; code: Pod1Code }

export const PASS: CheckOutcome = { outcome: 'pass', code: null }
export const NOT_CHECKED: CheckOutcome = { outcome: 'not_checked', code: null }
export const fail = (code: Pod1Code): CheckOutcome => ({ outcome: 'fail', code })
export const missing = (code: Pod1Code): CheckOutcome => ({ outcome: 'missing', code })

/** The checks in the order in which they are reported. */
export const CHECKS = [
  'form',
  'mandate_id',
  'geofence',
  'position',
  'accuracy',
  'window',
  'counter',
  'scheme',
  'device',
  'signers',
  'signatures',
  'distinct_keys',
] as const

export type CheckName = (typeof CHECKS)[number]

export type WarningCode = 'replay_not_checked' | 'device_key_self_asserted' | 'device_did_not_sign' | 'role_unbound'

/** The rules of POD-1 as data: what is decided here is what the code does, and the hash of it is in every answer. */
export const POD1 = ruleBook('POD-1', {
  checks: CHECKS,
  digest: {
    hash: 'keccak-256',
    separator: '|',
    fields: ['POD-1', 'role', 'mandate_id', 'device_id', 'device_pubkey', 'scheme', 'lat_e7', 'lon_e7', 'accuracy_m', 'ts', 'counter'],
  },
  geometry: { unit: 'E7', edges: 'straight_in_lon_lat', boundary: 'inside', vertices_max: RING_VERTICES_MAX, edge_span_below_deg: 180 },
  schemes: {
    '1': 'secp256k1, r s v over the digest, low s, keys as address or point',
    '2': 'Ed25519 over the digest, canonical encodings, no small-order parts',
    '3': 'P-256 with SHA-256 over the digest, r s, s low or high',
  },
  window: { not_before: 'inclusive', not_after: 'inclusive' },
  accuracy: 'accuracy_m <= max_accuracy_m',
  counter: 'greater_than_last_seen',
  device_role: DEVICE_ROLE,
  one_key_one_role: true,
})

/** One sentence for each way in which a delivery is not verified. */
export const POD1_CODES: Readonly<Record<Pod1Code, string>> = {
  text_malformed: 'An id or a role is not 1 to 256 printable ASCII characters without "|", or a key is not 0x-prefixed hexadecimal.',
  mandate_mismatch: 'The attestation names another mandate.',
  mandate_id_missing: 'Mandate and attestation must both name the mandate_id.',
  geofence_missing: 'The mandate has no geofence.',
  geofence_type_unknown: 'The geofence is of another type than polygon_e7.',
  ring_out_of_range: 'A vertex of the ring is not a pair of latitude and longitude on the globe.',
  ring_too_few_vertices: 'The ring has fewer than three distinct vertices.',
  ring_reaches_pole: 'A vertex of the ring is a pole, where longitude means nothing.',
  ring_edge_too_long: 'An edge of the ring spans 180 degrees of longitude or more; over the antimeridian, set crosses_antimeridian.',
  ring_zero_area: 'All vertices of the ring lie on one line.',
  ring_self_crossing: 'The ring crosses or touches itself.',
  outside_geofence: 'The position lies outside the geofence.',
  position_missing: 'The attestation has no position.',
  position_out_of_range: 'The position is not on the globe.',
  accuracy_missing: 'Either accuracy_m or max_accuracy_m is missing.',
  accuracy_out_of_range: 'An accuracy is negative.',
  accuracy_too_coarse: 'The accuracy of the position is worse than the mandate allows.',
  window_missing: 'The window of the mandate, or the time of the attestation, is missing.',
  window_reversed: 'The window of the mandate ends before it begins.',
  before_window: 'The delivery is attested for a time before the window.',
  after_window: 'The delivery is attested for a time after the window.',
  counter_missing: 'The attestation has no counter.',
  counter_out_of_range: 'The counter is negative.',
  counter_replayed: 'The counter is not greater than the last one seen.',
  scheme_missing: 'The attestation names no signature scheme.',
  unsupported_scheme: 'The signature scheme is not 1 (secp256k1), 2 (Ed25519) or 3 (P-256).',
  device_missing: 'The attestation lacks device_id or device_pubkey.',
  key_malformed: 'A key is not a valid key of the scheme.',
  device_key_mismatch: 'The mandate binds the device role to another key than device_pubkey.',
  signers_missing: 'The mandate requires no signer, so the attestation is not bound to any key.',
  role_repeated: 'The mandate requires one role twice.',
  signature_missing: 'A required signature is missing.',
  signature_malformed: 'A signature does not have the form of the scheme.',
  signature_high_s: 'A signature of scheme 1 has s in the upper half of the range; only the low-s form is accepted.',
  signature_wrong: 'A signature was not made by the key of its role over this attestation.',
  key_unknown: 'A required role has no key, and the scheme cannot recover one from the signature.',
  key_reused: 'One key is used for two roles.',
}

export const POD1_WARNINGS: Readonly<Record<WarningCode, string>> = {
  replay_not_checked: 'Without last_seen_counter a replayed attestation passes again.',
  device_key_self_asserted: 'The attestation itself names the key of the device; the mandate does not bind it.',
  device_did_not_sign:
    'The attestation has no valid signature of the device key. To require one, add device to required_signers and send signatures.device.',
  role_unbound: 'The mandate binds no key to a role, so any key could have signed for it.',
}

/** 1 secp256k1 with recovery, 2 Ed25519, 3 P-256. */
export type SignatureScheme = 1 | 2 | 3

export function readScheme(number: number): SignatureScheme | null {
  return number === 1 || number === 2 || number === 3 ? number : null
}

/** `key` is the one form in which two spellings of a key are the same text. */
type SignatureReading =
  | { ok: true; key: string }
  | { ok: false; code: 'signature_malformed' | 'signature_high_s' | 'signature_wrong' | 'key_unknown' }

/**
 * Normalizes a key to lower-case hex: the address in scheme 1 (given as 20 bytes, or as a point of 33 or 65), the 32 bytes in scheme 2, the
 * 33-byte point in scheme 3 (given as 33 or 65). null for a text that is not a key of the scheme.
 */
export function readKey(scheme: SignatureScheme, text: string, crypto: ReceiptCrypto): string | null {
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
    // noble throws for bytes that are not a point of the curve.
    return null
  }
}

/**
 * Verifies a signature over the 32-byte digest and returns its key. Scheme 1 recovers the key; the others need `key`, a result of
 * `readKey`. Malleable second forms of a valid signature are refused, except the s of scheme 3.
 */
export function readRoleSignature(
  scheme: SignatureScheme,
  text: string,
  digest: Uint8Array,
  key: string | null,
  crypto: ReceiptCrypto,
): SignatureReading {
  if (scheme === 1) return recoverSecp256k1(text, digest, key, crypto)
  const signature = fromHex(text)
  if (signature?.length !== 64) return { ok: false, code: 'signature_malformed' }
  const key_bytes = key === null ? null : fromHex(key)
  if (key === null || key_bytes === null) return { ok: false, code: 'key_unknown' }
  return scheme === 2 ? verifyEd25519(signature, digest, key_bytes, key) : verifyP256(signature, digest, key_bytes, key)
}

/** r, s and v of 65 bytes; v is 0, 1, 27 or 28. */
function recoverSecp256k1(text: string, digest: Uint8Array, key: string | null, crypto: ReceiptCrypto): SignatureReading {
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
function verifyEd25519(signature: Uint8Array, digest: Uint8Array, key_bytes: Uint8Array, key: string): SignatureReading {
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
 * knows no low s, and its signers give the high one half of the time; both are accepted, since only the key of a signature is returned.
 */
function verifyP256(signature: Uint8Array, digest: Uint8Array, key_bytes: Uint8Array, key: string): SignatureReading {
  try {
    p256.Signature.fromBytes(signature, 'compact')
  } catch {
    // r or s is zero or not below the order.
    return { ok: false, code: 'signature_malformed' }
  }
  const made = p256.verify(signature, digest, key_bytes, { lowS: false, prehash: true, format: 'compact' })
  return made ? { ok: true, key } : { ok: false, code: 'signature_wrong' }
}
