import type { ClosedStretch, StretchStore, TokenTransfer, TransferHistory, Transfers } from '../../ports/chain-facts.ts'
import type { Clock } from '../../ports/clock.ts'
import * as decode from './decode.ts'
import { ChainUnavailableError } from './errors.ts'
import { assertFresh, byTag, headOf } from './facts.ts'
import { resultOf } from './json-rpc.ts'
import { chainLimits } from './limits.ts'
import type { Asker, Pool } from './pool.ts'
import { refresh } from './refresh.ts'
import { alignedDown, isWhole, STRETCH_BLOCKS, stretchesOf, type Stretch } from './stretches.ts'
import { assertFollow, transfersIn, withoutRepeats, type Part, type Reading, type Wanted } from './transfer-logs.ts'

/** Without a word of the chain on what is final, blocks so far below the head are taken for closed: about an hour. */
const CLOSED_DEPTH = 1_800n

interface HistoryOptions {
  pool: Pool
  chain_id: number
  clock: Clock
  store: StretchStore
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

interface Read extends Part {
  stretch: Stretch
}

function historyOf(transfers: TokenTransfer[], from_block: bigint, read: readonly Read[], clipped_at_genesis: boolean): TransferHistory {
  const to = read.at(-1)?.last
  if (to === undefined) throw new ChainUnavailableError('The newest blocks were not read.')
  const inside = transfers.filter(({ block_number }) => block_number >= from_block && block_number <= to.number)
  return { transfers: withoutRepeats(inside), from_block, to, clipped_at_genesis }
}

/** The last block to look at, a little below the head, and the last one that nothing will take away. */
async function endsOf(asker: Asker, clock: Clock, sandbox: boolean): Promise<{ to: bigint; closed: bigint }> {
  const [latest, finalized] = await asker.ask([byTag('latest'), byTag('finalized')])
  const head = headOf(asker, latest)
  if (!sandbox) assertFresh(head, clock)
  const final = finalized?.ok === true ? decode.header(resultOf(finalized)) : null
  const closed = final?.number ?? head.number - CLOSED_DEPTH
  const to = sandbox || head.number < chainLimits.history_behind ? head.number : head.number - chainLimits.history_behind
  return { to, closed }
}

/** A few at once, all from one endpoint: what one node says of neighbouring blocks fits together. What it took is spent, served or not. */
async function readAll(pool: Pool, wanted: Wanted, stretches: readonly Stretch[], spend: (requests: number) => void): Promise<Read[]> {
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

async function readFrom(asker: Asker, wanted: Wanted, stretches: readonly Stretch[], reading: Reading): Promise<Read[]> {
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

async function readOne(asker: Asker, wanted: Wanted, stretch: Stretch, reading: Reading): Promise<Read> {
  return { stretch, ...(await transfersIn(asker, wanted, stretch, reading)) }
}

/** As Promise.all, but nothing goes on, unspent, behind a failure. */
async function allOf<T>(parts: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(parts)
  return Promise.all(parts)
}

async function keep(
  store: StretchStore,
  read: readonly Read[],
  of: Pick<ClosedStretch, 'chain_id' | 'token' | 'account'>,
  now_ms: number,
): Promise<void> {
  if (read.length === 0) return
  const stretches = read.map(({ stretch, transfers }) => ({ ...of, from_block: stretch.from, blocks: STRETCH_BLOCKS, transfers }))
  await store.keep_stretches(stretches, now_ms)
}
