// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Block, Scope } from '../shapes.ts'

/** Read a token balance. */
export interface Erc20BalanceInput {
  /** The account: 0x and 40 hexadecimal digits. */
  address: string
  /** The token contract. */
  token_address: string
  /** Decimals to write the amount with, instead of the token’s own. */
  decimals?: number
}

export interface Erc20BalanceOutput {
  /** The balance was read. */
  valid: boolean
  /** The account, with the capitals of EIP-55. */
  address: string
  /** Whether the capitals that were given are those of EIP-55. */
  address_checksum: 'absent' | 'holds' | 'broken'
  /** The token, with the capitals of EIP-55. */
  token_address: string
  /** Whether the capitals that were given for it are those of EIP-55. */
  token_address_checksum: 'absent' | 'holds' | 'broken'
  /** The chain that was read. */
  chain: { id: number; sandbox: boolean }
  /** Everything here was read at this one block. */
  block: Block
  /** How balanceOf() answered. */
  status: 'ok' | 'not_a_contract' | 'reverted' | 'malformed'
  /** In the smallest unit, or null. */
  raw: string | null
  /** In whole tokens, exact, or null without decimals. */
  formatted: string | null
  /** Those that `formatted` is written with, or null. */
  decimals: number | null
  /** Where they come from. */
  decimals_source: 'override' | 'on_chain' | 'unavailable'
  /** What decimals() returned, or null. */
  on_chain_decimals: number | null
  /** The override is not what the token says. */
  decimals_differ: boolean
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'erc20-balance'
}
