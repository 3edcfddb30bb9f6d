import { defineProtocol, type Context } from '../rule.ts'

export const MCP = defineProtocol<Context>({
  id: 'mcp',
  title: 'Model Context Protocol',
  versions: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'],
  types: ['response'],
  not_checked: ['signatures', 'reachability', 'live state'],
  marks: (document) => document.has('jsonrpc'),
  detect: () => ({ type: 'response', version: '2026-07-28', version_source: 'assumed' }),
  view: (context) => context,
  rules: [],
})
