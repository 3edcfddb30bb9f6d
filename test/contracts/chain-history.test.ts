/** Transfers of the last blocks from a real node: totals are those of what was sent. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { createTransfers, requestsFor, stretchesOf } from '../../src/adapters/chain/history.ts'
import { Pool } from '../../src/adapters/chain/pool.ts'
import { ChainWatch } from '../../src/adapters/chain/watch.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { openStore } from '../../src/adapters/store/open.ts'
import type { Transfers } from '../../src/ports/chain-facts.ts'
import type { Store } from '../../src/ports/store.ts'
import { addressWord, uintWord } from '../../src/pure/payments/token-calls.ts'
import { transferTotals } from '../../src/tools/chain/settlement-history-check.ts'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { behind, rangeLimit, RANGE_REFUSALS } from '../support/faults-facts.ts'
import { startRpcProxy, type RpcProxy } from '../support/faults-rpc.ts'
import { sqliteDriver, type StoreDriver } from '../support/store-drivers.ts'
import { until } from '../support/until.ts'
import { clockAt } from '../support/clock-at.ts'

const SHOP = '0x00000000000000000000000000000000000a11ce'

let anvil: Anvil
let proxy: RpcProxy
let driver: StoreDriver
let store: Store
let me: string

before(async () => {
  ;[anvil, driver] = await Promise.all([startAnvil(), sqliteDriver()])
  store = await openStore((await driver.fresh()).target)
  proxy = await startRpcProxy(anvil.rpc_url)
  const [account] = anvil.accounts
  assert.ok(account !== undefined)
  me = account.address.toLowerCase()
  // Received 1,000,000; sent 250,000 and 1; 400 to itself.
  await anvil.mint(me, 1_000_000n)
  await anvil.rpc('anvil_impersonateAccount', [me])
  for (const [to, amount] of [
    [SHOP, 250_000n],
    [me, 400n],
    [SHOP, 1n],
  ] as const) {
    await send(to, amount)
  }
  await anvil.mine(3)
})
after(async () => {
  await store.close()
  await driver.stop()
  await proxy.stop()
  await anvil.stop()
})
beforeEach(() => {
  proxy.misbehave(undefined)
  proxy.asked.length = 0
})

async function send(to: string, amount: bigint): Promise<void> {
  const data = `0xa9059cbb${addressWord(to)}${uintWord(amount)}`
  const hash = await anvil.rpc('eth_sendTransaction', [{ from: me, to: anvil.token, data, gas: '0x30d40' }])
  await until('the transfer is mined', async () => (await anvil.rpc('eth_getTransactionReceipt', [hash])) !== null)
}

function transfersOver(...urls: string[]): Transfers {
  const { chain_id } = anvil
  return createTransfers({ pool: new Pool(urls, chain_id, systemClock), chain_id, clock: systemClock, store: store.finalized_ranges })
}

const history = (source: Transfers, blocks = 86_400) => source.history(anvil.token.toLowerCase(), me, blocks)

test('sent, received and to oneself add up, each once, and the window ends at genesis', async () => {
  const found = await history(transfersOver(anvil.rpc_url))
  const totals = transferTotals(me, found.transfers)
  assert.deepEqual(totals, {
    sent: { count: 2, total_minor: 250_001n },
    received: { count: 1, total_minor: 1_000_000n },
    to_self: { count: 1, total_minor: 400n },
    net_minor: 749_999n,
    counterparties: 2,
  })
  assert.deepEqual([found.from_block, found.clipped_at_genesis], [0n, true])
})

test('a window of few blocks holds only what is in it', async () => {
  const found = await history(transfersOver(anvil.rpc_url), 3)
  assert.equal(found.to.number - found.from_block, 2n)
  assert.ok(found.transfers.every(({ block_number }) => block_number >= found.from_block && block_number <= found.to.number))
})

for (const provider of Object.keys(RANGE_REFUSALS)) {
  test(`a range that is refused in the words of ${provider} is halved until it is served`, async () => {
    proxy.misbehave(rangeLimit(2, provider))
    const whole = await history(transfersOver(anvil.rpc_url))
    const cut = await history(transfersOver(proxy.url))
    assert.deepEqual(cut.transfers, whole.transfers)
  })
}

test('silence of a node that has not seen the blocks is no emptiness', async () => {
  proxy.misbehave(behind)
  await assert.rejects(history(transfersOver(proxy.url)), { code: 'CHAIN_UNAVAILABLE' })
  assert.equal((await history(transfersOver(proxy.url, anvil.rpc_url))).transfers.length, 4)
})

test('the aligned stretches cover the range without gap or overlap', () => {
  for (const [from, to] of [
    [0n, 0n],
    [5n, 86_404n],
    [20_000n, 29_999n],
    [19_999n, 30_000n],
  ] as const) {
    const found = stretchesOf(from, to)
    assert.ok((found[0]?.from ?? -1n) <= from && found.at(-1)?.to === to)
    for (const [index, { from: start }] of found.entries()) {
      assert.equal(start % 10_000n, 0n)
      if (index > 0) assert.equal(start, (found[index - 1]?.to ?? 0n) + 1n)
    }
  }
  // 86,400 blocks touch at most ten stretches of 10,000: one request each, and one for the head.
  assert.equal(requestsFor(86_400, 10_000), 11)
  assert.equal(requestsFor(86_400, 2_000), 51)
})

test('a node that serves ten blocks at a time is no source of histories, and is one of facts', async () => {
  proxy.misbehave(rangeLimit(10, 'alchemy'))
  await anvil.mine(600)
  const pool = new Pool([proxy.url], anvil.chain_id, systemClock)
  const watch = new ChainWatch({ pool, clock: systemClock, token: anvil.token.toLowerCase(), account: SHOP, sandbox: false })
  assert.deepEqual([await watch.ready(5), await watch.history_ready()], [true, false])
})

test('what one process may ask is bounded, and fills up again', async () => {
  let now_ms = systemClock.now_ms()
  const clock = clockAt(() => now_ms)
  const pool = new Pool([anvil.rpc_url], anvil.chain_id, systemClock)
  const watch = new ChainWatch({ pool, clock, token: anvil.token.toLowerCase(), account: SHOP, sandbox: true })
  assert.equal(await watch.ready(5), true)
  watch.spend(300)
  assert.equal(await watch.ready(5), false)
  now_ms += 1_000
  assert.equal(await watch.ready(5), true)
})
