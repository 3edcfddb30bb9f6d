import { defineProtocol } from '../protocol.ts'
import { MCP_READER } from './view.ts'
import { CONTENT_RULES, NESTED_RULES } from './rules-content.ts'
import { DATA_RULES, RESULT_RULES } from './rules-results.ts'
import { ENVELOPE_RULES } from './rules-envelope.ts'
import { TOOL_RULES } from './rules-tools.ts'

/**
 * Model Context Protocol, versions 2024-11-05 to 2026-07-28 (specification and schemas, read 2026-11-21): one response of a server, its
 * bare result, or a batch of 2025-03-26. Few results declare their version; it is inferred from their members, and without a member of
 * 2026-07-28 the rules of 2025-11-25 apply. Documents of x402, UCP and ACP inside are checked by the rules of those protocols. Members that
 * older servers may use differently draw a warning at most.
 */
export const MCP = defineProtocol({
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
  rules: [ENVELOPE_RULES, RESULT_RULES, TOOL_RULES, CONTENT_RULES, DATA_RULES, NESTED_RULES],
})
