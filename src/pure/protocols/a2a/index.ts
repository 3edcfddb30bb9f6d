import { defineProtocol } from '../rule.ts'
import { A2A_VERSIONS, detectA2a, isA2a, rulesVersion, UNCOVERED } from './detect.ts'
import { CAPABILITY_RULES } from './rules-capabilities.ts'
import { CARD_RULES } from './rules-card.ts'
import { INTERFACE_RULES } from './rules-interfaces.ts'
import { REQUIREMENT_RULES } from './rules-requirements.ts'
import { SCHEME_RULES } from './rules-schemes.ts'
import { SKILL_RULES } from './rules-skills.ts'
import { TRUST_RULES } from './rules-trust.ts'
import { viewA2a, type A2aView } from './view.ts'
import { a2aSpecAt } from './spec.ts'

/**
 * Agent2Agent, agent cards of 0.2.0 to 1.0 (specification and protocol buffers, read 2026-11-21), also inside a JSON-RPC answer. The shape
 * tells 1.0 from older cards; older ones state their version, or are read by 0.2, which asks for least. Where published examples depart from
 * the letter, such as modes that are no media types, it draws a warning.
 */
export const A2A = defineProtocol<A2aView>({
  id: 'a2a',
  title: 'Agent2Agent',
  versions: A2A_VERSIONS,
  types: ['agent_card'],
  uncovered: UNCOVERED,
  readVersion: rulesVersion,
  not_checked: ['signatures', 'reachability of URLs', 'messages and tasks', 'whether the agent does what it says'],
  secret_rule: 'A2A-034',
  marks: isA2a,
  detect: detectA2a,
  specAt: a2aSpecAt,
  view: viewA2a,
  rules: [...CARD_RULES, ...INTERFACE_RULES, ...CAPABILITY_RULES, ...SKILL_RULES, ...SCHEME_RULES, ...REQUIREMENT_RULES, ...TRUST_RULES],
})
