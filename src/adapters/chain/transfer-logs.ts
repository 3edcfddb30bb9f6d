import type { TokenTransfer } from '../../ports/chain-facts.ts'
import type { BlockHeader, ChainLog, LogFilter } from '../../ports/chain.ts'
import { addressTopic, decodeTransfer, TRANSFER_TOPIC } from '../../pure/payments/token-calls.ts'
import * as decode from './decode.ts'
import { ChainUnavailableError, EndpointFault } from './errors.ts'
import { byNumber } from './facts.ts'
import { malformed, resultOf, type RpcAnswer, type RpcCall, type RpcError } from './json-rpc.ts'
import { chainLimits } from './limits.ts'
import { askLogs, fitsFilter } from './logs.ts'
import type { Asker } from './pool.ts'
import type { Stretch } from './stretches.ts'

/** One reading of one account from one endpoint; shared by all that work on it. */
export interface Reading {
  /** What it may still take and hold. */
  left: { requests: number; transfers: number }
  /**
   * The longest range that is asked for; null while nothing is known. What is learnt here holds for this account alone: a node refuses many
   * results as it refuses many blocks, and the next account may have few.
   */
  range: number | null
}

export interface Wanted {
  token: string
  account: string
}

/** What was read of neighbouring blocks, between the headers of the first and the last of them. */
export interface Part {
  transfers: TokenTransfer[]
  first: BlockHeader
  last: BlockHeader
}

/** Throws when parts in their order are not of one branch: something would be counted twice, or not at all. */
export function assertFollow(before: Part | undefined, next: Part): void {
  if (before !== undefined && next.first.parent_hash !== before.last.hash) throw apart()
}

function apart(): EndpointFault {
  return new EndpointFault('unfit', 'its blocks do not follow one another')
}

/**
 * All transfers of the account within the stretch, and the headers of its ends. The topics of a filter are joined by AND, so that
 * out and in are two questions; a transfer to oneself answers both and is counted once. The headers of the first and the last block come in
 * the same breath: a node that does not reach back so far, or has not seen the last block yet, answers with silence, which is no emptiness.
 * What is too long for the node, or for us, is cut.
 */
export async function transfersIn(asker: Asker, wanted: Wanted, stretch: Stretch, reading: Reading): Promise<Part> {
  if (reading.range !== null && length(stretch) > reading.range) return inParts(asker, wanted, stretch, reading)
  if (reading.left.requests <= 0) throw tooMuch(`The history needs more than ${chainLimits.history_requests} requests.`)
  reading.left.requests -= 1
  const filters = filtersOf(wanted, stretch)
  const answers = await askLogs(asker, [...filters.map(questionOf), byNumber(stretch.to), byNumber(stretch.from)])
  if (answers === null || refusesRange(answers[0]) || refusesRange(answers[1])) {
    if (stretch.from === stretch.to) throw new EndpointFault('unfit', 'it refuses the logs of a single block')
    reading.range = Math.min(reading.range ?? Number.POSITIVE_INFINITY, nextRange(length(stretch)))
    return inParts(asker, wanted, stretch, reading)
  }
  const [last, first] = [decode.header(resultOf(answers[2])), decode.header(resultOf(answers[3]))]
  if (last === null || last.number !== stretch.to) throw new EndpointFault('unfit', 'it does not have the last block of the range')
  if (first === null || first.number !== stretch.from) throw new EndpointFault('unfit', 'it does not reach back so far')
  const logs = filters.flatMap((filter, index) => logsOf(answers[index], filter))
  const strays = ({ number, hash }: BlockHeader) => logs.some((log) => log.block_number === number && log.block_hash !== hash)
  if (strays(first) || strays(last)) throw apart()
  const transfers = withoutRepeats(logs.map(transferOf))
  // Places are counted over the block: where two transactions share one, a transfer would be lost.
  if (transfers.length < new Set(logs.map(placeOf)).size) throw malformed()
  reading.left.transfers -= transfers.length
  if (reading.left.transfers < 0) throw tooMuch(`The history holds more than ${chainLimits.history_transfers} transfers.`)
  return { transfers, first, last }
}

function tooMuch(message: string): ChainUnavailableError {
  return new ChainUnavailableError(message, 'too_many_requests')
}

/** As many parts as it takes, one after the other: what is learnt of the range holds for the parts that follow. */
async function inParts(asker: Asker, wanted: Wanted, { from, to }: Stretch, reading: Reading): Promise<Part> {
  let found: Part | undefined
  for (let start = from; ;) {
    const end = start + BigInt(reading.range ?? 1) - 1n
    const part = await transfersIn(asker, wanted, { from: start, to: end < to ? end : to }, reading)
    assertFollow(found, part)
    found = found === undefined ? part : { ...part, first: found.first, transfers: [...found.transfers, ...part.transfers] }
    if (end >= to) return found
    start = end + 1n
  }
}

function filtersOf({ token, account }: Wanted, { from, to }: Stretch): LogFilter[] {
  const topic = addressTopic(account)
  const range = { address: token, from_block: from, to_block: to }
  return [
    { ...range, topics: [TRANSFER_TOPIC, topic, null] },
    { ...range, topics: [TRANSFER_TOPIC, null, topic] },
  ]
}

function questionOf({ address, topics, from_block, to_block }: LogFilter): RpcCall {
  const range = { fromBlock: decode.toQuantity(from_block), toBlock: decode.toQuantity(to_block) }
  return { method: 'eth_getLogs', params: [{ address, topics, ...range }] }
}

function logsOf(answer: RpcAnswer | undefined, filter: LogFilter): ChainLog[] {
  const logs = decode.logs(resultOf(answer))
  if (!logs.every((log) => fitsFilter(log, filter))) throw malformed()
  return logs
}

function transferOf(log: ChainLog): TokenTransfer {
  const moved = decodeTransfer(log)
  if (moved === null) throw malformed()
  const { block_number, transaction_hash, log_index } = log
  return { from: moved.from, to: moved.to, amount_minor: moved.value_minor, block_number, transaction_hash, log_index }
}

function placeOf({ block_number, transaction_hash, log_index }: ChainLog): string {
  return `${block_number}/${transaction_hash}/${log_index}`
}

/** In the order of the chain. */
export function withoutRepeats(transfers: readonly TokenTransfer[]): TokenTransfer[] {
  const known = new Map(transfers.map((one) => [`${one.block_number}/${one.log_index}`, one]))
  return [...known.values()].toSorted((a, b) => Number(a.block_number - b.block_number) || a.log_index - b.log_index)
}

function length({ from, to }: Stretch): number {
  return Number(to - from) + 1
}

/** The next shorter range that is worth trying. */
function nextRange(refused: number): number {
  return chainLimits.log_ranges.find((range) => range < refused) ?? Math.max(1, Math.floor(refused / 2))
}

/**
 * Words with which nodes and providers refuse a range or its many results, under codes of every kind: -32000, -32002, -32003, -32005, -32047,
 * -32600 to -32603, -32614, -32701, 35, 413. A node that cannot at all is told by the rest.
 */
const RANGE_WORDS =
  /range|too (large|many|wide|big)|limit|exceed|more than \d+|\d+ (blocks|results|logs)|response size|timed?[ -]?out|narrow|reduce/i

/** For answers to eth_getLogs alone. */
export function refusesRange(answer: RpcAnswer | undefined): answer is RpcError {
  return answer?.ok === false && RANGE_WORDS.test(answer.message)
}
