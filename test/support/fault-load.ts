import assert from 'node:assert/strict'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { restCall } from './app.ts'
import { holder, INPUT } from './faults-buyer.ts'
import { FREE_DAILY, FREE_TOOL, PAID_TOOL, type Pair } from './fault-pair.ts'
import { readRequired, signTerms, type Signed } from './paying.ts'

/** An LEI of ISO 17442: that of GLEIF itself. */
const LEI = { lei: '506700GE1G29325QX363' }
const BALANCE_MINOR = 1_000_000_000n
/** Longer than anything in the service waits; whoever meets it has met a hang. */
const HANG_MS = 60_000
/** How long a fault may keep a payer waiting: what is left of a minute's claim, the reconciler's look, and a call. */
export const ANSWERED_MS = 90_000
/** As an agent does who is told to come again: so that a service that is down is not flooded. */
const REST_MS = 50

/** One payment that was signed once, sent until it was answered, and the answer. */
export interface PaidCall {
  signed: Signed
  answer: Record<string, unknown>
}

/** What callers do who never give up; it goes on until it is told to stop. */
export interface Load {
  paid: PaidCall[]
  payers: PrivateKeyAccount[]
  /** Free answers by the client's address. */
  free: Map<string, number>
  /** How often each status came, `-` for a connection that broke. */
  met: Map<string, number>
  longest_ms: number
  /** No new payments and no free calls; resolves when each payment that was signed is answered. */
  stop(): Promise<void>
  /** Ends at once, whatever is still unanswered: for a test that has failed already. */
  abandon(): void
}

export interface LoadOptions {
  payers: number
  free_callers: number
}

type Reply = Awaited<ReturnType<typeof restCall>>

export async function startLoad(pair: Pair, { payers, free_callers }: LoadOptions): Promise<Load> {
  const load: Load = { paid: [], payers: [], free: new Map(), met: new Map(), longest_ms: 0, stop, abandon }
  for (let count = 0; count < payers; count++) load.payers.push(await holder(pair.anvil, BALANCE_MINOR))
  const ending = new AbortController()
  const going = () => !ending.signal.aborted
  let [turn, clients, last_ms] = [0, 0, Number.POSITIVE_INFINITY]
  const failures: unknown[] = []

  /** Goes to the services in turn. Null: the connection broke. */
  async function ask(tool: string, input: unknown, headers: Record<string, string>): Promise<Reply | null> {
    const urls = pair.urls()
    const begun_ms = performance.now()
    const reply = await callWithin(urls[turn++ % urls.length] ?? '', tool, input, headers)
    load.longest_ms = Math.max(load.longest_ms, performance.now() - begun_ms)
    const status = reply === null ? '-' : `${reply.status}`
    load.met.set(status, (load.met.get(status) ?? 0) + 1)
    if (reply?.status === 503) assertUncharged(reply, 'payment-signature' in headers)
    return reply
  }

  async function payer(account: PrivateKeyAccount): Promise<void> {
    while (going()) {
      const terms = await ask(PAID_TOOL, INPUT, {})
      if (terms?.status !== 402) {
        assert.ok(terms === null || terms.status === 503, `terms: ${terms?.status} ${JSON.stringify(terms?.body)}`)
        await rest()
        continue
      }
      const required = readRequired(terms.headers.get('payment-required') ?? '')
      const signed = await signTerms(account, required, { validBefore: BigInt(Math.floor(Date.now() / 1_000) + 900) })
      load.paid.push({ signed, answer: await insisted(signed) })
    }
  }

  /** The same payment again and again; a new demand for money is a failure. */
  async function insisted(signed: Signed): Promise<Record<string, unknown>> {
    for (;;) {
      assert.ok(performance.now() < last_ms, `a payment stays without an answer: ${[...load.met].join(' ')}`)
      const reply = await ask(PAID_TOOL, INPUT, { 'payment-signature': signed.v2 })
      if (reply?.status === 200) return reply.body
      assert.ok(reply === null || reply.status === 202 || reply.status === 503, `paid: ${reply?.status} ${JSON.stringify(reply?.body)}`)
      await rest()
    }
  }

  /** New clients all the time, each of whom asks for two calls more than it has. */
  async function freeCaller(): Promise<void> {
    while (going()) {
      const client = clientAddress(clients++)
      for (let count = 0; going() && count < FREE_DAILY + 2; count++) {
        const reply = await ask(FREE_TOOL, LEI, { 'x-forwarded-for': client })
        if (reply?.status === 200) load.free.set(client, (load.free.get(client) ?? 0) + 1)
        else await rest()
        assert.ok(reply === null || [200, 402, 503].includes(reply.status), `free: ${reply?.status} ${JSON.stringify(reply?.body)}`)
      }
    }
  }

  /** The first failure ends the load; stop() tells of it. */
  function fail(error: unknown): void {
    failures.push(error)
    ending.abort()
  }

  function abandon(): void {
    ending.abort()
    last_ms = 0
  }

  async function stop(): Promise<void> {
    ending.abort()
    last_ms = performance.now() + ANSWERED_MS
    await running
    if (failures.length > 0) throw failures[0]
  }

  const callers = [...load.payers.map((account) => payer(account)), ...Array.from({ length: free_callers }, () => freeCaller())]
  const running = Promise.all(callers.map((caller) => caller.catch(fail)))
  return load
}

/** While nothing is known of a payment, "unknown" is honest; a call that carries none is never charged. */
function assertUncharged({ body }: Reply, paying: boolean): void {
  assert.ok(body['charged'] === false || (paying && body['charged'] === 'unknown'), JSON.stringify(body))
  assert.equal(body['retryable'], true, JSON.stringify(body))
}

async function callWithin(url: string, tool: string, input: unknown, headers: Record<string, string>): Promise<Reply | null> {
  const request = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify({ input }) }
  try {
    const response = await fetch(`${url}/v1/tools/${tool}/call`, { ...request, signal: AbortSignal.timeout(HANG_MS) })
    return { status: response.status, headers: response.headers, body: (await response.json()) as Record<string, unknown> }
  } catch (error) {
    assert.notEqual((error as Error).name, 'TimeoutError', `${tool} hangs`)
    return null
  }
}

function rest(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, REST_MS))
}

/** RFC 2544. */
function clientAddress(number: number): string {
  return `198.${18 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`
}
