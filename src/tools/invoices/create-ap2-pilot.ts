import { z } from 'zod'
import { INVOICE_FAULTS } from '../../pure/invoices/input.ts'
import { defineTool, Refusal } from '../../service/catalogue/define.ts'
import type { SignRequest } from '../../pure/signing/sign-request.ts'
import { SIGN } from '../../service/catalogue/schemas.ts'

/** The pilot of a merchant: an invoice of a fixed amount for a fixed number of calls. */
export default defineTool({
  id: 'create-ap2-pilot',
  title: 'Create an AP2 merchant pilot invoice',
  description:
    'Creates an invoice of 49.00 USDC to this service for an AP2 merchant pilot of 50,000 gasless calls. Offered only where the operator ' +
    'has set up the credit that it buys; elsewhere the call ends with NOT_CONFIGURED, uncharged.',
  family: 'invoices',
  version: '1.2.0',
  price: 'check',
  annotations: { read_only: false, idempotent: false, destructive: false, open_world: false },
  scope: {
    checked: ['that this deployment grants the credit'],
    not_checked: ['who the client is', 'any AP2 mandate', 'tax: it is a payment request, no tax invoice'],
  },
  headline: [
    { when: { status: 'ISSUED' }, tone: 'good', word: 'ISSUED' },
    { when: { valid: false }, tone: 'bad', word: 'REFUSED' },
  ],
  sources: ['invoices'],
  input: z.strictObject({ client_name: z.string().max(120).optional().describe('Who takes part in the pilot, in words.') }),
  output: z.strictObject({
    valid: z.boolean().describe('False: nothing was created.'),
    reason_code: z.enum(['ok', 'text_unprintable']).describe('ok, or why nothing was created.'),
    reason: z.string().describe('One sentence.'),
    invoice_id: z.string().nullable().describe('Secret name of the invoice.'),
    invoice_url: z.string().nullable().describe('Where its record is.'),
    pay_url: z.string().nullable().describe('Where a signed payment is taken.'),
    status: z.string().nullable().describe('ISSUED.'),
    amount_usdc: z.literal('49.00').describe('Fixed.'),
    calls: z.literal(50_000).describe('What it covers.'),
    redemption_text: z
      .string()
      .nullable()
      .describe('Text that the account that paid signs as a plain message (EIP-191) once the invoice is settled, to get the credit code.'),
    sign: SIGN.describe('The same with the request that takes the signature.'),
    record: z.record(z.string(), z.unknown()).nullable().describe('The whole record, as invoice_url answers.'),
  }),
  example: { client_name: 'Example Ltd' },
  async run({ client_name }, { invoices }) {
    const end = await invoices.pilot(client_name)
    if (end === null) throw new Refusal('NOT_CONFIGURED', 'This deployment grants no pilot credit. Nothing was charged.')
    const fixed = { amount_usdc: '49.00' as const, calls: 50_000 as const }
    switch (end.kind) {
      case 'refused':
        throw new Refusal('INVOICE_LIMIT', end.problem.detail)
      case 'invalid': {
        const none = { invoice_id: null, invoice_url: null, pay_url: null, status: null, redemption_text: null, sign: null, record: null }
        return { valid: false, reason_code: 'text_unprintable' as const, reason: INVOICE_FAULTS[end.fault], ...none, ...fixed }
      }
      case 'made': {
        const { record, invoice, standing } = end.view
        const urls = { invoice_url: String(record['invoice_url']), pay_url: String(record['pay_url']) }
        const { status } = standing
        const reason = 'The invoice is open. Once it is settled, the account that paid signs redemption_text and gets a code for its calls.'
        const sign = record['sign'] as SignRequest & { method: 'personal_sign' }
        const redeem = { redemption_text: sign.message, sign }
        return {
          valid: true,
          reason_code: 'ok' as const,
          reason,
          invoice_id: invoice.invoice_id,
          ...urls,
          status,
          ...fixed,
          ...redeem,
          record,
        }
      }
    }
  },
})
