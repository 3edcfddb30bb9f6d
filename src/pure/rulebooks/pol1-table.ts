import { ruleBook, type RuleBook } from './rule-book.ts'

export const COVERAGE_TYPES = [
  'smart_contract_execution',
  'commercial_trade_credit',
  'wire_fraud_bec_defense',
  'subagent_sla_delivery',
] as const
export type CoverageType = (typeof COVERAGE_TYPES)[number]

/** How the directory and its policies work. The table is there to be seen and replaced. */
export const POL_TABLE = {
  coverage_types: COVERAGE_TYPES,
  currency: 'USDC',
  /** Of the whole coverage, rounded up to the next millionth, at least the minimum of the card. */
  premium: 'max(min_premium_minor, ceil(coverage_minor * rate_bps / 10000))',
  entries_max: 1_000,
  /** Entries whose address is in no file of the domain of their terms: listed apart, for a short time, never quoted. */
  unproven: { entries_max: 200, entries_max_per_network: 5, listed_days: 7 },
  /** The file that proves an entry, on the host of `terms_uri`. */
  proof: { path: '/.well-known/assay-underwriter.json', addresses_max: 100, entries_max_per_domain: 5 },
  /** An entry must say until when it holds, and may say so for at most this long. */
  entry_days_max: 366,
  clock_skew_s: 300,
  status: { without_underwriter_signature: 'PENDING_UNDERWRITER', with_underwriter_signature: 'BOUND' },
  vetted: false,
} as const

export const POL: RuleBook<typeof POL_TABLE> = ruleBook('POL-1', POL_TABLE)

export const POL_DISCLAIMER =
  'This service is no insurer, underwrites nothing, holds no money and has not vetted the underwriter. It attests that this record was made ' +
  'from the underwriter’s signed entry. Only the countersignature of the underwriter binds it.'

export const LISTING_NOTICE =
  'Listing is not vetting: anybody who controls a key can register. A proven entry stands in a file of the domain of its terms; that ' +
  'proves the domain, not the name. Check the underwriter and its licence yourself.'
