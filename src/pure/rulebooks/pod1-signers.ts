import { toHex, type ReceiptCrypto } from '../receipts/crypto.ts'
import { readKey, readRoleSignature, type Scheme } from './pod1-signature.ts'
import { DEVICE_ROLE, fail, missing, NOT_CHECKED, PASS, type Attestation, type CheckOutcome, type Mandate } from './pod1-types.ts'

/** Who says that this key speaks for the role: the mandate, the attestation about its own device, or nobody. */
type Binding = 'mandate' | 'attestation' | 'unbound'

/** One role, and what became of its signature. */
export interface SignerReport {
  role: string
  required: boolean
  check: CheckOutcome
  binding: Binding
  /** The key that signed: an address in scheme 1, else the key. Null unless the signature holds. */
  key: string | null
  /** What this role had to sign; null while the attestation lacks a part of it. */
  digest: string | null
}

export interface SignersRead {
  device: CheckOutcome
  signatures: CheckOutcome
  distinct_keys: CheckOutcome
  signers: SignerReport[]
}

interface Given {
  mandate: Mandate
  attestation: Attestation
  scheme: Scheme | null
  /** The digest of a role; null while there is none. */
  digestOf: (role: string) => Uint8Array | null
  /** Reads a key of the scheme, each text once: it costs arithmetic on the curve. Null too when there is no scheme. */
  keyOf: (text: string) => string | null
  crypto: ReceiptCrypto
}

/** Judges the key of the device and the signature of every role that is required or signed. A false signature that nobody asked for fails too. */
export function readSigners(asked: Omit<Given, 'keyOf'>): SignersRead {
  const given = { ...asked, keyOf: keyReader(asked) }
  const required = given.mandate.required_signers ?? []
  const others = Object.keys(given.attestation.signatures ?? {}).filter((role) => !required.includes(role))
  const roles = [...new Set([...required, ...others.toSorted()])]
  const signers = roles.map((role) => signerOf(given, role, required.includes(role)))
  return { device: deviceOf(given), signatures: gravest(signers), distinct_keys: distinctKeys(given, signers), signers }
}

function keyReader({ scheme, crypto }: Omit<Given, 'keyOf'>): Given['keyOf'] {
  const known = new Map<string, string | null>()
  return (text) => {
    const found = known.get(text)
    if (found !== undefined) return found
    const key = scheme === null ? null : readKey(scheme, text, crypto)
    known.set(text, key)
    return key
  }
}

/** What decides of all roles: the first that fails, else the first required one that is missing. */
function gravest(signers: readonly SignerReport[]): CheckOutcome {
  const checks = signers.map(({ check, required }) => (check.outcome === 'missing' && !required ? NOT_CHECKED : check))
  const found = checks.find(({ outcome }) => outcome === 'fail') ?? checks.find(({ outcome }) => outcome === 'missing')
  if (found !== undefined) return found
  return checks.some(({ outcome }) => outcome === 'pass') ? PASS : NOT_CHECKED
}

function deviceOf({ mandate, attestation: { device_id, device_pubkey }, scheme, keyOf }: Given): CheckOutcome {
  if (device_id === undefined || device_pubkey === undefined) return missing('device_missing')
  if (scheme === null) return NOT_CHECKED
  const key = keyOf(device_pubkey)
  if (key === null) return fail('key_malformed')
  const bound = own(mandate.signer_keys ?? {}, DEVICE_ROLE)
  if (bound === null) return PASS
  const expected = keyOf(bound)
  if (expected === null) return fail('key_malformed')
  return expected === key ? PASS : fail('device_key_mismatch')
}

/** The key that the role must have signed with, as it is written; null when nobody names one. */
function namedKey(mandate: Mandate, { device_pubkey }: Attestation, role: string): { binding: Binding; text: string | null } {
  const bound = own(mandate.signer_keys ?? {}, role)
  if (bound !== null) return { binding: 'mandate', text: bound }
  if (role === DEVICE_ROLE && device_pubkey !== undefined) return { binding: 'attestation', text: device_pubkey }
  return { binding: 'unbound', text: null }
}

function signerOf(given: Given, role: string, required: boolean): SignerReport {
  const { mandate, attestation, scheme, keyOf, crypto } = given
  const { binding, text } = namedKey(mandate, attestation, role)
  const digest = given.digestOf(role)
  const report = (check: CheckOutcome, key: string | null = null): SignerReport => {
    return { role, required, check, binding, key, digest: digest === null ? null : toHex(digest) }
  }
  const signature = own(attestation.signatures ?? {}, role)
  if (signature === null) return report(missing('signature_missing'))
  if (scheme === null) return report(NOT_CHECKED)
  const key = text === null ? null : keyOf(text)
  if (text !== null && key === null) return report(fail('key_malformed'))
  if (digest === null) return report(NOT_CHECKED)
  const reading = readRoleSignature(scheme, signature, digest, key, crypto)
  if (reading.ok) return report(PASS, reading.key)
  return report(reading.code === 'key_unknown' ? missing(reading.code) : fail(reading.code))
}

/** No key may stand for two roles, neither in the mandate nor by signing; the key of the device stands for its role. */
function distinctKeys({ mandate, attestation, scheme, keyOf }: Given, signers: readonly SignerReport[]): CheckOutcome {
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

function own(record: Readonly<Record<string, string>>, name: string): string | null {
  return Object.hasOwn(record, name) ? (record[name] ?? null) : null
}
