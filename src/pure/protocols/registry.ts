import { A2A } from './a2a/index.ts'
import { ACP } from './acp/index.ts'
import { AP2 } from './ap2/index.ts'
import { MCP } from './mcp/index.ts'
import { MICRO_AST } from './micro-ast/index.ts'
import type { Protocol, ProtocolId } from './protocol.ts'
import { UCP } from './ucp/index.ts'
import { X402 } from './x402/index.ts'

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
