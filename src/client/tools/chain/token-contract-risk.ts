// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Scope } from '../shapes.ts'

/** Read facts about a token contract. */
export interface TokenContractRiskInput {
  /** The contract: 0x and 40 hexadecimal digits. */
  address: string
  /** Only base. */
  chain?: 'base'
}

export interface TokenContractRiskOutput {
  /** Everything was read. */
  valid: true
  /** The address, with the capitals of EIP-55. */
  address: string
  /** It has code of its own; a delegated account has not. */
  is_contract: boolean
  /** The account at the address. */
  account: {
    kind: 'empty' | 'eoa' | 'delegated_eoa' | 'contract'
    code_size: number
    code_hash: string | null
    metadata_bytes: number | null
    checksum: 'absent' | 'holds' | 'broken'
  }
  /** The chain that was asked for. */
  chain: 'base'
  /** Everything was read at this one block. */
  block: { number: string; hash: string; timestamp: string; age_s: number; chain_id: number; sandbox: boolean }
  /** What it answers as a token. */
  erc20: {
    conforms: boolean | null
    name: string | null
    symbol: string | null
    decimals: number | null
    total_supply: string | null
    encoding: 'string' | 'bytes32' | null
    altered: readonly string[]
    missing: readonly string[]
    errors: Readonly<Record<string, 'reverted' | 'no_data' | 'malformed' | 'out_of_range'>>
  }
  /** What it delegates to. */
  proxy: {
    is_proxy: boolean | null
    kind: string | null
    implementation: string | null
    implementation_status: 'code' | 'no_code' | 'dirty' | 'unknown' | null
    implementation_code_hash: string | null
    admin: string | null
    admin_kind: 'empty' | 'eoa' | 'delegated_eoa' | 'contract' | 'proxy_admin' | null
    admin_owner: string | null
    beacon: string | null
    upgradeable: boolean | null
    slots_checked: readonly Readonly<Record<string, unknown>>[]
    facet_count: number | null
  }
  /** Who owns it, as far as it says. */
  owner: {
    status: 'address' | 'zero' | 'dead' | 'not_present' | 'reverted' | 'unknown'
    address: string | null
    method: 'owner()' | 'getOwner()' | null
    pending_owner: string | null
    account_kind: 'empty' | 'eoa' | 'delegated_eoa' | 'contract' | null
    note: string | null
  }
  /** Well-known functions for operators that occur. */
  privileged_selectors: readonly {
    category: string
    signature: string
    selector: string
    where: 'contract' | 'implementation' | 'facet'
    evidence: 'dispatcher' | 'constant_only' | 'loupe'
  }[]
  /** Opcodes worth knowing of. SSTORE is always listed. */
  opcodes: readonly {
    name: string
    count: number
    where: 'contract' | 'implementation' | 'facet'
    evidence: 'linear_sweep'
    note: string | null
  }[]
  /** What deserves a look. No flag does not mean safe. */
  flags: readonly { id: string; severity: 'info' | 'caution' | 'warning'; facts: readonly string[] }[]
  /** How many flags there are. */
  flag_counts: { info: number; caution: number; warning: number; total: number }
  /** Why the facts are not valid; in an answer never set. */
  reason: null
  /** Whether to ask again; only problems may be. */
  retryable: false
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'token-contract-risk'
}
