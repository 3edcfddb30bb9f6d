import { z } from 'zod'
import { readEvmAddress } from '../../pure/checks/evm-address.ts'
import {
  premiumOf,
  quoteRefusal,
  type QuoteRefusal,
  type SignedEntry,
  LISTING_NOTICE,
  POL,
  coverageMinor,
  storedEntry,
  listedUnderwriter,
  type ListedRow,
} from '../../pure/rulebooks/pol1-registry.ts'
import { COVERAGE_TYPES } from '../../pure/rulebooks/pol1.ts'
import { defineTool } from '../../service/catalogue/define.ts'
import { ADDRESS, COVER, oneCoverAmount, SOME_COVER_AMOUNT, RULE_BOOK } from '../../service/catalogue/schemas.ts'

/** The cheapest so many are listed. */
const QUOTES_MAX = 100

const INPUT = z
  .strictObject({
    ...COVER.shape,
    coverage_type: z.enum(COVERAGE_TYPES).optional().describe('Kind of cover; all kinds when absent.'),
    counterparty_address: ADDRESS.optional().describe('The other side; echoed for the underwriter.'),
  })
  .check(oneCoverAmount)
  .meta(SOME_COVER_AMOUNT)

/** Quotes of registered underwriters, from the rate cards that they signed. */
export default defineTool({
  id: 'quote-3rd-party-insurance',
  title: 'Quote third-party insurance',
  description:
    'Quotes a cover from every proven underwriter whose signed rate card takes it: the amount times its basis points, rounded up, at least ' +
    'its minimum; cheapest first. Proven: the domain of the terms names the key in /.well-known/assay-underwriter.json; unproven entries are ' +
    'never quoted. Quotes are not binding; the service never underwrites and takes no premium.',
  family: 'insurance',
  version: '1.1.0',
  price: 'check',
  annotations: { read_only: true, idempotent: true, destructive: false, open_world: true },
  scope: {
    checked: ['amount, kind and date against each signed rate card', 'that the domain of the terms named the key', 'arithmetic'],
    not_checked: ['who the underwriter is', 'whether it would accept this risk', 'transaction, invoice and counterparty'],
  },
  headline: [
    { when: { quote_count: 0 }, tone: 'caution', word: 'no quotes' },
    { tone: 'neutral', word: '{quote_count|quote|quotes}', badge: 'quotes' },
  ],
  sources: ['clock', 'insurance'],
  input: INPUT,
  output: z.strictObject({
    quote_count: z.int().min(0).max(POL.table.entries_max).describe('Underwriters whose card takes it.'),
    quotes: z
      .array(z.record(z.string(), z.unknown()))
      .describe('The cheapest 100: underwriter_id, proven_domain, proven_at, premium_minor, rate, term, jurisdictions, terms, entry_hash.'),
    reason: z.string().describe('One sentence.'),
    excluded: z.record(z.string(), z.int().min(0).max(POL.table.entries_max)).describe('Why other cards do not take it, counted.'),
    coverage_minor: z.string().describe('The sum, USDC minor units.'),
    currency: z.string().describe('Of all amounts.'),
    coverage_type: z.enum(COVERAGE_TYPES).nullable().describe('As given.'),
    subject: z.record(z.string(), z.string().nullable()).describe('tx_hash, transaction_id, invoice_id and counterparty as given.'),
    counterparty_checksum: z
      .enum(['absent', 'holds', 'broken'])
      .nullable()
      .describe('Whether the capitals of counterparty_address are those of EIP-55; null when none was given.'),
    vetted: z.literal(false).describe('The underwriters are not vetted.'),
    notice: z.string().describe('What listing means.'),
    ...RULE_BOOK,
    evaluated_at: z.string().describe('Time of the answer.'),
  }),
  example: { amount_usdc: '25000', coverage_type: 'commercial_trade_credit', invoice_id: 'INV-2026-118' },
  async run(asked, { clock, insurance }) {
    const now_ms = clock.now_ms()
    const now_s = Math.floor(now_ms / 1_000)
    const coverage_minor = coverageMinor(asked.amount_usdc ?? asked.amount ?? 0)
    const rows = await insurance.underwriters(now_s)
    const excluded: Partial<Record<QuoteRefusal | 'not_proven', number>> = {}
    const taking: Taking[] = []
    for (const row of rows) {
      const entry = storedEntry(row.entry)
      const unproven = row.proven_s === null ? 'not_proven' : null
      const refusal = unproven ?? quoteRefusal(entry, { coverage_minor, coverage_type: asked.coverage_type, now_s })
      if (refusal === null) taking.push({ entry, row, premium_minor: premiumOf(entry, coverage_minor) })
      else excluded[refusal] = (excluded[refusal] ?? 0) + 1
    }
    return {
      quote_count: taking.length,
      quotes: taking.toSorted(cheaper).slice(0, QUOTES_MAX).map(quoteShown),
      reason: reasonOf(rows.length, taking.length),
      excluded,
      coverage_minor: String(coverage_minor),
      currency: POL.table.currency,
      coverage_type: asked.coverage_type ?? null,
      subject: subjectOf(asked),
      counterparty_checksum: readEvmAddress(asked.counterparty_address ?? '')?.checksum ?? null,
      vetted: false as const,
      notice: LISTING_NOTICE,
      standard: POL.standard,
      policy_hash: POL.policy_hash,
      evaluated_at: new Date(now_ms).toISOString(),
    }
  },
})

function subjectOf({ tx_hash, transaction_id, invoice_id, counterparty_address }: z.output<typeof INPUT>) {
  return {
    tx_hash: tx_hash ?? null,
    transaction_id: transaction_id ?? null,
    invoice_id: invoice_id ?? null,
    counterparty_address: counterparty_address ?? null,
  }
}

interface Taking {
  entry: SignedEntry
  row: ListedRow
  premium_minor: bigint
}

/** The rows come by address, which decides between equal premiums. */
function cheaper(one: Taking, other: Taking): number {
  return one.premium_minor < other.premium_minor ? -1 : one.premium_minor > other.premium_minor ? 1 : 0
}

function quoteShown({ entry, row, premium_minor }: Taking) {
  const { name, coverage_type, rate_bps, min_premium_minor, term_days, jurisdictions, licence_reference } = entry
  return {
    ...listedUnderwriter(row, entry),
    name,
    premium_minor: String(premium_minor),
    coverage_type,
    rate_bps,
    min_premium_minor,
    term_days,
    jurisdictions,
    licence_reference,
    terms_uri: entry.terms_uri,
    terms_hash: entry.terms_hash,
    valid_until: entry.valid_until,
  }
}

function reasonOf(listed: number, taking: number): string {
  if (listed === 0) return 'No underwriter has registered yet, so there is nothing to quote.'
  return taking === 0
    ? 'No rate card of a proven underwriter takes this cover.'
    : 'Each quote follows from a rate card that its underwriter signed.'
}
