import { defineProtocol } from '../protocol.ts'
import { AP2_TYPES } from './mandates.ts'
import { CLOSED_RULES, RECEIPT_RULES } from './rules-closed.ts'
import { OPEN_RULES } from './rules-open.ts'
import { ENVELOPE_RULES, TIME_RULES, LEGACY_RULES } from './rules-envelope.ts'
import { LIMIT_RULES, PAYEE_RULES } from './rules-limits.ts'
import { AP2_READER } from './view.ts'

const UNTIL_0_1 = ['intent_mandate', 'cart_mandate', 'legacy_payment_mandate'] as const
const SINCE_0_2 = AP2_TYPES.filter((type) => ![...UNTIL_0_1, 'mandates', 'unknown'].includes(type))

/**
 * Agent Payments Protocol, versions 0.2 and 0.1 (repository of the protocol, read 2026-11-21): decoded claims of mandates and receipts,
 * alone, with their token, or several together such as a chain. Signatures, key bindings and counts of earlier payments are not verified.
 * Redacted and undisclosed values never cause an error.
 */
export const AP2 = defineProtocol({
  id: 'ap2',
  title: 'Agent Payments Protocol',
  ...AP2_READER,
  spans: {
    ...Object.fromEntries(SINCE_0_2.map((type) => [type, { since: '0.2' }])),
    ...Object.fromEntries(UNTIL_0_1.map((type) => [type, { until: '0.1' }])),
  },
  not_checked: [
    'signatures and key bindings',
    'digests of disclosures',
    'earlier payments that count against budgets',
    'items against requirements',
    'live state',
  ],
  secret_rule: 'AP2-012',
  rules: [ENVELOPE_RULES, CLOSED_RULES, TIME_RULES, OPEN_RULES, LIMIT_RULES, RECEIPT_RULES, LEGACY_RULES, PAYEE_RULES],
})
