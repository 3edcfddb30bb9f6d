import type { Chain } from '../../ports/chain.ts'

/** Blocks of the first step back; each further step is twice as long. */
const FIRST_STEP = 32n

/**
 * A block that is at least as old as the time, found in steps that double: at most about as many blocks too early as there are blocks since
 * then. Where the node has no such block, its chain begins after it, and a log query from there finds the same.
 */
export async function blockBefore(chain: Pick<Chain, 'head' | 'header'>, time_s: number): Promise<bigint> {
  const head = await chain.head()
  for (let back = FIRST_STEP; back <= head.number; back *= 2n) {
    const header = await chain.header(head.number - back)
    // The chain may begin above zero, as a local one does.
    if (header === null || header.timestamp_s <= time_s) return head.number - back
  }
  return 0n
}
