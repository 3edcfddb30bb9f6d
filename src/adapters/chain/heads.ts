import type { BlockHeader } from '../../ports/chain.ts'
import type { Clock, SteadyClock } from '../../ports/clock.ts'
import { chainLimits } from '../../service/limits.ts'
import { ChainUnavailableError } from './errors.ts'

/**
 * Heads that one endpoint has shown. One URL can lead to several machines; one that lags shows an older head than before, and its
 * answers are old state. A lower head is accepted when it contradicts the block seen at its height (a reorganisation), or when no higher
 * one was seen for 30 s. Errs towards lagging.
 */
export class Heads {
  readonly #clock: SteadyClock
  #seen = new Map<bigint, string>()
  #highest: { header: BlockHeader; at_ms: number } | null = null

  constructor(clock: SteadyClock) {
    this.#clock = clock
  }

  /** The highest head that was seen recently; null when that is too long ago to count. */
  highest(within_ms: number = chainLimits.head_memory_ms): BlockHeader | null {
    if (this.#highest === null) return null
    return this.#clock.steady_ms() - this.#highest.at_ms <= within_ms ? this.#highest.header : null
  }

  /**
   * Takes note of a head; false when it comes from a lagging machine. `bound` is the highest head when the question was asked: answers of
   * questions that were on their way together may arrive in any order.
   */
  accept(header: BlockHeader, bound: BlockHeader | null): boolean {
    const known = this.#seen.get(header.number)
    const rewritten = known !== undefined && known !== header.hash
    if (bound !== null && header.number < bound.number && !rewritten) return false
    if (rewritten || this.highest() === null) this.#seen.clear()
    this.#seen.set(header.number, header.hash)
    if (this.#seen.size > chainLimits.heads_kept) this.#forgetOldest()
    const highest = this.highest()
    if (rewritten || highest === null || header.number >= highest.number) this.#highest = { header, at_ms: this.#clock.steady_ms() }
    return true
  }

  #forgetOldest(): void {
    const [oldest] = this.#seen.keys()
    if (oldest !== undefined) this.#seen.delete(oldest)
  }
}

/** True for a block dated too far after the clock. */
export function isAhead(header: Pick<BlockHeader, 'timestamp_s'>, clock: Clock): boolean {
  return header.timestamp_s * 1_000 - clock.now_ms() > chainLimits.ahead_ms
}

/** Before a reading: a sandbox mines a block when its newest is old; a live chain needs nothing. */
export async function refresh(beforeRead: (() => Promise<void>) | undefined): Promise<void> {
  try {
    await beforeRead?.()
  } catch {
    throw new ChainUnavailableError('The chain cannot be read: the sandbox did not mine a block.')
  }
}
