import { json, ref, type Json } from '../catalogue/openapi-parts.ts'
import type { JsonSchema } from '../catalogue/json-schema.ts'
import { INVOICE_RULES } from './rules.ts'

const text = (description: string, more: JsonSchema = {}): JsonSchema => ({ type: 'string', description, ...more })
const ADDRESS = { pattern: '^0x[0-9a-fA-F]{40}$' }

const REQUEST: JsonSchema = {
  type: 'object',
  properties: {
    amountUsdc: {
      type: ['number', 'string'],
      description: 'Amount in USDC, at most six decimals, as a number or as decimal text.',
      minimum: 0,
      maximum: INVOICE_RULES.amount_max,
      maxLength: INVOICE_RULES.amount_chars,
    },
    merchant: text('Wallet of the beneficiary.', ADDRESS),
    clientName: text('Whom it is for.', { maxLength: INVOICE_RULES.client_name_chars }),
    memo: text('What it is for.', { maxLength: INVOICE_RULES.memo_chars }),
    referrer: text('Who gets a part of the protocol fee, which is zero now.', ADDRESS),
  },
  required: ['amountUsdc', 'merchant'],
  additionalProperties: false,
}

const RECORD: JsonSchema = {
  type: 'object',
  description: 'The invoice: terms, links, what was paid and seen. Further members may come.',
  properties: {
    invoice_id: text('inv_ and random characters: whoever has it sees the invoice.'),
    status: text('How it stands.', { enum: ['ISSUED', 'PROCESSING', 'PARTIALLY_PAID', 'SETTLED', 'EXPIRED', 'VOID'] }),
    amount_minor: text('Minor units of USDC.'),
    amount_due_minor: text('What is left to pay.'),
    merchant: text('Who is paid, directly.'),
    pay_url: text('Where a signed authorization goes.'),
  },
  required: ['invoice_id', 'status', 'amount_minor', 'amount_due_minor', 'merchant', 'pay_url'],
}

const EXAMPLE = { amountUsdc: 49, merchant: '0x1000000000000000000000000000000000000001', clientName: 'Example Ltd', memo: 'May' }

/** The schemas that the paths below refer to, by name. */
export function recordSchemas(): Record<string, JsonSchema> {
  return { 'invoice-request': REQUEST, invoice: RECORD }
}

/** Invoices and the directory of underwriters, beside the tools; `answers` gives the responses of some statuses. */
export function recordPaths(answers: (statuses: readonly number[]) => Json): Json {
  const id = { name: 'id', in: 'path', required: true, description: 'Id of the invoice.', schema: { type: 'string', maxLength: 64 } }
  const invoice = json(ref('schemas', 'invoice'))
  return {
    '/api/invoice/create': {
      post: {
        operationId: 'create-invoice',
        summary: 'Create an invoice, for nothing.',
        description:
          'The payer pays the merchant directly on the chain. The names of create-b2b-invoice are taken too. An Idempotency-Key makes a ' +
          'retry return the first invoice.',
        tags: ['service'],
        requestBody: { required: true, content: json(ref('schemas', 'invoice-request'), EXAMPLE) },
        responses: {
          200: { description: 'The invoice that the same Idempotency-Key made before.', content: invoice },
          201: { description: 'The invoice.', content: invoice },
          ...answers([400, 413, 429, 503]),
        },
      },
    },
    '/api/invoice/{id}': {
      get: {
        operationId: 'read-invoice',
        summary: 'One invoice, as it was last seen on the chain.',
        tags: ['service'],
        parameters: [id],
        responses: {
          200: { description: 'The invoice; `stale` when the chain was not read lately.', content: invoice },
          ...answers([404, 503]),
        },
      },
    },
    '/api/insurance/register': {
      get: {
        operationId: 'list-underwriters',
        summary: 'The directory of underwriters that registered themselves; docs/pol-1.md says how.',
        tags: ['service'],
        responses: {
          200: { description: 'Entries with their signed rate cards. Listing is not vetting.', content: json({ type: 'object' }) },
          ...answers([503]),
        },
      },
    },
  }
}
