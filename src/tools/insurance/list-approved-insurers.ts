import { z } from 'zod'
import { coverageMinor, storedEntry, LISTING_NOTICE, POL, listedUnderwriter } from '../../pure/rulebooks/pol1-registry.ts'
import { COVERAGE_TYPES } from '../../pure/rulebooks/pol1.ts'
import { defineTool } from '../../service/catalogue/define.ts'
import { RULE_BOOK } from '../../service/catalogue/schemas.ts'

/** The directory of underwriters that registered themselves. */
export default defineTool({
  id: 'list-approved-insurers',
  title: 'List registered underwriters',
  description:
    'Lists the open directory of underwriters that registered a signed rate card at /api/insurance/register. It starts empty. `proven` says ' +
    'that /.well-known/assay-underwriter.json on the domain of the terms, {"underwriters":["0x…"]}, names the key; unproven entries are never ' +
    'quoted. Listing is not vetting. The service never underwrites.',
  family: 'insurance',
  version: '1.1.0',
  price: 'check',
  annotations: { read_only: true, idempotent: true, destructive: false, open_world: true },
  scope: {
    checked: [
      'that each entry is signed by its underwriter for this service',
      'that it has not expired',
      'whether the domain of its terms named the key when it was registered',
    ],
    not_checked: ['who the underwriter is', 'licences and solvency', 'what the terms say'],
  },
  headline: [
    { when: { count: 0 }, tone: 'caution', word: 'no underwriters', sentence: '{notice}' },
    { tone: 'neutral', word: '{count|underwriter|underwriters}', sentence: '{notice}', badge: 'underwriters' },
  ],
  sources: ['clock', 'insurance'],
  input: z.strictObject({
    coverage_type: z.enum(COVERAGE_TYPES).optional().describe('Only underwriters of this kind of cover.'),
    min_coverage_usdc: z
      .union([
        z.number().min(0).max(1e15),
        z
          .string()
          .max(40)
          .regex(/^[0-9]{1,15}(\.[0-9]{1,18})?$/),
      ])
      .optional()
      .describe('Only those that cover at least this much, USDC as number or decimal text.'),
  }),
  output: z.strictObject({
    count: z.int().min(0).max(POL.table.entries_max).describe('Underwriters listed.'),
    insurers: z
      .array(z.record(z.string(), z.unknown()))
      .describe(
        'The signed entries, proven ones first, each with underwriter_id, entry_hash, proven, proven_domain, proven_at and vetted false.',
      ),
    vetted: z.literal(false).describe('They are not vetted.'),
    notice: z.string().describe('What listing means.'),
    ...RULE_BOOK,
    evaluated_at: z.string().describe('Time of the answer.'),
  }),
  example: { coverage_type: 'wire_fraud_bec_defense', min_coverage_usdc: 1000 },
  async run({ coverage_type, min_coverage_usdc }, { clock, insurance }) {
    const now_ms = clock.now_ms()
    const least = coverageMinor(min_coverage_usdc ?? 0)
    const rows = await insurance.underwriters(Math.floor(now_ms / 1_000))
    const insurers = rows.flatMap((row) => {
      const entry = storedEntry(row.entry)
      const wanted = (coverage_type ?? entry.coverage_type) === entry.coverage_type && BigInt(entry.max_coverage_minor) >= least
      return wanted ? [{ ...listedUnderwriter(row, entry), ...entry }] : []
    })
    return {
      count: insurers.length,
      insurers,
      vetted: false as const,
      notice: insurers.length === 0 ? `No underwriter of this kind has registered. ${LISTING_NOTICE}` : LISTING_NOTICE,
      standard: POL.standard,
      policy_hash: POL.policy_hash,
      evaluated_at: new Date(now_ms).toISOString(),
    }
  },
})
