import { json, ref, type Json } from '../../service/catalogue/openapi-parts.ts'
import type { JsonSchema } from '../../service/catalogue/json-schema.ts'
import { CREDIT_RULES } from '../../service/credits/rules.ts'

const text = (description: string, more: JsonSchema = {}): JsonSchema => ({ type: 'string', description, ...more })
const AMOUNT = { pattern: '^\\d{1,20}$' }

const BALANCE: JsonSchema = {
  type: 'object',
  properties: {
    unit: text('What the amounts count.', { enum: ['usdc_minor', 'calls'] }),
    unit_minor: text('Minor units of USDC that one unit was paid with.', AMOUNT),
    available: text('What further calls may cost.', AMOUNT),
    granted: text('What was bought.', AMOUNT),
    spent: text('What answered calls have cost.', AMOUNT),
    reserved: text('What calls that are running may cost.', AMOUNT),
    reversed: text('What refunds and disputes of the card payment took back.', AMOUNT),
    shortfall: text('What they could not take back.', AMOUNT),
    origin: text('How it was paid.', { enum: ['card', 'invoice'] }),
    created_at: text('RFC 3339.'),
    entries: { type: 'array', maxItems: 100, items: { type: 'object' }, description: 'Debits and reversals, newest first; no inputs.' },
  },
  required: ['unit', 'available', 'granted', 'spent', 'reserved', 'reversed', 'shortfall', 'entries'],
}

const CHECKOUT: JsonSchema = {
  type: 'object',
  properties: {
    pack: { type: 'integer', description: 'Whole US dollars: one of the packs that the page of credits offers.' },
    claim_hash: text('keccak-256 of a random text that only the buyer keeps.', { pattern: '^0x[0-9a-f]{64}$' }),
  },
  required: ['pack', 'claim_hash'],
}

const OPENED: JsonSchema = { type: 'object', properties: { url: text('A page of the card processor.') }, required: ['url'] }

const HANDOVER: JsonSchema = {
  type: 'object',
  properties: {
    session_id: text('Id of the checkout.', { pattern: '^cs_\\w+$', maxLength: CREDIT_RULES.session_chars }),
    secret: text('The text whose hash the checkout was opened with.', { pattern: '^[\\x21-\\x7e]{32,128}$' }),
    seen: { type: 'boolean', default: false, description: 'True once the code has been kept, which erases it here.' },
  },
  required: ['session_id', 'secret'],
}

const HANDED: JsonSchema = {
  type: 'object',
  properties: {
    status: text('waiting until the payment is confirmed, for a wrong secret too; then ready, and shown once it was seen.', {
      enum: ['waiting', 'ready', 'shown'],
    }),
    code: text('The credit code; only when ready.'),
    amount_minor: text('What it was sold for, in minor units of USDC; not while waiting.', AMOUNT),
  },
  required: ['status'],
}

/** The schemas that the paths below refer to, by name. */
export function creditSchemas(): Record<string, JsonSchema> {
  return { 'credit-checkout': CHECKOUT, 'credit-handover': HANDOVER }
}

/** Credits; people buy them on the page, which asks here. `answers` gives the responses of some statuses. */
export function creditPaths(answers: (statuses: readonly number[]) => Json): Json {
  const code = { name: 'X-CREDIT', in: 'header', required: true, description: 'The code.', schema: { type: 'string', maxLength: 64 } }
  const summary = 'What is left of a prepaid credit.'
  return {
    '/api/credits/balance': {
      get: {
        operationId: 'credit-balance',
        summary,
        tags: ['service'],
        parameters: [code],
        responses: { 200: { description: summary, content: json(BALANCE) }, ...answers([403, 429, 503]) },
      },
    },
    '/api/credits/checkout': {
      post: {
        operationId: 'credit-checkout',
        summary: 'Open a checkout of the card processor, where a person pays for a credit.',
        tags: ['service'],
        requestBody: { required: true, content: json(ref('schemas', 'credit-checkout')) },
        responses: {
          200: { description: 'Where the buyer pays.', content: json(OPENED) },
          ...answers([400, 413, 415, 429, 503]),
        },
      },
    },
    '/api/credits/code': {
      post: {
        operationId: 'credit-code',
        summary: 'The code of a credit that was bought, for whoever holds the secret of its checkout.',
        tags: ['service'],
        requestBody: { required: true, content: json(ref('schemas', 'credit-handover')) },
        responses: { 200: { description: 'How the handing over stands.', content: json(HANDED) }, ...answers([400, 413, 415, 429, 503]) },
      },
    },
  }
}
