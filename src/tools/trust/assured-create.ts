import { z } from 'zod'
import type { AssuredRecord } from '../../ports/assured-records.ts'
import { canonicalText } from '../../pure/receipts/canonical.ts'
import { TEST_VECTOR } from '../../pure/receipts/receipt.ts'
import { ASSURED, ASSURED_REFUSALS, assuredState, type AssuredTerms, bindTerms, SETTLING_EVIDENCE } from '../../pure/rulebooks/assured.ts'
import { signRequest } from '../../pure/signing/sign-request.ts'
import { defineTool } from '../../service/catalogue/define.ts'
import { ASSURED_ASKED, SIGN, RULE_BOOK } from '../../service/catalogue/schemas.ts'
import { limits } from '../../service/limits.ts'

const FIELD = z.string().max(limits.receipt_field_chars)
const SIGNATURE_CHARS = 200
type AssuredRefusal = keyof typeof ASSURED_REFUSALS
const REFUSALS = Object.keys(ASSURED_REFUSALS) as AssuredRefusal[]

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

/** Binds one receipt to assured terms that its payer or recipient signed; unsigned terms are an advisory record. */
export default defineTool({
  id: 'assured-create',
  title: 'Bind a receipt to assured terms',
  description:
    'Verifies a paid XDR-1 receipt and stores it with the terms that assured-quote gives, one record a receipt. The payer or recipient binds ' +
    'them by signing typed_data of the answer (EIP-712), sent as terms_signature; the first signed call wins. Unsigned terms are advisory and ' +
    'yield to signed ones. Refuses tier T0 and unpaid receipts. Disputes: 7 days. Moves no money.',
  family: 'trust',
  version: '1.1.1',
  price: 'check',
  annotations: { read_only: false, idempotent: true, destructive: false, open_world: false },
  scope: {
    checked: [
      'the signature of the receipt, its tier and payer',
      'the amount against the published table',
      'that the payer or recipient signed the terms that are bound, once',
    ],
    not_checked: ['whether the issuer publishes this signer', 'that money moved', 'that anything was delivered'],
  },
  headline: [
    { when: { status: 'RECORDED' }, tone: 'good', word: 'RECORDED' },
    { when: { status: 'REFUSED' }, tone: 'bad', word: 'REFUSED' },
  ],
  sources: ['clock', 'crypto', 'registrar', 'assured'],
  input: z.strictObject({
    ...ASSURED_ASKED.shape,
    receipt: RECEIPT.describe('The whole receipt of a paid call, with signer and signature.'),
    terms_signature: z
      .string()
      .max(SIGNATURE_CHARS)
      .optional()
      .describe(
        'EIP-712 signature of the receipt’s payer or recipient over typed_data, which an unsigned call answers: 0x and 130 hexadecimal digits, ' +
          'such as 0x1b…1c. Contract wallets cannot sign one.',
      ),
  }),
  output: z.strictObject({
    status: z.enum(['RECORDED', 'REFUSED']).describe('REFUSED: nothing is stored.'),
    reason_code: z.enum(['ok', ...REFUSALS]).describe('ok, or why it is refused.'),
    reason: z.string().describe('One sentence.'),
    created: z.boolean().describe('False when this receipt had a record that stays; true also where signed terms replace advisory ones.'),
    binding: z
      .enum(['signed', 'advisory', 'none'])
      .describe('signed: for good. advisory: unsigned, yields to signed terms. none: refused.'),
    typed_data: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('What binds the terms of this call once the payer or recipient signs it with eth_signTypedData_v4; null without terms.'),
    sign: SIGN.describe('The same with the request that takes the signature; null where terms are bound or absent.'),
    warnings: z
      .array(z.strictObject({ code: z.string().describe('Kind.'), message: z.string().describe('One sentence.') }))
      .describe('What should be known all the same.'),
    record: z
      .strictObject({
        assured_id: z.string().describe('Computed from the receipt hash.'),
        receipt_hash: z.string().describe('Digest of the receipt.'),
        state: z.enum(['OPEN', 'WINDOW_CLOSED', 'DISPUTED', 'ADJUDICATED']).describe('Now.'),
        binding: z.enum(['signed', 'advisory']).describe('Whether the terms are bound.'),
        signed_by: z.string().nullable().describe('The payer or recipient that signed the terms; null for an advisory record.'),
        terms_signature: z.string().nullable().describe('Its signature.'),
        created_at: z.string().describe('When these terms were stored.'),
        dispute_window_ends_at: z.string().describe('7 days after the date of the receipt.'),
        remedy: z.literal('verdict_only').describe('What a dispute yields.'),
        settling_evidence: z.enum(['settled_nonce', 'statement_entry']).describe('What shows that money moved.'),
        terms: z.record(z.string(), z.unknown()).describe('Amounts, tier, premium, escalation and receipt facts, as first bound.'),
      })
      .nullable()
      .describe('As it is stored; null when refused.'),
    premium_notice: z.string().describe('When the premium is paid.'),
    terms_notice: z.string().describe('What the terms are.'),
    ...RULE_BOOK,
    evaluated_at: z.string().describe('Time of the answer.'),
  }),
  example: {
    notional_minor: '50000000000',
    rail: 'crypto',
    counterparty_tier: 'T2',
    receipt: TEST_VECTOR.receipt,
  },
  async run({ receipt, terms_signature, ...asked }, { clock, crypto, registrar, assured }) {
    const now_ms = clock.now_ms()
    const now_s = Math.floor(now_ms / 1_000)
    const bound = bindTerms(asked, receipt, now_s, crypto)
    if (!bound.ok) return refused(bound.refusal, bound.detail, now_ms)
    const { receipt_hash, assured_id, window_ends_s, terms, typed_data, warnings } = bound
    const by = terms_signature === undefined ? null : bound.signerOf(terms_signature)
    const signable = { method: 'eth_signTypedData_v4', typed_data } as const
    const sign = signRequest({ kind: 'assured-terms', origin: registrar.origin, signer: null, signable })
    if (terms_signature !== undefined && by === null) return { ...refused('terms_signature_invalid', null, now_ms), typed_data, sign }
    const kept = await assured.keep({
      receipt_hash,
      assured_id,
      terms: canonicalText(terms),
      window_ends_s,
      created_ms: now_ms,
      signed: by === null ? null : { by, signature: terms_signature ?? '' },
    })
    // Nothing else than terms is ever stored there.
    const first = JSON.parse(kept.record.terms) as AssuredTerms
    return {
      status: 'RECORDED' as const,
      reason_code: 'ok' as const,
      reason: REASONS[bindingOf(kept.record)][kept.created ? 'created' : 'found'],
      created: kept.created,
      binding: bindingOf(kept.record),
      typed_data,
      sign: kept.record.signed === null ? sign : null,
      warnings: [...warnings.map(({ code, message }) => ({ code, message })), ...laterWarnings(first, terms, kept.record, now_s)],
      record: shown(kept.record, first, now_s),
      ...notices(now_ms),
      policy_hash: first.policy_hash,
    }
  },
})

function bindingOf({ signed }: AssuredRecord): 'signed' | 'advisory' {
  return signed === null ? 'advisory' : 'signed'
}

const REASONS = {
  signed: {
    created: 'The receipt is bound to these terms.',
    found: 'This receipt was bound before by its payer or recipient; the record holds those terms.',
  },
  advisory: {
    created: 'The terms are recorded as advisory: the payer or recipient binds terms by signing typed_data.',
    found: 'This receipt has an advisory record of an earlier call, which yields to terms that the payer or recipient signs.',
  },
} as const

function shown(record: AssuredRecord, terms: AssuredTerms, now_s: number) {
  return {
    assured_id: record.assured_id,
    receipt_hash: record.receipt_hash,
    state: assuredState(record.mark, record.window_ends_s, now_s),
    binding: bindingOf(record),
    signed_by: record.signed?.by ?? null,
    terms_signature: record.signed?.signature ?? null,
    created_at: new Date(record.created_ms).toISOString(),
    dispute_window_ends_at: new Date(record.window_ends_s * 1_000).toISOString(),
    remedy: 'verdict_only' as const,
    settling_evidence: SETTLING_EVIDENCE[terms.rail],
    terms: { ...terms },
  }
}

const COMPARED_TERMS = [
  'notional_minor',
  'rail',
  'counterparty_tier',
  'annual_volume_minor',
  'pod_asked',
] as const satisfies (keyof AssuredTerms)[]

function laterWarnings(first: AssuredTerms, asked: AssuredTerms, record: AssuredRecord, now_s: number) {
  const differing = COMPARED_TERMS.filter((name) => first[name] !== asked[name]).map((name) =>
    name === 'pod_asked' ? 'pod_required' : name,
  )
  const found = []
  if (differing.length > 0) {
    found.push({ code: 'terms_differ', message: `The record keeps its first terms; this call asked another ${differing.join(', ')}.` })
  }
  if (now_s > record.window_ends_s) found.push({ code: 'window_closed', message: 'The dispute window of this receipt has closed.' })
  return found
}

function refused(reason_code: AssuredRefusal, detail: string | null, now_ms: number) {
  const reason = detail === null ? ASSURED_REFUSALS[reason_code] : `${ASSURED_REFUSALS[reason_code]} ${detail}`
  const nothing = { created: false, binding: 'none' as const, typed_data: null, sign: null, warnings: [], record: null }
  return { status: 'REFUSED' as const, reason_code, reason, ...nothing, ...notices(now_ms) }
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
