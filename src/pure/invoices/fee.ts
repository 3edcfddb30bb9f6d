import { canonicalText } from '../receipts/canonical.ts'
import { nobleCrypto } from '../receipts/crypto.ts'

/**
 * What the service takes of an invoice. Today nothing; a later fee holds only for invoices that are created under it, never above the cap that
 * their own record states. Versioned: the hash of the canonical text stands in each invoice as what was accepted.
 */
export const FEE_POLICY = {
  version: '2026-11-21',
  mode: 'direct_zero',
  protocol_fee_bps: 0,
  protocol_fee_cap_bps: 50,
  referrer_rebate_bps_of_fee: 2_000,
  text:
    'The payer pays the merchant directly on the chain and the service holds nothing. The protocol fee of this invoice is zero. A fee of a ' +
    'later policy applies only to invoices created under that policy, is stated in them, and never exceeds 0.5 % of the amount. A referrer ' +
    'other than the merchant is due 20 % of the fee, rounded down. Nobody can stop a transfer on the chain: payments after expiry, after ' +
    'voiding or beyond the amount reach the merchant, who alone can return them.',
} as const

export const FEE_POLICY_HASH = nobleCrypto.keccak256Hex(canonicalText(FEE_POLICY))

export interface Fee {
  fee_minor: bigint
  cap_minor: bigint
  rebate_minor: bigint
  merchant_net_minor: bigint
}

const BPS = 10_000n

/** The fee of an amount under this policy; fractions of a unit are dropped in favour of the merchant, then of the service. */
export function feeOf(amount_minor: bigint, referred: boolean, policy: Policy = FEE_POLICY): Fee {
  const asked = (amount_minor * BigInt(policy.protocol_fee_bps)) / BPS
  const cap_minor = (amount_minor * BigInt(policy.protocol_fee_cap_bps)) / BPS
  const fee_minor = asked < cap_minor ? asked : cap_minor
  const rebate_minor = referred ? (fee_minor * BigInt(policy.referrer_rebate_bps_of_fee)) / BPS : 0n
  return { fee_minor, cap_minor, rebate_minor, merchant_net_minor: amount_minor - fee_minor }
}

interface Policy {
  protocol_fee_bps: number
  protocol_fee_cap_bps: number
  referrer_rebate_bps_of_fee: number
}
