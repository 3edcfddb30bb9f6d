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

/**
 * All transfers of the account within the stretch, and the header of its last block. The topics of a filter are joined by AND, so that
 * out and in are two questions; a transfer to oneself answers both and is counted once. The header comes in the same breath: a node that
 * has not seen the last block yet answers with silence, which is no emptiness. What is too long for the node, or for us, is cut.
 */
export async function transfersIn(
  asker: Asker,
  wanted: Wanted,
  stretch: Stretch,
  reading: Reading,
): Promise<[TokenTransfer[], BlockHeader]> {
  if (reading.range !== null && length(stretch) > reading.range) return inParts(asker, wanted, stretch, reading)
  if (reading.left.requests <= 0) throw tooMuch(`The history needs more than ${chainLimits.history_requests} requests.`)
  reading.left.requests -= 1
  const filters = filtersOf(wanted, stretch)
  const answers = await askLogs(asker, [...filters.map(questionOf), byNumber(stretch.to)])
  if (answers === null || refusesRange(answers[0]) || refusesRange(answers[1])) {
    if (stretch.from === stretch.to) throw new EndpointFault('unfit', 'it refuses the logs of a single block')
    reading.range = Math.min(reading.range ?? Number.POSITIVE_INFINITY, nextRange(length(stretch)))
    return inParts(asker, wanted, stretch, reading)
  }
  const header = decode.header(resultOf(answers[2]))
  if (header === null || header.number !== stretch.to) throw new EndpointFault('unfit', 'it does not have the last block of the range')
  const transfers = withoutRepeats(filters.flatMap((filter, index) => logsOf(answers[index], filter)).map(transferOf))
  reading.left.transfers -= transfers.length
  if (reading.left.transfers < 0) throw tooMuch(`The history holds more than ${chainLimits.history_transfers} transfers.`)
  return [transfers, header]
}

function tooMuch(message: string): ChainUnavailableError {
  return new ChainUnavailableError(message, 'too_many_requests')
}

/** As many parts as it takes, one after the other: what is learnt of the range holds for the parts that follow. */
async function inParts(asker: Asker, wanted: Wanted, { from, to }: Stretch, reading: Reading): Promise<[TokenTransfer[], BlockHeader]> {
  const found: TokenTransfer[] = []
  for (let start = from; ;) {
    const end = start + BigInt(reading.range ?? 1) - 1n
    const last = end >= to
    const [transfers, header] = await transfersIn(asker, wanted, { from: start, to: last ? to : end }, reading)
    found.push(...transfers)
    if (last) return [found, header]
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
