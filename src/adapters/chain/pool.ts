import { setTimeout as pause } from 'node:timers/promises'
import type { BlockHeader } from '../../ports/chain.ts'
import type { Clock, SteadyClock } from '../../ports/clock.ts'
import { ChainUnavailableError, EndpointFault, isFault } from './errors.ts'
import { type RpcAnswer, type RpcCall, matchAnswers } from './json-rpc.ts'
import { chainLimits } from '../../service/limits.ts'
import { Breaker, type Ticket } from '../../pure/breaker.ts'
import { readBoundedText } from '../../pure/read-bounded.ts'

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

/**
 * Use of an endpoint. `payments`: requests of the service itself, about its own token. `facts`: requests about contracts, accounts and
 * blocks that callers choose.
 */
type Use = 'payments' | 'facts'

/**
 * Health of one endpoint in one use. Each use has a separate one, so that requests of callers cannot take an endpoint away from
 * payments.
 */
export class Lane {
  readonly breaker: Breaker
  readonly #clock: SteadyClock
  #free_at_ms = 0
  #last_fault: unknown = null

  constructor(clock: SteadyClock) {
    this.breaker = new Breaker(chainLimits.breaker, clock)
    this.#clock = clock
  }

  /** Milliseconds for which the endpoint asked to be left alone. */
  pause_ms(): number {
    return Math.max(0, this.#free_at_ms - this.#clock.steady_ms())
  }

  /** Takes note of how a question ended that did not succeed. */
  failed(ticket: Ticket, error: unknown): void {
    const kind = error instanceof EndpointFault ? error.kind : 'unfit'
    switch (kind) {
      case 'broken':
        // Those who waited for the same answer bring the same fault: it is one.
        if (error === this.#last_fault) return this.breaker.dropped(ticket)
        this.#last_fault = error
        return this.breaker.failed(ticket)
      case 'limited':
        this.#free_at_ms = this.#clock.steady_ms() + (error instanceof EndpointFault ? error.pause_ms : 0)
        return this.breaker.dropped(ticket)
      case 'long':
      case 'slow':
      case 'unfit':
        return this.breaker.dropped(ticket)
    }
  }
}

/** A timer this late means that the process was busy. */
const LATE_MS = 250

/** The time of one request to a node. */
interface Attempt {
  /** Aborted when the time is over. */
  signal: AbortSignal
  /** Clears the timer; the caller that begins an attempt ends it. */
  end(): void
}

/**
 * Gives a request so many milliseconds. When the timer itself comes late, the node was not slow but this process busy, and the answer may
 * wait to be read: the request then gets the same time once more.
 */
function beginAttempt(ms: number): Attempt {
  const controller = new AbortController()
  const due_ms = performance.now() + ms
  const over = () => controller.abort()
  const look = () => {
    if (performance.now() - due_ms < LATE_MS) return over()
    timer = setTimeout(over, ms)
  }
  let timer = setTimeout(look, ms)
  return { signal: controller.signal, end: () => clearTimeout(timer) }
}

/** Address of a node. User and password of a URL travel in a header, since fetch refuses them and would quote the URL in its error. */
interface Target {
  url: string
  headers: Readonly<Record<string, string>>
}

/** Throws a RangeError, without the text of the URL, unless it is an http or https URL. */
function targetOf(text: string, number: number): Target {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new RangeError(`RPC endpoint ${number} is not an http or https URL.`)
  }
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json' }
  if (url.username !== '' || url.password !== '') {
    const user = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
    headers['authorization'] = `Basic ${Buffer.from(user).toString('base64')}`
    url.username = ''
    url.password = ''
  }
  return { url: url.href, headers }
}

/** Posts JSON and reads JSON, once, within the time and size bounds. Rejects with an EndpointFault; one of kind `long` for an answer beyond the bound. */
async function postJson(target: Target, body: unknown, deadline: AbortSignal | null, clock: Clock): Promise<unknown> {
  const attempt = beginAttempt(chainLimits.attempt_ms)
  const signal = deadline === null ? attempt.signal : AbortSignal.any([attempt.signal, deadline])
  try {
    // A redirect could carry the request, and a key in the URL, to another server.
    const response = await fetch(target.url, {
      method: 'POST',
      headers: target.headers,
      body: JSON.stringify(body),
      redirect: 'error',
      signal,
    })
    const retry_after = response.headers.get('retry-after')
    if (response.status === 429 || (response.status === 503 && retry_after !== null)) {
      await response.body?.cancel()
      throw new EndpointFault('limited', response.status === 429 ? 'too many requests' : 'out of service', pauseOf(retry_after, clock))
    }
    const text = await boundedText(response)
    const found = parse(text)
    // Nodes put errors of JSON-RPC into answers of any status; without one the status itself is the answer.
    if (!response.ok && (found === undefined || typeof found !== 'object'))
      throw new EndpointFault('broken', `HTTP status ${response.status}`)
    if (found === undefined) throw new EndpointFault('broken', 'an answer that is not JSON')
    return found
  } catch (error) {
    if (error instanceof EndpointFault) throw error
    if (deadline?.aborted === true && !attempt.signal.aborted) throw new EndpointFault('unfit', 'no time left')
    // The error of fetch may quote the URL, so nothing of it is kept.
    throw new EndpointFault('broken', attempt.signal.aborted ? `no answer within ${chainLimits.attempt_ms} ms` : 'connection failed')
  } finally {
    attempt.end()
  }
}

async function boundedText(response: Response): Promise<string> {
  const text = await readBoundedText(response.body, chainLimits.answer_bytes)
  if (text === null) throw new EndpointFault('long', `an answer of more than ${chainLimits.answer_bytes} bytes`)
  return text
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Retry-After (RFC 9110, 10.2.3) is a number of seconds or a date. */
function pauseOf(header: string | null, clock: Clock): number {
  const text = header?.trim() ?? ''
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - clock.now_ms()
  if (Number.isNaN(ms)) return chainLimits.limited_ms
  return Math.min(Math.max(ms, 0), chainLimits.limited_max_ms)
}

/** Requests whose answers callers or contracts can make long. */
const LONG: ReadonlySet<string> = new Set(['eth_call', 'eth_getLogs', 'eth_getTransactionReceipt', 'eth_getTransactionByHash'])
/** Requests that contracts of others can make slow. Payments call only our own token, with bounded gas. */
const SLOW: Readonly<Record<Use, ReadonlySet<string>>> = {
  payments: new Set(['eth_getLogs']),
  facts: new Set(['eth_getLogs', 'eth_call']),
}

/** One RPC endpoint: its number for messages, whether it may be asked, and what it has shown of the chain. */
class Endpoint {
  readonly number: number
  readonly heads: Heads
  /** The longest range of logs that it was found to serve; null while untried. */
  log_range: number | null = null
  readonly #target: Target
  readonly #chain_id: number
  readonly #clock: Clock & SteadyClock
  readonly #lanes: Readonly<Record<Use, Lane>>
  #next_id = 1
  #trust: Promise<void> | null = null

  constructor(url: string, number: number, chain_id: number, clock: Clock & SteadyClock) {
    this.number = number
    this.#lanes = { payments: new Lane(clock), facts: new Lane(clock) }
    this.heads = new Heads(clock)
    this.#target = targetOf(url, number)
    this.#chain_id = chain_id
    this.#clock = clock
  }

  lane(use: Use): Lane {
    return this.#lanes[use]
  }

  /**
   * Sends all requests concurrently, after the endpoint has shown that it serves the right chain. Answers come in the order of the
   * calls.
   */
  async ask(calls: readonly RpcCall[], deadline: AbortSignal, use: Use): Promise<RpcAnswer[]> {
    // Asked again after a fault only: the machine behind the URL may be another one by then.
    this.#trust ??= this.#checkChain()
    await within(this.#trust, deadline)
    return this.#post(calls, deadline, use)
  }

  /** Runs `task` on this endpoint and records the result in its lane. Rejects with an EndpointFault. */
  async serve<T>(use: Use, ticket: Ticket, task: () => Promise<T>): Promise<T> {
    try {
      const value = await task()
      this.#lanes[use].breaker.succeeded(ticket)
      return value
    } catch (error) {
      if (isFault(error, 'broken')) this.#trust = null
      this.#lanes[use].failed(ticket, error)
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

  async #checkChain(): Promise<void> {
    try {
      // Several callers wait for it, so the deadline of one must not end it.
      const [answer] = await this.#post([{ method: 'eth_chainId', params: [] }], null, 'payments')
      if (answer?.ok !== true || typeof answer.result !== 'string') throw new EndpointFault('broken', 'it does not name its chain')
      if (BigInt(answer.result) !== BigInt(this.#chain_id)) throw new EndpointFault('broken', 'it serves another chain')
    } catch (error) {
      this.#trust = null
      throw error instanceof EndpointFault ? error : new EndpointFault('broken', 'it does not name its chain')
    }
  }

  async #post(calls: readonly RpcCall[], deadline: AbortSignal | null, use: Use): Promise<RpcAnswer[]> {
    const parts: Promise<RpcAnswer[]>[] = []
    for (let start = 0; start < calls.length; start += chainLimits.batch_items) {
      parts.push(this.#postOne(calls.slice(start, start + chainLimits.batch_items), deadline, use))
    }
    return (await Promise.all(parts)).flat()
  }

  async #postOne(calls: readonly RpcCall[], deadline: AbortSignal | null, use: Use): Promise<RpcAnswer[]> {
    const first_id = this.#next_id
    this.#next_id += calls.length
    const items = calls.map(({ method, params }, index) => ({ jsonrpc: '2.0', id: first_id + index, method, params }))
    // Some nodes take no batches, and a batch of one is none.
    const asked = items.length === 1 ? items[0] : items
    const found = await postJson(this.#target, asked, deadline, this.#clock).catch((error: unknown) => this.#blame(error, calls, use))
    return matchAnswers(found, first_id, calls.length)
  }

  /**
   * Distinguishes a request that was too large from a broken endpoint. A request that others can make long or slow proves nothing about
   * the endpoint and does not count; but after a slow one the endpoint has to name its chain before the next request, and a failure of
   * that counts.
   */
  #blame(error: unknown, calls: readonly RpcCall[], use: Use): never {
    const asks = (methods: ReadonlySet<string>) => calls.some(({ method }) => methods.has(method))
    if (!(error instanceof EndpointFault)) throw error
    if (error.kind === 'long' && !asks(LONG)) throw new EndpointFault('broken', error.message)
    if (error.kind !== 'broken' || !asks(SLOW[use])) throw error
    this.#trust = null
    throw new EndpointFault('slow', error.message)
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
