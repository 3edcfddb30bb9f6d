/**
 * Facts of one EVM chain, each answer read at one block. Hex is 0x-prefixed and lower case; numbers of the chain are BigInt. Everything
 * here rejects with a ChainFault when it cannot be read: nothing is guessed, and no part is given for the whole.
 */
import type { BlockHeader, ChainReadResult } from './chain.ts'

/** One read of state. `call` runs a contract without a transaction, with at most `gas`. */
export type FactRead =
  | { kind: 'call'; to: string; data: string; gas?: bigint }
  | { kind: 'code'; address: string }
  | { kind: 'balance'; address: string }
  | { kind: 'storage'; address: string; slot: string }
  | { kind: 'nonce'; address: string }

/** A block as given in its header. */
export interface BlockFacts {
  /** Null for a pending block on nodes that do not number it. */
  number: bigint | null
  /** Null while the block is pending. */
  hash: string | null
  parent_hash: string
  timestamp_s: number
  transaction_count: number
  /** Wei per gas; null before EIP-1559. */
  base_fee_wei: bigint | null
  gas_used: bigint
  gas_limit: bigint
}

export type BlockTag = 'latest' | 'earliest' | 'pending' | 'finalized' | 'safe'

/** A block that reads are tied to. */
export interface PinnedBlock {
  readonly header: BlockHeader
  /**
   * All reads at this block in one round trip, in their order: calls, storage and code as bytes, balances and nonces as quantities. The
   * header is read again after them; another hash is a reorganisation. Calls that are too much for a node are cut short, and then fail.
   */
  read(reads: readonly FactRead[]): Promise<ChainReadResult[]>
}

export interface ChainFacts {
  readonly chain_id: number
  /** A chain of this machine: its facts say nothing about the world. */
  readonly sandbox: boolean
  /** Runs the work at a sealed block just below the head; once more at another block when a reorganisation took the first one away. */
  atOneBlock<Value>(work: (at: PinnedBlock) => Promise<Value>): Promise<Value>
  /** Null when the chain has no such block. */
  block(at: bigint | BlockTag): Promise<BlockFacts | null>
}

/** A transfer of a token, as its log says it. */
export interface TokenTransfer {
  from: string
  to: string
  amount_minor: bigint
  block_number: bigint
  transaction_hash: string
  log_index: number
}

/** Every transfer of the account within the range, none twice, in the order of the chain. */
export interface TransferHistory {
  transfers: TokenTransfer[]
  from_block: bigint
  to: BlockHeader
  /** The chain is younger than the window that was asked for. */
  clipped_at_genesis: boolean
}

export interface Transfers {
  readonly chain_id: number
  readonly sandbox: boolean
  /** Transfers of the token from and to the account in the last so many blocks. */
  history(token: string, account: string, blocks: number): Promise<TransferHistory>
}

/** A closed stretch of blocks that holds no more surprises, and the transfers in it. */
export interface FinalizedRange {
  chain_id: number
  token: string
  account: string
  from_block: bigint
  blocks: number
  transfers: TokenTransfer[]
}

/** Cache of final block ranges; lost rows are only read again. */
export interface FinalizedRangeStore {
  stretches(chain_id: number, token: string, account: string, from_block: bigint): Promise<FinalizedRange[]>
  keep_stretches(stretches: readonly FinalizedRange[], now_ms: number): Promise<void>
  /** Forgets what was kept before that time; returns how many went. */
  purge_stretches(before_ms: number): Promise<number>
}
