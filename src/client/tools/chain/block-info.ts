// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Scope } from '../shapes.ts'

/** Read a block header. */
export interface BlockInfoInput {
  /** Number, decimal or 0x hex, or latest (default), earliest, pending, finalized, safe. */
  block?: string
}

export interface BlockInfoOutput {
  /** The chain has this block. */
  valid: boolean
  /** The chain has this block. */
  found: boolean
  /** What was looked for: a tag, or a decimal number. */
  requested: string
  /** The chain that was read. */
  chain: { id: number; sandbox: boolean }
  /** Height, decimal. */
  number: string | null
  /** Null while pending. */
  hash: string | null
  /** Hash of the block before. */
  parent_hash: string | null
  /** Seconds since 1970. */
  timestamp_s: number | null
  /** The same, RFC 3339. */
  timestamp: string | null
  /** Seconds between that time and this answer. */
  age_s: number | null
  /** Transactions in it. */
  transaction_count: number | null
  /** Wei per gas, or null before EIP-1559. */
  base_fee_wei: string | null
  /** Gas of its transactions. */
  gas_used: string | null
  /** Gas that it could have held. */
  gas_limit: string | null
  /** Nothing will replace it; null where the node does not say. */
  final: boolean | null
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'block-info'
}
