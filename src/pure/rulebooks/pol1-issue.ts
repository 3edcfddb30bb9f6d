import { readDecimal } from '../market/fraction.ts'
import { toHex, type ReceiptCrypto } from '../receipts/crypto.ts'
import { premiumOf, underwriterId, type SignedEntry } from './pol1-entry.ts'
import { POL, POL_DISCLAIMER } from './pol1-table.ts'
import { isCountersigned, policyDigest, type Policy, type PolicyBody } from './pol1.ts'

const DAY_S = 86_400

/** USDC as number or decimal text in minor units, rounded up, so that a cover is never below what was asked. */
export function coverageMinor(amount: number | string): bigint {
  const { numerator, denominator } = readDecimal(String(amount)) ?? { numerator: 0n, denominator: 1n }
  return (numerator * 1_000_000n + denominator - 1n) / denominator
}

/** The signed entry as the store holds it; nothing else was ever written there. */
export function storedEntry(text: string): SignedEntry {
  return JSON.parse(text) as SignedEntry
}

/** What is insured, and for whom; all of it the caller's word. */
export interface PolicyAsked {
  coverage_minor: bigint
  policyholder: string | null
  beneficiary: string | null
  subject: PolicyBody['subject']
}

export interface PolicyMaker {
  registrar: { readonly origin: string; readonly chain_id: number; readonly address: string; sign(digest: Uint8Array): string }
  crypto: ReceiptCrypto
  /** Unguessable, and the same for the same words. */
  hmac(tag: string, text: string): string
  now_s: number
}

/** The name of a policy: the same entry and the same wishes give the same one, so that asking twice binds once. */
function policyId(
  entry_hash: string,
  { coverage_minor, policyholder, beneficiary, subject }: PolicyAsked,
  hmac: PolicyMaker['hmac'],
): string {
  const words = [entry_hash, coverage_minor, policyholder, beneficiary, subject.tx_hash, subject.transaction_id, subject.invoice_id]
  return `pol_${hmac('POL-1', JSON.stringify(words.map((word) => (word === null ? null : String(word))))).slice(0, 32)}`
}

/** A certificate with the registrar's signature, pending until the underwriter countersigns. */
export function issuePolicy(entry: SignedEntry, entry_hash: string, asked: PolicyAsked, maker: PolicyMaker): Policy {
  const { registrar, crypto, now_s } = maker
  const body: PolicyBody = {
    v: 'POL-1',
    policy_id: policyId(entry_hash, asked, maker.hmac),
    underwriter_id: underwriterId(entry.underwriter),
    underwriter_address: entry.underwriter,
    underwriter_entry_hash: entry_hash,
    coverage_type: entry.coverage_type,
    policyholder: asked.policyholder,
    beneficiary: asked.beneficiary,
    subject: asked.subject,
    coverage_minor: String(asked.coverage_minor),
    premium_minor: String(premiumOf(entry, asked.coverage_minor)),
    currency: POL.table.currency,
    terms_uri: entry.terms_uri,
    terms_hash: entry.terms_hash,
    trigger: 'As the terms of the underwriter with this hash say; the underwriter alone decides and pays.',
    effective_from: now_s,
    effective_to: now_s + entry.term_days * DAY_S,
    issued_at: now_s,
    jurisdiction: entry.jurisdictions.join(','),
    licence_reference: entry.licence_reference,
    disclaimer: POL_DISCLAIMER,
    registrar: registrar.address,
    origin: registrar.origin,
    chain_id: registrar.chain_id,
  }
  const registrar_signature = registrar.sign(policyDigest(body, crypto))
  return { ...body, status: 'PENDING_UNDERWRITER', registrar_signature, underwriter_signature: null }
}

/** The certificate as it stands now: bound when the underwriter's signature is there. */
export function standing({ certificate, underwriter_signature }: { certificate: string; underwriter_signature: string | null }): Policy {
  const issued = JSON.parse(certificate) as Policy
  return underwriter_signature === null ? issued : { ...issued, status: 'BOUND', underwriter_signature }
}

/** What an underwriter has to sign to bind a policy, and whether a signature does. */
export function countersigning(policy: Policy, crypto: ReceiptCrypto) {
  return {
    policy_digest: toHex(policyDigest(policy, crypto)),
    accepts: (signature: string) => isCountersigned(policy, signature, crypto),
  }
}
