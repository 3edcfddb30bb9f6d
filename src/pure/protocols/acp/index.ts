import { defineProtocol } from '../protocol.ts'
import { ACP_READER } from './view.ts'
import { DISCOUNT_RULES, MONEY_RULES } from './rules-money.ts'
import { DOCUMENT_RULES, PAYMENT_RULES } from './rules-documents.ts'
import { LINE_RULES } from './rules-lines.ts'
import { MESSAGE_RULES, SESSION_RULES, NESTED_RULES } from './rules-session.ts'

/**
 * Agentic Commerce Protocol, versions 2025-09-29 to 2026-04-17 (published schemas and proposals, read 2026-11-21): checkout sessions,
 * orders, discovery documents, errors, allowances and feed products, also inside JSON-RPC. Sessions seldom declare their version; it is
 * inferred from their shape, or the newest that fits is assumed, with a warning. The specification has no formula for totals: every sum
 * that official examples use is accepted.
 */
export const ACP = defineProtocol({
  id: 'acp',
  title: 'Agentic Commerce Protocol',
  ...ACP_READER,
  spans: { discovery: { since: '2026-04-17' }, feed_product: { since: '2026-04-17' } },
  not_checked: ['request signatures', 'payment credentials', 'prices and tax rates', 'reachability of URLs', 'live state'],
  secret_rule: 'ACP-041',
  rules: [SESSION_RULES, MONEY_RULES, LINE_RULES, MESSAGE_RULES, PAYMENT_RULES, DISCOUNT_RULES, DOCUMENT_RULES, NESTED_RULES],
})
