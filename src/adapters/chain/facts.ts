import type { BlockFacts, BlockTag, ChainFacts, FactRead, PinnedBlock, Transfers } from '../../ports/chain-facts.ts'
import type { BlockHeader, ChainReadResult } from '../../ports/chain.ts'
import type { Clock, SteadyClock } from '../../ports/clock.ts'
import * as decode from './decode.ts'
import { ChainUnavailableError, EndpointFault, isFault } from './errors.ts'
import { malformed, resultOf, type RpcAnswer, type RpcCall } from './json-rpc.ts'
import { isAhead, refresh, type EndpointSession, type Pool } from './pool.ts'
import { chainLimits } from '../../service/limits.ts'

export interface FactsOptions {
  pool: Pool
  chain_id: number
  clock: Clock & SteadyClock
  /** Called on every round trip, for budgets. */
  spend?: (requests: number) => void
  /** Set in a sandbox: mines a block when the head is old. Its one node is read at the head itself, which nothing can lag behind. */
  beforeRead?: (() => Promise<void>) | undefined
}

/** A block that is read is not the one that was begun with. Never leaves the adapter. */
class ReorganisedError extends Error {
  override readonly name = 'ReorganisedError'
}

/**
 * Facts of a chain, all of one answer at one block. Each batch of reads ends with the question for the block's header, so that whichever
 * endpoint answers, it answers for the very block that was begun with. Rejects with a ChainUnavailableError, never with half an answer.
 */
export function createChainFacts({ pool, chain_id, clock, beforeRead, spend = () => undefined }: FactsOptions): ChainFacts {
  const pins = new Pins(pool, clock, beforeRead)
  return {
    chain_id,
    sandbox: beforeRead !== undefined,
    async atOneBlock(work) {
      const deadline_ms = performance.now() + chainLimits.facts_ms
      for (let attempt = 0; attempt < 2; attempt += 1) {
        const header = await pins.pin(spend)
        try {
          return await work(pinned(pool, header, deadline_ms, spend))
        } catch (error) {
          if (!(error instanceof ReorganisedError)) throw error
          pins.forget()
        }
      }
      throw new ChainUnavailableError('The chain was reorganised while it was read, twice.', 'reorg')
    },
    async block(at) {
      await refresh(beforeRead)
      spend(1)
      return pool.facts.run(async (asker) => {
        const found = await blockAt(asker, at)
        if (at === 'latest' && beforeRead === undefined && found !== null && isAhead(found, clock)) throw ahead()
        return found
      }, chainLimits.facts_ms)
    },
  }
}

/** Block to read at: the one below the newest, because machines behind one URL do not all learn of the newest simultaneously. */
class Pins {
  readonly #pool: Pool
  readonly #clock: Clock & SteadyClock
  readonly #beforeRead: (() => Promise<void>) | undefined
  #last: { header: BlockHeader; until_ms: number } | null = null

  constructor(pool: Pool, clock: Clock & SteadyClock, beforeRead: (() => Promise<void>) | undefined) {
    this.#pool = pool
    this.#clock = clock
    this.#beforeRead = beforeRead
  }

  async pin(spend: (requests: number) => void): Promise<BlockHeader> {
    const sandbox = this.#beforeRead !== undefined
    await refresh(this.#beforeRead)
    if (!sandbox && this.#last !== null && this.#clock.steady_ms() < this.#last.until_ms) return this.#last.header
    spend(sandbox ? 1 : 2)
    const header = await this.#pool.facts.run((asker) => (sandbox ? newest(asker) : belowNewest(asker, this.#clock)))
    this.#last = { header, until_ms: this.#clock.steady_ms() + chainLimits.pin_ms }
    return header
  }

  forget(): void {
    this.#last = null
  }
}

async function newest(asker: EndpointSession): Promise<BlockHeader> {
  const [answer] = await asker.ask([byTag('latest')])
  return headOf(asker, answer)
}

/** The newest block, from an endpoint that does not lag. */
export function headOf({ endpoint, bound, others_highest }: EndpointSession, answer: RpcAnswer | undefined): BlockHeader {
  const head = decode.header(resultOf(answer))
  if (head === null) throw malformed()
  return endpoint.checkHead(head, bound, others_highest)
}

function ahead(): EndpointFault {
  return new EndpointFault('unfit', 'its head is dated ahead of the clock')
}

/** Throws when this endpoint shows a chain without new blocks, or a block dated in the future. */
export function assertFresh(head: BlockHeader, clock: Clock): void {
  if (isAhead(head, clock)) throw ahead()
  if (clock.now_ms() - head.timestamp_s * 1_000 <= chainLimits.stale_ms) return
  throw new ChainUnavailableError('The newest block is too old.', 'stale')
}

async function belowNewest(asker: EndpointSession, clock: Clock): Promise<BlockHeader> {
  const head = await newest(asker)
  assertFresh(head, clock)
  if (head.number === 0n) return head
  const [answer] = await asker.ask([byNumber(head.number - 1n)])
  const below = decode.header(resultOf(answer))
  if (below === null || below.number !== head.number - 1n) throw new EndpointFault('unfit', 'it does not have the block below its head')
  return below
}

function pinned(pool: Pool, header: BlockHeader, deadline_ms: number, spend: (requests: number) => void): PinnedBlock {
  return {
    header,
    async read(reads) {
      const left_ms = Math.floor(deadline_ms - performance.now())
      if (left_ms <= 0) throw new ChainUnavailableError('The chain did not answer in time.')
      return pool.facts.run((asker) => readPinned(asker, header, reads, spend), left_ms)
    },
  }
}

async function readPinned(
  asker: EndpointSession,
  header: BlockHeader,
  reads: readonly FactRead[],
  spend: (requests: number) => void,
): Promise<ChainReadResult[]> {
  const readAll = async (all: readonly FactRead[]) => {
    const pieces = piecesOf(all)
    spend(pieces.length)
    return (await Promise.all(pieces.map((piece) => readPiece(asker, header, piece)))).flat()
  }
  try {
    return await readAll(reads)
  } catch (error) {
    if (!isFault(error, 'long')) throw error
    // A contract may return as much as its gas buys. With less gas such calls fail; nodes that are slow would make honest ones fail too.
    return readAll(reads.map(withLessGas))
  }
}

/** One HTTP request each, with room for the question that ends it. */
function piecesOf(reads: readonly FactRead[]): (readonly FactRead[])[] {
  const size = chainLimits.batch_items - 1
  return Array.from({ length: Math.ceil(reads.length / size) }, (_, index) => reads.slice(index * size, (index + 1) * size))
}

function withLessGas(read: FactRead): FactRead {
  if (read.kind !== 'call') return read
  const gas = read.gas !== undefined && read.gas < chainLimits.lean_gas ? read.gas : chainLimits.lean_gas
  return { ...read, gas }
}

/** The header comes last, so that everything before it was read while the block was still on the chain. */
async function readPiece({ ask }: EndpointSession, header: BlockHeader, reads: readonly FactRead[]): Promise<ChainReadResult[]> {
  const answers = await ask([...reads.map((read) => decode.callOf(read, header.number)), byNumber(header.number)])
  const again = answers.at(-1)
  const found = decode.header(resultOf(again))
  if (found === null) throw new EndpointFault('unfit', 'it does not have the block')
  if (found.number !== header.number) throw malformed()
  if (found.hash !== header.hash) throw new ReorganisedError('the block is another one now')
  return reads.map((read, index) => decode.resultOfRead(read, answers[index]))
}

/** Nodes count blocks in 64 bits with a sign, and some call a greater number an error. */
const LAST_NUMBER = 2n ** 63n - 1n

/**
 * The newest block is taken from an endpoint that does not lag. A missing number is above every head seen, also of this endpoint: one
 * URL can lead to several machines, some of which have pruned old blocks.
 */
async function blockAt(asker: EndpointSession, at: bigint | BlockTag): Promise<BlockFacts | null> {
  const { ask, endpoint, bound, others_highest } = asker
  if (typeof at === 'bigint' && at > LAST_NUMBER) return null
  const [answer] = await ask([typeof at === 'bigint' ? byNumber(at) : byTag(at)])
  const absent = answer?.ok === false && /not found|unknown block|out of range|outofrange/i.test(answer.message)
  if (!absent && at === 'pending') return decode.pendingFacts(resultOf(answer))
  const found = absent ? null : decode.blockFacts(resultOf(answer))
  if (found === null) {
    const seen = typeof at === 'bigint' && (others_highest >= at || (bound !== null && bound.number >= at))
    if (seen) throw new EndpointFault('unfit', 'it does not have the block')
    return null
  }
  if (typeof at === 'bigint' && found.number !== at) throw malformed()
  if (at === 'latest') endpoint.checkHead(found, bound, others_highest)
  return found
}

export function byNumber(number: bigint): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [decode.toQuantity(number), false] }
}

export function byTag(tag: BlockTag): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [tag, false] }
}

/** Chain of a machine without one: every read is rejected. */
export function noChain(chain_id: number): { chain: ChainFacts; transfers: Transfers } {
  const refuse = () => Promise.reject(new ChainUnavailableError('There is no chain here to read.'))
  return {
    chain: { chain_id, sandbox: true, atOneBlock: refuse, block: refuse },
    transfers: { chain_id, sandbox: true, history: refuse },
  }
}
