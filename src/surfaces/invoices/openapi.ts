import { json, ref, type Json } from '../../service/catalogue/openapi-parts.ts'
import type { JsonSchema } from '../../service/catalogue/json-schema.ts'
import { actPaths, actSchemas } from '../../service/invoices/openapi-acts.ts'
import { INVOICE_RULES } from '../../service/invoices/rules.ts'

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
    merchant: text('Wallet of the beneficiary. A broken checksum (EIP-55) is refused.', ADDRESS),
    clientName: text('Whom it is for.', { maxLength: INVOICE_RULES.client_name_chars }),
    memo: text('What it is for.', { maxLength: INVOICE_RULES.memo_chars }),
    referrer: text('Who gets a part of the protocol fee, which is zero now.', ADDRESS),
    signature: text(
      'Of the merchant, for an invoice that is signed from the start and never evicted. EIP-712 in the domain {name: "assay invoice", version: "1", ' +
        'chainId, verifyingContract: the USDC token} over InvoiceCreate(bytes32 request,address merchant,uint256 amount,bytes32 cart): request is the ' +
        'keccak-256 of the Idempotency-Key, amount in minor units, cart the keccak-256 of the RFC 8785 text of ' +
        '{merchant, amount_minor, memo, client_name, chain_id, token} (lower-case addresses, amount_minor as text, null for what is absent).',
      { pattern: '^0x(?:[0-9a-fA-F]{2}){1,4096}$' },
    ),
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
    transaction_found: {
      type: ['boolean', 'null'],
      description: 'Only in answer to a transaction that was named: whether a block holds it; null where no chain is read.',
    },
  },
  required: ['invoice_id', 'status', 'amount_minor', 'amount_due_minor', 'merchant', 'pay_url'],
}

const TRANSACTION: JsonSchema = {
  type: 'object',
  properties: { tx_hash: text('Hash of a transaction that is said to pay it.', { pattern: '^0x[0-9a-fA-F]{64}$' }) },
  required: ['tx_hash'],
  additionalProperties: false,
}

const REQUEST_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'Names this request: a retry with the same content returns the first invoice, with other content it is refused.',
  schema: { type: 'string', pattern: `^[\\x21-\\x7e]{1,${INVOICE_RULES.request_key_chars}}$` },
}

const EXAMPLE = { amountUsdc: 49, merchant: '0x1000000000000000000000000000000000000001', clientName: 'Example Ltd', memo: 'May' }

/** The schemas that the paths below refer to, by name. */
export function invoiceSchemas(): Record<string, JsonSchema> {
  return {
    'invoice-request': REQUEST,
    invoice: RECORD,
    'invoice-transaction': TRANSACTION,
    ...actSchemas(),
  }
}

type Answers = (statuses: readonly number[]) => Json

/** Invoices, beside the tools; `answers` gives the responses of some statuses. */
export function invoicePaths(answers: Answers): Json {
  const id = { name: 'id', in: 'path', required: true, description: 'Id of the invoice.', schema: { type: 'string', maxLength: 64 } }
  const invoice = json(ref('schemas', 'invoice'))
  return {
    '/api/invoice/create': {
      post: {
        operationId: 'create-invoice',
        summary: 'Create an invoice, for nothing.',
        description:
          'The payer pays the merchant directly on the chain. The names of create-b2b-invoice are taken too. An Idempotency-Key makes a ' +
          'retry return the first invoice. Without a signature of the merchant the invoice is unsigned: when a network (/24, /48) or all networks together ' +
          'hold as many as are taken, the oldest unsigned ones without a payment are evicted.',
        tags: ['service'],
        parameters: [REQUEST_KEY],
        requestBody: { required: true, content: json(ref('schemas', 'invoice-request'), EXAMPLE) },
        responses: {
          200: { description: 'The invoice that the same Idempotency-Key made before.', content: invoice },
          201: { description: 'The invoice.', content: invoice },
          ...answers([400, 403, 409, 413, 415, 429, 503]),
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
    '/api/invoice/{id}/events': {
      get: {
        operationId: 'follow-invoice',
        summary: 'The same record as server-sent events: at once, and again whenever it changes.',
        description:
          'Each event is named invoice, carries the whole record as data and its entity tag as id; Last-Event-ID spares what is known. Comments keep ' +
          'the line alive. A stream ends after ten minutes at the latest, with an event named end.',
        tags: ['service'],
        parameters: [id],
        responses: {
          200: { description: 'The stream.', content: { 'text/event-stream': { schema: { type: 'string' } } } },
          ...answers([404, 429, 503]),
        },
      },
    },
    '/api/invoice/{id}/transactions': {
      post: {
        operationId: 'name-invoice-transaction',
        summary: 'Look for payments of the invoice in one transaction, now; nothing is believed but the chain.',
        tags: ['service'],
        parameters: [id],
        requestBody: { required: true, content: json(ref('schemas', 'invoice-transaction'), { tx_hash: `0x${'0'.repeat(64)}` }) },
        responses: {
          200: {
            description: 'The invoice, with `transaction_found`.',
            content: invoice,
          },
          ...answers([400, 404, 413, 415, 429, 503]),
        },
      },
    },
    ...actPaths(answers, id),
    ...documentPaths(answers, id),
  }
}

/** What an invoice looks like on paper and to a camera. */
function documentPaths(answers: Answers, id: Json): Json {
  const kind = { name: 'kind', in: 'query', description: 'epc for the code of a bank transfer.', schema: { type: 'string', enum: ['epc'] } }
  return {
    '/api/invoice/{id}/pdf': {
      get: {
        operationId: 'invoice-pdf',
        summary: 'The invoice as PDF.',
        tags: ['service'],
        parameters: [id],
        responses: {
          200: {
            description: 'The document.',
            content: { 'application/pdf': { schema: { type: 'string', contentMediaType: 'application/pdf' } } },
          },
          ...answers([404, 422, 429, 503]),
        },
      },
    },
    '/api/invoice/{id}/qr.svg': {
      get: {
        operationId: 'invoice-code',
        summary: 'A QR code by which a wallet pays what is due; 404 once nothing is to be paid by it.',
        tags: ['service'],
        parameters: [id, kind],
        responses: {
          200: { description: 'The code.', content: { 'image/svg+xml': { schema: { type: 'string' } } } },
          ...answers([404, 503]),
        },
      },
    },
  }
}
