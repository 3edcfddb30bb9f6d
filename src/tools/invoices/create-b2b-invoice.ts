import { z } from 'zod'
import { defineTool, Refusal } from '../../service/catalogue/define.ts'
import { ADDRESS, checkInvoiceNames, INVOICE_AMOUNT, INVOICE_BANK, INVOICE_SHOP } from '../../service/catalogue/schemas.ts'

const AMOUNT = INVOICE_AMOUNT.optional()
const NAME = z.string().max(120).optional()

const AMOUNTS = ['amount_usdc', 'amountUsdc'] as const
const INPUT = z
  .strictObject({
    amount_usdc: AMOUNT.describe('Amount in USDC, at most six decimals, as number or decimal text. Give this or amountUsdc.'),
    amountUsdc: AMOUNT.describe('The same by its other name. Where both are given, they must be equal.'),
    merchant: ADDRESS.describe('Address of the beneficiary; it is paid directly. A broken checksum (EIP-55) is refused.'),
    client_name: NAME.describe('Who is to pay, in words.'),
    clientName: NAME.describe('The same by its other name.'),
    memo: z.string().max(500).optional().describe('Purpose of the invoice. Everyone who has the id can read it.'),
    ...INVOICE_SHOP,
    bank: INVOICE_BANK.optional(),
    referrer: ADDRESS.optional().describe('Who is due 20 % of the protocol fee, which is zero today. Not the merchant.'),
  })
  .check(checkInvoiceNames({ amount: AMOUNTS, client_name: ['client_name', 'clientName'] }))
  // What JSON Schema can say of it: an object without an amount is refused.
  .meta({ if: { anyOf: AMOUNTS.map((name) => ({ required: [name], properties: { [name]: {} } })) }, else: false })

/** A record of what is owed, with the means to pay it directly. */
export default defineTool({
  id: 'create-b2b-invoice',
  title: 'Create an invoice in USDC',
  description:
    'Creates an invoice that a client pays in USDC straight to the merchant: gaslessly by one signature or over x402 from 1 USDC, or by a ' +
    'plain transfer to its deposit address; with `bank` also by bank transfer, which the merchant confirms. Nothing is held; the protocol fee is zero today and capped. The id is a secret: everyone who has it can read the invoice.',
  family: 'invoices',
  version: '1.2.0',
  price: 'check',
  annotations: { read_only: false, idempotent: false, destructive: false, open_world: false },
  scope: {
    checked: ['amount, address and texts', 'that the merchant is not the referrer', 'IBAN, BIC and reference of bank details'],
    not_checked: [
      'who controls the merchant’s address and bank account',
      'whether anything is owed',
      'tax: it is a payment request, no tax invoice',
    ],
  },
  headline: [{ when: { status: 'ISSUED' }, tone: 'good', word: 'ISSUED' }],
  sources: ['invoices'],
  input: INPUT,
  output: z.strictObject({
    valid: z.literal(true).describe('True: what cannot be invoiced is refused, uncharged.'),
    reason_code: z.enum(['ok']).describe('ok.'),
    reason: z.string().describe('One sentence.'),
    invoice_id: z.string().nullable().describe('Secret name of the invoice.'),
    invoice_url: z.string().nullable().describe('Where its record is.'),
    pay_url: z.string().nullable().describe('Where a signed payment is taken (x402, EIP-3009).'),
    status: z.string().nullable().describe('ISSUED.'),
    merchant: z.string().nullable().describe('Who is paid.'),
    amount_usdc: z.string().nullable().describe('Amount, exact.'),
    protocol_fee_usdc: z.string().nullable().describe('Deducted of it.'),
    cart_hash: z
      .string()
      .nullable()
      .describe('keccak-256 of merchant, amount, memo, client, chain and token, with order number, return URL and bank details if given.'),
    payment_nonce: z.string().nullable().describe('EIP-3009 nonce that names this invoice.'),
    eip681_uri: z
      .string()
      .nullable()
      .describe('A plain transfer for wallets (EIP-681), to the deposit address of the invoice; null where none would be matched.'),
    expires_at: z.string().nullable().describe('Until then it is paid in time.'),
    record: z.record(z.string(), z.unknown()).nullable().describe('The whole record, as invoice_url answers.'),
  }),
  example: { amount_usdc: '125.50', merchant: '0x00000000000000000000000000000000a11ce001', client_name: 'Example Ltd', memo: 'PO 4711' },
  async run({ amount_usdc, amountUsdc, client_name, clientName, ...content }, { invoices }) {
    const amount = amount_usdc ?? amountUsdc ?? 0
    const end = await invoices.create({ ...content, amount, client_name: client_name ?? clientName })
    switch (end.kind) {
      case 'refused':
        throw new Refusal('INVOICE_LIMIT', end.problem.detail)
      case 'invalid': {
        const { message } = end
        throw new Refusal('INPUT_SCHEMA_INVALID', message, { errors: [{ pointer: `/input/${end.field}`, code: end.fault, message }] })
      }
      case 'made': {
        const { record } = end.view
        const shown = Object.fromEntries(SHOWN.map((name) => [name, record[name]])) as Record<(typeof SHOWN)[number], string>
        const reason = record['x402'] !== null ? 'The invoice is open.' : record['eip681_uri'] === null ? OPEN_BUT_SMALL : OPEN_BY_TRANSFER
        return { valid: true as const, reason_code: 'ok' as const, reason, ...shown, record }
      }
    }
  },
})

const SHOWN = [
  'invoice_id',
  'invoice_url',
  'pay_url',
  'status',
  'merchant',
  'amount_usdc',
  'protocol_fee_usdc',
  'cart_hash',
  'payment_nonce',
  'eip681_uri',
  'expires_at',
] as const

const OPEN_BY_TRANSFER = 'The invoice is open. No payment of this amount is carried to the chain here: it is paid by a plain transfer.'
const OPEN_BUT_SMALL =
  'The invoice is open. No payment of this amount is carried to the chain here: sign it, so that a plain transfer is matched to it.'
