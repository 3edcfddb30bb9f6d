import type { Fault, ProxiedAnswer } from './faults-rpc.ts'

type Calls = Parameters<Fault>[0]['calls']

/** The words and codes with which providers refuse a range of logs, as their documentation and users report them. */
export const RANGE_REFUSALS: Readonly<Record<string, (span: number) => { code: number; message: string }>> = {
  infura: () => ({ code: -32602, message: 'range exceeds limit of 10000' }),
  alchemy: () => ({ code: -32600, message: 'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range.' }),
  quicknode: () => ({ code: -32614, message: 'eth_getLogs is limited to a 5 range' }),
  blockpi: () => ({ code: -32602, message: 'eth_getLogs is limited to 1024 block range' }),
  geth: () => ({ code: -32005, message: 'query returned more than 10000 results' }),
  'geth, out of time': () => ({ code: -32002, message: 'request timed out' }),
  'geth, out of room': () => ({ code: -32003, message: 'response too large' }),
  bnb: () => ({ code: -32701, message: 'exceed max block range' }),
  llamarpc: () => ({ code: -32047, message: 'Invalid eth_getLogs request. fromBlock - toBlock range too large' }),
  drpc: () => ({ code: 35, message: 'ranges over 10000 blocks are not supported on freetier' }),
  'a gateway': () => ({ code: -32603, message: 'block range is too wide' }),
  'a gateway, out of time': () => ({ code: -32005, message: 'query timed out' }),
}

/** Serves ranges of logs up to so many blocks and refuses longer ones in the words of a provider. */
export function rangeLimit(blocks: number, provider: keyof typeof RANGE_REFUSALS): Fault {
  return async ({ calls, ask, answer }) => {
    const answers = await ask(calls)
    answer(
      answers.map((one, index) => {
        const span = spanOf(calls[index])
        return span !== null && span > blocks
          ? { id: one.id, error: RANGE_REFUSALS[provider]?.(span) ?? { code: -32000, message: 'no' } }
          : one
      }),
    )
  }
}

/** As a backend that has not seen the newest blocks: silence where there are logs, and no header of the last block. */
export const behind: Fault = async ({ calls, ask, answer }) => {
  const answers = await ask(calls)
  const logs = calls.some(({ method }) => method === 'eth_getLogs')
  answer(answers.map((one, index) => (logs ? silenced(one, calls[index]?.method ?? '') : one)))
}

function silenced(one: ProxiedAnswer, method: string): ProxiedAnswer {
  return { id: one.id, result: method === 'eth_getLogs' ? [] : null }
}

/** Another chain than the one that was asked for. */
export const wrongChain: Fault = async ({ calls, ask, answer }) => {
  const answers = await ask(calls)
  answer(answers.map((one, index) => (calls[index]?.method === 'eth_chainId' ? { id: one.id, result: '0x1' } : one)))
}

/** A page where an answer should be. */
export const html: Fault = async ({ response }) => {
  response.writeHead(200, { 'content-type': 'text/html' }).end('<html><body>Just a moment…</body></html>')
}

export const unavailable: Fault = async ({ response }) => {
  response.writeHead(503).end('Service Unavailable')
}

/** Half of the answer. */
export const truncated: Fault = async ({ calls, ask, response }) => {
  const whole = JSON.stringify(await ask(calls))
  response.writeHead(200, { 'content-type': 'application/json' }).end(whole.slice(0, Math.floor(whole.length / 2)))
}

/** The block of this height has this hash from the second question on: a reorganisation between two reads. */
export function reorganises(times: number): Fault {
  let seen = 0
  return async ({ calls, ask, answer }) => {
    const answers = await ask(calls)
    const reads = calls.some(({ method }) => method !== 'eth_getBlockByNumber' && method !== 'eth_chainId')
    const changes = reads && (seen += 1) <= times
    answer(answers.map((one, index) => (changes && calls[index]?.method === 'eth_getBlockByNumber' ? otherHash(one) : one)))
  }
}

function otherHash({ id, result }: ProxiedAnswer): ProxiedAnswer {
  return { id, result: { ...(result as object), hash: `0x${'cd'.repeat(32)}` } }
}

/** Heads that are so many seconds old. */
export function oldHead(seconds: number): Fault {
  return async ({ calls, ask, answer }) => {
    const answers = await ask(calls)
    answer(answers.map((one, index) => (isHead(calls, index) ? older(one, seconds) : one)))
  }
}

function isHead(calls: Calls, index: number): boolean {
  return calls[index]?.method === 'eth_getBlockByNumber' && calls[index]?.params[0] === 'latest'
}

function older({ id, result }: ProxiedAnswer, seconds: number): ProxiedAnswer {
  const block = result as { timestamp: string }
  return { id, result: { ...block, timestamp: `0x${(Number(block.timestamp) - seconds).toString(16)}` } }
}

function spanOf(call: Calls[number] | undefined): number | null {
  if (call?.method !== 'eth_getLogs') return null
  const { fromBlock, toBlock } = call.params[0] as { fromBlock: string; toBlock: string }
  return Number(BigInt(toBlock) - BigInt(fromBlock)) + 1
}
