import type { TokenTransfer, FinalizedRange, FinalizedRangeStore, TransferHistory, Transfers } from '../../ports/chain-facts.ts'
import type { BlockHeader, ChainLog, LogFilter } from '../../ports/chain.ts'
import { addressTopic, decodeTransfer, TRANSFER_TOPIC } from '../../pure/payments/token-calls.ts'
import * as decode from './decode.ts'
import { ChainUnavailableError, EndpointFault } from './errors.ts'
import { byNumber, assertFresh, byTag, headOf } from './facts.ts'
import { malformed, resultOf, type RpcAnswer, type RpcCall, type NodeRpcError } from './json-rpc.ts'
import { chainLimits } from '../../service/limits.ts'
import { askLogs, fitsFilter } from './rpc.ts'
import { type EndpointSession, type Pool, refresh } from './pool.ts'
import type { Clock } from '../../ports/clock.ts'

/** One reading of one account from one endpoint; shared by all that work on it. */
interface HistoryBudget {
  /** Remaining budget of requests and of transfers. */
  left: { requests: number; transfers: number }
  /**
   * Longest range to request; null while unknown. It applies to this account only: a node rejects many results as it rejects many
   * blocks, and the next account may have few.
   */
  range: number | null
}

interface HistoryRequest {
  token: string
  account: string
}

/** Transfers of neighbouring blocks, with the headers of the first and the last of them. */
interface HistoryPart {
  transfers: TokenTransfer[]
  first: BlockHeader
  last: BlockHeader
}

/** Throws when parts in their order are not of one branch: something would be counted twice, or not at all. */
function assertFollow(before: HistoryPart | undefined, next: HistoryPart): void {
  if (before !== undefined && next.first.parent_hash !== before.last.hash) throw apart()
}

function apart(): EndpointFault {
  return new EndpointFault('unfit', 'its blocks do not follow one another')
}

/**
 * Returns all transfers of the account within the range, and the headers of its ends. Topics of a filter are combined by AND, so that
 * outgoing and incoming transfers are two requests; a transfer to oneself is in both and counted once. The headers of the first and last
 * block are part of the same batch: a node that does not reach back so far, or has not seen the last block, returns an empty list.
 * Ranges that are too long for the node or the budget are split.
 */
async function transfersIn(asker: EndpointSession, wanted: HistoryRequest, stretch: Stretch, reading: HistoryBudget): Promise<HistoryPart> {
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

/** Reads the parts one after the other, because the learned range limit applies to the parts that follow. */
async function inParts(
  asker: EndpointSession,
  wanted: HistoryRequest,
  { from, to }: Stretch,
  reading: HistoryBudget,
): Promise<HistoryPart> {
  let found: HistoryPart | undefined
  for (let start = from; ;) {
    const end = start + BigInt(reading.range ?? 1) - 1n
    const part = await transfersIn(asker, wanted, { from: start, to: end < to ? end : to }, reading)
    assertFollow(found, part)
    found = found === undefined ? part : { ...part, first: found.first, transfers: [...found.transfers, ...part.transfers] }
    if (end >= to) return found
    start = end + 1n
  }
}

function filtersOf({ token, account }: HistoryRequest, { from, to }: Stretch): LogFilter[] {
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
function withoutRepeats(transfers: readonly TokenTransfer[]): TokenTransfer[] {
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
 * Messages with which nodes and providers reject a range or its many results, under many codes: -32000, -32002, -32003, -32005, -32047,
 * -32600 to -32603, -32614, -32701, 35, 413. A node that does not serve logs is recognised by other messages.
 */
const RANGE_WORDS =
  /range|too (large|many|wide|big)|limit|exceed|more than \d+|\d+ (blocks|results|logs)|response size|timed?[ -]?out|narrow|reduce/i

/** For answers to eth_getLogs alone. */
export function refusesRange(answer: RpcAnswer | undefined): answer is NodeRpcError {
  return answer?.ok === false && RANGE_WORDS.test(answer.message)
}

/** Blocks that are read together. */
export interface Stretch {
  from: bigint
  /** Belongs to it. */
  to: bigint
}

/** Stretches begin at multiples of this, so that every history is made of the same ones. */
const STRETCH_BLOCKS = 10_000

/** The aligned stretches that together cover the range; the last one ends with it. */
export function stretchesOf(from: bigint, to: bigint): Stretch[] {
  const found: Stretch[] = []
  for (let start = alignedDown(from); start <= to; start += BigInt(STRETCH_BLOCKS)) {
    const end = start + BigInt(STRETCH_BLOCKS) - 1n
    found.push({ from: start, to: end < to ? end : to })
  }
  return found
}

function alignedDown(block: bigint): bigint {
  return block - (block % BigInt(STRETCH_BLOCKS))
}

function isWhole({ from, to }: Stretch): boolean {
  return to - from === BigInt(STRETCH_BLOCKS) - 1n
}

/** The requests for so many blocks in the worst case: the range begins and ends within a stretch, and one more looks at the head. */
export function requestsFor(blocks: number, log_range: number): number {
  const stretches = Math.ceil(blocks / STRETCH_BLOCKS) + 1
  return stretches * Math.ceil(STRETCH_BLOCKS / Math.min(log_range, STRETCH_BLOCKS)) + 1
}

/** Without a word of the chain on what is final, blocks so far below the head are taken for closed: about an hour. */
const CLOSED_DEPTH = 1_800n

interface HistoryOptions {
  pool: Pool
  chain_id: number
  clock: Clock
  store: FinalizedRangeStore
  spend?: (requests: number) => void
  beforeRead?: (() => Promise<void>) | undefined
}

/**
 * Transfers of a token over the last blocks, both directions, each once. What is final is kept, so that the next history reads only what is
 * new. Rejects with a ChainUnavailableError where any part cannot be read: a total over half of the blocks would be a wrong one.
 */
export function createTransfers({ pool, chain_id, clock, store, beforeRead, spend = () => undefined }: HistoryOptions): Transfers {
  return {
    chain_id,
    sandbox: beforeRead !== undefined,
    async history(token, account, blocks) {
      await refresh(beforeRead)
      spend(1)
      const ends = await pool.facts.run((asker) => endsOf(asker, clock, beforeRead !== undefined))
      const first = ends.to - BigInt(blocks) + 1n
      const from = first > 0n ? first : 0n
      const kept = await store.stretches(chain_id, token, account, alignedDown(from))
      const missing = stretchesOf(from, ends.to).filter(({ from: start }) => !kept.some(({ from_block }) => from_block === start))
      const read = await readAll(pool, { token, account }, missing, spend)
      const closed = read.filter(({ stretch }) => isWhole(stretch) && stretch.to <= ends.closed)
      await keep(store, closed, { chain_id, token, account }, clock.now_ms())
      return historyOf(
        [...kept.flatMap(({ transfers }) => transfers), ...read.flatMap(({ transfers }) => transfers)],
        from,
        read,
        first < 0n,
      )
    },
  }
}

interface Read extends HistoryPart {
  stretch: Stretch
}

function historyOf(transfers: TokenTransfer[], from_block: bigint, read: readonly Read[], clipped_at_genesis: boolean): TransferHistory {
  const to = read.at(-1)?.last
  if (to === undefined) throw new ChainUnavailableError('The newest blocks were not read.')
  const inside = transfers.filter(({ block_number }) => block_number >= from_block && block_number <= to.number)
  return { transfers: withoutRepeats(inside), from_block, to, clipped_at_genesis }
}

/** The last block to look at, a little below the head, and the last one that nothing will take away. */
async function endsOf(asker: EndpointSession, clock: Clock, sandbox: boolean): Promise<{ to: bigint; closed: bigint }> {
  const [latest, finalized] = await asker.ask([byTag('latest'), byTag('finalized')])
  const head = headOf(asker, latest)
  if (!sandbox) assertFresh(head, clock)
  const final = finalized?.ok === true ? decode.header(resultOf(finalized)) : null
  const closed = final?.number ?? head.number - CLOSED_DEPTH
  const to = sandbox || head.number < chainLimits.history_behind ? head.number : head.number - chainLimits.history_behind
  return { to, closed }
}

/**
 * A few requests concurrently, all to one endpoint, so that answers about neighbouring blocks are consistent. Requests count against the
 * budget whether served or not.
 */
async function readAll(
  pool: Pool,
  wanted: HistoryRequest,
  stretches: readonly Stretch[],
  spend: (requests: number) => void,
): Promise<Read[]> {
  const left = { requests: chainLimits.history_requests, transfers: chainLimits.history_transfers }
  try {
    return await pool.facts.run(
      (asker) => readFrom(asker, wanted, stretches, { left, range: asker.endpoint.log_range }),
      chainLimits.facts_ms,
    )
  } finally {
    spend(chainLimits.history_requests - left.requests)
  }
}

async function readFrom(
  asker: EndpointSession,
  wanted: HistoryRequest,
  stretches: readonly Stretch[],
  reading: HistoryBudget,
): Promise<Read[]> {
  const read: Read[] = []
  for (let start = 0; start < stretches.length;) {
    // The first goes alone where the longest range is not known yet: what it learns by refusals is not to be learnt four times.
    const at_once = reading.range === null && start === 0 ? 1 : chainLimits.history_at_once
    const some = stretches.slice(start, start + at_once)
    start += at_once
    read.push(...(await allOf(some.map((stretch) => readOne(asker, wanted, stretch, reading)))))
  }
  // Between two that were read lie only some that are kept, which are final.
  read.forEach((next, index) => {
    const before = read[index - 1]
    if (before?.last.number === next.first.number - 1n) assertFollow(before, next)
  })
  return read
}

async function readOne(asker: EndpointSession, wanted: HistoryRequest, stretch: Stretch, reading: HistoryBudget): Promise<Read> {
  return { stretch, ...(await transfersIn(asker, wanted, stretch, reading)) }
}

/** Like Promise.all, but waits for all before it fails, so that no request runs uncounted after a failure. */
async function allOf<T>(parts: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(parts)
  return Promise.all(parts)
}

async function keep(
  store: FinalizedRangeStore,
  read: readonly Read[],
  of: Pick<FinalizedRange, 'chain_id' | 'token' | 'account'>,
  now_ms: number,
): Promise<void> {
  if (read.length === 0) return
  const stretches = read.map(({ stretch, transfers }) => ({ ...of, from_block: stretch.from, blocks: STRETCH_BLOCKS, transfers }))
  await store.keep_stretches(stretches, now_ms)
}
