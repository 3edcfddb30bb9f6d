import type { Clock } from '../../ports/clock.ts'
import type { RpcRequest } from './sandbox-process.ts'

/** A sandbox head older than this is followed by a new block before anything is read from it. */
const SANDBOX_HEAD_MS = 5_000

export type EnsureFresh = () => Promise<void>

/**
 * A chain that mines only on payments has no new blocks without them, and the time that contracts see would not advance. This mines a
 * block when the head is over 5 s old by the service's clock. Sends at most one request in 5 s, which concurrent callers share. Errs
 * towards stale by the blocks that a revert of the chain removed since the last request.
 */
export function freshener(request: RpcRequest, clock: Clock): EnsureFresh {
  let fresh_until_ms = Number.NEGATIVE_INFINITY
  let looking: Promise<void> | null = null

  async function look(): Promise<void> {
    const head = (await request('eth_getBlockByNumber', ['latest', false])) as { timestamp: string }
    const now_ms = clock.now_ms()
    // A head from the future must not spare the question for long.
    fresh_until_ms = Math.min(Number(head.timestamp) * 1_000, now_ms) + SANDBOX_HEAD_MS
    if (now_ms <= fresh_until_ms) return
    await request('evm_mine')
    fresh_until_ms = Math.floor(now_ms / 1_000) * 1_000 + SANDBOX_HEAD_MS
  }

  return () => {
    if (clock.now_ms() <= fresh_until_ms) return Promise.resolve()
    looking ??= look().finally(() => {
      looking = null
    })
    return looking
  }
}
