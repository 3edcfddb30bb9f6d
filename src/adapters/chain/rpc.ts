import type {
  BlockHeader,
  Chain,
  ChainLog,
  ChainRead,
  ChainReadResult,
  ChainSender,
  ChainTransactions,
  CoinTransfer,
  FeesNow,
  LogFilter,
  SendResult,
  TransactionReceipt,
} from '../../ports/chain.ts'
import { bytesTail, decodeUint, uintWord } from '../../pure/payments/token-calls.ts'
import { ChainUnavailableError, EndpointFault, isFault } from './errors.ts'
import { sendOutcome, malformed, resultOf, type RpcAnswer, type RpcCall } from './json-rpc.ts'
import type { Clock, SteadyClock } from '../../ports/clock.ts'
import * as decode from './decode.ts'
import { headOf } from './facts.ts'
import { chainLimits } from '../../service/limits.ts'
import { type EndpointSession, Pool, refresh } from './pool.ts'

/** GasPriceOracle, a predeploy of every OP chain (OP Stack specification, "Predeploys"). */
const ORACLE = '0x420000000000000000000000000000000000000f'
/** getL1FeeUpperBound(uint256), since Fjord; getL1Fee(bytes) before it. */
const UPPER_BOUND = '0xf1c7a58b'
const EXACT = '0x49948e0e'

/**
 * Fee of an OP chain for publishing a transaction, in addition to gas; zero, remembered, on a chain without the oracle. Errs high: the
 * upper bound assumes incompressible data and counts the signature twice.
 */
function dataFeeReader(read: (reads: readonly ChainRead[]) => Promise<ChainReadResult[]>): (raw: string) => Promise<bigint> {
  let absent = false
  return async (raw) => {
    if (absent) return 0n
    const length = BigInt((raw.length - 2) / 2)
    const [code, bound, exact] = await read([
      { kind: 'code', address: ORACLE },
      { kind: 'call', to: ORACLE, data: UPPER_BOUND + uintWord(length) },
      { kind: 'call', to: ORACLE, data: EXACT + uintWord(32n) + bytesTail(raw) },
    ])
    absent = code?.ok === true && code.data === '0x'
    if (absent) return 0n
    const fee = feeOf(bound) ?? feeOf(exact)
    if (fee === null) throw new ChainUnavailableError('The chain cannot be read: its oracle of data fees gives none.')
    return fee
  }
}

function feeOf(result: ChainReadResult | undefined): bigint | null {
  return result?.ok === true ? decodeUint(result.data) : null
}

interface ChainOptions {
  /** In the order of preference. They may carry keys, so they appear in no message. */
  urls: readonly string[]
  chain_id: number
  clock: Clock & SteadyClock
  /** Runs before the head is looked at; the sandbox mines a block here when the head is old. */
  beforeRead?: () => Promise<void>
  /** Heads shared by all clients of this chain; by default a separate list. */
  pool?: Pool
}

/**
 * One EVM chain over JSON-RPC. Rejects with a ChainUnavailableError when no endpoint serves within 6 s; never guesses.
 *
 * The client is our own: a payment needs a dozen methods, viem costs 180 ms of every start, has no circuit breaker, and one batch here is
 * one HTTP request whose items are all at one block.
 */
export function createChain({ urls, chain_id, clock, beforeRead, pool }: ChainOptions): Chain & ChainSender & ChainTransactions {
  return new RpcChain(pool ?? new Pool(urls, chain_id, clock), chain_id, clock, beforeRead)
}

const LATEST: RpcCall = { method: 'eth_getBlockByNumber', params: ['latest', false] }

class RpcChain implements Chain, ChainSender, ChainTransactions {
  readonly chain_id: number
  readonly #pool: Pool
  readonly #clock: Clock & SteadyClock
  readonly #beforeRead: (() => Promise<void>) | undefined
  readonly #dataFee: (raw_transaction: string) => Promise<bigint>
  #answered: { until_ms: number; answers: Promise<boolean> } | null = null

  constructor(pool: Pool, chain_id: number, clock: Clock & SteadyClock, beforeRead: (() => Promise<void>) | undefined) {
    this.chain_id = chain_id
    this.#pool = pool
    this.#clock = clock
    this.#beforeRead = beforeRead
    this.#dataFee = dataFeeReader((reads) => this.read(reads))
  }

  async head(): Promise<BlockHeader> {
    await refresh(this.#beforeRead)
    return this.#pool.payments.run(async (asker) => headOf(asker, (await asker.ask([LATEST]))[0]))
  }

  async header(at: bigint | 'safe' | 'finalized'): Promise<BlockHeader | null> {
    return this.#pool.payments.run(async ({ ask }) => {
      const [answer] = await ask([{ method: 'eth_getBlockByNumber', params: [typeof at === 'bigint' ? decode.toQuantity(at) : at, false] }])
      // Some nodes say so in an error instead of null.
      if (answer?.ok === false && /not found|unknown block|out of range|outofrange/i.test(answer.message)) return null
      const found = decode.header(resultOf(answer))
      if (typeof at === 'bigint' && found !== null && found.number !== at) throw malformed()
      return found
    })
  }

  async read(reads: readonly ChainRead[], at?: bigint): Promise<ChainReadResult[]> {
    if (reads.length === 0) return []
    await refresh(this.#beforeRead)
    return this.#pool.payments.run((asker) => (at === undefined ? readAtHead(asker, reads) : readAt(asker, reads, at)))
  }

  async receipt(transaction_hash: string): Promise<TransactionReceipt | null> {
    return this.#pool.payments.run(async ({ ask }) => {
      const [answer] = await ask([{ method: 'eth_getTransactionReceipt', params: [transaction_hash] }])
      return decode.receipt(resultOf(answer), transaction_hash)
    })
  }

  async transaction(transaction_hash: string): Promise<CoinTransfer | null> {
    return this.#pool.payments.run(async ({ ask }) => {
      const [answer] = await ask([{ method: 'eth_getTransactionByHash', params: [transaction_hash] }])
      return decode.coinTransfer(resultOf(answer), transaction_hash)
    })
  }

  async logs(filter: LogFilter): Promise<ChainLog[]> {
    return this.#pool.payments.run((asker) => searchLogs(asker, filter))
  }

  answers(): Promise<boolean> {
    const steady_ms = this.#clock.steady_ms()
    if (this.#answered === null || steady_ms >= this.#answered.until_ms) {
      this.#answered = { until_ms: steady_ms + chainLimits.answers_ms, answers: this.#headIsFresh() }
    }
    return this.#answered.answers
  }

  async send(raw_transaction: string): Promise<SendResult> {
    return this.#pool.payments.run(async ({ ask }) => {
      const [answer] = await ask([{ method: 'eth_sendRawTransaction', params: [raw_transaction] }])
      if (answer?.ok === false) return sendOutcome(answer)
      decode.hash(resultOf(answer))
      return { kind: 'accepted' }
    })
  }

  async account_nonce(address: string): Promise<number> {
    return this.#pool.payments.run(async (asker) => {
      const [head, count] = await asker.ask([LATEST, { method: 'eth_getTransactionCount', params: [address, 'latest'] }])
      headOf(asker, head)
      return decode.smallQuantity(resultOf(count))
    })
  }

  async balance_wei(address: string): Promise<bigint> {
    const [found] = await this.read([{ kind: 'balance', address }])
    if (found?.ok !== true) throw new ChainUnavailableError('The chain cannot be read: a balance is missing.')
    return decode.quantity(found.data)
  }

  async fees(): Promise<FeesNow> {
    await refresh(this.#beforeRead)
    return this.#pool.payments.run(async (asker) => {
      const [head, priority] = await asker.ask([LATEST, { method: 'eth_maxPriorityFeePerGas', params: [] }])
      headOf(asker, head)
      // Nodes without this method have no opinion, which does not prevent settling.
      const priority_fee_wei = priority?.ok === false ? chainLimits.default_priority_fee_wei : decode.quantity(resultOf(priority))
      return { base_fee_wei: decode.baseFee(resultOf(head)), priority_fee_wei }
    })
  }

  data_fee_wei(raw_transaction: string): Promise<bigint> {
    return this.#dataFee(raw_transaction)
  }

  async #headIsFresh(): Promise<boolean> {
    try {
      const head = await this.head()
      // A chain that mines when it is asked to is as fresh as it wants to be.
      return this.#beforeRead !== undefined || this.#clock.now_ms() - head.timestamp_s * 1_000 <= chainLimits.stale_ms
    } catch {
      return false
    }
  }
}

/**
 * All reads at the newest block, by its number. When a head was seen a moment ago the reads are sent for it together with the question for
 * the head: mostly it is still the newest, and one round trip did; otherwise they are sent again for the newer one.
 */
async function readAtHead(asker: EndpointSession, reads: readonly ChainRead[]): Promise<ChainReadResult[]> {
  const guess = asker.endpoint.heads.highest(chainLimits.head_guess_ms)
  const guessed = guess === null ? [] : reads.map((read) => decode.callOf(read, guess.number))
  const [latest, ...answers] = await asker.ask([LATEST, ...guessed])
  const head = headOf(asker, latest)
  if (guess !== null && head.hash === guess.hash) return resultsOf(reads, answers)
  return readAt(asker, reads, head.number)
}

async function readAt({ ask }: EndpointSession, reads: readonly ChainRead[], at: bigint): Promise<ChainReadResult[]> {
  return resultsOf(reads, await ask(reads.map((read) => decode.callOf(read, at))))
}

function resultsOf(reads: readonly ChainRead[], answers: readonly RpcAnswer[]): ChainReadResult[] {
  return reads.map((read, index) => decode.resultOfRead(read, answers[index]))
}

/**
 * All logs of the range, in the order of the chain. Nodes limit ranges in many ways and words, so a range that is refused is halved, up to a
 * bound of requests. A node that has not seen the last block yet, or never had the first, answers with silence, so these blocks are asked for
 * in the same breath.
 */
async function searchLogs(asker: EndpointSession, filter: LogFilter): Promise<ChainLog[]> {
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
