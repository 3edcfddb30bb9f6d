/** Facts of a chain, read at one block from a real node; expectations by viem, and by what was done on the chain. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { createPublicClient, http, type PublicClient } from 'viem'
import { createChainFacts } from '../../src/adapters/chain/facts.ts'
import { Pool } from '../../src/adapters/chain/pool.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import type { ChainFacts } from '../../src/ports/chain-facts.ts'
import { balanceCall } from '../../src/pure/payments/token-calls.ts'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { html, oldHead, reorganises, truncated, unavailable, wrongChain } from '../support/faults-facts.ts'
import { faults, startRpcProxy, type RpcProxy } from '../support/faults-rpc.ts'

const SOMEBODY = '0x00000000000000000000000000000000000a11ce'

let anvil: Anvil
let proxy: RpcProxy
let viem: PublicClient

before(async () => {
  anvil = await startAnvil()
  proxy = await startRpcProxy(anvil.rpc_url)
  viem = createPublicClient({ transport: http(anvil.rpc_url) })
  await anvil.mint(SOMEBODY, 12_345_678n)
  await anvil.mine(3)
})
after(async () => {
  await proxy.stop()
  await anvil.stop()
})
beforeEach(() => {
  proxy.misbehave(undefined)
  proxy.asked.length = 0
})

function factsOver(...urls: string[]): ChainFacts {
  return createChainFacts({ pool: new Pool(urls, anvil.chain_id, systemClock), chain_id: anvil.chain_id, clock: systemClock })
}

const balance = (facts: ChainFacts) =>
  facts.atOneBlock(async (at) => (await at.read([{ kind: 'call', to: anvil.token, data: balanceCall(SOMEBODY) }]))[0])

test('everything is read at the block below the newest, and is what viem reads there', async () => {
  const [account] = anvil.accounts
  assert.ok(account !== undefined)
  const { address } = account
  const found = await factsOver(anvil.rpc_url).atOneBlock(async (at) => ({
    header: at.header,
    said: await at.read([
      { kind: 'balance', address },
      { kind: 'nonce', address },
      { kind: 'code', address: anvil.token },
      { kind: 'storage', address: anvil.token, slot: `0x${'0'.repeat(64)}` },
      { kind: 'call', to: anvil.token, data: '0xdeadbeef' },
    ]),
  }))
  const newest = await viem.getBlockNumber({ cacheTime: 0 })
  assert.equal(found.header.number, newest - 1n)
  const at = { blockNumber: found.header.number }
  assert.equal(found.header.hash, (await viem.getBlock(at)).hash)
  const storage = await viem.getStorageAt({ address: anvil.token, slot: '0x0', ...at })
  const code = await viem.getCode({ address: anvil.token, ...at })
  assert.deepEqual(found.said.slice(0, 4), [
    { ok: true, data: `0x${(await viem.getBalance({ address, ...at })).toString(16)}` },
    { ok: true, data: '0x0' },
    { ok: true, data: code },
    { ok: true, data: storage },
  ])
  assert.equal(found.said[4]?.ok, false)
})

test('one reading is one round trip when the block is known, and three when it is not', async () => {
  const facts = factsOver(proxy.url)
  await balance(facts)
  assert.deepEqual(proxy.asked, ['eth_chainId', 'eth_getBlockByNumber', 'eth_getBlockByNumber', 'eth_call', 'eth_getBlockByNumber'])
  proxy.asked.length = 0
  await balance(facts)
  assert.deepEqual(proxy.asked, ['eth_call', 'eth_getBlockByNumber'])
})

test('a block that is replaced while it is read is read again once, then given up', async () => {
  proxy.misbehave(reorganises(1))
  assert.deepEqual(await balance(factsOver(proxy.url)), { ok: true, data: `0x${(12_345_678).toString(16).padStart(64, '0')}` })
  proxy.misbehave(reorganises(2))
  await assert.rejects(balance(factsOver(proxy.url)), { code: 'CHAIN_UNAVAILABLE', reason: 'reorg' })
})

test('a chain that stands still is stale', async () => {
  proxy.misbehave(oldHead(60))
  await assert.rejects(balance(factsOver(proxy.url)), { code: 'CHAIN_UNAVAILABLE', reason: 'stale' })
})

for (const [name, fault] of Object.entries({ html, unavailable, truncated, wrongChain, hang: faults.hang, error: faults.error })) {
  test(`an endpoint that fails (${name}) is passed over, and alone it is no source`, async () => {
    proxy.misbehave(fault)
    assert.equal((await balance(factsOver(proxy.url, anvil.rpc_url)))?.ok, true)
    await assert.rejects(balance(factsOver(proxy.url)), { code: 'CHAIN_UNAVAILABLE' })
  })
}

test('a dead first endpoint costs its failures, then nothing while the breaker is open', async () => {
  await proxy.power('off')
  const facts = factsOver(proxy.url, anvil.rpc_url)
  for (let times = 0; times < 3; times += 1) await balance(facts)
  await proxy.power('on')
  proxy.asked.length = 0
  await balance(facts)
  assert.deepEqual(proxy.asked, [])
})

test('blocks by number and tag are what viem reads', async () => {
  const facts = factsOver(anvil.rpc_url)
  for (const tag of ['latest', 'earliest', 'safe', 'finalized'] as const) {
    const { number, hash, transactions, baseFeePerGas, gasUsed, gasLimit } = await viem.getBlock({ blockTag: tag })
    const found = await facts.block(tag)
    assert.deepEqual(
      [found?.number, found?.hash, found?.transaction_count, found?.base_fee_wei, found?.gas_used, found?.gas_limit],
      [number, hash, transactions.length, baseFeePerGas, gasUsed, gasLimit],
    )
  }
  assert.equal((await facts.block(2n))?.hash, (await viem.getBlock({ blockNumber: 2n })).hash)
  assert.equal(await facts.block(1_000_000n), null)
  const pending = await facts.block('pending')
  assert.equal(pending?.number, (await viem.getBlockNumber({ cacheTime: 0 })) + 1n)
})
