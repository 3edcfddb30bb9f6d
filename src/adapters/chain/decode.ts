/** Strict readers of node results (Ethereum execution API specification, 2025): any other form is an invalid answer. */
import { isObject } from '../../pure/is-object.ts'
import type { BlockFacts, FactRead } from '../../ports/chain-facts.ts'
import type { BlockHeader, ChainLog, ChainRead, ChainReadResult, CoinTransfer, TransactionReceipt } from '../../ports/chain.ts'
import { malformed, resultOf, returnedData, revertReason, type RpcAnswer, type RpcCall } from './json-rpc.ts'

/** A quantity, 0x-prefixed and at most 32 bytes. */
export function quantity(value: unknown): bigint {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,64}$/i.test(value)) throw malformed()
  return BigInt(value)
}

export function smallQuantity(value: unknown): number {
  const found = quantity(value)
  if (found > BigInt(Number.MAX_SAFE_INTEGER)) throw malformed()
  return Number(found)
}

/** The last second whose year RFC 3339 can write. */
const LAST_SECOND = Date.UTC(9999, 11, 31, 23, 59, 59) / 1_000

/** Seconds since 1970. */
function timestamp(value: unknown): number {
  const found = smallQuantity(value)
  if (found > LAST_SECOND) throw malformed()
  return found
}

export function toQuantity(value: bigint): string {
  return `0x${value.toString(16)}`
}

/** Bytes of any length, in lower case. */
function bytes(value: unknown): string {
  if (typeof value !== 'string' || !/^0x(?:[0-9a-f]{2})*$/i.test(value)) throw malformed()
  return value.toLowerCase()
}

function fixedBytes(value: unknown, length: number): string {
  const found = bytes(value)
  if (found.length !== 2 + 2 * length) throw malformed()
  return found
}

export function hash(value: unknown): string {
  return fixedBytes(value, 32)
}

function address(value: unknown): string {
  return fixedBytes(value, 20)
}

function record(value: unknown): Record<string, unknown> {
  if (!isObject(value)) throw malformed()
  return value
}

function list(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw malformed()
  return value
}

/** A sealed block; null stays null. */
export function header(value: unknown): BlockHeader | null {
  if (value === null) return null
  const block = record(value)
  return {
    number: quantity(block['number']),
    hash: hash(block['hash']),
    parent_hash: hash(block['parentHash']),
    timestamp_s: timestamp(block['timestamp']),
  }
}

/** A sealed block with what its header says of gas; null stays null. */
export function blockFacts(value: unknown): (BlockFacts & BlockHeader) | null {
  if (value === null) return null
  const block = record(value)
  return { ...gasFacts(block), number: quantity(block['number']), hash: hash(block['hash']) }
}

/** The pending block: its hash is not final, and some nodes give it no number yet. */
export function pendingFacts(value: unknown): BlockFacts | null {
  if (value === null) return null
  const block = record(value)
  const number = block['number'] ?? null
  return { ...gasFacts(block), number: number === null ? null : quantity(number), hash: null }
}

function gasFacts(block: Record<string, unknown>): Omit<BlockFacts, 'number' | 'hash'> {
  const base_fee = block['baseFeePerGas'] ?? null
  return {
    parent_hash: hash(block['parentHash']),
    timestamp_s: timestamp(block['timestamp']),
    transaction_count: list(block['transactions']).length,
    base_fee_wei: base_fee === null ? null : quantity(base_fee),
    gas_used: quantity(block['gasUsed']),
    gas_limit: quantity(block['gasLimit']),
  }
}

/** A word of storage. Some nodes leave out leading zeros. */
function word(value: unknown): string {
  return `0x${quantity(value === '0x' ? '0x0' : value)
    .toString(16)
    .padStart(64, '0')}`
}

/** Wei per gas of a block since EIP-1559. */
export function baseFee(value: unknown): bigint {
  return quantity(record(value)['baseFeePerGas'])
}

export function logs(value: unknown): ChainLog[] {
  return list(value).map(log)
}

function log(value: unknown): ChainLog {
  const found = record(value)
  // Only subscriptions speak of logs that a reorganisation removed.
  if (found['removed'] === true) throw malformed()
  return {
    address: address(found['address']),
    topics: list(found['topics']).map(hash),
    data: bytes(found['data']),
    block_number: quantity(found['blockNumber']),
    block_hash: hash(found['blockHash']),
    transaction_hash: hash(found['transactionHash']),
    log_index: smallQuantity(found['logIndex']),
  }
}

/** Null while the transaction is in no block: no receipt at all, or one that names no block. */
export function receipt(value: unknown, transaction_hash: string): TransactionReceipt | null {
  if (value === null) return null
  const found = record(value)
  if ((found['blockHash'] ?? null) === null || (found['blockNumber'] ?? null) === null) return null
  const decoded: TransactionReceipt = {
    transaction_hash: hash(found['transactionHash']),
    block_number: quantity(found['blockNumber']),
    block_hash: hash(found['blockHash']),
    succeeded: status(found['status']),
    gas_used: quantity(found['gasUsed']),
    effective_gas_price: quantity(found['effectiveGasPrice']),
    logs: logs(found['logs']),
  }
  const foreign = decoded.logs.some((one) => one.transaction_hash !== decoded.transaction_hash || one.block_hash !== decoded.block_hash)
  if (foreign || decoded.transaction_hash !== transaction_hash.toLowerCase()) throw malformed()
  return decoded
}

/** Amount of the chain's own coin that a transaction moved; null stays null. */
export function coinTransfer(value: unknown, transaction_hash: string): CoinTransfer | null {
  if (value === null) return null
  const found = record(value)
  if (hash(found['hash']) !== transaction_hash.toLowerCase()) throw malformed()
  const to = found['to'] ?? null
  return { from: address(found['from']), to: to === null ? null : address(to), value_wei: quantity(found['value']) }
}

function status(value: unknown): boolean {
  const found = quantity(value)
  if (found > 1n) throw malformed()
  return found === 1n
}

/** The question of a read at a block. */
export function callOf(read: ChainRead | FactRead, at: bigint): RpcCall {
  const block = toQuantity(at)
  switch (read.kind) {
    case 'call': {
      const { to, data, gas } = read
      const from = 'from' in read && read.from !== undefined ? { from: read.from } : {}
      return {
        method: 'eth_call',
        params: [{ ...(to !== null && { to }), data, ...from, ...(gas !== undefined && { gas: toQuantity(gas) }) }, block],
      }
    }
    case 'code':
      return { method: 'eth_getCode', params: [read.address, block] }
    case 'balance':
      return { method: 'eth_getBalance', params: [read.address, block] }
    case 'storage':
      return { method: 'eth_getStorageAt', params: [read.address, read.slot, block] }
    case 'nonce':
      return { method: 'eth_getTransactionCount', params: [read.address, block] }
  }
}

/** The answer of the node to a read. A revert is a value; any other error throws an EndpointFault. */
export function resultOfRead(read: ChainRead | FactRead, answer: RpcAnswer | undefined): ChainReadResult {
  if (read.kind === 'call' && answer?.ok === false) {
    const revert = revertReason(answer)
    if (revert !== null) return revert
  }
  const found = resultOf(answer)
  switch (read.kind) {
    case 'call':
      return returnedData(bytes(found))
    case 'code':
      return { ok: true, data: bytes(found) }
    case 'storage':
      return { ok: true, data: word(found) }
    case 'balance':
    case 'nonce':
      return { ok: true, data: toQuantity(quantity(found)) }
  }
}
