/** Documents for the comparison with libraries: invoices as bodies of tools have them, and a schema for them. */
import { PASTED_IBANS } from './call-requests.ts'

/** One has about 330 bytes; its members are not in the order of their names. */
export function invoices(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    id: `INV-2026-${10_000 + index}`,
    creditor: { name: `Müller & Söhne ${index} GmbH`, iban: PASTED_IBANS[index % PASTED_IBANS.length] ?? '', bic: 'DEUTDEFF500' },
    amount: `${index * 17}.${10 + (index % 90)}`,
    currency: 'EUR',
    due_in_days: index % 60,
    rate: index / 8,
    urgent: index % 3 === 0,
    remittance: `invoice ${index}, "net" terms, delivered to the warehouse in Rotterdam`,
  }))
}

export function invoiceOf(lines: number) {
  return { number: 'INV-2026-1', currency: 'EUR', issued: '2026-11-21', lines: invoices(lines) }
}

const TEXT = { type: 'string', minLength: 1, maxLength: 140 }

export const INVOICE_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  required: ['number', 'currency', 'lines'],
  additionalProperties: false,
  properties: {
    number: { type: 'string', pattern: '^INV-[0-9]{4}-[0-9]+$' },
    currency: { $ref: '#/$defs/currency' },
    issued: { type: 'string', format: 'date' },
    lines: { type: 'array', minItems: 1, maxItems: 1000, items: { $ref: '#/$defs/line' } },
  },
  $defs: {
    currency: { type: 'string', enum: ['EUR', 'USD', 'GBP', 'CHF'] },
    party: {
      type: 'object',
      required: ['name', 'iban'],
      properties: { name: TEXT, iban: { type: 'string', pattern: '^[A-Z]{2}[0-9]{2}[A-Z0-9 ]{11,40}$' }, bic: TEXT },
      additionalProperties: false,
    },
    line: {
      type: 'object',
      required: ['id', 'creditor', 'amount', 'currency'],
      additionalProperties: false,
      properties: {
        id: { type: 'string', pattern: '^INV-' },
        creditor: { $ref: '#/$defs/party' },
        amount: { type: 'string', pattern: '^[0-9]+\\.[0-9]{2}$' },
        currency: { $ref: '#/$defs/currency' },
        due_in_days: { type: 'integer', minimum: 0, maximum: 365 },
        rate: { type: 'number', minimum: 0 },
        urgent: { type: 'boolean' },
        remittance: { anyOf: [TEXT, { type: 'null' }] },
      },
    },
  },
} as const
