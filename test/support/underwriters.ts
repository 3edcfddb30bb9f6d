import { nobleSigner } from '../../src/adapters/signer/noble.ts'
import type { UnderwriterRow } from '../../src/ports/insurance.ts'
import { canonicalText } from '../../src/pure/receipts/canonical.ts'
import { nobleCrypto, toHex } from '../../src/pure/receipts/crypto.ts'
import { entryDigest, type UnderwriterEntry } from '../../src/pure/rulebooks/pol1-registry.ts'

/** The noon at which the clock of the tests stands, in seconds. */
export const NOON_S = Date.UTC(2026, 10, 21, 12) / 1_000

/** A key whose last byte is this. */
function smallKey(last: number): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, index) => (index === 31 ? last : 0))
}

/** An entry of the underwriter with that key, for the deployment at https://assay.test. */
function entryOf(last: number, change: Partial<UnderwriterEntry> = {}): UnderwriterEntry {
  return {
    underwriter: nobleSigner(smallKey(last)).address,
    name: `Underwriter ${last}`,
    origin: 'https://assay.test',
    coverage_type: 'commercial_trade_credit',
    min_coverage_minor: '0',
    max_coverage_minor: '1000000000000',
    rate_bps: 120,
    min_premium_minor: '500000000',
    term_days: 90,
    jurisdictions: ['GB', 'DE'],
    licence_reference: `REF-${last}`,
    terms_uri: 'https://underwriter.example/terms',
    terms_hash: `0x${'5'.repeat(64)}`,
    issued_at: NOON_S - 86_400,
    valid_until: NOON_S + 30 * 86_400,
    ...change,
  }
}

/** The row of an entry, signed with the key whose last byte is this. */
function rowOf(last: number, change: Partial<UnderwriterEntry> = {}, proven = true): UnderwriterRow {
  const entry = entryOf(last, change)
  const digest = entryDigest(entry, nobleCrypto)
  const signed = { ...entry, signature: nobleSigner(smallKey(last)).sign(digest) }
  return {
    address: entry.underwriter,
    entry_hash: toHex(digest),
    entry: canonicalText(signed),
    issued_s: entry.issued_at,
    valid_until_s: entry.valid_until,
    proven_s: proven ? NOON_S - 3_600 : null,
    proof_source: proven ? 'fixed_sample' : null,
    domain: 'underwriter.example',
    network: '',
    provider: '',
    listed_until_s: entry.valid_until,
  }
}

/** The directory with which tools are tried: two of one kind, one of another, one that has expired, and an unproven one that asks nothing. */
export function fixedUnderwriters(): UnderwriterRow[] {
  return [
    rowOf(0xd1, {
      min_coverage_minor: '1000000000',
      max_coverage_minor: '100000000000',
      rate_bps: 150,
      min_premium_minor: '50000000',
      term_days: 30,
    }),
    rowOf(0xd2),
    rowOf(0xd3, {
      coverage_type: 'wire_fraud_bec_defense',
      max_coverage_minor: '50000000000',
      rate_bps: 75,
      min_premium_minor: '10000000',
    }),
    rowOf(0xd4, { coverage_type: 'smart_contract_execution', valid_until: NOON_S }),
    rowOf(0xd5, { name: 'Lloyds of London', coverage_type: 'subagent_sla_delivery', rate_bps: 0, min_premium_minor: '0' }, false),
  ]
}
