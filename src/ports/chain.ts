/** The chain as the service sees it: one EVM network over JSON-RPC. Hex is 0x-prefixed and lower case; numbers of the chain are BigInt. */

/**
 * The `code` of the error with which a chain rejects. `CHAIN_UNAVAILABLE`: no endpoint answered in time, or none as a node of this chain
 * should; nothing follows from it about what the chain holds. It may have been sent all the same.
 */
export interface ChainFault extends Error {
  readonly code: 'CHAIN_UNAVAILABLE'
  readonly reason: ChainFaultReason
}

/**
 * `unavailable`: nobody answered as a node should. `reorg`: blocks were taken away while they were read, twice. `stale`: the newest block
 * is too old. `too_many_requests`: the reading would need more requests than one call may cost.
 */
export type ChainFaultReason = 'unavailable' | 'reorg' | 'stale' | 'too_many_requests'

export interface BlockHeader {
  number: bigint
  hash: string
  parent_hash: string
  timestamp_s: number
}

/** One read; `call` runs a contract without a transaction. */
export type ChainRead =
  | { kind: 'call'; to: string; data: string; from?: string; gas?: bigint }
  | { kind: 'code'; address: string }
  | { kind: 'balance'; address: string }

/** `data` is what the node returned: return data, code, or a quantity as hex. A revert is a value: the contract said no. */
export type ChainReadResult = { ok: true; data: string } | { ok: false; revert: string; message: string }

export interface ChainLog {
  address: string
  topics: string[]
  data: string
  block_number: bigint
  block_hash: string
  transaction_hash: string
  log_index: number
}

export interface TransactionReceipt {
  transaction_hash: string
  block_number: bigint
  block_hash: string
  succeeded: boolean
  gas_used: bigint
  effective_gas_price: bigint
  logs: ChainLog[]
}

export interface LogFilter {
  address: string
  /** Null matches anything in its place. */
  topics: (string | null)[]
  from_block: bigint
  to_block: bigint
}

export interface Chain {
  readonly chain_id: number
  /** The newest sealed block. In the sandbox a block is mined first when it is more than 5 s old. */
  head(): Promise<BlockHeader>
  /** Null when the node has no such block. */
  header(at: bigint | 'safe' | 'finalized'): Promise<BlockHeader | null>
  /** All reads at one block, the newest unless told otherwise, in one round trip; results in the order of the reads. */
  read(reads: readonly ChainRead[], at?: bigint): Promise<ChainReadResult[]>
  /** Null while the transaction is in no block that this node knows. */
  receipt(transaction_hash: string): Promise<TransactionReceipt | null>
  logs(filter: LogFilter): Promise<ChainLog[]>
  /** Says whether a node of this chain answers now, with a head that is not stale; asked often, remembered for a moment. */
  answers(): Promise<boolean>
}

/** What a transaction itself moved of the chain's own coin; its receipt does not say. */
export interface CoinTransfer {
  from: string
  /** Null for the making of a contract. */
  to: string | null
  value_wei: bigint
}

export interface ChainTransactions {
  /** Null while this node knows no such transaction. */
  transaction(transaction_hash: string): Promise<CoinTransfer | null>
}

export interface FeesNow {
  base_fee_wei: bigint
  priority_fee_wei: bigint
}

/**
 * What a node said of a raw transaction. `known`: it has these very bytes already. `nonce_used`: another or this transaction with the same
 * account nonce is in a block. `underpriced`: the same account nonce waits with a higher fee. `refused`: it will not be taken as it is.
 */
export type Sent = { kind: 'accepted' | 'known' | 'nonce_used' | 'underpriced' } | { kind: 'refused'; message: string }

/** What it takes to send. A rejection leaves open whether the node has taken the transaction. */
export interface ChainSender {
  send(raw_transaction: string): Promise<Sent>
  /** Transactions of this account in blocks. */
  account_nonce(address: string): Promise<number>
  balance_wei(address: string): Promise<bigint>
  fees(): Promise<FeesNow>
  /** What the network asks beside gas for carrying this transaction (the data fee of OP chains); zero where there is none. */
  data_fee_wei(raw_transaction: string): Promise<bigint>
}
