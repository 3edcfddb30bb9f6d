import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { TRANSFER_TOPIC } from '../../src/pure/payments/token-calls.ts'

export interface Asked {
  id: number
  method: string
  params: unknown[]
}

/**
 * A node with a long past, which no local chain has: two days of Base are 86,400 blocks, and mining them takes many minutes. Every block up
 * to its head exists; each hundredth holds one transfer of 1 to the account and one of 2 from it. Ranges of logs beyond the limit are refused.
 */
export interface SyntheticNode {
  url: string
  /** HTTP requests so far. */
  requests: number
  /** The calls in each of them. */
  readonly asked: Asked[][]
  head: number
  /** What it says otherwise than a healthy node: the answer to one call, or null; what never resolves is never answered. */
  says: (asked: Asked, request: readonly Asked[]) => Said | null | Promise<never>
  stop(): Promise<void>
}

type Said = { result: unknown } | { error: { code: number; message: string; data?: string } }

export interface SyntheticOptions {
  chain_id: number
  head: number
  token: string
  account: string
  log_range: number
}

export async function startSyntheticNode(options: SyntheticOptions): Promise<SyntheticNode> {
  const server = createServer((request, response) => {
    void answered(request).then((answer) => response.setHeader('content-type', 'application/json').end(answer))
  })
  async function answered(request: IncomingMessage): Promise<string> {
    node.requests += 1
    const body = JSON.parse(await text(request)) as Asked | Asked[]
    const calls = [body].flat()
    node.asked.push(calls)
    const answers = await Promise.all(
      calls.map(async (one) => ({ jsonrpc: '2.0', id: one.id, ...((await node.says(one, calls)) ?? said(one, node.head, options)) })),
    )
    return JSON.stringify(Array.isArray(body) ? answers : answers[0])
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const node: SyntheticNode = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: 0,
    asked: [],
    head: options.head,
    says: () => null,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return node
}

function said({ method, params }: Asked, head: number, options: SyntheticOptions): Said {
  switch (method) {
    case 'eth_chainId':
      return { result: hex(options.chain_id) }
    case 'eth_getBlockByNumber':
      return { result: block(params[0] as string, head) }
    case 'eth_getLogs':
      return logs(params[0] as { fromBlock: string; toBlock: string; topics: (string | null)[] }, options)
    case 'eth_call':
      return { result: word(1) }
    case 'eth_getCode':
      return { result: '0x' }
    case 'eth_getStorageAt':
      return { result: word(0) }
    case 'eth_getBalance':
    case 'eth_getTransactionCount':
      return { result: '0x7' }
    default:
      return { error: { code: -32601, message: 'method not found' } }
  }
}

const FINAL_DEPTH = 600

function block(at: string, head: number): Record<string, unknown> | null {
  const number = at === 'latest' ? head : at === 'pending' ? head + 1 : at === 'finalized' ? head - FINAL_DEPTH : Number(at)
  if (number > head && at !== 'pending') return null
  const timestamp = Math.floor(Date.now() / 1_000) - 2 * (head - number)
  const header = { number: hex(number), hash: word(number), parentHash: word(number - 1), timestamp: hex(timestamp) }
  return { ...header, transactions: [], gasUsed: '0x0', gasLimit: '0x1' }
}

function logs(
  { fromBlock, toBlock, topics }: { fromBlock: string; toBlock: string; topics: (string | null)[] },
  options: SyntheticOptions,
): Said {
  const [from, to] = [Number(fromBlock), Number(toBlock)]
  if (to - from + 1 > options.log_range) return { error: { code: -32602, message: `range exceeds limit of ${options.log_range}` } }
  const out = topics[1] !== null
  const me = `0x${options.account.slice(2).padStart(64, '0')}`
  const other = word(0xb0b)
  const found: object[] = []
  for (let number = Math.ceil(from / 100) * 100; number <= to; number += 100) {
    found.push({
      address: options.token,
      topics: [TRANSFER_TOPIC, out ? me : other, out ? other : me],
      data: word(out ? 2 : 1),
      blockNumber: hex(number),
      blockHash: word(number),
      transactionHash: word(number * 10 + (out ? 1 : 0)),
      logIndex: hex(out ? 1 : 0),
    })
  }
  return { result: found }
}

/** Blocks that a question for logs is about; 0 for any other. */
export function spanOf({ method, params }: Asked): number {
  if (method !== 'eth_getLogs') return 0
  const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string }
  return Number(toBlock) - Number(fromBlock) + 1
}

function hex(number: number): string {
  return `0x${number.toString(16)}`
}

function word(number: number): string {
  return `0x${Math.max(0, number).toString(16).padStart(64, '0')}`
}
