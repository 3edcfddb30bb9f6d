import { json, type Json } from '../catalogue/openapi-parts.ts'
import type { JsonSchema } from '../catalogue/json-schema.ts'

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

/** What a program needs of credits; they are bought by people, on the page. `answers` gives the responses of some statuses. */
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
  }
}
