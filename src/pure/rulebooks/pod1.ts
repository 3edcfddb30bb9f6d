import { ed25519 } from '@noble/curves/ed25519.js'
import { p256 } from '@noble/curves/nist.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { nobleCrypto, type ReceiptCrypto, toHex, fromHex, addressOfPublicKey, readSignature } from '../receipts/crypto.ts'
import { type CheckName, CHECKS, DEVICE_ROLE, POD1, POD1_CODES, type Pod1Code, type WarningCode } from './pod1-table.ts'
import { type Geofence, locate, onGlobe, readGeofence, type PlaceE7 } from '../geometry/geofence.ts'
import { canonicalText } from '../receipts/canonical.ts'

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

/** `missing`: something is not there, so the rule can neither hold nor fail. `not_checked`: another check has to hold first. */
type CheckOutcome = { outcome: 'pass' | 'not_checked'; code: null } | { outcome: 'fail' | 'missing'; code: Pod1Code }

const PASS: CheckOutcome = { outcome: 'pass', code: null }
const NOT_CHECKED: CheckOutcome = { outcome: 'not_checked', code: null }
const fail = (code: Pod1Code): CheckOutcome => ({ outcome: 'fail', code })
const missing = (code: Pod1Code): CheckOutcome => ({ outcome: 'missing', code })

/** 1 secp256k1 with recovery, 2 Ed25519, 3 P-256. */
type SignatureScheme = 1 | 2 | 3

function readScheme(number: number): SignatureScheme | null {
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

/** Source that binds a key to the role: the mandate, the attestation (for its own device), or none. */
type Binding = 'mandate' | 'attestation' | 'unbound'

/** One role and the result of its signature check. */
interface SignerReport {
  role: string
  required: boolean
  check: CheckOutcome
  binding: Binding
  /** The key that signed: an address in scheme 1, else the key. Null unless the signature holds. */
  key: string | null
  /** Text that this role must sign, and its digest; null if the attestation lacks a part of them. */
  message: string | null
  digest: string | null
}

interface SignersRead {
  device: CheckOutcome
  signatures: CheckOutcome
  distinct_keys: CheckOutcome
  signers: SignerReport[]
}

interface DeliveryInput {
  mandate: DeliveryMandate
  attestation: Attestation
  scheme: SignatureScheme | null
  /** The digest of a role; null while there is none. */
  digestOf: (role: string) => Uint8Array | null
  /** Reads a key of the scheme, each text once: it costs arithmetic on the curve. Null too when there is no scheme. */
  keyOf: (text: string) => string | null
  crypto: ReceiptCrypto
}

/** Checks the device key and the signature of every required or signing role. A wrong signature fails even if it is not required. */
function readSigners(asked: Omit<DeliveryInput, 'keyOf'>): SignersRead {
  const given = { ...asked, keyOf: keyReader(asked) }
  const required = given.mandate.required_signers ?? []
  const others = Object.keys(given.attestation.signatures ?? {}).filter((role) => !required.includes(role))
  const roles = [...new Set([...required, ...others.toSorted()])]
  const signers = roles.map((role) => checkSigner(given, role, required.includes(role)))
  return { device: checkDevice(given), signatures: decidingOutcome(signers), distinct_keys: checkDistinctKeys(given, signers), signers }
}

function keyReader({ scheme, crypto }: Omit<DeliveryInput, 'keyOf'>): DeliveryInput['keyOf'] {
  const known = new Map<string, string | null>()
  return (text) => {
    const found = known.get(text)
    if (found !== undefined) return found
    const key = scheme === null ? null : readKey(scheme, text, crypto)
    known.set(text, key)
    return key
  }
}

/** The deciding outcome of all roles: the first failure, else the first missing required signature. */
function decidingOutcome(signers: readonly SignerReport[]): CheckOutcome {
  const checks = signers.map(({ check, required }) => (check.outcome === 'missing' && !required ? NOT_CHECKED : check))
  const found = checks.find(({ outcome }) => outcome === 'fail') ?? checks.find(({ outcome }) => outcome === 'missing')
  if (found !== undefined) return found
  return checks.some(({ outcome }) => outcome === 'pass') ? PASS : NOT_CHECKED
}

function checkDevice({ mandate, attestation: { device_id, device_pubkey }, scheme, keyOf }: DeliveryInput): CheckOutcome {
  if (device_id === undefined || device_pubkey === undefined) return missing('device_missing')
  if (scheme === null) return NOT_CHECKED
  const key = keyOf(device_pubkey)
  if (key === null) return fail('key_malformed')
  const bound = ownMember(mandate.signer_keys ?? {}, DEVICE_ROLE)
  if (bound === null) return PASS
  const expected = keyOf(bound)
  if (expected === null) return fail('key_malformed')
  return expected === key ? PASS : fail('device_key_mismatch')
}

/** The key that the role must have signed with, as given; null if none is named. */
function findNamedKey(mandate: DeliveryMandate, { device_pubkey }: Attestation, role: string): { binding: Binding; text: string | null } {
  const bound = ownMember(mandate.signer_keys ?? {}, role)
  if (bound !== null) return { binding: 'mandate', text: bound }
  if (role === DEVICE_ROLE && device_pubkey !== undefined) return { binding: 'attestation', text: device_pubkey }
  return { binding: 'unbound', text: null }
}

function checkSigner(given: DeliveryInput, role: string, required: boolean): SignerReport {
  const { mandate, attestation, scheme, keyOf, crypto } = given
  const { binding, text } = findNamedKey(mandate, attestation, role)
  const digest = given.digestOf(role)
  const report = (check: CheckOutcome, key: string | null = null): SignerReport => {
    const message = digest === null ? null : digestText(role, attestation)
    return { role, required, check, binding, key, message, digest: digest === null ? null : toHex(digest) }
  }
  const signature = ownMember(attestation.signatures ?? {}, role)
  if (signature === null) return report(missing('signature_missing'))
  if (scheme === null) return report(NOT_CHECKED)
  const key = text === null ? null : keyOf(text)
  if (text !== null && key === null) return report(fail('key_malformed'))
  if (digest === null) return report(NOT_CHECKED)
  const reading = readRoleSignature(scheme, signature, digest, key, crypto)
  if (reading.ok) return report(PASS, reading.key)
  return report(reading.code === 'key_unknown' ? missing(reading.code) : fail(reading.code))
}

/** Fails if one key is used for two roles, in the mandate or by signing; the device key belongs to the device role. */
function checkDistinctKeys({ mandate, attestation, scheme, keyOf }: DeliveryInput, signers: readonly SignerReport[]): CheckOutcome {
  if (scheme === null) return NOT_CHECKED
  const keys = new Map<string, string>()
  const named = [...Object.entries(mandate.signer_keys ?? {}), [DEVICE_ROLE, attestation.device_pubkey ?? ''] as const]
  const bound = named.map(([role, text]) => ({ role, key: keyOf(text) }))
  for (const { role, key } of [...bound, ...signers]) {
    if (key === null) continue
    if ((keys.get(key) ?? role) !== role) return fail('key_reused')
    keys.set(key, role)
  }
  return keys.size === 0 ? NOT_CHECKED : PASS
}

function ownMember(record: Readonly<Record<string, string>>, name: string): string | null {
  return Object.hasOwn(record, name) ? (record[name] ?? null) : null
}

type Pod1Verdict = 'VERIFIED' | 'REJECTED' | 'INCOMPLETE'

interface DeliveryVerdict {
  verdict: Pod1Verdict
  reason_code: 'ok' | Pod1Code
  reason: string
  checks: ({ check: CheckName } & CheckOutcome)[]
  signers: SignerReport[]
  /** The position relative to the geofence; null if not determined. */
  position: 'inside' | 'boundary' | 'outside' | null
  /** Value for the caller's next last_seen_counter of this device; null unless verified. */
  next_last_seen_counter: number | null
  /** keccak-256 of the RFC 8785 text of the mandate; null when it has no such text. */
  mandate_hash: string | null
  warnings: WarningCode[]
  standard: string
  policy_hash: string
}

/**
 * Verifies an attestation of delivery by its mandate. Every check runs: a failed one rejects, a missing input makes the verdict incomplete.
 * The result proves that keys signed the statement, not that anything arrived; the caller keeps the counters and vouches for keys that the
 * mandate does not bind.
 */
export function verifyDelivery(
  mandate: DeliveryMandate,
  attestation: Attestation,
  last_seen_counter: number | null,
  crypto: ReceiptCrypto = nobleCrypto,
): DeliveryVerdict {
  const form = checkForm(mandate, attestation)
  const { fence, ...geofence } = readFence(mandate)
  const { place, ...position } = checkPosition(fence, attestation)
  const scheme = attestation.scheme === undefined ? null : readScheme(attestation.scheme)
  const digestOf = (role: string) => (form.outcome === 'pass' ? roleDigest(role, attestation, crypto) : null)
  const { signers, device, signatures, distinct_keys } = readSigners({ mandate, attestation, scheme, digestOf, crypto })
  const found: Record<CheckName, CheckOutcome> = {
    form,
    mandate_id: checkMandateIds(mandate, attestation),
    geofence,
    position,
    accuracy: checkAccuracy(mandate, attestation),
    window: checkWindow(mandate, attestation),
    counter: checkCounter(attestation, last_seen_counter),
    scheme: attestation.scheme === undefined ? missing('scheme_missing') : scheme === null ? fail('unsupported_scheme') : PASS,
    device,
    signers: checkRequiredSigners(mandate),
    signatures,
    distinct_keys,
  }
  const checks = CHECKS.map((check) => ({ check, ...found[check] }))
  const decisive = checks.find(({ outcome }) => outcome === 'fail') ?? checks.find(({ outcome }) => outcome === 'missing')
  const verdict = decisive === undefined ? 'VERIFIED' : decisive.outcome === 'fail' ? 'REJECTED' : 'INCOMPLETE'
  const code = decisive?.code ?? null
  return {
    verdict,
    reason_code: code ?? 'ok',
    reason: code === null ? 'Every check of POD-1 passes.' : POD1_CODES[code],
    checks,
    signers,
    position: place,
    next_last_seen_counter: verdict === 'VERIFIED' ? (attestation.counter ?? null) : null,
    mandate_hash: form.outcome === 'pass' ? crypto.keccak256Hex(canonicalText(mandate)) : null,
    warnings: listWarnings(signers, last_seen_counter),
    standard: POD1.standard,
    policy_hash: POD1.policy_hash,
  }
}

/** Printable ASCII without the bar, which joins the parts of the digest. */
const PLAIN = /^[ -{}~]{1,256}$/
/** Form of keys; `readKey` checks that a key fits its scheme. */
const HEX = /^0x[0-9a-fA-F]*$/

function checkForm(mandate: DeliveryMandate, attestation: Attestation): CheckOutcome {
  const { mandate_id, order_ref, geofence, required_signers = [], signer_keys = {} } = mandate
  const { signatures = {}, device_pubkey } = attestation
  const texts = [mandate_id, geofence?.type, attestation.mandate_id, attestation.device_id, ...required_signers]
  const roles = [...Object.keys(signer_keys), ...Object.keys(signatures)]
  const plain = [...texts, ...roles].every((text) => text === undefined || PLAIN.test(text))
  const hex = [...Object.values(signer_keys), device_pubkey].every((text) => text === undefined || HEX.test(text))
  return plain && hex && (order_ref ?? '').isWellFormed() ? PASS : fail('text_malformed')
}

/** Text that a role signs: every field of the attestation, and the role, so that no signature can be reused for another role. */
export function digestText(role: string, { mandate_id, device_id, device_pubkey, scheme, geo, ts, counter }: Attestation): string | null {
  const numbers = [geo?.lat_e7, geo?.lon_e7, geo?.accuracy_m, ts, counter]
  const parts = [mandate_id, device_id, device_pubkey?.toLowerCase(), scheme, ...numbers]
  if (parts.includes(undefined)) return null
  return [POD1.standard, role, ...parts.map((part) => (typeof part === 'number' ? canonicalText(part) : part))].join('|')
}

function roleDigest(role: string, attestation: Attestation, crypto: ReceiptCrypto): Uint8Array | null {
  const text = digestText(role, attestation)
  return text === null ? null : crypto.keccak256(text)
}

function checkMandateIds(mandate: DeliveryMandate, attestation: Attestation): CheckOutcome {
  if (mandate.mandate_id === undefined || attestation.mandate_id === undefined) return missing('mandate_id_missing')
  return mandate.mandate_id === attestation.mandate_id ? PASS : fail('mandate_mismatch')
}

function readFence({ geofence }: DeliveryMandate): CheckOutcome & { fence: Geofence | null } {
  if (geofence === undefined) return { ...missing('geofence_missing'), fence: null }
  if (geofence.type !== 'polygon_e7') return { ...fail('geofence_type_unknown'), fence: null }
  const ring = geofence.ring.map(([lat_e7, lon_e7]) => ({ lat_e7: lat_e7 ?? NaN, lon_e7: lon_e7 ?? NaN }))
  const read = readGeofence(ring, geofence.crosses_antimeridian ?? false)
  return read.ok ? { ...PASS, fence: read.fence } : { ...fail(read.code), fence: null }
}

function checkPosition(fence: Geofence | null, { geo }: Attestation): CheckOutcome & { place: DeliveryVerdict['position'] } {
  if (geo === undefined) return { ...missing('position_missing'), place: null }
  if (!onGlobe(geo)) return { ...fail('position_out_of_range'), place: null }
  if (fence === null) return { ...NOT_CHECKED, place: null }
  const place = locate(fence, geo)
  return place === 'outside' ? { ...fail('outside_geofence'), place } : { ...PASS, place }
}

function checkAccuracy({ max_accuracy_m }: DeliveryMandate, { geo }: Attestation): CheckOutcome {
  const accuracy_m = geo?.accuracy_m
  if (max_accuracy_m === undefined || accuracy_m === undefined) return missing('accuracy_missing')
  if (max_accuracy_m < 0 || accuracy_m < 0) return fail('accuracy_out_of_range')
  return accuracy_m <= max_accuracy_m ? PASS : fail('accuracy_too_coarse')
}

function checkWindow({ window }: DeliveryMandate, { ts }: Attestation): CheckOutcome {
  if (window !== undefined && window.not_before > window.not_after) return fail('window_reversed')
  if (window === undefined || ts === undefined) return missing('window_missing')
  if (ts < window.not_before) return fail('before_window')
  return ts > window.not_after ? fail('after_window') : PASS
}

function checkCounter({ counter }: Attestation, last_seen_counter: number | null): CheckOutcome {
  if (counter === undefined) return missing('counter_missing')
  if (counter < 0) return fail('counter_out_of_range')
  if (last_seen_counter === null) return NOT_CHECKED
  return counter > last_seen_counter ? PASS : fail('counter_replayed')
}

function checkRequiredSigners({ required_signers = [] }: DeliveryMandate): CheckOutcome {
  if (required_signers.length === 0) return missing('signers_missing')
  return new Set(required_signers).size === required_signers.length ? PASS : fail('role_repeated')
}

function listWarnings(signers: readonly SignerReport[], last_seen_counter: number | null): WarningCode[] {
  const signed = signers.filter(({ check }) => check.outcome === 'pass')
  const device = signed.find(({ role }) => role === DEVICE_ROLE)
  const warnings: [WarningCode, boolean][] = [
    ['replay_not_checked', last_seen_counter === null],
    ['device_did_not_sign', device === undefined],
    ['device_key_self_asserted', device?.binding === 'attestation'],
    ['role_unbound', signed.some(({ binding }) => binding === 'unbound')],
  ]
  return warnings.filter(([, holds]) => holds).map(([code]) => code)
}
