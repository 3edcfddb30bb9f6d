import { setTimeout as pause } from 'node:timers/promises'
import { faults, type Fault, type ProxiedAnswer } from './faults-rpc.ts'

/** Every answer comes so late; late enough, and it comes too late. */
export function late(by_ms: number): Fault {
  return async (exchange) => {
    await pause(by_ms)
    return faults.none(exchange)
  }
}

/** Every second request ends in errors. */
export function flaky(): Fault {
  let count = 0
  return (exchange) => (count++ % 2 === 0 ? faults.error(exchange) : faults.none(exchange))
}

/** Calls a block its newest that lies `blocks` from the true one: one that is long past, or one that nobody has. */
export function lyingHead(blocks: number): Fault {
  return async ({ calls, ask, answer }) => {
    const answers = await ask(calls)
    answer(answers.map((one, index) => moved(one, calls[index]?.method ?? '', calls[index]?.params ?? [], blocks)))
  }
}

/** Blocks of Base come every two seconds. */
const BASE_BLOCK_S = 2

function moved(answer: ProxiedAnswer, method: string, [tag]: unknown[], blocks: number): ProxiedAnswer {
  if (method === 'eth_blockNumber') return { ...answer, result: plus(answer.result, blocks) }
  if (method !== 'eth_getBlockByNumber' || tag !== 'latest' || typeof answer.result !== 'object' || answer.result === null) return answer
  const block = answer.result as Record<string, unknown>
  const timestamp = plus(block['timestamp'], blocks * BASE_BLOCK_S)
  return { ...answer, result: { ...block, number: plus(block['number'], blocks), timestamp, hash: `0x${'fe'.repeat(32)}` } }
}

function plus(hex: unknown, more: number): string {
  const sum = BigInt(String(hex)) + BigInt(more)
  return `0x${(sum < 0n ? 0n : sum).toString(16)}`
}
