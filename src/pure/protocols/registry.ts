import { A2A_CAPABILITY_RULES, A2A_CARD_RULES } from './a2a/rules-card.ts'
import { A2A_INTERFACE_RULES, A2A_TRUST_RULES } from './a2a/rules-interfaces.ts'
import { A2A_SECURITY_RULES } from './a2a/rules-security.ts'
import { A2A_READER } from './a2a/view.ts'
import { ACP_DOCUMENT_RULES, ACP_PAYMENT_RULES } from './acp/rules-documents.ts'
import { ACP_LINE_RULES } from './acp/rules-lines.ts'
import { ACP_DISCOUNT_RULES, ACP_MONEY_RULES } from './acp/rules-money.ts'
import { ACP_MESSAGE_RULES, ACP_NESTED_RULES, ACP_SESSION_RULES } from './acp/rules-session.ts'
import { ACP_SCHEMA_RULES } from './acp/rules-schema.ts'
import { ACP_READER } from './acp/view.ts'
import { AP2_TYPES } from './ap2/mandates.ts'
import { AP2_CLOSED_RULES, AP2_RECEIPT_RULES } from './ap2/rules-closed.ts'
import { AP2_ENVELOPE_RULES, AP2_LEGACY_RULES, AP2_TIME_RULES } from './ap2/rules-envelope.ts'
import { AP2_LIMIT_RULES, AP2_PAYEE_RULES } from './ap2/rules-limits.ts'
import { AP2_OPEN_RULES } from './ap2/rules-open.ts'
import { AP2_READER } from './ap2/view.ts'
import { MCP_CONTENT_RULES, MCP_NESTED_RULES } from './mcp/rules-content.ts'
import { MCP_ENVELOPE_RULES } from './mcp/rules-envelope.ts'
import { MCP_DATA_RULES, MCP_RESULT_RULES } from './mcp/rules-results.ts'
import { MCP_TOOL_RULES } from './mcp/rules-tools.ts'
import { MCP_SCHEMA_RULES } from './mcp/rules-schema.ts'
import { MCP_READER } from './mcp/view.ts'
import { MICRO_AST_CATALOGUE_RULES } from './micro-ast/rules-catalogue.ts'
import { MICRO_AST_NODE_RULES } from './micro-ast/rules-nodes.ts'
import { MICRO_AST_READER } from './micro-ast/view.ts'
import { UCP_CATALOG_RULES, UCP_CHECKOUT_RULES, UCP_MESSAGE_RULES } from './ucp/rules-checkout.ts'
import { UCP_ENVELOPE_RULES } from './ucp/rules-envelope.ts'
import { UCP_HANDLER_RULES, UCP_PAYEE_RULES } from './ucp/rules-handlers.ts'
import { UCP_MONEY_RULES } from './ucp/rules-money.ts'
import { UCP_SCHEMA_RULES } from './ucp/rules-schema.ts'
import { UCP_READER } from './ucp/view.ts'
import { X402_ADDRESS_RULES, X402_SCHEME_RULES } from './x402/rules-addresses.ts'
import { X402_ANSWER_RULES, X402_ENVELOPE_RULES, X402_MESSAGE_RULES } from './x402/rules-envelope.ts'
import { X402_EXTENSION_RULES } from './x402/rules-extensions.ts'
import { X402_PAYLOAD_RULES } from './x402/rules-payload.ts'
import { X402_TERMS_RULES } from './x402/rules-terms.ts'
import { X402_READER } from './x402/view.ts'
import { type DocumentReader, listRules, type Protocol, type ProtocolId, type RuleTable } from './protocol.ts'

/** A protocol with its reader, and its tables of rules in the order in which they run. */
interface ProtocolDefinition<View> extends Omit<Protocol, 'rules' | 'open'>, DocumentReader<View> {
  rules: readonly RuleTable<View>[]
}

function defineProtocol<View>({ view, rules: tables, ...head }: ProtocolDefinition<View>): Protocol {
  const rules = tables.flatMap((table) => listRules(table))
  return {
    ...head,
    rules,
    open(context) {
      const made = view(context)
      return (index, report) => rules[index]?.check(report, made)
    },
  }
}

/**
 * Universal Commerce Protocol, versions 2026-01-11 to 2026-08-25 (ucp.dev and its repository, read 2026-11-21; the newest three days before
 * its release): profiles of businesses and platforms, checkouts, carts, orders, catalogues and errors, also inside an MCP answer. Where the
 * newest version or a published example is ambiguous, a rule warns or stays silent.
 */
const UCP = defineProtocol({
  id: 'ucp',
  title: 'Universal Commerce Protocol',
  ...UCP_READER,
  spans: { cart: { since: '2026-04-08' }, catalog: { since: '2026-04-08' } },
  not_checked: ['signatures', 'reachability of URLs', 'schemas of extensions and payment handlers', 'requests', 'live state'],
  secret_rule: 'UCP-024',
  rules: [
    UCP_ENVELOPE_RULES,
    UCP_HANDLER_RULES,
    UCP_CHECKOUT_RULES,
    UCP_MONEY_RULES,
    UCP_MESSAGE_RULES,
    UCP_PAYEE_RULES,
    UCP_CATALOG_RULES,
    UCP_SCHEMA_RULES,
  ],
})

/**
 * Agentic Commerce Protocol, versions 2025-09-29 to 2026-04-17 (published schemas and proposals, read 2026-11-21): checkout sessions,
 * orders, discovery documents, errors, allowances and feed products, also inside JSON-RPC. Sessions seldom declare their version; it is
 * inferred from their shape, or the newest that fits is assumed, with a warning. The specification has no formula for totals: every sum
 * that official examples use is accepted.
 */
const ACP = defineProtocol({
  id: 'acp',
  title: 'Agentic Commerce Protocol',
  ...ACP_READER,
  spans: { discovery: { since: '2026-04-17' }, feed_product: { since: '2026-04-17' } },
  not_checked: ['request signatures', 'payment credentials', 'prices and tax rates', 'reachability of URLs', 'live state'],
  secret_rule: 'ACP-041',
  rules: [
    ACP_SESSION_RULES,
    ACP_MONEY_RULES,
    ACP_LINE_RULES,
    ACP_MESSAGE_RULES,
    ACP_PAYMENT_RULES,
    ACP_DISCOUNT_RULES,
    ACP_DOCUMENT_RULES,
    ACP_NESTED_RULES,
    ACP_SCHEMA_RULES,
  ],
})

/**
 * Model Context Protocol, versions 2024-11-05 to 2026-07-28 (specification and schemas, read 2026-11-21): one response of a server, its
 * bare result, or a batch of 2025-03-26. Requests, answers of clients and results of unknown shape neither pass nor fail. Few results declare their version; it is inferred from their members, and without a member of
 * 2026-07-28 the rules of 2025-11-25 apply. Documents of x402, UCP and ACP inside are checked by the rules of those protocols. Members that
 * older servers may use differently draw a warning at most.
 */
const MCP = defineProtocol({
  id: 'mcp',
  title: 'Model Context Protocol',
  ...MCP_READER,
  spans: {
    initialize: { until: '2025-11-25' },
    discover: { since: '2026-07-28' },
    input_required: { since: '2026-07-28' },
    batch: { since: '2025-03-26', until: '2025-03-26' },
  },
  not_checked: ['requests', 'reachability of URLs', 'what tools do', 'tasks', 'live state'],
  rules: [MCP_ENVELOPE_RULES, MCP_RESULT_RULES, MCP_TOOL_RULES, MCP_CONTENT_RULES, MCP_DATA_RULES, MCP_NESTED_RULES, MCP_SCHEMA_RULES],
})

const UNTIL_0_1 = ['intent_mandate', 'cart_mandate', 'legacy_payment_mandate'] as const
const SINCE_0_2 = AP2_TYPES.filter((type) => ![...UNTIL_0_1, 'mandates', 'unknown'].includes(type))

/**
 * Agent Payments Protocol, versions 0.2 and 0.1 (repository of the protocol, read 2026-11-21): decoded claims of mandates and receipts,
 * alone, with their token, or several together such as a chain. Signatures, key bindings and counts of earlier payments are not verified.
 * Redacted and undisclosed values never cause an error.
 */
const AP2 = defineProtocol({
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
  rules: [
    AP2_ENVELOPE_RULES,
    AP2_CLOSED_RULES,
    AP2_TIME_RULES,
    AP2_OPEN_RULES,
    AP2_LIMIT_RULES,
    AP2_RECEIPT_RULES,
    AP2_LEGACY_RULES,
    AP2_PAYEE_RULES,
  ],
})

/**
 * x402, protocol versions 1 and 2 (coinbase/x402 specifications, read 2026-11-21): challenges, single requirements, payloads, facilitator
 * messages and lists of resources. Token facts come from data/x402-tokens.json. Unknown networks and tokens draw warnings, never errors.
 */
const X402 = defineProtocol({
  id: 'x402',
  title: 'x402',
  ...X402_READER,
  not_checked: ['signatures', 'balances and allowances', 'reachability of URLs', 'facilitator support', 'live state'],
  secret_rule: 'X402-043',
  rules: [
    X402_ENVELOPE_RULES,
    X402_TERMS_RULES,
    X402_ADDRESS_RULES,
    X402_EXTENSION_RULES,
    X402_PAYLOAD_RULES,
    X402_ANSWER_RULES,
    X402_SCHEME_RULES,
    X402_MESSAGE_RULES,
  ],
})

/** Micro-AST 1.0: a small catalogue of goods for agents. No public specification is known; docs/guide/micro-ast.md describes the format. */
const MICRO_AST = defineProtocol({
  id: 'micro-ast',
  title: 'Micro-AST',
  ...MICRO_AST_READER,
  not_checked: ['signatures', 'reachability of URLs', 'whether goods, prices and stock are as stated'],
  rules: [MICRO_AST_CATALOGUE_RULES, MICRO_AST_NODE_RULES],
})

/**
 * Agent2Agent: agent cards of 0.2.0 to 1.0 (specification and protocol buffers, read 2026-11-21), also inside a JSON-RPC answer. Cards of
 * 1.0 have their own shape; older ones declare their version or are checked by 0.2, the least strict one. Deviations that published
 * examples have, such as modes that are not media types, draw a warning.
 */
const A2A = defineProtocol({
  id: 'a2a',
  title: 'Agent2Agent',
  ...A2A_READER,
  not_checked: ['signatures', 'reachability of URLs', 'messages and tasks', 'whether the agent does what it says'],
  secret_rule: 'A2A-034',
  rules: [A2A_CARD_RULES, A2A_INTERFACE_RULES, A2A_CAPABILITY_RULES, A2A_SECURITY_RULES, A2A_TRUST_RULES],
})

/** Every protocol whose documents are checked. */
export const PROTOCOLS: Readonly<Record<ProtocolId, Protocol>> = {
  ucp: UCP,
  acp: ACP,
  mcp: MCP,
  ap2: AP2,
  x402: X402,
  'micro-ast': MICRO_AST,
  a2a: A2A,
}
