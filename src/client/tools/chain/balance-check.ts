// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Block, Scope } from '../shapes.ts'

/** Read an account’s balances. */
export interface BalanceCheckInput {
  /** The account: 0x and 40 hexadecimal digits. */
  address: string
  /** The token; USDC of the chain when left out. */
  token_address?: string
}

export interface BalanceCheckOutput {
  /** Both balances were read. */
  valid: boolean
  /** The account, with the capitals of EIP-55. */
  address: string
  /** Whether the capitals that were given are those of EIP-55. */
  address_checksum: 'absent' | 'holds' | 'broken'
  /** The chain that was read. */
  chain: { id: number; sandbox: boolean }
  /** Everything here was read at this one block. */
  block: Block
  /** The coin in which gas is paid. */
  native: { symbol: 'ETH'; raw: string; decimals: number; formatted: string }
  /** The token. */
  token: {
    address: string
    address_checksum: 'absent' | 'holds' | 'broken'
    is_usdc: boolean
    status: 'ok' | 'not_a_contract' | 'reverted' | 'malformed'
    raw: string | null
    decimals: number | null
    decimals_source: 'on_chain' | 'unavailable'
    formatted: string | null
  }
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'balance-check'
}
