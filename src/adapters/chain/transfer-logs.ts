import type { TokenTransfer } from '../../ports/chain-facts.ts'
import type { BlockHeader, ChainLog, LogFilter } from '../../ports/chain.ts'
import { addressTopic, decodeTransfer, TRANSFER_TOPIC } from '../../pure/payments/token-calls.ts'
import * as decode from './decode.ts'
import { ChainUnavailableError, EndpointFault } from './errors.ts'
import { byNumber } from './facts.ts'
import { malformed, resultOf, type RpcAnswer, type RpcCall, type RpcError } from './json-rpc.ts'
import { chainLimits } from './limits.ts'
import { fitsFilter } from './logs.ts'
import type { Asker } from './pool.ts'
import type { Stretch } from './stretches.ts'

/** How many requests a history may still take; shared by all that work on it. */
export interface RequestBudget {
  left: number
}

interface Wanted {
  token: string
  account: string
}

/**
 * All transfers of the account within the stretch, and the header of its last block. The topics of a filter are joined by AND, so that
 * out and in are two questions; a transfer to oneself answers both and is counted once. The header comes in the same breath: a node that
 * has not seen the last block yet answers with silence, which is no emptiness. What is too long for the node is cut.
 */
export async function transfersIn(
  asker: Asker,
  wanted: Wanted,
  stretch: Stretch,
  budget: RequestBudget,
): Promise<[TokenTransfer[], BlockHeader]> {
  const { endpoint } = asker
  if (endpoint.log_range !== null && length(stretch) > endpoint.log_range) return inParts(asker, wanted, stretch, budget)
  if (budget.left <= 0) {
    throw new ChainUnavailableError(`The history needs more than ${chainLimits.history_requests} requests.`, 'too_many_requests')
  }
  budget.left -= 1
  const filters = filtersOf(wanted, stretch)
  const [out, into, last] = await asker.ask([...filters.map(questionOf), byNumber(stretch.to)])
  if (refusesRange(out) || refusesRange(into)) {
    if (stretch.from === stretch.to) throw new EndpointFault('unfit', 'it refuses the logs of a single block')
    endpoint.log_range = nextRange(length(stretch))
    return inParts(asker, wanted, stretch, budget)
  }
  const header = decode.header(resultOf(last))
  if (header === null || header.number !== stretch.to) throw new EndpointFault('unfit', 'it does not have the last block of the range')
  const logs = [out, into].flatMap((answer, index) => logsOf(answer, filters[index]))
  return [withoutRepeats(logs.map(transferOf)), header]
}

/** As many parts as it takes, one after the other: what an endpoint learns of its range holds for the parts that follow. */
async function inParts(
  asker: Asker,
  wanted: Wanted,
  { from, to }: Stretch,
  budget: RequestBudget,
): Promise<[TokenTransfer[], BlockHeader]> {
  const { endpoint } = asker
  const found: TokenTransfer[] = []
  for (let start = from; ;) {
    const end = start + BigInt(endpoint.log_range ?? 1) - 1n
    const last = end >= to
    const [transfers, header] = await transfersIn(asker, wanted, { from: start, to: last ? to : end }, budget)
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

function logsOf(answer: RpcAnswer | undefined, filter: LogFilter | undefined): ChainLog[] {
  const logs = decode.logs(resultOf(answer))
  if (filter === undefined || !logs.every((log) => fitsFilter(log, filter))) throw malformed()
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

/** Codes and words with which nodes and providers refuse a range or its many results; a node that cannot at all is told by the rest. */
const RANGE_CODES: ReadonlySet<number> = new Set([-32005, -32602, -32600, -32000, -32001, -32012, -32062, -32614, 413, 400])
const RANGE_WORDS =
  /range|too (large|many|wide|big)|limit|exceed|more than \d+|\d+ (blocks|results|logs)|response size|query timeout|timed? ?out|narrow|reduce/i

function refusesRange(answer: RpcAnswer | undefined): answer is RpcError {
  return answer?.ok === false && RANGE_CODES.has(answer.code) && RANGE_WORDS.test(answer.message)
}
