/** Two days of blocks, from a node that makes them up; sums worked out by hand from its rule. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTransfers } from '../../src/adapters/chain/history.ts'
import { Pool } from '../../src/adapters/chain/pool.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { openStore } from '../../src/adapters/store/open.ts'
import type { Store } from '../../src/ports/store.ts'
import { transferTotals } from '../../src/tools/chain/settlement-history-check.ts'
import { sqliteDriver, type StoreDriver } from '../support/store-drivers.ts'
import { startSyntheticNode, type SyntheticNode } from '../support/synthetic-node.ts'

const TOKEN = `0x${'70'.repeat(20)}`
const ME = `0x${'11'.repeat(20)}`
const HEAD = 20_005_002
const CHAIN = 8453

let driver: StoreDriver
let store: Store
const nodes: SyntheticNode[] = []

before(async () => {
  driver = await sqliteDriver()
})
after(async () => {
  await store.close()
  for (const node of nodes) await node.stop()
  await driver.stop()
})

async function started(log_range: number) {
  await store?.close()
  store = await openStore((await driver.fresh()).target)
  const node = await startSyntheticNode({ chain_id: CHAIN, head: HEAD, token: TOKEN, account: ME, log_range })
  nodes.push(node)
  const pool = new Pool([node.url], CHAIN, systemClock)
  const source = createTransfers({ pool, chain_id: CHAIN, clock: systemClock, store: store.finalized_ranges })
  return { node, history: () => source.history(TOKEN, ME, 86_400) }
}

/** Blocks 19,918,601 to 20,005,000: from 19,918,700 on every hundredth, 864 of them. */
const TOTALS = {
  sent: { count: 864, total_minor: 1_728n },
  received: { count: 864, total_minor: 864n },
  to_self: { count: 0, total_minor: 0n },
  net_minor: -864n,
  counterparties: 1,
}

test('at most 20 requests the first time and 2 the next, totals exact both times', async () => {
  const { node, history } = await started(10_000)
  const cold = await history()
  assert.deepEqual([cold.from_block, cold.to.number], [19_918_601n, 20_005_000n])
  assert.deepEqual(transferTotals(ME, cold.transfers), TOTALS)
  assert.ok(node.requests <= 20, `${node.requests} requests`)
  node.requests = 0
  const warm = await history()
  assert.deepEqual(warm.transfers, cold.transfers)
  assert.ok(node.requests <= 2, `${node.requests} requests`)
})

test('when the chain has grown, only what is new is read, and old blocks leave the window', async () => {
  const { node, history } = await started(10_000)
  await history()
  node.head += 1_000
  node.requests = 0
  const later = await history()
  assert.deepEqual([later.from_block, later.to.number], [19_919_601n, 20_006_000n])
  assert.deepEqual(transferTotals(ME, later.transfers), TOTALS)
  assert.ok(node.requests <= 2, `${node.requests} requests`)
})

test('a range of 2,000 takes more requests, within the bound, and gives the same totals', async () => {
  const { node, history } = await started(2_000)
  assert.deepEqual(transferTotals(ME, (await history()).transfers), TOTALS)
  assert.ok(node.requests <= 60 + 2, `${node.requests} requests`)
})

test('a range of 500 would take too many: refused, nothing is made up', async () => {
  const { history } = await started(500)
  await assert.rejects(history(), { code: 'CHAIN_UNAVAILABLE', reason: 'too_many_requests' })
})
