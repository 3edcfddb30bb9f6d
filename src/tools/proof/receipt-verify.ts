import { z } from 'zod'
import { readStrictJson } from '../../pure/documents/strict-json.ts'
import { decodeReceipt } from '../../pure/receipts/compact.ts'
import { RECEIPT_CODES, type ReceiptCode, type ReceiptFinding } from '../../pure/receipts/reasons.ts'
import { TEST_VECTOR } from '../../pure/receipts/receipt.ts'
import { verifyReceipt } from '../../pure/receipts/verify.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { limits } from '../../service/limits.ts'

/** Receipts are small and flat; anyone may send them without limit, so little is read. */
const BOUNDS = { depth: 8, nodes: 500 }

const CODES = Object.keys(RECEIPT_CODES) as [ReceiptCode, ...ReceiptCode[]]

const FINDINGS = z.array(
  z.strictObject({
    code: z.enum(CODES).describe('What kind of fault, from a closed list.'),
    field: z.string().nullable().describe('The field of the receipt; null when the whole is meant.'),
    message: z.string().describe('One sentence.'),
  }),
)

/** The signature of a receipt of any issuer; whether the issuer publishes that signer is asked of the issuer's key list, not here. */
export default defineTool({
  id: 'receipt-verify',
  title: 'Verify a receipt',
  description:
    'Verifies the signature of an XDR-1 receipt of any issuer: rebuilds the signed text, recovers the signer and compares it with the ' +
    'declared one. Free, without quota, nothing is stored. A valid receipt proves that the signer signed this call at this time, not ' +
    'that money moved or that the result is true.',
  family: 'proof',
  version: '1.1.0',
  price: 'free',
  annotations: PURE,
  scope: {
    checked: ['the signature over all signed fields', 'the recovered signer against the declared one', 'the form of each field'],
    not_checked: ['whether the issuer publishes this signer, and for which time', 'that money moved', 'that the result was true'],
  },
  bounds: { ...BOUNDS, body_bytes: limits.unpaid_body_bytes, unsafe_numbers: 'keep_text' },
  headline: [
    // The key list of the issuer is not read here, so a valid signature alone does not prove who issued the receipt.
    { when: { valid: true }, tone: 'caution', word: 'signature valid, issuer unknown', badge: 'signature valid' },
    { when: { valid: false }, tone: 'bad', word: 'invalid' },
  ],
  sources: ['crypto'],
  input: z.strictObject({
    receipt: z
      .union([z.record(z.string().max(limits.receipt_field_chars), z.unknown()), z.string().max(limits.receipt_chars)])
      .describe('The whole receipt with signer and signature, as an object, as its JSON text, or in its compact form.'),
  }),
  output: z.strictObject({
    valid: z.boolean().describe('True when the declared signer signed exactly this receipt.'),
    reason_code: z.enum(['ok', ...CODES]).describe('ok, or the code of the first finding.'),
    reason: z.string().describe('One sentence for people.'),
    digest: z.string().nullable().describe('keccak-256 of canonical, which also names the receipt; null when there is no signed text.'),
    canonical: z.string().nullable().describe('The text that the signature covers: the signed fields joined by bars.'),
    declared_signer: z.string().nullable().describe('The address in the field signer, in lower case.'),
    signer_recovered: z.string().nullable().describe('The address of the key that made the signature.'),
    findings: FINDINGS.describe('Why the receipt is not valid.'),
    warnings: FINDINGS.describe('What does not make it invalid but should be known.'),
  }),
  example: { receipt: TEST_VECTOR.receipt },
  run({ receipt }, { crypto }) {
    const { value, fault } = read(receipt)
    const { signer_published: _published, signer_valid_at_ts: _at_ts, ...verdict } = verifyReceipt(value, undefined, crypto)
    return fault === null ? verdict : { ...verdict, reason_code: fault.code, reason: fault.message, findings: [fault] }
  },
})

interface ReadReceipt {
  value: unknown
  /** Set if the text is a compact receipt that cannot be read; there is no value then. */
  fault: ReceiptFinding | null
}

/**
 * Parses a receipt in JSON text or in compact form, which differ in their first character. Invalid or ambiguous JSON stays a string, so that
 * the verdict reports that it is not an object.
 */
function read(receipt: unknown): ReadReceipt {
  if (typeof receipt !== 'string') return { value: receipt, fault: null }
  const text = receipt.trim()
  if (text.startsWith('A')) {
    const compact = decodeReceipt(text)
    if (compact.ok) return { value: compact.receipt, fault: null }
    return { value: null, fault: { code: 'bad_compact_form', field: compact.field, message: compact.message } }
  }
  const parsed = readStrictJson(receipt, BOUNDS, { unsafe_numbers: 'keep_text' })
  return { value: parsed.ok ? parsed.value : receipt, fault: null }
}
