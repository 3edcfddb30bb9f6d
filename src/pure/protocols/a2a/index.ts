import { defineProtocol } from '../protocol.ts'
import { A2A_READER } from './view.ts'
import { CAPABILITY_RULES, CARD_RULES, SKILL_RULES } from './rules-card.ts'
import { INTERFACE_RULES, TRUST_RULES } from './rules-interfaces.ts'
import { SECURITY_RULES } from './rules-security.ts'

/**
 * Agent2Agent: agent cards of 0.2.0 to 1.0 (specification and protocol buffers, read 2026-11-21), also inside a JSON-RPC answer. Cards of
 * 1.0 have their own shape; older ones declare their version or are checked by 0.2, the least strict one. Deviations that published
 * examples have, such as modes that are not media types, draw a warning.
 */
export const A2A = defineProtocol({
  id: 'a2a',
  title: 'Agent2Agent',
  ...A2A_READER,
  not_checked: ['signatures', 'reachability of URLs', 'messages and tasks', 'whether the agent does what it says'],
  secret_rule: 'A2A-034',
  rules: [CARD_RULES, INTERFACE_RULES, CAPABILITY_RULES, SKILL_RULES, SECURITY_RULES, TRUST_RULES],
})
