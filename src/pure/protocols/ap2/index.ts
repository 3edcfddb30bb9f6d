import { defineProtocol } from '../rule.ts'
import { AP2_TYPES } from './mandates.ts'
import { CHECKOUT_RULES } from './rules-checkout.ts'
import { CONSTRAINT_RULES } from './rules-constraints.ts'
import { ENVELOPE_RULES } from './rules-envelope.ts'
import { LEGACY_RULES } from './rules-legacy.ts'
import { LIMIT_RULES } from './rules-limits.ts'
import { OPEN_RULES } from './rules-open.ts'
import { PAYEE_RULES } from './rules-payee.ts'
import { PAYMENT_RULES } from './rules-payment.ts'
import { RECEIPT_RULES } from './rules-receipts.ts'
import { TIME_RULES } from './rules-times.ts'
import { AP2_VERSIONS, detectAp2, isAp2, viewAp2, type Ap2View } from './view.ts'
import { ap2SpecAt } from './spec.ts'

const UNTIL_0_1 = ['intent_mandate', 'cart_mandate', 'legacy_payment_mandate'] as const
const SINCE_0_2 = AP2_TYPES.filter((type) => ![...UNTIL_0_1, 'mandates', 'unknown'].includes(type))

/**
 * Agent Payments Protocol, versions 0.2 and 0.1 (repository of the protocol, read 2026-11-21): decoded claims of mandates and receipts, alone,
 * in tokens taken apart, or several together such as a chain. No signature, no key binding and no count of earlier payments is verified.
 * What is redacted or not disclosed is never held against a document, so it errs towards silence there.
 */
export const AP2 = defineProtocol<Ap2View>({
  id: 'ap2',
  title: 'Agent Payments Protocol',
  versions: AP2_VERSIONS,
  types: AP2_TYPES,
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
  marks: isAp2,
  detect: detectAp2,
  specAt: ap2SpecAt,
  view: viewAp2,
  rules: [
    ...ENVELOPE_RULES,
    ...CHECKOUT_RULES,
    ...PAYMENT_RULES,
    ...TIME_RULES,
    ...OPEN_RULES,
    ...CONSTRAINT_RULES,
    ...LIMIT_RULES,
    ...RECEIPT_RULES,
    ...LEGACY_RULES,
    ...PAYEE_RULES,
  ],
})
