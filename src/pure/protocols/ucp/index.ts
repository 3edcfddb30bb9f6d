import { defineProtocol } from '../rule.ts'
import { detectUcp, isUcp, isUcpRequest, UCP_TYPES, UCP_VERSIONS } from './detect.ts'
import { CATALOG_RULES } from './rules-catalog.ts'
import { CHECKOUT_RULES } from './rules-checkout.ts'
import { ENVELOPE_RULES } from './rules-envelope.ts'
import { HANDLER_RULES } from './rules-handlers.ts'
import { KEY_RULES } from './rules-keys.ts'
import { LINE_RULES } from './rules-lines.ts'
import { MESSAGE_RULES } from './rules-messages.ts'
import { MONEY_RULES } from './rules-money.ts'
import { NAME_RULES } from './rules-names.ts'
import { PAYEE_RULES } from './rules-payee.ts'
import { SERVICE_RULES } from './rules-services.ts'
import { viewUcp, type UcpView } from './view.ts'
import { ucpSpecAt } from './spec.ts'

/**
 * Universal Commerce Protocol, versions 2026-01-11 to 2026-08-25 (ucp.dev and its repository, read 2026-11-21; the newest three days before
 * its cut): profiles of businesses and platforms, checkouts, carts, orders, catalogues and errors, also inside an MCP answer. Where the
 * newest version or a published example is open to readings, it errs towards silence or a warning.
 */
export const UCP = defineProtocol<UcpView>({
  id: 'ucp',
  title: 'Universal Commerce Protocol',
  versions: UCP_VERSIONS,
  types: UCP_TYPES,
  uncovered: [{ type: 'request', recognises: isUcpRequest }],
  spans: { cart: { since: '2026-04-08' }, catalog: { since: '2026-04-08' } },
  not_checked: ['signatures', 'reachability of URLs', 'schemas of extensions and payment handlers', 'requests', 'live state'],
  secret_rule: 'UCP-024',
  marks: isUcp,
  detect: detectUcp,
  specAt: ucpSpecAt,
  view: viewUcp,
  rules: [
    ...ENVELOPE_RULES,
    ...SERVICE_RULES,
    ...NAME_RULES,
    ...HANDLER_RULES,
    ...KEY_RULES,
    ...CHECKOUT_RULES,
    ...MONEY_RULES,
    ...LINE_RULES,
    ...MESSAGE_RULES,
    ...PAYEE_RULES,
    ...CATALOG_RULES,
  ],
})
