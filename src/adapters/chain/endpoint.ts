import type { BlockHeader } from '../../ports/chain.ts'
import type { Clock } from '../../ports/clock.ts'
import { Breaker, type Ticket } from './breaker.ts'
import { EndpointFault } from './errors.ts'
import { Heads } from './heads.ts'
import { postJson, targetOf, type Target } from './http.ts'
import { matchAnswers, type RpcAnswer, type RpcCall } from './json-rpc.ts'
import { chainLimits } from './limits.ts'

/** One RPC endpoint: its number for messages, whether it may be asked, and what it has shown of the chain. */
export class Endpoint {
  readonly number: number
  readonly breaker: Breaker
  readonly heads: Heads
  /** The longest range of logs that it is known to serve; null while untried. */
  log_range: number | null = null
  readonly #target: Target
  readonly #chain_id: number
  readonly #clock: Clock
  #free_at_ms = 0
  #next_id = 1
  #trust: Promise<void> | null = null
  #last_fault: unknown = null

  constructor(url: string, number: number, chain_id: number, clock: Clock) {
    this.number = number
    this.breaker = new Breaker(clock)
    this.heads = new Heads(clock)
    this.#target = targetOf(url, number)
    this.#chain_id = chain_id
    this.#clock = clock
  }

  /** Milliseconds for which the endpoint asked to be left alone. */
  pause_ms(): number {
    return Math.max(0, this.#free_at_ms - this.#clock.now_ms())
  }

  /** Asks all at once, after the endpoint has proved to serve the right chain. Answers come in the order of the calls. */
  async ask(calls: readonly RpcCall[], deadline: AbortSignal): Promise<RpcAnswer[]> {
    // Asked again after a fault only: the machine behind the URL may be another one by then.
    this.#trust ??= this.#checkChain()
    await within(this.#trust, deadline)
    return this.#post(calls, deadline)
  }

  /** What `task` makes of this endpoint; the breaker learns how it went. Rejects with an EndpointFault. */
  async serve<T>(ticket: Ticket, task: () => Promise<T>): Promise<T> {
    try {
      const value = await task()
      this.breaker.succeeded(ticket)
      return value
    } catch (error) {
      this.#learn(ticket, error)
      throw error
    }
  }

  /** The head when it is one to build on; `bound` is the highest that this endpoint had shown when it was asked. */
  checkHead(header: BlockHeader, bound: BlockHeader | null, others_highest: bigint): BlockHeader {
    if (!this.heads.accept(header, bound) || header.number + BigInt(chainLimits.lag_blocks) < others_highest) {
      throw new EndpointFault('unfit', 'its head lags behind')
    }
    return header
  }

  #learn(ticket: Ticket, error: unknown): void {
    const kind = error instanceof EndpointFault ? error.kind : 'unfit'
    switch (kind) {
      case 'broken':
        this.#trust = null
        // Those who waited for the same answer bring the same fault: it is one.
        if (error === this.#last_fault) return this.breaker.dropped(ticket)
        this.#last_fault = error
        this.breaker.failed(ticket)
        return
      case 'limited':
        this.#free_at_ms = this.#clock.now_ms() + (error instanceof EndpointFault ? error.pause_ms : 0)
        this.breaker.dropped(ticket)
        return
      case 'unfit':
        this.breaker.dropped(ticket)
    }
  }

  async #checkChain(): Promise<void> {
    try {
      // Shared by all who wait for it, so nobody's deadline may end it.
      const [answer] = await this.#post([{ method: 'eth_chainId', params: [] }], null)
      if (answer?.ok !== true || typeof answer.result !== 'string') throw new EndpointFault('broken', 'it does not name its chain')
      if (BigInt(answer.result) !== BigInt(this.#chain_id)) throw new EndpointFault('broken', 'it serves another chain')
    } catch (error) {
      this.#trust = null
      throw error instanceof EndpointFault ? error : new EndpointFault('broken', 'it does not name its chain')
    }
  }

  async #post(calls: readonly RpcCall[], deadline: AbortSignal | null): Promise<RpcAnswer[]> {
    const parts: Promise<RpcAnswer[]>[] = []
    for (let start = 0; start < calls.length; start += chainLimits.batch_items) {
      parts.push(this.#postOne(calls.slice(start, start + chainLimits.batch_items), deadline))
    }
    return (await Promise.all(parts)).flat()
  }

  async #postOne(calls: readonly RpcCall[], deadline: AbortSignal | null): Promise<RpcAnswer[]> {
    const first_id = this.#next_id
    this.#next_id += calls.length
    const items = calls.map(({ method, params }, index) => ({ jsonrpc: '2.0', id: first_id + index, method, params }))
    // Some nodes take no batches, and a batch of one is none.
    const found = await postJson(this.#target, items.length === 1 ? items[0] : items, deadline, this.#clock)
    return matchAnswers(found, first_id, calls.length)
  }
}

/** Waits for what others wait for too, no longer than this one may. */
function within(shared: Promise<void>, deadline: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new EndpointFault('unfit', 'no time left'))
    if (deadline.aborted) giveUp()
    deadline.addEventListener('abort', giveUp, { once: true })
    void shared.then(resolve, reject).finally(() => deadline.removeEventListener('abort', giveUp))
  })
}
