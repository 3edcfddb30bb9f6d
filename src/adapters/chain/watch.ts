import type { BlockHeader } from '../../ports/chain.ts'
import type { Clock, SteadyClock } from '../../ports/clock.ts'
import { addressTopic, TRANSFER_TOPIC } from '../../pure/payments/token-calls.ts'
import { chainLimits, limits } from '../../service/limits.ts'
import * as decode from './decode.ts'
import { EndpointFault } from './errors.ts'
import { byNumber, byTag, headOf } from './facts.ts'
import { isAhead, type EndpointSession, type Pool } from './pool.ts'
import { resultOf } from './json-rpc.ts'
import { askLogs } from './rpc.ts'
import { requestsFor, refusesRange } from './history.ts'

interface WatchOptions {
  pool: Pool
  clock: Clock & SteadyClock
  /** The token whose logs histories read, and any account. */
  token: string
  account: string
  /** Set in a sandbox, whose chain runs on this machine: its head is read on demand, because it never mines by itself. */
  sandbox: boolean
}

/**
 * Decides whether facts can be read now, before a call is charged. A live chain is polled every 5 s, so that the decision needs no
 * request: a fresh head of the right chain was seen within 10 s, and the request budget of the process is not used up.
 */
export class ChainWatch {
  readonly #options: WatchOptions
  #good_until_ms = Number.NEGATIVE_INFINITY
  #probing: Promise<void> | null = null
  #timer: NodeJS.Timeout | null = null
  /** Known support for ranges of logs; `blocks` is null when the node serves no range that is long enough. */
  #range: { blocks: number | null; until_ms: number } | null = null
  #ranging: Promise<void> | null = null
  #head: BlockHeader | null = null
  #tokens: number = chainLimits.facts_burst
  #filled_ms: number

  constructor(options: WatchOptions) {
    this.#options = options
    this.#filled_ms = options.clock.steady_ms()
  }

  /** Looks at the chain from now on; what `ready` says is then read off. */
  start(): void {
    if (this.#options.sandbox || this.#timer !== null) return
    void this.#probe()
    this.#timer = setInterval(() => void this.#probe(), chainLimits.probe_every_ms)
    this.#timer.unref()
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }

  /** Round trips that were made. */
  spend(requests: number): void {
    this.#fill()
    this.#tokens -= requests
  }

  /** Returns true when a fresh head is known and that many requests may be made. */
  async ready(requests: number): Promise<boolean> {
    this.#fill()
    if (this.#tokens < requests) return false
    // Not polled, or the first poll is not finished.
    if (this.#timer === null || this.#good_until_ms === Number.NEGATIVE_INFINITY) await this.#probe()
    return this.#options.clock.steady_ms() < this.#good_until_ms
  }

  /** The newest block that was seen here, fresh or not; null before the first look. */
  head(): BlockHeader | null {
    return this.#head
  }

  /** Returns true when a whole history can be read now, even without any cached part. */
  async history_ready(): Promise<boolean> {
    if (!(await this.ready(1))) return false
    if (this.#range === null) await this.#ranging
    const blocks = this.#range?.blocks ?? null
    if (blocks === null) return false
    const requests = requestsFor(limits.history_blocks, blocks)
    return requests <= chainLimits.history_requests && this.ready(requests)
  }

  #fill(): void {
    const steady_ms = this.#options.clock.steady_ms()
    const filled = this.#tokens + ((steady_ms - this.#filled_ms) * chainLimits.facts_per_second) / 1_000
    this.#tokens = Math.min(chainLimits.facts_burst, Math.max(filled, -chainLimits.facts_burst))
    this.#filled_ms = steady_ms
  }

  #probe(): Promise<void> {
    this.#probing ??= this.#look().finally(() => (this.#probing = null))
    return this.#probing
  }

  async #look(): Promise<void> {
    const { pool, clock } = this.#options
    try {
      const head = await pool.facts.run((asker) => this.#lookAt(asker))
      this.#good_until_ms = clock.steady_ms() + chainLimits.probe_good_ms
      if (this.#range === null || this.#range.until_ms <= clock.steady_ms()) this.#ranging ??= this.#learnRange(head.number)
    } catch {
      // Not good: that is the answer. What was seen before stays good for its own time.
      if (this.#good_until_ms === Number.NEGATIVE_INFINITY) this.#good_until_ms = 0
    }
  }

  async #lookAt(asker: EndpointSession): Promise<BlockHeader> {
    const { clock, sandbox } = this.#options
    const [latest] = await asker.ask([byTag('latest')])
    const head = headOf(asker, latest)
    this.#head = head
    if (!sandbox && isAhead(head, clock)) throw new EndpointFault('unfit', 'its head is dated ahead of the clock')
    if (!sandbox && clock.now_ms() - head.timestamp_s * 1_000 > chainLimits.stale_ms) throw new EndpointFault('unfit', 'its head is stale')
    return head
  }

  /** Repeats the check each minute, since nodes and their plans change; and with the next poll after an unclear answer. */
  async #learnRange(head: bigint): Promise<void> {
    const { pool, clock } = this.#options
    try {
      const blocks = await pool.facts.run(async (asker) => {
        const found = await this.#longestRange(asker, head)
        asker.endpoint.log_range = found
        return found
      })
      this.#range = { blocks, until_ms: clock.steady_ms() + chainLimits.log_range_good_ms }
    } catch {
      this.#range = { blocks: this.#range?.blocks ?? null, until_ms: clock.steady_ms() }
    } finally {
      this.#ranging = null
    }
  }

  /** The longest range of logs that this endpoint serves, found by asking; null when it refuses even the shortest that is of use. */
  async #longestRange(asker: EndpointSession, head: bigint): Promise<number | null> {
    const { token, account } = this.#options
    const topics = [TRANSFER_TOPIC, addressTopic(account), addressTopic(account)]
    for (const range of chainLimits.log_ranges) {
      const from = head - BigInt(range) + 1n
      const span = { fromBlock: decode.toQuantity(from > 0n ? from : 0n), toBlock: decode.toQuantity(head) }
      const answers = await askLogs(asker, [{ method: 'eth_getLogs', params: [{ address: token, topics, ...span }] }, byNumber(head)])
      if (answers === null || refusesRange(answers[0])) continue
      decode.logs(resultOf(answers[0]))
      if (decode.header(resultOf(answers[1])) === null) throw new EndpointFault('unfit', 'it does not have the block')
      return range
    }
    return null
  }
}
