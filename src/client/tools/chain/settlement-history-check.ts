// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Block, Scope } from '../shapes.ts'

/** Read two days of USDC transfers. */
export interface SettlementHistoryCheckInput {
  /** The account: 0x and 40 hexadecimal digits. */
  address: string
}

export interface SettlementHistoryCheckOutput {
  /** The whole window was read. */
  valid: true
  /** The account, with the capitals of EIP-55. */
  address: string
  /** Whether the capitals that were given are those of EIP-55. */
  address_checksum: 'absent' | 'holds' | 'broken'
  /** The chain that was read. */
  chain: { id: number; sandbox: boolean }
  /** USDC of this chain. */
  token: string
  /** The last block that was read. */
  block: Block
  /** USDC sent to others, exact decimal text: sent.total. */
  usdc_sent: string
  /** USDC received from others, exact decimal text: received.total. */
  usdc_received: string
  /** To others. */
  sent: { count: number; total_minor: string; total: string }
  /** From others. */
  received: { count: number; total_minor: string; total: string }
  /** From the account to itself: in neither of the two. */
  to_self: { count: number; total_minor: string; total: string }
  /** Received less sent, in minor units. */
  net_minor: string
  /** Different addresses on the other side. */
  counterparties: number
  /** What the totals are over. */
  coverage: { from_block: string; to_block: string; blocks: number; complete: true; clipped_at_genesis: boolean }
  /** The newest 200, newest first; totals count all. */
  transfers: readonly {
    direction: 'sent' | 'received' | 'to_self'
    counterparty: string
    amount_minor: string
    block: string
    transaction: string
    log_index: number
  }[]
  /** There are more than are listed. */
  transfers_truncated: boolean
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'settlement-history-check'
}
