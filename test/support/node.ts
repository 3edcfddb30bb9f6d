import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface NodeCall {
  id: number
  method: string
  params: unknown[]
}

/** What the node does with one HTTP request; null: it answers as a healthy node does. */
export type Behaviour = (calls: NodeCall[], response: ServerResponse, request: IncomingMessage) => unknown

/** An HTTP server that speaks JSON-RPC as the test has it; `answer` is what one call gets from a healthy node. */
export interface FakeNode {
  url: string
  /** HTTP requests so far, with the calls in each. */
  requests: NodeCall[][]
  /** Misbehaves from now on; undefined: not at all. */
  behave(behaviour: Behaviour | undefined): void
  head: { number: bigint; hash: string; timestamp_s: number }
  stop(): Promise<void>
}

/** Answers that a test can build its own from. */
export function answersTo(node: FakeNode, calls: readonly NodeCall[]) {
  return calls.map(({ id, method }) => ({ jsonrpc: '2.0', id, ...resultOf(node, method) }))
}

export async function startFakeNode(): Promise<FakeNode> {
  let behaviour: Behaviour | undefined
  const server = createServer((request, response) => void serve(request, response))
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse(await text(request)) as NodeCall | NodeCall[]
    const calls = Array.isArray(body) ? body : [body]
    node.requests.push(calls)
    if (behaviour !== undefined && behaviour(calls, response, request) !== null) return
    const answers = answersTo(node, calls)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]))
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const node: FakeNode = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    requests: [],
    behave(next) {
      behaviour = next
    },
    head: { number: 100n, hash: hashOf(100n), timestamp_s: 1_000 },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return node
}

export function hashOf(number: bigint, branch = 'aa'): string {
  return `0x${branch}${number.toString(16).padStart(62, '0')}`
}

function resultOf({ head }: FakeNode, method: string): { result: unknown } | { error: unknown } {
  switch (method) {
    case 'eth_chainId':
      return { result: '0x2105' }
    case 'eth_getBlockByNumber':
      return {
        result: {
          number: `0x${head.number.toString(16)}`,
          hash: head.hash,
          parentHash: hashOf(head.number - 1n),
          timestamp: `0x${head.timestamp_s.toString(16)}`,
          baseFeePerGas: '0x5',
        },
      }
    case 'eth_call':
      return { result: '0x01' }
    case 'eth_getBalance':
    case 'eth_getTransactionCount':
    case 'eth_maxPriorityFeePerGas':
      return { result: '0x7' }
    default:
      return { error: { code: -32601, message: 'Method not found' } }
  }
}
