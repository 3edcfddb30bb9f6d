/** Settlement over HTTP through a node that limits, hangs and breaks off; the chain behind it is real. */
import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import { createChain } from '../../src/adapters/chain/rpc.ts'
import type { PaymentStore } from '../../src/ports/payments.ts'
import type { Store } from '../../src/ports/store.ts'
import { startBadNode, type Mischief } from '../support/bad-node.ts'
import { newWallet, startSettlement, until, type SettlementBench } from '../support/settlement.ts'

let bench: SettlementBench

before(async () => {
  bench = await startSettlement()
})
after(() => bench.stop())

/** One payment through a node that does this to the first requests of each of these methods. */
async function through(t: TestContext, mischief: Mischief, method: string, times: number): Promise<void> {
  let left = times
  let done = 0
  const node = await startBadNode(bench.anvil.rpc_url, (methods) => {
    if (!methods.includes(method) || left === 0) return 'none'
    left--
    done++
    return mischief
  })
  const wallet = await newWallet(bench.anvil)
  const chain = createChain({ urls: [node.url], chain_id: bench.anvil.chain_id, clock: bench.clock })
  const settler = bench.settler({ wallets: [wallet], chain, sender: chain })
  t.after(async () => {
    await settler.stop()
    await node.stop()
  })
  settler.start()
  const before_minor = await bench.held(bench.pay_to)
  const result = await settler.settle(await bench.settling(await bench.payer(), { settler: wallet.address }), 20_000)
  assert.equal(result.kind, 'settled')
  assert.equal(done, times, 'the mischief was not done')
  assert.equal(await bench.held(bench.pay_to), before_minor + 10_000n)
  assert.equal(await bench.chain.account_nonce(wallet.address), 1)
}

test('429 before the broadcast', (t) => through(t, 'limited', 'eth_sendRawTransaction', 1))
test('the node takes the transaction and never answers', (t) => through(t, 'mute', 'eth_sendRawTransaction', 1))
test('the node never takes the transaction and never answers', (t) => through(t, 'deaf', 'eth_sendRawTransaction', 1))
test('the connection breaks at the broadcast', (t) => through(t, 'broken', 'eth_sendRawTransaction', 1))
test('receipts cannot be had for a while', (t) => through(t, 'broken', 'eth_getTransactionReceipt', 2))
test('the last look before sending hangs', (t) => through(t, 'deaf', 'eth_call', 1))

test('an idle writer asks the chain nothing, and the store about once in its interval', async (t) => {
  let asked = 0
  let looked = 0
  const node = await startBadNode(bench.anvil.rpc_url, () => {
    asked++
    return 'none'
  })
  const chain = createChain({ urls: [node.url], chain_id: bench.anvil.chain_id, clock: bench.clock })
  const store: Pick<Store, 'lease' | 'payments'> = {
    lease: (name, holder, now_ms, until_ms) => bench.store.lease(name, holder, now_ms, until_ms),
    payments: counting(bench.store.payments, (method) => {
      if (method === 'waiting') looked++
    }),
  }
  const settler = bench.settler({ wallets: [await newWallet(bench.anvil)], chain, sender: chain, store, rules: { idle_ms: 100 } })
  t.after(async () => {
    await settler.stop()
    await node.stop()
  })
  settler.start()
  await until('the first look', () => looked === 1)
  const [asked_before, from_ms] = [asked, performance.now()]
  await until('eleven looks', () => looked >= 11)
  const took_ms = performance.now() - from_ms
  assert.ok(took_ms >= 900, `ten looks in ${took_ms} ms`)
  assert.equal(asked, asked_before)
})

/** The same store, saying which method is called. */
function counting(payments: PaymentStore, called: (method: string) => void): PaymentStore {
  return new Proxy(payments, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...given: unknown[]): unknown => {
        called(String(name))
        return Reflect.apply(value, target, given)
      }
    },
  })
}
