import { defineProtocol } from '../rule.ts'
import { detectAcp, isAcp, isAcpCart, isAcpRequest } from './detect.ts'
import { DISCOUNT_RULES } from './rules-discounts.ts'
import { DOCUMENT_RULES } from './rules-documents.ts'
import { FULFILLMENT_RULES } from './rules-fulfillment.ts'
import { LINE_RULES } from './rules-lines.ts'
import { MESSAGE_RULES } from './rules-messages.ts'
import { MONEY_RULES } from './rules-money.ts'
import { NESTED_RULES } from './rules-nested.ts'
import { PAYMENT_RULES } from './rules-payment.ts'
import { SESSION_RULES } from './rules-session.ts'
import { ACP_TYPES, ACP_VERSIONS } from './shape.ts'
import { viewAcp, type AcpView } from './view.ts'
import { acpSpecAt } from './spec.ts'

/**
 * Agentic Commerce Protocol, versions 2025-09-29 to 2026-04-17 (published schemas and proposals, read 2026-11-21): checkout sessions, orders,
 * discovery documents, errors, allowances and feed products, also inside JSON-RPC. Sessions seldom state their version; then their shape
 * tells it, or the newest that suits is used, with a warning. No formula of totals is written: what official examples bear out is right.
 */
export const ACP = defineProtocol<AcpView>({
  id: 'acp',
  title: 'Agentic Commerce Protocol',
  versions: ACP_VERSIONS,
  types: ACP_TYPES,
  uncovered: [
    { type: 'request', recognises: isAcpRequest },
    { type: 'cart', recognises: isAcpCart },
    { type: 'feed', recognises: (document) => document.has('products') },
    { type: 'authentication_session', recognises: () => false },
  ],
  spans: { discovery: { since: '2026-04-17' }, feed_product: { since: '2026-04-17' } },
  not_checked: ['request signatures', 'payment credentials', 'prices and tax rates', 'reachability of URLs', 'live state'],
  secret_rule: 'ACP-041',
  marks: isAcp,
  detect: detectAcp,
  specAt: acpSpecAt,
  view: viewAcp,
  rules: [
    ...SESSION_RULES,
    ...MONEY_RULES,
    ...LINE_RULES,
    ...FULFILLMENT_RULES,
    ...MESSAGE_RULES,
    ...PAYMENT_RULES,
    ...DISCOUNT_RULES,
    ...DOCUMENT_RULES,
    ...NESTED_RULES,
  ],
})
