import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

interface ProxiedCall {
  jsonrpc: string
  id: number
  method: string
  params: unknown[]
}

export interface ProxiedAnswer {
  id: number
  result?: unknown
  error?: { code: number; message: string }
}

/** What the proxy does with one HTTP request; it answers through the exchange, or not at all. */
export type Fault = (exchange: Exchange) => Promise<void>

interface Exchange {
  calls: ProxiedCall[]
  methods: Set<string>
  response: ServerResponse
  /** What the node says to these calls, in their order. */
  ask(calls: readonly ProxiedCall[]): Promise<ProxiedAnswer[]>
  /** Gives this to the service as the node's answer. */
  answer(answers: readonly ProxiedAnswer[]): void
}

/** An HTTP proxy before a node, which misbehaves as it is told. */
export interface RpcProxy {
  url: string
  /** Methods that were asked for so far, whatever became of them. */
  asked: string[]
  /** Undefined: forwards everything. */
  misbehave(fault: Fault | undefined): void
  /** Closes the port, so that connections are refused, and opens it again. */
  power(state: 'off' | 'on'): Promise<void>
  stop(): Promise<void>
}

export async function startRpcProxy(rpc_url: string): Promise<RpcProxy> {
  let fault: Fault | undefined
  let server = await listening(0)
  const { port } = server.address() as AddressInfo

  function listening(at: number): Promise<Server> {
    const made = createServer((request, response) => void serve(request, response).catch(() => response.destroy()))
    return new Promise((resolve) => made.listen(at, '127.0.0.1', () => resolve(made)))
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse(await text(request)) as ProxiedCall | ProxiedCall[]
    const calls = Array.isArray(body) ? body : [body]
    proxy.asked.push(...calls.map(({ method }) => method))
    const exchange: Exchange = {
      calls,
      methods: new Set(calls.map(({ method }) => method)),
      response,
      ask: (some) => askNode(rpc_url, some),
      answer: (answers) => {
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]))
      },
    }
    await (fault ?? faults.none)(exchange)
  }

  async function close(): Promise<void> {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }

  const proxy: RpcProxy = {
    url: `http://127.0.0.1:${port}/`,
    asked: [],
    misbehave(next) {
      fault = next
    },
    async power(state) {
      if (state === 'off') await close()
      else server = await listening(port)
    },
    stop: () => (server.listening ? close() : Promise.resolve()),
  }
  return proxy
}

async function askNode(rpc_url: string, calls: readonly ProxiedCall[]): Promise<ProxiedAnswer[]> {
  const headers = { 'content-type': 'application/json' }
  const answers = (await (await fetch(rpc_url, { method: 'POST', headers, body: JSON.stringify(calls) })).json()) as ProxiedAnswer[]
  return calls.map(({ id }) => answers.find((answer) => answer.id === id) ?? { id, error: { code: -32603, message: 'no answer' } })
}

const SEND = 'eth_sendRawTransaction'

/** The ways in which a node fails. */
export const faults = {
  none: async ({ calls, ask, answer }) => answer(await ask(calls)),
  /** Reads the request and says nothing; the asker has to give up. */
  hang: () => Promise.resolve(),
  limited: async ({ response }) => {
    response.writeHead(429, { 'retry-after': '1' }).end()
  },
  error: async ({ calls, answer }) => answer(calls.map(({ id }) => ({ id, error: { code: -32603, message: 'internal error' } }))),
  /** Gives the transaction to the chain, and the connection breaks before it can say so. */
  dropAfterSend: async ({ calls, methods, ask, answer, response }) => {
    const answers = await ask(calls)
    if (methods.has(SEND)) response.destroy()
    else answer(answers)
  },
  /** Gives the transaction to the chain and never says so. */
  hangAfterSend: async ({ calls, methods, ask, answer }) => {
    const answers = await ask(calls)
    if (!methods.has(SEND)) answer(answers)
  },
  /** Gives the transaction to the chain and says that something went wrong. */
  errorAfterSend: async ({ calls, methods, ask, answer }) => {
    const answers = await ask(calls)
    answer(methods.has(SEND) ? calls.map(({ id }) => ({ id, error: { code: -32603, message: 'internal error' } })) : answers)
  },
  /** Takes the transaction, says so, and forgets it. */
  swallowSend: async ({ calls, methods, ask, answer }) => {
    if (methods.has(SEND)) answer(calls.map(({ id }) => ({ id, result: `0x${'ab'.repeat(32)}` })))
    else answer(await ask(calls))
  },
  /** As if no transaction had ever been mined: no receipts, no logs. */
  blind: async ({ calls, ask, answer }) => {
    const answers = await ask(calls)
    answer(answers.map((one, index) => hidden(one, calls[index]?.method ?? '')))
  },
} satisfies Record<string, Fault>

function hidden(answer: ProxiedAnswer, method: string): ProxiedAnswer {
  if (method === 'eth_getTransactionReceipt') return { id: answer.id, result: null }
  return method === 'eth_getLogs' ? { id: answer.id, result: [] } : answer
}

/** State of this block for whatever is asked, under the newest head: a node whose state lags behind its own blocks. Receipts are missing too. */
export function stale(block: string): Fault {
  const lagging = new Set(['eth_call', 'eth_getBalance', 'eth_getTransactionCount', 'eth_getCode'])
  return async ({ calls, ask, answer }) => {
    const answers = await ask(calls.map((call) => (lagging.has(call.method) ? asOf(call, block) : call)))
    answer(answers.map((one, index) => hidden(one, calls[index]?.method ?? '')))
  }
}

/** Contracts answer from the state of this block; all else is as it is. */
export function oldBalances(block: string): Fault {
  return async ({ calls, ask, answer }) => answer(await ask(calls.map((call) => (call.method === 'eth_call' ? asOf(call, block) : call))))
}

function asOf(call: ProxiedCall, block: string): ProxiedCall {
  return { ...call, params: [call.params[0], block] }
}
