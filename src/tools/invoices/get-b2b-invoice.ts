import { z } from 'zod'
import { INVOICE_EXCEPTIONS, INVOICE_STATES } from '../../pure/invoices/standing.ts'
import { defineTool, Refusal } from '../../service/catalogue/define.ts'

/** Current state of an invoice on the chain. */
export default defineTool({
  id: 'get-b2b-invoice',
  title: 'Read the status of an invoice',
  description:
    'Settlement status, transaction hash and payment times of an invoice, read off the chain now: ISSUED, PROCESSING, PARTIALLY_PAID, ' +
    'SETTLED, EXPIRED or VOID, with exceptions such as paid_late or overpaid. Amounts are the truth. An unknown id is 404, one that was deleted after it expired unpaid 410, both uncharged.',
  family: 'invoices',
  version: '1.4.0',
  price: 'chain',
  annotations: { read_only: true, idempotent: true, destructive: false, open_world: true },
  scope: {
    checked: ['transfers to the merchant that name the invoice, or fit it alone', 'depth of their blocks'],
    not_checked: ['refunds', 'bank transfers', 'who controls the merchant’s address'],
  },
  headline: [
    { when: { status: 'ISSUED' }, tone: 'neutral', word: 'NOT PAID YET', sentence: 'The invoice over {amount_usdc} USDC is open.' },
    { when: { status: 'PROCESSING' }, tone: 'neutral', word: 'PROCESSING', sentence: 'A payment was seen and is not final yet.' },
    {
      when: { status: 'PARTIALLY_PAID' },
      tone: 'caution',
      word: 'PARTIALLY PAID',
      sentence: 'The invoice over {amount_usdc} USDC is not paid in full.',
    },
    {
      when: { status: 'SETTLED', paid_by: 'bank' },
      tone: 'good',
      word: 'SETTLED',
      sentence: 'The merchant confirmed, with its signature, a bank transfer that pays the invoice over {amount_usdc} USDC.',
    },
    { when: { status: 'SETTLED' }, tone: 'good', word: 'SETTLED', sentence: 'The invoice over {amount_usdc} USDC is paid.' },
    { when: { status: 'EXPIRED' }, tone: 'bad', word: 'EXPIRED', sentence: 'The time to pay the invoice over {amount_usdc} USDC is over.' },
    { when: { status: 'VOID' }, tone: 'bad', word: 'VOID', sentence: 'The merchant withdrew the invoice over {amount_usdc} USDC.' },
  ],
  sources: ['invoices', 'chain'],
  input: z.strictObject({
    invoice_id: z
      .string()
      .max(30)
      .regex(/^inv_[0-9a-z]{12,26}$/)
      .describe('Id of the invoice: inv_ and 12 to 26 characters.'),
  }),
  output: z.strictObject({
    valid: z.literal(true).describe('The invoice is known.'),
    status: z.enum(INVOICE_STATES).describe('Now.'),
    exceptions: z.array(z.enum(INVOICE_EXCEPTIONS)).describe('What is out of the ordinary.'),
    stale: z.boolean().describe('The chain failed meanwhile or was not read up to its head; this is the state known last.'),
    invoice_id: z.string().describe('As given.'),
    merchant: z.string().describe('Who is paid.'),
    merchant_verified: z.boolean().describe('The merchant’s own key signed it, or the operator’s a pilot.'),
    amount_usdc: z.string().describe('Asked for.'),
    amount_paid_minor: z.string().describe('Seen so far, confirmed or not.'),
    amount_due_minor: z.string().describe('Still due.'),
    overpaid_minor: z.string().describe('Beyond the amount.'),
    tx_hash: z.string().nullable().describe('The transfer that settled it.'),
    paid_by: z
      .enum(['chain', 'bank'])
      .nullable()
      .describe('Rail on which it was paid; null while it is not. bank: the merchant confirmed the transfer.'),
    bank_status: z.string().nullable().describe('What is known of bank transfers, in words; only the confirmation of the merchant is one.'),
    settled_at: z.string().nullable().describe('Time of its block, or of the confirmation of the bank transfer.'),
    first_seen_at: z.string().nullable().describe('Time of the first payment’s block.'),
    expires_at: z.string().describe('Until then it is paid in time.'),
    private_record_url: z.string().describe('The whole record.'),
    private_record_requires: z.string().describe('What it takes to read it.'),
    record: z.record(z.string(), z.unknown()).describe('The whole record.'),
  }),
  example: { invoice_id: 'inv_000000000000' },
  async run({ invoice_id }, { invoices }) {
    const view = await invoices.look(invoice_id)
    if (view === null) {
      const { code, detail, extra = {} } = await invoices.absent(invoice_id)
      throw new Refusal(code === 'INVOICE_GONE' ? code : 'INVOICE_NOT_FOUND', `${detail} Nothing was charged.`, { extra })
    }
    const { record, standing } = view
    const shown = Object.fromEntries(SHOWN.map((name) => [name, record[name]])) as Record<(typeof SHOWN)[number], string>
    return {
      valid: true as const,
      ...shown,
      status: standing.status,
      exceptions: standing.exceptions,
      stale: record['stale'] === true,
      merchant_verified: record['merchant_verified'] === true,
      paid_by: (['chain', 'bank'] as const).find((rail) => rail === record['paid_by']) ?? null,
      tx_hash: standing.settled_by?.transaction ?? null,
      private_record_url: String(record['invoice_url']),
      private_record_requires: 'The id of the invoice, which is all that it takes: keep it to those concerned.',
      record,
    }
  },
})

const SHOWN = [
  'invoice_id',
  'merchant',
  'amount_usdc',
  'amount_paid_minor',
  'amount_due_minor',
  'overpaid_minor',
  'bank_status',
  'settled_at',
  'first_seen_at',
  'expires_at',
] as const
