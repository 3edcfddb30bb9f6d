// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Block, Scope } from '../shapes.ts'

/** Read an account’s activity. */
export interface TxActivityInput {
  /** The account: 0x and 40 hexadecimal digits. */
  address: string
}

export interface TxActivityOutput {
  /** The account was read. */
  valid: true
  /** The account, with the capitals of EIP-55. */
  address: string
  /** Whether the capitals that were given are those of EIP-55. */
  address_checksum: 'absent' | 'holds' | 'broken'
  /** The chain that was read. */
  chain: { id: number; sandbox: boolean }
  /** Everything here was read at this one block. */
  block: Block
  /** Transactions sent; for a contract, contracts it created plus one. */
  outbound_nonce: string
  /** An account with a key has sent, or delegated, at least once. */
  has_sent: boolean
  /** It has code of its own; a delegated account has not. */
  is_contract: boolean
  /** empty: no code, nonce or coin. */
  account_kind: 'empty' | 'eoa' | 'delegated_eoa' | 'contract'
  /** Whose code a delegated account runs, or null. */
  delegate: string | null
  /** Bytes of code. */
  code_size: number
  /** Its native balance is above zero. */
  funded: boolean
  /** Native balance in wei. */
  native_raw: string
  /** Native balance in ether, exact. */
  native_formatted: string
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'tx-activity'
}
