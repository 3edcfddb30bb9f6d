import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

/** An underwriter as a stranger would write one: entries and countersignatures signed by viem alone. */

const DOMAIN = { name: 'POL-1', version: '1' }

const ENTRY = {
  UnderwriterEntry: [
    { name: 'underwriter', type: 'address' },
    { name: 'name', type: 'string' },
    { name: 'origin', type: 'string' },
    { name: 'coverage_type', type: 'string' },
    { name: 'min_coverage_minor', type: 'uint256' },
    { name: 'max_coverage_minor', type: 'uint256' },
    { name: 'rate_bps', type: 'uint256' },
    { name: 'min_premium_minor', type: 'uint256' },
    { name: 'term_days', type: 'uint256' },
    { name: 'jurisdictions', type: 'string[]' },
    { name: 'licence_reference', type: 'string' },
    { name: 'terms_uri', type: 'string' },
    { name: 'terms_hash', type: 'bytes32' },
    { name: 'issued_at', type: 'uint64' },
    { name: 'valid_until', type: 'uint64' },
  ],
} as const

const COUNTERSIGNATURE = {
  PolicyCountersignature: [
    { name: 'policy_id', type: 'string' },
    { name: 'policy_digest', type: 'bytes32' },
    { name: 'underwriter', type: 'address' },
    { name: 'coverage_minor', type: 'uint256' },
    { name: 'premium_minor', type: 'uint256' },
    { name: 'effective_from', type: 'uint64' },
    { name: 'effective_to', type: 'uint64' },
  ],
} as const

export interface Card {
  underwriter: Hex
  name: string
  origin: string
  coverage_type: string
  min_coverage_minor: string
  max_coverage_minor: string
  rate_bps: number
  min_premium_minor: string
  term_days: number
  jurisdictions: string[]
  licence_reference: string
  terms_uri: string
  terms_hash: Hex
  issued_at: number
  valid_until: number
}

export interface Insurer {
  address: Hex
  /** What is sent to register. */
  registration(origin: string, now_s: number, change?: Partial<Card>): Promise<{ entry: Card; signature: Hex }>
  countersign(certificate: Record<string, unknown>, policy_digest: string): Promise<Hex>
}

export function insurer(key: Hex): Insurer {
  const account = privateKeyToAccount(key)
  return {
    address: account.address,
    async registration(origin, now_s, change = {}) {
      const entry: Card = {
        underwriter: account.address,
        name: 'Müller & Söhne Rück',
        origin,
        coverage_type: 'commercial_trade_credit',
        min_coverage_minor: '1000000',
        max_coverage_minor: '50000000000',
        rate_bps: 150,
        min_premium_minor: '5000000',
        term_days: 30,
        jurisdictions: ['DE', 'AT'],
        licence_reference: 'BaFin 1234',
        terms_uri: 'https://underwriter.example/terms/v1',
        terms_hash: `0x${'6'.repeat(64)}`,
        issued_at: now_s,
        valid_until: now_s + 86_400,
        ...change,
      }
      const whole = {
        min_coverage_minor: BigInt(entry.min_coverage_minor),
        max_coverage_minor: BigInt(entry.max_coverage_minor),
        rate_bps: BigInt(entry.rate_bps),
        min_premium_minor: BigInt(entry.min_premium_minor),
        term_days: BigInt(entry.term_days),
        issued_at: BigInt(entry.issued_at),
        valid_until: BigInt(entry.valid_until),
      }
      const message = { ...entry, ...whole }
      return { entry, signature: await account.signTypedData({ domain: DOMAIN, types: ENTRY, primaryType: 'UnderwriterEntry', message }) }
    },
    countersign(certificate, policy_digest) {
      const { policy_id, coverage_minor, premium_minor, effective_from, effective_to } = certificate
      const message = {
        policy_id: String(policy_id),
        policy_digest: policy_digest as Hex,
        underwriter: account.address,
        coverage_minor: BigInt(String(coverage_minor)),
        premium_minor: BigInt(String(premium_minor)),
        effective_from: BigInt(String(effective_from)),
        effective_to: BigInt(String(effective_to)),
      }
      return account.signTypedData({ domain: DOMAIN, types: COUNTERSIGNATURE, primaryType: 'PolicyCountersignature', message })
    },
  }
}
