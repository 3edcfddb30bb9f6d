import { z } from 'zod'
import { createCommitment, CSP1, CSP1_CODES } from '../../pure/rulebooks/csp1.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { RULE_BOOK } from '../../service/catalogue/schemas.ts'
import { limits } from '../../service/limits.ts'

const CODES = Object.keys(CSP1_CODES) as (keyof typeof CSP1_CODES)[]

/** `st:`, a chain of 32 characters, a colon, and 66 bytes in hexadecimal. */
const RECIPIENT_CHARS = 170

const HEX = z.string().regex(/^0x[0-9a-f]*$/)

/** A commitment that hides the invoice, and the announcement of a stealth payment that third parties cannot link. */
export default defineTool({
  id: 'csp-commitment-create',
  title: 'Commit to an invoice, announce a stealth payment',
  description:
    'Commits to commercial terms without showing them: keccak-256 over a tag, a salt and the RFC 8785 text of the invoice. Without salt_hex ' +
    'the salt is derived under the service’s secret and returned. For a stealth recipient it packages, or derives from a meta-address, ' +
    'the ERC-5564 announcement (scheme 1).',
  family: 'trust',
  version: '1.1.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['canonical form of the invoice', 'keys on the curve, checksum of the address', 'form of the announcement'],
    not_checked: ['whether the terms are true or agreed', 'that a packaged address belongs to its ephemeral key', 'anything on a chain'],
  },
  bounds: { body_bytes: limits.unpaid_body_bytes },
  headline: [
    { when: { ok: true }, tone: 'good', word: 'COMMITTED' },
    { when: { ok: false }, tone: 'bad', word: 'NO COMMITMENT' },
  ],
  sources: ['crypto', 'derive'],
  input: z.strictObject({
    invoice_object: z
      .record(z.string(), z.unknown())
      .describe('The terms, any JSON object up to 64 KiB. token_address and amount_minor in it go into the metadata.'),
    salt_hex: z
      .string()
      .max(66)
      .regex(/^0x[0-9a-fA-F]{64}$/)
      .optional()
      .describe('32 random bytes as 0x hex. Derived when absent.'),
    stealth_recipient: z
      .string()
      .max(RECIPIENT_CHARS)
      .optional()
      .describe('A stealth address, or a meta-address (0x hex of 33 or 66 bytes, or st:<chain>:0x…).'),
    ephemeral_pubkey: z.string().max(132).optional().describe('With an address: public key of 33 or 65 bytes as 0x hex.'),
    view_tag: z
      .string()
      .max(4)
      .regex(/^0x[0-9a-fA-F]{2}$/)
      .optional()
      .describe('With an address: first byte of the hashed shared secret, 0xNN.'),
  }),
  output: z.strictObject({
    ok: z.boolean().describe('Everything asked for was made and nothing is wrong.'),
    reason_code: z.enum(['ok', ...CODES]).describe('ok, or the code of the first finding.'),
    reason: z.string().describe('One sentence for people.'),
    findings: z.array(z.strictObject({ code: z.string(), message: z.string() })).describe('What is wrong, if anything.'),
    invoice_commitment: HEX.describe('keccak256(keccak256("CSP-1 commitment") || salt || canonical_jcs).'),
    salt_hex: HEX.describe('Keep it: it opens the commitment, together with the terms.'),
    salt_source: z.enum(['given', 'derived']).describe('derived: the same terms give the same salt here.'),
    canonical_jcs: z.string().describe('RFC 8785 text of the invoice.'),
    announcement: z
      .strictObject({
        scheme_id: z.literal(1).describe('secp256k1 with view tags.'),
        stealth_address: HEX.describe('Where the payment goes.'),
        ephemeral_pubkey: HEX.describe('33 bytes.'),
        view_tag: HEX.describe('One byte.'),
        metadata: HEX.describe('View tag; with token and amount known, 57 bytes.'),
        announcer: z.string().describe('The contract to announce at.'),
      })
      .nullable()
      .describe('Arguments of the ERC-5564 announcement, or null.'),
    linkable_by_service: z.boolean().describe('True when this service derived the address and so could link the payment.'),
    notice: z.string().describe('What follows from that.'),
    ...RULE_BOOK,
  }),
  example: {
    invoice_object: {
      invoice_no: 'INV-2026-0042',
      currency: 'USD',
      amount_minor: '1250000000',
      token_address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    },
    salt_hex: '0x00112233445566778899aabbccddeeff0123456789abcdeffedcba9876543210',
    stealth_recipient:
      'st:base:0x022f8bde4d1a07209355b4a7250a5c5128e88b84bddc619ab7cba8d569b240efe403fff97bd5755eeea420453a14355235d382f6472f8568a18b2f057a1460297556',
  },
  run(asked, { crypto, derive }) {
    const { codes, ...made } = createCommitment(asked, derive.hmac, crypto)
    const [first] = codes
    return {
      ...made,
      reason_code: first ?? ('ok' as const),
      reason: first === undefined ? 'The commitment was made.' : CSP1_CODES[first],
      findings: codes.map((code) => ({ code, message: CSP1_CODES[code] })),
      notice: made.linkable_by_service ? LINKABLE : UNLINKABLE,
      standard: CSP1.standard,
      policy_hash: CSP1.policy_hash,
    }
  },
})

const LINKABLE =
  'This service derived the ephemeral key and could link a payment to the recipient. To rule that out, derive it yourself and send the address.'
const UNLINKABLE = 'No ephemeral key was derived here.'
