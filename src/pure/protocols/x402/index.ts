import { defineProtocol } from '../protocol.ts'
import { ADDRESS_RULES, SCHEME_RULES } from './rules-addresses.ts'
import { ANSWER_RULES, ENVELOPE_RULES } from './rules-envelope.ts'
import { EXTENSION_RULES } from './rules-extensions.ts'
import { PAYLOAD_RULES } from './rules-payload.ts'
import { TERMS_RULES } from './rules-terms.ts'
import { X402_READER } from './view.ts'

/**
 * x402, protocol versions 1 and 2 (coinbase/x402 specifications, read 2026-11-21): challenges, single requirements, payloads, facilitator
 * messages and lists of resources. Token facts come from data/x402-tokens.json. Unknown networks and tokens draw warnings, never errors.
 */
export const X402 = defineProtocol({
  id: 'x402',
  title: 'x402',
  ...X402_READER,
  not_checked: ['signatures', 'balances and allowances', 'reachability of URLs', 'facilitator support', 'live state'],
  secret_rule: 'X402-043',
  rules: [ENVELOPE_RULES, TERMS_RULES, ADDRESS_RULES, EXTENSION_RULES, PAYLOAD_RULES, ANSWER_RULES, SCHEME_RULES],
})
