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
 * `unavailable`: no endpoint answered as a node should. `reorg`: blocks were replaced while they were read, twice. `stale`: the newest
 * block is too old. `too_many_requests`: the reading would need more requests than one call may cost.
 */
export type ChainFaultReason = 'unavailable' | 'reorg' | 'stale' | 'too_many_requests'

export interface BlockHeader {
  number: bigint
  hash: string
  parent_hash: string
  timestamp_s: number
}

/** One read; `call` runs a contract without a transaction, or creation code where `to` is null. */
export type ChainRead =
  | { kind: 'call'; to: string | null; data: string; from?: string; gas?: bigint }
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
  /** Null matches anything in its place, a list each of its members. */
  topics: (string | readonly string[] | null)[]
  from_block: bigint
  to_block: bigint
}

export interface Chain {
  readonly chain_id: number
  /** The newest sealed block. In the sandbox a block is mined first when it is more than 5 s old. */
  head(): Promise<BlockHeader>
  /** Null when the node has no such block. */
  header(at: bigint | 'safe' | 'finalized'): Promise<BlockHeader | null>
  /** Reads everything at one block, by default the newest, in one round trip; results in the order of the reads. */
  read(reads: readonly ChainRead[], at?: bigint): Promise<ChainReadResult[]>
  /** Null while the transaction is in no block that this node knows. */
  receipt(transaction_hash: string): Promise<TransactionReceipt | null>
  logs(filter: LogFilter): Promise<ChainLog[]>
  /** Says whether a node of this chain answers now, with a head that is not stale; asked often, remembered for a moment. */
  answers(): Promise<boolean>
}

/** Amount of the chain's own coin that the transaction itself moved; its receipt does not contain it. */
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
 * Answer of a node to a raw transaction. `known`: it already has these bytes. `nonce_used`: a block has a transaction with this account
 * nonce. `underpriced`: a transaction with this account nonce and a higher fee is pending. `refused`: the node will not accept it in
 * this form.
 */
export type SendResult = { kind: 'accepted' | 'known' | 'nonce_used' | 'underpriced' } | { kind: 'refused'; message: string }

/** Chain access for sending. After a rejected `send` it is open whether the node has accepted the transaction. */
export interface ChainSender {
  send(raw_transaction: string): Promise<SendResult>
  /** Transactions of this account in blocks. */
  account_nonce(address: string): Promise<number>
  balance_wei(address: string): Promise<bigint>
  fees(): Promise<FeesNow>
  /** Fee of the network in addition to gas (the data fee of OP chains) for this transaction; zero without one. */
  data_fee_wei(raw_transaction: string): Promise<bigint>
}
