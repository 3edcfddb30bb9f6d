import { z } from 'zod'
import type { AssuredRecords, DisputeRecord, Disputes } from '../../ports/assured-records.ts'
import type { WebhookEvent } from '../../ports/webhooks.ts'
import { canonicalText } from '../../pure/receipts/canonical.ts'
import { TEST_VECTOR } from '../../pure/receipts/receipt.ts'
import { assuredState, type AssuredState } from '../../pure/rulebooks/assured.ts'
import { disputeTypedData, DIP_CLAIMS, DIP_GRADES, DIP_RULES, ruleDispute } from '../../pure/rulebooks/dip1.ts'
import { defineTool, Refusal } from '../../service/catalogue/define.ts'
import { SIGN, RULE_BOOK } from '../../service/catalogue/schemas.ts'
import { signRequest } from '../../pure/signing/sign-request.ts'
import { limits } from '../../service/limits.ts'

const INPUT_CHARS = 500_000
const SIGNATURE_CHARS = 200
const FIELD = z.string().max(limits.receipt_field_chars)
const RULES = Object.keys(DIP_RULES) as (keyof typeof DIP_RULES)[]
const CODES = [...new Set(Object.values(DIP_RULES).map(({ code }) => code))]
const ANY_OBJECT = z.record(z.string(), z.unknown())

const RECEIPT = z.strictObject({
  v: FIELD.describe('XDR-1.'),
  tool: FIELD.describe('Tool that was called.'),
  payer: FIELD.describe('Address that paid.'),
  recipient: FIELD.describe('Address that was paid.'),
  amount: FIELD.describe('What was paid, minor units.'),
  ts: z.int().min(0).max(999_999_999_999).describe('Seconds since 1970.'),
  input_hash: FIELD.describe('Hash of its input.'),
  output_hash: FIELD.describe('Hash of its result.'),
  nonce: FIELD.describe('Nonce of the payment.'),
  signature: FIELD.describe('Signature of the issuer.'),
  tool_version: FIELD.optional().describe('Version of the tool; without it only receipts of this service can be checked.'),
  tier: FIELD.optional().describe('free or paid; as tool_version.'),
  signer: FIELD.optional().describe('Address of the key that signed; as tool_version.'),
  successor: FIELD.nullable().optional().describe('As in the receipt.'),
  stream_state: FIELD.nullable().optional().describe('As in the receipt.'),
})

/** Decides a dispute about one call by its receipt, and keeps the verdict. */
export default defineTool({
  id: 'dip-file-dispute',
  title: 'File a dispute about a call',
  description:
    'Adjudicates a dispute about an XDR-1 receipt by DIP-1, from hashes, signatures and published schemas alone: UPHELD, REJECTED or ' +
    'INCONCLUSIVE with rule ids and a grade. Filed once per receipt and dispute_id, within 7 days. The payer signs typed_data of the answer; ' +
    'unsigned disputes yield to that, and rejected ones are not kept. May yield an unsigned refund order. Moves no money.',
  family: 'trust',
  version: '1.1.1',
  price: 'check',
  annotations: { read_only: false, idempotent: true, destructive: false, open_world: false },
  scope: {
    checked: [
      'the signature of the receipt',
      'hashes of input and output',
      'the output schema, for receipts of this service',
      'the window of 7 days',
    ],
    not_checked: [
      'output schemas of other issuers',
      'what arrived, beyond what is signed',
      'whether the result was true',
      'that money moved or is given back',
    ],
  },
  headline: [
    { when: { verdict: 'UPHELD' }, tone: 'good', word: 'UPHELD' },
    { when: { verdict: 'REJECTED' }, tone: 'bad', word: 'REJECTED' },
    { when: { verdict: 'INCONCLUSIVE' }, tone: 'caution', word: 'INCONCLUSIVE' },
  ],
  sources: ['clock', 'crypto', 'schemas', 'registrar', 'disputes', 'assured'],
  input: z.strictObject({
    dispute_id: z
      .string()
      .min(1)
      .max(128)
      .regex(/^[A-Za-z0-9._:-]{1,128}$/)
      .describe('Your name for the dispute: letters, digits and . _ : -'),
    receipt: RECEIPT.describe('The receipt, best whole. Without signer, tool_version or tier the grade is unverified for other issuers.'),
    claim: z.enum(DIP_CLAIMS).describe('What went wrong.'),
    claimed_input: z
      .union([z.string().max(INPUT_CHARS), ANY_OBJECT])
      .optional()
      .describe('The input that was sent, as object or text; it must hash to input_hash.'),
    delivered_output: ANY_OBJECT.optional().describe('The result that arrived; OUTPUT_MISMATCH and SCHEMA need it.'),
    refund_threshold_minor: z
      .string()
      .max(30)
      .regex(/^(?:0|[1-9][0-9]{0,29})$/)
      .optional()
      .describe('A refund order needs more than this, USDC minor units; 1000000 when absent.'),
    transport_signature: z
      .string()
      .max(SIGNATURE_CHARS)
      .optional()
      .describe('The issuer’s signature over DIP-1-TRANSPORT|receipt hash|hash of delivered_output.'),
    claimant_signature: z
      .string()
      .max(SIGNATURE_CHARS)
      .optional()
      .describe(
        'EIP-712 signature of the receipt’s payer over typed_data, which an unsigned call answers: 0x and 130 hexadecimal digits, such as 0x1b…1c. ' +
          'Wins over an unsigned dispute.',
      ),
  }),
  output: z.strictObject({
    verdict: z.enum(['UPHELD', 'REJECTED', 'INCONCLUSIVE']).describe('The decision.'),
    reason: z.string().describe('One sentence.'),
    reason_code: z.enum(CODES).describe('What the deciding rule found, in one word.'),
    rule: z.enum(RULES).describe('The rule that decided.'),
    grade: z.enum(DIP_GRADES).describe('How good the evidence is, best first.'),
    findings: z
      .array(z.strictObject({ rule: z.string().describe('Rule id.'), message: z.string().describe('One sentence.') }))
      .describe('The deciding rule first, then what should be known.'),
    dispute_id: z.string().describe('As given.'),
    claim: z.enum(DIP_CLAIMS).describe('As given.'),
    receipt_hash: z.string().describe('Names the receipt; its digest where the signature is good.'),
    body_hash: z.string().describe('Hash of all that was claimed; the payer signs it.'),
    created: z.boolean().describe('False when this dispute was filed before, whose verdict is kept, or when nothing is kept.'),
    binding: z
      .enum(['signed', 'advisory', 'none'])
      .describe('signed: by the payer. advisory: unsigned, yields to a signed one. none: unsigned and rejected, so nothing is kept.'),
    typed_data: ANY_OBJECT.describe('What the payer signs with eth_signTypedData_v4 to make this dispute its own.'),
    sign: SIGN.describe('The same for the payer, with the request that takes the signature; null when the payer signed.'),
    signature_checked: z.boolean().describe('Whether the signature of the receipt is known to be good.'),
    issuer: z.enum(['own', 'other', 'unknown']).describe('Who signed the receipt: this service, another, or unknown.'),
    claimant: z.enum(['payer_signed', 'unsigned']).describe('Whether the payer signed the dispute.'),
    remedy: z.enum(['REFUND_ORDER_QUEUED', 'verdict_only', 'none']).describe('none: the call was not paid on chain.'),
    refund_order: z.record(z.string(), z.unknown()).nullable().describe('Unsigned instruction for the recipient; null without one.'),
    x402_refund_reason: z.string().nullable().describe('Reason code for a refund request; null unless upheld.'),
    assured_state: z
      .enum(['OPEN', 'WINDOW_CLOSED', 'DISPUTED', 'ADJUDICATED'])
      .nullable()
      .describe('Of the assured record of this receipt; null without one.'),
    window_ends_at: z.string().describe('Last moment to file.'),
    filed_at: z.string().describe('When this dispute was first filed; the time of the answer where nothing is kept.'),
    ...RULE_BOOK,
    rulebook_hash: z.string().describe('The same by another name.'),
    evaluated_at: z.string().describe('Time of the answer.'),
  }),
  example: {
    dispute_id: 'D-2026-0001',
    receipt: { ...TEST_VECTOR.receipt },
    claim: 'NOT_DELIVERED',
  },
  async run(dispute, { clock, crypto, schemas, registrar, disputes, assured }) {
    const now_ms = clock.now_ms()
    const now_s = Math.floor(now_ms / 1_000)
    const owns = (address: string, ts: number) => registrar.owns(address, ts)
    const found = ruleDispute(dispute, { now_s, crypto, owns, published: (tool) => schemas.output(tool) })
    const { hash: receipt_hash } = found.receipt
    const { dispute_id, claim } = dispute
    const { body_hash, verdict, grade } = found
    const { payer, recipient } = dispute.receipt
    const filed = {
      receipt_hash,
      dispute_id,
      body_hash,
      payer_signed: found.claimant === 'payer_signed',
      outcome: canonicalText(found.outcome),
      filed_ms: now_ms,
    }
    const { created, is_kept, record } = await fileDispute(disputes, verdict, filed, {
      type: 'dispute.ruled',
      key: `${receipt_hash}|${dispute_id}|${body_hash}|${filed.payer_signed}`,
      owners: [payer.toLowerCase(), recipient.toLowerCase()],
      at_ms: now_ms,
      data: { dispute_id, receipt_hash, claim, verdict, rule: found.rule, grade, payer_signed: filed.payer_signed },
    })
    if (record.body_hash !== found.body_hash) throw conflict(record.payer_signed)
    const kept = JSON.parse(record.outcome) as Outcome
    const typed_data = disputeTypedData({ dispute_id, receipt_hash, claim, body_hash: found.body_hash })
    const signable = { method: 'eth_signTypedData_v4', typed_data } as const
    return {
      ...kept,
      // Not part of what is kept: disputes that were filed before it existed have none.
      reason_code: DIP_RULES[kept.rule].code,
      findings: [...kept.findings, ...(record.payer_signed ? [] : found.call_findings)],
      dispute_id: record.dispute_id,
      receipt_hash,
      body_hash: record.body_hash,
      created,
      binding: record.payer_signed ? ('signed' as const) : is_kept ? ('advisory' as const) : ('none' as const),
      typed_data,
      sign: record.payer_signed
        ? null
        : signRequest({ kind: 'dip-1-dispute', origin: registrar.origin, signer: dispute.receipt.payer, signable }),
      claimant: record.payer_signed ? ('payer_signed' as const) : ('unsigned' as const),
      assured_state: await marked(assured, record, kept, now_s),
      filed_at: instant(record.filed_ms),
      evaluated_at: instant(now_ms),
    }
  },
})

/**
 * Keeps the dispute. Anyone who has a receipt can file an unsigned one, so an unsigned dispute that is rejected changes nothing: it is answered, and
 * its dispute_id stays free.
 */
async function fileDispute(disputes: Disputes, verdict: Outcome['verdict'], given: DisputeRecord, event: WebhookEvent) {
  if (given.payer_signed || verdict !== 'REJECTED') return { ...(await disputes.file(given, event)), is_kept: true }
  const before = await disputes.find(given.receipt_hash, given.dispute_id)
  return { created: false, is_kept: before !== null, record: before ?? given }
}

function conflict(payer_signed: boolean): Refusal {
  const by = payer_signed ? ' The payer signed it, so it is final.' : ''
  return new Refusal('DISPUTE_CONFLICT', `Another dispute about this receipt has this dispute_id.${by}`)
}

type Outcome = ReturnType<typeof ruleDispute>['outcome']

/**
 * Moves the assured record of the receipt by the verdict that is kept: when the payer signed the dispute, or when a claim is upheld, which signed
 * papers alone decide. Any other unsigned dispute may come from anyone who has the receipt, and changes no state.
 */
async function marked(
  assured: AssuredRecords,
  { receipt_hash, payer_signed }: DisputeRecord,
  { verdict, grade, signature_checked }: Outcome,
  now_s: number,
): Promise<AssuredState | null> {
  // Without a grade a gate was not passed.
  if (grade !== 'none' && signature_checked && (payer_signed || verdict === 'UPHELD')) {
    await assured.mark(receipt_hash, 'DISPUTED')
    if (verdict !== 'INCONCLUSIVE') await assured.mark(receipt_hash, 'ADJUDICATED')
  }
  const record = await assured.find(receipt_hash)
  return record === null ? null : assuredState(record.mark, record.window_ends_s, now_s)
}

function instant(time_ms: number): string {
  return new Date(time_ms).toISOString()
}
