import type { JsonSchema } from '../catalogue/json-schema.ts'
import { json, PAYMENT_RESPONSES, ref, type Json } from '../catalogue/openapi-parts.ts'

const text = (description: string, more: JsonSchema = {}): JsonSchema => ({ type: 'string', description, ...more })
const ADDRESS = { pattern: '^0x[0-9a-fA-F]{40}$' }
const AMOUNT = { pattern: '^(?:0|[1-9][0-9]{0,29})$' }
const SECONDS = { pattern: '^[0-9]{1,20}$' }
const SIGNED = { pattern: '^0x(?:[0-9a-fA-F]{2}){1,4096}$' }

/** An authorization as it stands in a payment of x402. */
const AUTHORIZATION: Record<string, JsonSchema> = {
  from: text('Who pays.', ADDRESS),
  to: text('The merchant of the invoice.', ADDRESS),
  value: text('Minor units of USDC.', AMOUNT),
  validAfter: text('Seconds since 1970.', SECONDS),
  validBefore: text('Seconds since 1970.', SECONDS),
  nonce: text('32 bytes; one that `signing` of the invoice names may pay a part.', { pattern: '^0x[0-9a-fA-F]{64}$' }),
}

const PAYMENT: JsonSchema = {
  type: 'object',
  description: 'A signed transfer (EIP-3009), bare.',
  properties: {
    authorization: { type: 'object', properties: AUTHORIZATION, required: Object.keys(AUTHORIZATION) },
    signature: text('Of the payer: 65 bytes of a key, or what a contract wallet takes.', { pattern: '^0x' }),
  },
  required: ['authorization', 'signature'],
}

const PAID: JsonSchema = {
  type: 'object',
  properties: {
    invoice_id: text('The invoice.'),
    paid_minor: text('Minor units of USDC that this payment moved.'),
    settlement: ref('schemas', 'settlement'),
  },
  required: ['invoice_id', 'paid_minor', 'settlement'],
}

const SIGNATURE: JsonSchema = {
  type: 'object',
  properties: { signature: text('EIP-712 of the merchant: 65 bytes of a key, or what a contract wallet takes (ERC-1271).', SIGNED) },
  required: ['signature'],
  additionalProperties: false,
}

const RELEASE: JsonSchema = {
  type: 'object',
  properties: {
    signature: text('Of the account that paid, over a plain message (EIP-191); a contract wallet is asked by ERC-1271.', {
      pattern: '^0x(?:[0-9a-fA-F]{2}){1,2000}$',
    }),
  },
  required: ['signature'],
}

const RELEASED: JsonSchema = {
  type: 'object',
  properties: {
    code: text('The credit code, for X-CREDIT.'),
    unit: text('What it counts.', { enum: ['calls'] }),
    calls: { type: 'integer', description: 'How many.' },
  },
  required: ['code', 'unit', 'calls'],
}

/** The schemas that the paths below refer to, by name. */
export function actSchemas(): Record<string, JsonSchema> {
  return { 'invoice-payment': PAYMENT, 'invoice-paid': PAID, 'merchant-signature': SIGNATURE, 'invoice-credit': RELEASED }
}

type Answers = (statuses: readonly number[]) => Json

/** Paying, signing and voiding an invoice, and the credit that one may have bought; `id` is the part of the path. */
export function actPaths(answers: Answers, id: Json): Json {
  const paid = { description: 'The payment is settled.', headers: PAYMENT_RESPONSES, content: json(ref('schemas', 'invoice-paid')) }
  const pay = { tags: ['service'], parameters: [id, ref('parameters', 'payment-signature'), ref('parameters', 'x-payment')] }
  const merchant = (operationId: string, summary: string, refused: readonly number[]) => ({
    post: {
      operationId,
      summary,
      tags: ['service'],
      parameters: [id],
      requestBody: { required: true, content: json(ref('schemas', 'merchant-signature')) },
      responses: { 200: { description: 'The invoice.', content: json(ref('schemas', 'invoice')) }, ...answers(refused) },
    },
  })
  return {
    '/api/invoice/{id}/pay': {
      get: {
        ...pay,
        operationId: 'pay-invoice-x402',
        summary: 'The invoice as a resource of x402: 402 with its terms, and paid by a payment in a header.',
        description: 'Whoever prefers HTML gets the page where a person pays.',
        responses: {
          200: { ...paid, content: { ...paid.content, 'text/html': { schema: { type: 'string' } } } },
          ...answers([202, 400, 402, 404, 409, 410, 429, 503]),
        },
      },
      post: {
        ...pay,
        operationId: 'pay-invoice',
        summary: 'Pay an invoice by a signed transfer, which this service carries to the chain at its own expense.',
        description: 'In a header as any payment of x402, or bare as the body.',
        requestBody: { required: false, content: json(ref('schemas', 'invoice-payment')) },
        responses: { 200: paid, ...answers([202, 400, 402, 404, 409, 410, 413, 415, 429, 503]) },
      },
    },
    '/api/invoice/{id}/sign': merchant('sign-invoice', 'Sign an invoice as its merchant.', [400, 403, 404, 413, 415, 429, 503]),
    '/api/invoice/{id}/void': merchant('void-invoice', 'Void an invoice as its merchant.', [400, 403, 404, 409, 413, 415, 429, 503]),
    '/api/invoice/{id}/credit': {
      post: {
        operationId: 'release-invoice-credit',
        summary: 'The calls that a settled invoice of create-ap2-pilot bought, as a credit code for the account that paid.',
        description: 'The refusal of a wrong signature holds the text to sign. Asked again, it is the same code.',
        tags: ['service'],
        parameters: [id],
        requestBody: { required: true, content: json(RELEASE) },
        responses: {
          200: { description: 'The code.', content: json(ref('schemas', 'invoice-credit')) },
          ...answers([400, 403, 404, 409, 413, 415, 429, 503]),
        },
      },
    },
  }
}
