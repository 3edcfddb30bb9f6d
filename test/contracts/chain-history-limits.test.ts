/** What one account's history may cost, and what it must not cost the others. */
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { createTransfers } from '../../src/adapters/chain/history.ts'
import { Pool } from '../../src/adapters/chain/pool.ts'
import { ChainWatch } from '../../src/adapters/chain/watch.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import type { FinalizedRangeStore } from '../../src/ports/chain-facts.ts'
import { TRANSFER_TOPIC } from '../../src/pure/payments/token-calls.ts'
import { spanOf, startSyntheticNode, type Asked, type SyntheticNode } from '../support/synthetic-node.ts'
import { until } from '../support/until.ts'
import { clockAt } from '../support/clock-at.ts'

const TOKEN = `0x${'70'.repeat(20)}`
const BUSY = `0x${'11'.repeat(20)}`
const QUIET = `0x${'22'.repeat(20)}`
const CHAIN = 8453
const FORGETFUL: FinalizedRangeStore = {
  stretches: async () => [],
  keep_stretches: async () => undefined,
  purge_stretches: async () => 0,
}

let node: SyntheticNode

before(async () => {
  node = await startSyntheticNode({ chain_id: CHAIN, head: 20_005_002, token: TOKEN, account: BUSY, log_range: 10_000 })
})
after(() => node.stop())
afterEach(() => {
  node.says = () => null
})

function started() {
  const pool = new Pool([node.url], CHAIN, systemClock)
  let now_ms = systemClock.now_ms()
  const clock = clockAt(() => now_ms)
  let spent = 0
  const spend = (requests: number) => void (spent += requests)
  const source = createTransfers({ pool, chain_id: CHAIN, clock: systemClock, store: FORGETFUL, spend })
  // As a sandbox: looked at with each question, and never stale.
  const watch = new ChainWatch({ pool, clock, token: TOKEN, account: QUIET, sandbox: true })
  return {
    watch,
    history: (account: string) => source.history(TOKEN, account, 86_400),
    spent: () => spent,
    later: (ms: number) => (now_ms += ms),
  }
}

const isOf = ({ params }: Asked, account: string) => JSON.stringify(params).includes(account.slice(2))

// attack: one busy account whose logs a node refuses
// in: outgoing requests and stored data
// asset: histories of other accounts
// attacker: client
// defence: a shorter range for that account alone
test('many results of one account are no short range for the others', async () => {
  const { watch, history } = started()
  node.says = (asked) => {
    if (asked.method !== 'eth_getLogs') return null
    if (!isOf(asked, BUSY)) return { result: [] }
    return spanOf(asked) > 2_000 ? { error: { code: -32005, message: 'query returned more than 10000 results' } } : null
  }
  assert.equal(await watch.history_ready(), true)
  // Blocks 19,918,700 to 20,005,000, each hundredth with one transfer in and one out.
  assert.equal((await history(BUSY)).transfers.length, 2 * 864)
  assert.equal(await watch.history_ready(), true)
  node.requests = 0
  assert.equal((await history(QUIET)).transfers.length, 0)
  assert.ok(node.requests <= 11, `${node.requests} requests`)
})

test('a node that was ill when it was first asked is a source once it is well', async () => {
  const { watch } = started()
  node.says = ({ method }) => (method === 'eth_getLogs' ? { error: { code: -32000, message: 'backend is temporarily unavailable' } } : null)
  assert.deepEqual([await watch.ready(1), await watch.history_ready()], [true, false])
  node.says = () => null
  await until('histories are ready', () => watch.history_ready())
})

test('what a node refused, or served, is asked anew after a minute', async () => {
  const { watch, later } = started()
  node.says = (asked) => (spanOf(asked) > 100 ? { error: { code: -32602, message: 'range exceeds limit of 100' } } : null)
  assert.equal(await watch.history_ready(), false)
  node.says = () => null
  later(59_000)
  assert.equal(await watch.history_ready(), false)
  later(1_000)
  await until('histories are ready', () => watch.history_ready())
  node.says = (asked) => (spanOf(asked) > 100 ? { error: { code: -32602, message: 'range exceeds limit of 100' } } : null)
  later(60_000)
  await until('histories are not ready', async () => !(await watch.history_ready()))
})

test('a history that fails has spent what it took', async () => {
  for (const message of ['range exceeds limit of 500', 'backend is temporarily unavailable']) {
    const { history, spent } = started()
    node.says = (asked) => (spanOf(asked) > 500 ? { error: { code: -32602, message } } : null)
    node.requests = 0
    await assert.rejects(history(BUSY), { code: 'CHAIN_UNAVAILABLE' })
    // One request was for the number of the chain, which is asked once.
    assert.equal(spent(), node.requests - 1)
  }
})

test('a history of more transfers than one answer may hold is refused, not read to its end', async () => {
  const { history } = started()
  node.says = (asked) => (asked.method === 'eth_getLogs' ? { result: logsOf(asked) } : null)
  await assert.rejects(history(BUSY), { reason: 'too_many_requests', message: 'The history holds more than 50000 transfers.' })
})

/** One transfer to the account in each block. */
function logsOf({ params }: Asked): object[] {
  const { fromBlock, toBlock, topics } = params[0] as { fromBlock: string; toBlock: string; topics: (string | null)[] }
  if (topics[1] !== null) return []
  const word = (number: number) => `0x${number.toString(16).padStart(64, '0')}`
  return Array.from({ length: Number(toBlock) - Number(fromBlock) + 1 }, (_, index) => {
    const number = Number(fromBlock) + index
    const place = { blockNumber: `0x${number.toString(16)}`, blockHash: word(number), transactionHash: word(number), logIndex: '0x0' }
    return { address: TOKEN, topics: [TRANSFER_TOPIC, word(7), topics[2]], data: word(1), ...place }
  })
}
