import { defineProtocol } from '../protocol.ts'
import { UCP_READER } from './view.ts'
import { CATALOG_RULES, CHECKOUT_RULES, MESSAGE_RULES } from './rules-checkout.ts'
import { ENVELOPE_RULES } from './rules-envelope.ts'
import { HANDLER_RULES, PAYEE_RULES } from './rules-handlers.ts'
import { MONEY_RULES } from './rules-money.ts'

/**
 * Universal Commerce Protocol, versions 2026-01-11 to 2026-08-25 (ucp.dev and its repository, read 2026-11-21; the newest three days before
 * its release): profiles of businesses and platforms, checkouts, carts, orders, catalogues and errors, also inside an MCP answer. Where the
 * newest version or a published example is ambiguous, a rule warns or stays silent.
 */
export const UCP = defineProtocol({
  id: 'ucp',
  title: 'Universal Commerce Protocol',
  ...UCP_READER,
  spans: { cart: { since: '2026-04-08' }, catalog: { since: '2026-04-08' } },
  not_checked: ['signatures', 'reachability of URLs', 'schemas of extensions and payment handlers', 'requests', 'live state'],
  secret_rule: 'UCP-024',
  rules: [ENVELOPE_RULES, HANDLER_RULES, CHECKOUT_RULES, MONEY_RULES, MESSAGE_RULES, PAYEE_RULES, CATALOG_RULES],
})
