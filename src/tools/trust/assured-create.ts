import { z } from 'zod'
import type { AssuredRecord } from '../../ports/assured-records.ts'
import { TEST_VECTOR } from '../../pure/receipts/test-vector.ts'
import {
  ASSURED_REFUSALS,
  assuredId,
  assuredState,
  differingTerms,
  disputeWindowEnds,
  judgeBindable,
  readTerms,
  termsOf,
  termsText,
  type AssuredRefusal,
  type AssuredTerms,
} from '../../pure/rulebooks/assured-record.ts'
import { ASSURED, quoteAssured, SETTLING_EVIDENCE } from '../../pure/rulebooks/assured.ts'
import { defineTool } from '../../service/catalogue/define.ts'
import { ASSURED_ASKED } from '../../service/catalogue/schemas.ts'
import { limits } from '../../service/limits.ts'

const FIELD = z.string().max(limits.receipt_field_chars)
const REFUSALS = Object.keys(ASSURED_REFUSALS) as [AssuredRefusal, ...AssuredRefusal[]]

const RECEIPT = z.strictObject({
  v: FIELD.describe('XDR-1.'),
  tool: FIELD.describe('Tool that was called.'),
  tool_version: FIELD.describe('Its version.'),
  input_hash: FIELD.describe('Hash of its input.'),
  output_hash: FIELD.describe('Hash of its result.'),
  payer: FIELD.describe('Address that paid.'),
  recipient: FIELD.describe('Address that was paid.'),
  amount: FIELD.describe('What was paid, minor units.'),
  nonce: FIELD.describe('Nonce of the payment.'),
  ts: z.int().min(0).max(999_999_999_999).describe('Seconds since 1970.'),
  tier: FIELD.describe('paid, or nothing is bound.'),
  successor: FIELD.nullable().optional().describe('As in the receipt.'),
  stream_state: FIELD.nullable().optional().describe('As in the receipt.'),
  signer: FIELD.describe('Address of the key that signed.'),
  signature: FIELD.describe('Its signature.'),
})

/** Binds one receipt to assured terms, once and for all. */
export default defineTool({
  id: 'assured-create',
  title: 'Bind a receipt to assured terms',
  description:
    'Verifies a paid XDR-1 receipt of any issuer and stores it with the terms that assured-quote gives. One record a receipt: a second call ' +
    'creates nothing and returns the first record. Refuses tier T0 and receipts that are free, of credits or not verifiable, and says why. ' +
    'Disputes: 7 days from the receipt. Moves no money.',
  family: 'trust',
  version: '1.0.0',
  price: 'check',
  annotations: { read_only: false, idempotent: true, destructive: false, open_world: false },
  scope: {
    checked: [
      'the signature of the receipt, its tier and payer',
      'the amount against the published table',
      'that the receipt is bound once',
    ],
    not_checked: ['whether the issuer publishes this signer', 'that money moved', 'that anything was delivered'],
  },
  sources: ['clock', 'crypto', 'assured'],
  input: z.strictObject({
    ...ASSURED_ASKED.shape,
    receipt: RECEIPT.describe('The whole receipt of a paid call, with signer and signature.'),
  }),
  output: z.strictObject({
    status: z.enum(['RECORDED', 'REFUSED']).describe('REFUSED: nothing is stored.'),
    reason_code: z.enum(['ok', ...REFUSALS]).describe('ok, or why it is refused.'),
    reason: z.string().describe('One sentence.'),
    created: z.boolean().describe('False when this receipt had a record already.'),
    warnings: z
      .array(z.strictObject({ code: z.string().describe('Kind.'), message: z.string().describe('One sentence.') }))
      .describe('What should be known all the same.'),
    record: z
      .strictObject({
        assured_id: z.string().describe('Computed from the receipt hash.'),
        receipt_hash: z.string().describe('Digest of the receipt.'),
        state: z.enum(['OPEN', 'WINDOW_CLOSED', 'DISPUTED', 'ADJUDICATED']).describe('Now.'),
        created_at: z.string().describe('When it was stored.'),
        dispute_window_ends_at: z.string().describe('7 days after the date of the receipt.'),
        remedy: z.literal('verdict_only').describe('What a dispute yields.'),
        settling_evidence: z.enum(['settled_nonce', 'statement_entry']).describe('What shows that money moved.'),
        terms: z.record(z.string(), z.unknown()).describe('Amounts, tier, premium, escalation and receipt facts, as first bound.'),
      })
      .nullable()
      .describe('As it is stored; null when refused.'),
    premium_notice: z.string().describe('When the premium is paid.'),
    terms_notice: z.string().describe('What the terms are.'),
    standard: z.string().describe('The rule book.'),
    policy_hash: z.string().describe('keccak-256 of the canonical text of {standard, table}.'),
    evaluated_at: z.string().describe('Time of the answer.'),
  }),
  example: {
    notional_minor: '50000000000',
    rail: 'crypto',
    counterparty_tier: 'T2',
    receipt: TEST_VECTOR.receipt,
  },
  async run({ receipt, ...asked }, { clock, crypto, assured }) {
    const now_ms = clock.now_ms()
    const now_s = Math.floor(now_ms / 1_000)
    const quote = quoteAssured(asked)
    if (quote.kind === 'refused') return refused('tier_refused', null, now_ms)
    const judged = judgeBindable(receipt, now_s, crypto)
    if (!judged.ok) return refused(judged.refusal, judged.detail, now_ms)
    const { receipt_hash, ts, warnings } = judged.receipt
    const terms = termsOf(asked, quote, judged.receipt)
    const kept = await assured.keep({
      receipt_hash,
      assured_id: assuredId(receipt_hash, crypto),
      terms: termsText(terms),
      window_ends_s: disputeWindowEnds(ts),
      created_ms: now_ms,
    })
    const first = readTerms(kept.record.terms)
    return {
      status: 'RECORDED' as const,
      reason_code: 'ok' as const,
      reason: kept.created ? 'The receipt is bound to these terms.' : 'This receipt was bound before; these are the terms of then.',
      created: kept.created,
      warnings: [...warnings.map(({ code, message }) => ({ code, message })), ...laterWarnings(first, terms, kept.record, now_s)],
      record: shown(kept.record, first, now_s),
      ...notices(now_ms),
      policy_hash: first.policy_hash,
    }
  },
})

function shown(record: AssuredRecord, terms: AssuredTerms, now_s: number) {
  return {
    assured_id: record.assured_id,
    receipt_hash: record.receipt_hash,
    state: assuredState(record.mark, record.window_ends_s, now_s),
    created_at: new Date(record.created_ms).toISOString(),
    dispute_window_ends_at: new Date(record.window_ends_s * 1_000).toISOString(),
    remedy: 'verdict_only' as const,
    settling_evidence: SETTLING_EVIDENCE[terms.rail],
    terms: { ...terms },
  }
}

function laterWarnings(first: AssuredTerms, asked: AssuredTerms, record: AssuredRecord, now_s: number) {
  const differing = differingTerms(first, asked)
  const found = []
  if (differing.length > 0) {
    found.push({ code: 'terms_differ', message: `The record keeps its first terms; this call asked another ${differing.join(', ')}.` })
  }
  if (now_s > record.window_ends_s) found.push({ code: 'window_closed', message: 'The dispute window of this receipt has closed.' })
  return found
}

function refused(reason_code: AssuredRefusal, detail: string | null, now_ms: number) {
  const reason = detail === null ? ASSURED_REFUSALS[reason_code] : `${ASSURED_REFUSALS[reason_code]} ${detail}`
  return { status: 'REFUSED' as const, reason_code, reason, created: false, warnings: [], record: null, ...notices(now_ms) }
}

function notices(now_ms: number) {
  return {
    premium_notice: 'The premium is invoiced afterwards.',
    terms_notice: 'Terms are records, not payment instruments.',
    standard: ASSURED.standard,
    policy_hash: ASSURED.policy_hash,
    evaluated_at: new Date(now_ms).toISOString(),
  }
}
