/**
 * The POL-1 certificate. The registrar's signature attests the record: raw keccak-256 of `POL-1|` and the RFC 8785 text of all members but
 * status, the two signatures and the attestation. The underwriter's countersignature binds it: EIP-712 over the digest of the record (domain
 * POL-1, version 1). Both are verified offline; the status counts only as far as the signatures prove it. No contract wallet can be asked
 * offline: of its countersignature the registrar attests that the wallet accepted it.
 */
import { ruleBookDomain, type TypedData, typedDataJson, typedDigest, typedSigner, type TypedStruct } from '../payments/typed-data.ts'
import { canonicalText } from '../receipts/canonical.ts'
import { nobleCrypto, toHex, type ReceiptCrypto } from '../receipts/crypto.ts'

export const COVERAGE_TYPES = [
  'smart_contract_execution',
  'commercial_trade_credit',
  'wire_fraud_bec_defense',
  'subagent_sla_delivery',
] as const
export type CoverageType = (typeof COVERAGE_TYPES)[number]

export interface PolicyBody {
  v: 'POL-1'
  policy_id: string
  underwriter_id: string
  underwriter_address: string
  /** The signed entry that the policy is based on. */
  underwriter_entry_hash: string
  coverage_type: CoverageType
  policyholder: string | null
  beneficiary: string | null
  subject: { tx_hash: string | null; transaction_id: string | null; invoice_id: string | null }
  /** Decimal texts, minor units. */
  coverage_minor: string
  premium_minor: string
  currency: string
  terms_uri: string
  terms_hash: string
  trigger: string
  /** Seconds since 1970. */
  effective_from: number
  effective_to: number
  issued_at: number
  jurisdiction: string
  licence_reference: string
  disclaimer: string
  /** Address of the registrar key, and the origin that keeps the record. */
  registrar: string
  origin: string
  chain_id: number
}

type PolicyStatus = 'PENDING_UNDERWRITER' | 'BOUND'

export interface Policy extends PolicyBody {
  status: PolicyStatus
  registrar_signature: string
  underwriter_signature: string | null
  /** Only where a contract wallet countersigned. */
  underwriter_attestation?: ContractAttestation
}

/** Statement of the registrar that the contract wallet of the underwriter accepted the countersignature (ERC-1271). */
export interface ContractAttestation {
  method: 'erc1271'
  /** When the wallet was asked, in seconds since 1970. */
  checked_at: number
  registrar_signature: string
}

const COUNTERSIGNATURE: TypedStruct = {
  name: 'PolicyCountersignature',
  fields: [
    { name: 'policy_id', type: 'string' },
    { name: 'policy_digest', type: 'bytes32' },
    { name: 'underwriter', type: 'address' },
    { name: 'coverage_minor', type: 'uint256' },
    { name: 'premium_minor', type: 'uint256' },
    { name: 'effective_from', type: 'uint64' },
    { name: 'effective_to', type: 'uint64' },
  ],
}

/** Form of the text that the registrar signs. */
export const POLICY_SIGNED_TEXT = 'POL-1|<RFC 8785 text>'

/** Digest that the registrar signs. Throws for values without canonical JSON text. */
export function policyDigest(body: object, crypto: ReceiptCrypto = nobleCrypto): Uint8Array {
  const {
    status: _status,
    registrar_signature: _registrar,
    underwriter_signature: _underwriter,
    underwriter_attestation: _attestation,
    ...signed
  } = body as Policy
  return crypto.keccak256(`POL-1|${canonicalText(signed)}`)
}

export const POL_DOMAIN = ruleBookDomain('POL-1')

function countersignMessage(body: PolicyBody, crypto: ReceiptCrypto) {
  return {
    policy_id: body.policy_id,
    policy_digest: toHex(policyDigest(body, crypto)),
    underwriter: body.underwriter_address,
    coverage_minor: BigInt(body.coverage_minor),
    premium_minor: BigInt(body.premium_minor),
    effective_from: body.effective_from,
    effective_to: body.effective_to,
  }
}

/** Digest that the underwriter signs; null for amounts beyond 256 bits, which cannot be signed. */
export function countersignDigest(body: PolicyBody, crypto: ReceiptCrypto): Uint8Array | null {
  if ([body.coverage_minor, body.premium_minor].some((amount) => BigInt(amount) >= UINT256_END)) return null
  return typedDigest(POL_DOMAIN, COUNTERSIGNATURE, countersignMessage(body, crypto), crypto)
}

/** The same in the form of wallets. */
export function countersignTypedData(body: PolicyBody, crypto: ReceiptCrypto): TypedData {
  return typedDataJson(POL_DOMAIN, COUNTERSIGNATURE, countersignMessage(body, crypto))
}

/** Returns whether the underwriter's key countersigned exactly this policy. */
export function isCountersigned(body: PolicyBody, signature: string, crypto: ReceiptCrypto = nobleCrypto): boolean {
  const digest = countersignDigest(body, crypto)
  return digest !== null && typedSigner(digest, signature, crypto) === body.underwriter_address
}

/**
 * Digest of an attestation: raw keccak-256 of `POL-1-CONTRACT`, the digest of the record, the countersignature and the time, joined by bars. The
 * registrar of the record signs it.
 */
export function attestationDigest(
  body: PolicyBody,
  signature: string,
  checked_at: number,
  crypto: ReceiptCrypto = nobleCrypto,
): Uint8Array {
  return crypto.keccak256(`POL-1-CONTRACT|${toHex(policyDigest(body, crypto))}|${signature}|${checked_at}`)
}

const UINT256_END = 1n << 256n

export const POLICY_CODES = {
  not_a_policy: 'This is not a POL-1 certificate, or a member is missing or malformed.',
  registrar_signature_invalid: 'The registrar did not sign exactly this record.',
  underwriter_signature_invalid: 'The countersignature is not that of the underwriter over this record.',
  status_not_proved: 'The status says BOUND without a countersignature of the underwriter.',
} as const

const POLICY_OK = {
  ok: 'Every signature is good, and the status says no more than they prove.',
  ok_attested:
    'The registrar signed the record, and attests that the contract wallet of the underwriter accepted the countersignature. No contract can be asked ' +
    'offline: a verifier that does not trust the registrar asks the wallet on the chain.',
} as const

type PolicyCode = keyof typeof POLICY_CODES | keyof typeof POLICY_OK

export interface PolicyVerdict {
  /** Both signatures that are there are good, and the status is no more than they prove. */
  valid: boolean
  reason_code: PolicyCode
  reason: string
  /** Digest that the registrar signed; null if this is not a policy. */
  digest: string | null
  registrar: string | null
  registrar_signed: boolean
  underwriter: string | null
  underwriter_signed: boolean
  /** The registrar attests that the contract wallet of the underwriter accepted the countersignature. */
  underwriter_attested: boolean
  /** Status that the signatures prove; null if the registrar's signature is invalid. */
  status_proved: PolicyStatus | null
}

const ADDRESS = /^0x[0-9a-f]{40}$/
const HASH = /^0x[0-9a-f]{64}$/
const AMOUNT = /^(?:0|[1-9][0-9]{0,77})$/

/** Verifies a certificate, offline; never throws. Whether the registrar publishes its key is asked of its key list. */
export function verifyPolicy(given: unknown, crypto: ReceiptCrypto = nobleCrypto): PolicyVerdict {
  const digest = isPolicy(given) ? digestOrNull(given, crypto) : null
  if (!isPolicy(given) || digest === null) return makeVerdict('not_a_policy')
  const { registrar, underwriter_address: underwriter, underwriter_signature, status } = given
  const registrar_signed = typedSigner(digest, given.registrar_signature, crypto) === registrar
  const underwriter_signed = underwriter_signature !== null && isCountersigned(given, underwriter_signature, crypto)
  const underwriter_attested = !underwriter_signed && isAttested(given, crypto)
  const facts = { digest: toHex(digest), registrar, registrar_signed, underwriter, underwriter_signed, underwriter_attested }
  const is_bound = underwriter_signed || underwriter_attested
  const status_proved = !registrar_signed ? null : is_bound ? 'BOUND' : 'PENDING_UNDERWRITER'
  if (!registrar_signed) return { ...makeVerdict('registrar_signature_invalid'), ...facts }
  if (underwriter_signature !== null && !is_bound) return { ...makeVerdict('underwriter_signature_invalid'), ...facts, status_proved }
  if (status === 'BOUND' && !is_bound) return { ...makeVerdict('status_not_proved'), ...facts, status_proved }
  return { ...makeVerdict(underwriter_attested ? 'ok_attested' : 'ok'), ...facts, status_proved }
}

function makeVerdict(code: PolicyCode): PolicyVerdict {
  const none = {
    digest: null,
    registrar: null,
    registrar_signed: false,
    underwriter: null,
    underwriter_signed: false,
    underwriter_attested: false,
    status_proved: null,
  }
  return { valid: code in POLICY_OK, reason_code: code, reason: { ...POLICY_CODES, ...POLICY_OK }[code], ...none }
}

function isAttested(policy: Policy, crypto: ReceiptCrypto): boolean {
  const { underwriter_attestation: attestation, underwriter_signature: signature, registrar } = policy
  if (attestation === undefined || signature === null) return false
  const digest = attestationDigest(policy, signature, attestation.checked_at, crypto)
  return typedSigner(digest, attestation.registrar_signature, crypto) === registrar
}

function digestOrNull(policy: Policy, crypto: ReceiptCrypto): Uint8Array | null {
  try {
    return policyDigest(policy, crypto)
  } catch {
    return null
  }
}

/** Returns whether a document claims to be a POL-1 certificate. */
export function claimsPolicy(document: unknown): boolean {
  return typeof document === 'object' && document !== null && (document as Record<string, unknown>)['v'] === 'POL-1'
}

/** Checks the form of hashed and compared members; the registrar's signature covers the others unchanged. */
function isPolicy(given: unknown): given is Policy {
  if (!claimsPolicy(given)) return false
  const policy = given as Record<keyof Policy, unknown>
  const texts: [unknown, RegExp][] = [
    [policy.policy_id, /^pol_[0-9a-f]{32}$/],
    [policy.underwriter_address, ADDRESS],
    [policy.registrar, ADDRESS],
    [policy.underwriter_entry_hash, HASH],
    [policy.coverage_minor, AMOUNT],
    [policy.premium_minor, AMOUNT],
    [policy.registrar_signature, /^0x/],
    [policy.status, /^(?:PENDING_UNDERWRITER|BOUND)$/],
  ]
  const { underwriter_signature, underwriter_attestation } = policy
  return (
    texts.every(([value, form]) => typeof value === 'string' && form.test(value)) &&
    [policy.effective_from, policy.effective_to, policy.issued_at].every(
      (value) => Number.isSafeInteger(value) && (value as number) >= 0,
    ) &&
    (underwriter_signature === null || typeof underwriter_signature === 'string') &&
    (underwriter_attestation === undefined || isAttestation(underwriter_attestation))
  )
}

function isAttestation(given: unknown): given is ContractAttestation {
  if (typeof given !== 'object' || given === null) return false
  const { method, checked_at, registrar_signature } = given as Record<string, unknown>
  return method === 'erc1271' && Number.isSafeInteger(checked_at) && typeof registrar_signature === 'string'
}
