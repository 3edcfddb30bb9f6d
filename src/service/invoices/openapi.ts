import { json, ref, type Json } from '../catalogue/openapi-parts.ts'
import type { JsonSchema } from '../catalogue/json-schema.ts'
import { COVERAGE_TYPES } from '../../pure/rulebooks/pol1-table.ts'
import { INVOICE_RULES } from './rules.ts'

const text = (description: string, more: JsonSchema = {}): JsonSchema => ({ type: 'string', description, ...more })
const whole = (description: string, minimum: number, maximum: number): JsonSchema => ({ type: 'integer', description, minimum, maximum })
const ADDRESS = { pattern: '^0x[0-9a-fA-F]{40}$' }

const ENTRY_MEMBERS = [
  'underwriter',
  'name',
  'origin',
  'coverage_type',
  'min_coverage_minor',
  'max_coverage_minor',
  'rate_bps',
  'min_premium_minor',
  'term_days',
  'jurisdictions',
  'licence_reference',
  'terms_uri',
  'terms_hash',
  'issued_at',
  'valid_until',
]

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

/** What an underwriter sends; docs/pol-1.md says what is signed. */
const REGISTRATION: JsonSchema = {
  type: 'object',
  properties: {
    entry: {
      type: 'object',
      description: 'The rate card. Amounts are decimal text in minor units of USDC, times are seconds since 1970.',
      properties: {
        underwriter: text('Who signs.', ADDRESS),
        name: text('Plain text.', { maxLength: 80 }),
        origin: text('The origin of this service: an entry is meant for one directory.', { maxLength: 256 }),
        coverage_type: text('What is covered.', { enum: COVERAGE_TYPES }),
        min_coverage_minor: text('Least cover.', { pattern: '^(?:0|[1-9][0-9]{0,29})$' }),
        max_coverage_minor: text('Most cover.', { pattern: '^[1-9][0-9]{0,29}$' }),
        rate_bps: whole('Premium in basis points of the cover.', 0, 10_000),
        min_premium_minor: text('Least premium.', { pattern: '^(?:0|[1-9][0-9]{0,29})$' }),
        term_days: whole('Length of the cover.', 1, 3_660),
        jurisdictions: {
          type: 'array',
          description: 'ISO 3166-1 alpha-2.',
          items: { type: 'string', pattern: '^[A-Z]{2}$' },
          minItems: 1,
          maxItems: 20,
        },
        licence_reference: text('Plain text, or empty.', { maxLength: 80 }),
        terms_uri: text('Where the terms are; it is not fetched.', { pattern: '^https://', maxLength: 520 }),
        terms_hash: text('Their hash.', { pattern: '^0x[0-9a-fA-F]{64}$' }),
        issued_at: whole('A later one takes the place of an earlier one.', 0, 999_999_999_999),
        valid_until: whole('At most 366 days ahead.', 0, 999_999_999_999),
      },
      required: ENTRY_MEMBERS,
      additionalProperties: false,
    },
    signature: text('EIP-712 of the underwriter: 65 bytes of a key, or what a contract wallet takes on this chain (ERC-1271).', {
      pattern: '^0x(?:[0-9a-fA-F]{2}){1,4096}$',
    }),
  },
  required: ['entry', 'signature'],
}

const REGISTERED: JsonSchema = {
  type: 'object',
  properties: {
    status: text('How it was taken.', { enum: ['registered', 'unchanged'] }),
    underwriter_id: text('Its name in the directory.'),
    entry_hash: text('The digest that was signed.'),
    vetted: { type: 'boolean', const: false, description: 'Listing is not vetting.' },
    entry: { type: 'object', description: 'The entry with its signature.' },
  },
  required: ['status', 'underwriter_id', 'entry_hash', 'vetted', 'entry'],
}

const EXAMPLE = { amountUsdc: 49, merchant: '0x1000000000000000000000000000000000000001', clientName: 'Example Ltd', memo: 'May' }

/** The schemas that the paths below refer to, by name. */
export function recordSchemas(): Record<string, JsonSchema> {
  return {
    'invoice-request': REQUEST,
    invoice: RECORD,
    'invoice-transaction': TRANSACTION,
    'underwriter-registration': REGISTRATION,
    'underwriter-registered': REGISTERED,
  }
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
          ...answers([400, 404, 413, 429, 503]),
        },
      },
    },
    ...insurancePaths(answers),
  }
}

function insurancePaths(answers: (statuses: readonly number[]) => Json): Json {
  const registered = json(ref('schemas', 'underwriter-registered'))
  return {
    '/api/insurance/register': {
      post: {
        operationId: 'register-underwriter',
        summary: 'Register as an underwriter, for nothing: one entry an address, signed by it.',
        description: 'Nothing is vetted; whoever controls an address can register. docs/pol-1.md says what is signed.',
        tags: ['service'],
        requestBody: { required: true, content: json(ref('schemas', 'underwriter-registration')) },
        responses: {
          200: { description: 'The entry was there already.', content: registered },
          201: { description: 'The entry is in the directory.', content: registered },
          ...answers([400, 413, 429, 503]),
        },
      },
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
