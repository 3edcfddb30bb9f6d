import { defineProtocol } from '../rule.ts'
import { detectMcp, isMcp, MCP_TYPES, MCP_VERSIONS } from './detect.ts'
import { CONTENT_RULES } from './rules-content.ts'
import { DATA_RULES } from './rules-data.ts'
import { ENVELOPE_RULES } from './rules-envelope.ts'
import { NESTED_RULES } from './rules-nested.ts'
import { RESULT_RULES } from './rules-results.ts'
import { SCHEMA_RULES } from './rules-schemas.ts'
import { TOOL_RULES } from './rules-tools.ts'
import { viewMcp, type McpView } from './view.ts'
import { mcpSpecAt } from './spec.ts'

/**
 * Model Context Protocol, versions 2024-11-05 to 2026-07-28 (specification and schemas, read 2026-11-21): one response of a server, its bare
 * result, or a batch of 2025-03-26. Few results say their version: then their members tell it, and one that has none of 2026-07-28 is read
 * by 2025-11-25. Payments of x402 and checkouts of UCP and ACP inside are checked by their own rules. What an older server may mean
 * differently draws a warning or nothing.
 */
export const MCP = defineProtocol<McpView>({
  id: 'mcp',
  title: 'Model Context Protocol',
  versions: MCP_VERSIONS,
  types: MCP_TYPES,
  uncovered: [
    // MCP-005 speaks of requests where an answer was meant; only a caller who states them gets no verdict.
    { type: 'request', recognises: () => false },
    { type: 'notification', recognises: () => false },
  ],
  spans: {
    initialize: { until: '2025-11-25' },
    discover: { since: '2026-07-28' },
    input_required: { since: '2026-07-28' },
    batch: { since: '2025-03-26', until: '2025-03-26' },
  },
  not_checked: ['requests', 'reachability of URLs', 'what tools do', 'tasks', 'live state'],
  marks: isMcp,
  detect: detectMcp,
  specAt: mcpSpecAt,
  view: viewMcp,
  rules: [...ENVELOPE_RULES, ...RESULT_RULES, ...TOOL_RULES, ...SCHEMA_RULES, ...CONTENT_RULES, ...DATA_RULES, ...NESTED_RULES],
})
