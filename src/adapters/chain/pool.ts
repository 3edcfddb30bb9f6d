import { setTimeout as pause } from 'node:timers/promises'
import type { BlockHeader } from '../../ports/chain.ts'
import type { Clock, SteadyClock } from '../../ports/clock.ts'
import { Endpoint, type Use } from './endpoint.ts'
import { ChainUnavailableError, EndpointFault } from './errors.ts'
import { isAhead } from './heads.ts'
import type { RpcAnswer, RpcCall } from './json-rpc.ts'
import { chainLimits } from '../../service/limits.ts'

/** One endpoint for the length of one question: everything asked through it comes from the same URL. */
export interface EndpointSession {
  endpoint: Endpoint
  ask(calls: readonly RpcCall[]): Promise<RpcAnswer[]>
  /** The highest head that this endpoint had shown when the question was asked. */
  bound: BlockHeader | null
  /** Highest head that another endpoint has shown recently. */
  others_highest: bigint
}

/** The endpoints as one use of them sees them. */
export interface EndpointRequestOptions {
  /**
   * Runs the task on each endpoint in turn until one serves; at most once each, and once more when the only obstacle is a pause that
   * ends in time. Rejects with a ChainUnavailableError that lists what each endpoint did; any error that is not an EndpointFault is
   * thrown unchanged.
   */
  run<T>(task: (asker: EndpointSession) => Promise<T>, total_ms?: number): Promise<T>
}

/** The endpoints in the order of the operator's preference. A question goes to the first that is in service for its use, then to the next. */
export class Pool {
  readonly payments: EndpointRequestOptions
  readonly facts: EndpointRequestOptions
  readonly #endpoints: readonly Endpoint[]
  readonly #clock: Clock & SteadyClock

  constructor(urls: readonly string[], chain_id: number, clock: Clock & SteadyClock) {
    if (urls.length === 0) throw new RangeError('A chain needs at least one RPC endpoint.')
    this.#endpoints = urls.map((url, index) => new Endpoint(url, index + 1, chain_id, clock))
    this.#clock = clock
    this.payments = { run: (task, total_ms) => this.#run('payments', task, total_ms) }
    this.facts = { run: (task, total_ms) => this.#run('facts', task, total_ms) }
  }

  async #run<T>(use: Use, task: (asker: EndpointSession) => Promise<T>, total_ms: number = chainLimits.total_ms): Promise<T> {
    const started_ms = performance.now()
    const deadline = AbortSignal.timeout(total_ms)
    const faults = new Map<number, string>()
    const served = await this.#round(use, task, deadline, faults, false)
    if (served !== null) return served.value
    const wait_ms = this.#shortestPause(use)
    if (wait_ms !== null && performance.now() - started_ms + wait_ms < total_ms) {
      await pause(wait_ms)
      const again = await this.#round(use, task, deadline, faults, true)
      if (again !== null) return again.value
    }
    const said = [...faults].map(([number, message]) => `endpoint ${number}: ${message}`).join('; ')
    throw new ChainUnavailableError(`The chain cannot be read: ${said}.`)
  }

  async #round<T>(
    use: Use,
    task: (asker: EndpointSession) => Promise<T>,
    deadline: AbortSignal,
    faults: Map<number, string>,
    paused: boolean,
  ): Promise<{ value: T } | null> {
    for (const endpoint of this.#endpoints) {
      if (deadline.aborted) break
      const lane = endpoint.lane(use)
      // The second round has waited for the shortest pause, by a clock that may not be the service's.
      if (!paused && lane.pause_ms() > 0) {
        faults.set(endpoint.number, 'too many requests')
        continue
      }
      const ticket = lane.breaker.take()
      if (ticket === null) {
        if (!faults.has(endpoint.number)) faults.set(endpoint.number, 'out of service after failures')
        continue
      }
      try {
        const ask = (calls: readonly RpcCall[]) => endpoint.ask(calls, deadline, use)
        const seen = { bound: endpoint.heads.highest(), others_highest: this.#highestBeside(endpoint) }
        return { value: await endpoint.serve(use, ticket, () => task({ endpoint, ask, ...seen })) }
      } catch (error) {
        if (!(error instanceof EndpointFault)) throw error
        faults.set(endpoint.number, error.message)
      }
    }
    return null
  }

  /** Heads dated after the clock do not count: one endpoint with a false future would make all others lag. */
  #highestBeside(endpoint: Endpoint): bigint {
    const heads = this.#endpoints.filter((one) => one !== endpoint).map((one) => one.heads.highest())
    return heads.reduce((most, head) => (head === null || head.number < most || isAhead(head, this.#clock) ? most : head.number), 0n)
  }

  #shortestPause(use: Use): number | null {
    const pauses = this.#endpoints.map((endpoint) => endpoint.lane(use).pause_ms()).filter((ms) => ms > 0)
    return pauses.length === 0 ? null : Math.min(...pauses)
  }
}
