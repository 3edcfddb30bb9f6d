import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { MixedDeployment } from './mixed-deployment.ts'
import { Transcript, type PaymentName } from './sentences.ts'

export interface Reply {
  status: number
  headers: Headers
  body: Record<string, unknown>
}

export interface Request {
  path: string
  /** Undefined: GET. */
  body?: unknown
  headers?: Record<string, string>
  /** Address of the client, as a trusted proxy names it. */
  client: string
}

/** Longer than anything in the service waits. */
const HANG_MS = 60_000
/** How long a fault may keep a payer waiting: a failover, what is left of a minute's claim, the reconciler's look, and a call. */
export const ANSWERED_MS = 120_000
/** As a client does that is asked to come again. */
const REST_MS = 50
/** The caller sends the same again. */
const AGAIN: readonly number[] = [202, 429, 503]

/** Sends requests to the services in turn, and the same one again while there is no answer, as official clients do. */
export class Asking {
  readonly transcript: Transcript
  /** How often each status came, `-` for a connection that broke. */
  readonly met = new Map<string, number>()
  longest_ms = 0
  /** Requests begun so far. */
  begun = 0
  readonly #deployment: MixedDeployment
  #last_ms = Number.POSITIVE_INFINITY

  constructor(deployment: MixedDeployment) {
    this.#deployment = deployment
    this.transcript = new Transcript(deployment.anvil)
  }

  /** From now on an answer that stays out so long fails the load. */
  endWithin(bound_ms: number): void {
    this.#last_ms = performance.now() + bound_ms
  }

  /** Null: the connection broke. */
  async once({ path, body, headers = {}, client }: Request): Promise<Reply | null> {
    const urls = this.#deployment.urls()
    const url = urls[this.begun++ % urls.length] ?? ''
    const begun_ms = performance.now()
    const sent = { 'content-type': 'application/json', 'x-forwarded-for': client, ...headers }
    const init = body === undefined ? { headers: sent } : { method: 'POST', headers: sent, body: JSON.stringify(body) }
    const reply = await this.#fetched(`${url}${path}`, init)
    this.longest_ms = Math.max(this.longest_ms, performance.now() - begun_ms)
    const status = reply === null ? '-' : String(reply.status)
    this.met.set(status, (this.met.get(status) ?? 0) + 1)
    return reply
  }

  /** The same request until it is answered by one of these statuses. */
  async until(request: Request, statuses: readonly number[]): Promise<Reply> {
    const reply = await this.#insisted(() => this.once(request))
    assert.ok(statuses.includes(reply.status), `${request.path}: ${reply.status} ${JSON.stringify(reply.body)}`)
    return reply
  }

  /** The same payment until it is answered or refused for good; every answer is kept. */
  async pay(request: Request, payment: PaymentName, kind: string): Promise<Reply> {
    return this.#insisted(async () => {
      await this.transcript.sending(payment)
      const reply = await this.once(request)
      if (reply !== null) this.transcript.heard(payment, kind, reply.status, reply.body)
      return reply
    })
  }

  /** Between two tries; fails when the load should have ended. */
  async rest(last: string): Promise<void> {
    assert.ok(performance.now() < this.#last_ms, `a request stays without an answer: ${last}`)
    await pause(REST_MS)
  }

  async #insisted(ask: () => Promise<Reply | null>): Promise<Reply> {
    for (;;) {
      const reply = await ask()
      if (reply !== null && !AGAIN.includes(reply.status)) return reply
      await this.rest(reply === null ? 'no connection' : `${reply.status} ${JSON.stringify(reply.body)}`)
    }
  }

  async #fetched(url: string, init: RequestInit): Promise<Reply | null> {
    try {
      const response = await fetch(url, { ...init, signal: AbortSignal.timeout(HANG_MS) })
      return { status: response.status, headers: response.headers, body: (await response.json()) as Record<string, unknown> }
    } catch (error) {
      assert.notEqual((error as Error).name, 'TimeoutError', `${url} hangs`)
      return null
    }
  }
}
