import type { ChainLog, LogFilter } from '../../ports/chain.ts'
import * as decode from './decode.ts'
import { EndpointFault, isFault } from './errors.ts'
import { malformed, resultOf, type RpcAnswer, type RpcCall } from './json-rpc.ts'
import { chainLimits } from '../../service/limits.ts'
import type { EndpointSession } from './pool.ts'

/**
 * All logs of the range, in the order of the chain. Nodes limit ranges in many ways and words, so a range that is refused is halved, up to a
 * bound of requests. A node that has not seen the last block yet, or never had the first, answers with silence, so these blocks are asked for
 * in the same breath.
 */
export async function searchLogs(asker: EndpointSession, filter: LogFilter): Promise<ChainLog[]> {
  if (filter.from_block > filter.to_block) return []
  const waiting = [{ from: filter.from_block, to: filter.to_block }]
  const found: ChainLog[] = []
  for (let requests = 0; requests < chainLimits.log_requests; requests += 1) {
    const range = waiting.pop()
    if (range === undefined) return found
    const part = await searchPart(asker, filter, range.from, range.to)
    if (part !== null) {
      found.push(...part)
      continue
    }
    const middle = (range.from + range.to) / 2n
    waiting.push({ from: middle + 1n, to: range.to }, { from: range.from, to: middle })
  }
  if (waiting.length === 0) return found
  throw new EndpointFault('unfit', `the range of logs needs more than ${chainLimits.log_requests} requests`)
}

/** The answers to questions about a range of logs; null when they were too much for the node. */
export async function askLogs({ ask }: EndpointSession, calls: readonly RpcCall[]): Promise<RpcAnswer[] | null> {
  try {
    return await ask(calls)
  } catch (error) {
    if (isFault(error, 'long', 'slow')) return null
    throw error
  }
}

/** Null when the node refuses the range and it can be halved. */
async function searchPart(asker: EndpointSession, filter: LogFilter, from: bigint, to: bigint): Promise<ChainLog[] | null> {
  const range = { fromBlock: decode.toQuantity(from), toBlock: decode.toQuantity(to) }
  const answers = await askLogs(asker, [
    { method: 'eth_getLogs', params: [{ address: filter.address, topics: filter.topics, ...range }] },
    { method: 'eth_getBlockByNumber', params: [range.toBlock, false] },
    { method: 'eth_getBlockByNumber', params: [range.fromBlock, false] },
  ])
  if (answers === null && from === to) throw new EndpointFault('unfit', 'the logs of a single block are too much for it')
  if (answers === null) return null
  const [answer, last, first] = answers
  if (answer?.ok === false && from < to) return null
  const logs = decode.logs(resultOf(answer))
  if (decode.header(resultOf(last))?.number !== to) throw new EndpointFault('unfit', 'it does not have the last block of the range')
  if (decode.header(resultOf(first))?.number !== from) throw new EndpointFault('unfit', 'it does not reach back so far')
  if (!logs.every((log) => fitsFilter(log, { ...filter, from_block: from, to_block: to }))) throw malformed()
  return logs
}

/** Returns true for a log that matches the request. */
export function fitsFilter(log: ChainLog, { address, topics, from_block, to_block }: LogFilter): boolean {
  const inside = log.block_number >= from_block && log.block_number <= to_block && log.address === address.toLowerCase()
  return inside && topics.every((topic, index) => topic === null || [topic].flat().some((one) => one.toLowerCase() === log.topics[index]))
}
