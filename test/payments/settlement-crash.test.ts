/** A writer dies at each step; the next one finishes its work, once. Real node, real store. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Payment } from '../../src/ports/payments.ts'
import type { FaultPoint } from '../../src/service/payments/settlement.ts'
import { newWallet, QUICK, startSettlement, type SettlementBench } from '../support/settlement.ts'

let bench: SettlementBench

before(async () => {
  bench = await startSettlement()
})
after(() => bench.stop())

/** A `reach` that never comes back from this point, like a process that was killed there, and says when it got there. */
function deadAt(point: FaultPoint): { reach(at: FaultPoint): Promise<void>; reached: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>()
  const reach = (at: FaultPoint) => {
    if (at !== point) return Promise.resolve()
    resolve()
    return new Promise<void>(() => {})
  }
  return { reach, reached: promise }
}

async function threePayments(settler: string): Promise<Payment[]> {
  const payers = await Promise.all([bench.payer(), bench.payer(), bench.payer()])
  return Promise.all(payers.map((payer) => bench.settling(payer, { settler })))
}

describe('a writer that dies', () => {
  for (const point of ['before_send', 'after_send', 'before_settled_row'] as const) {
    // attack: charged without an answer, or twice
    test(`at ${point}: its successor settles each payment once, with the same transaction`, async () => {
      const wallet = await newWallet(bench.anvil)
      const before_minor = await bench.held(bench.pay_to)
      const payments = await threePayments(wallet.address)
      const dying = deadAt(point)
      bench.settler({ wallets: [wallet], reach: dying.reach }).start()
      await dying.reached
      const [stored] = await bench.store.payments.open_sendings(wallet.address)
      const successor = bench.settler({ wallets: [wallet] })
      successor.start()
      bench.clock.ahead_ms += QUICK.lease_ms + 1
      const results = await Promise.all(payments.map((payment) => successor.settle(payment, 10_000)))
      await successor.stop()
      const hashes = results.map((result) => (result.kind === 'settled' ? result.payment.transaction : result.kind))
      assert.deepEqual(hashes, Array(3).fill(stored?.attempts[0]?.hash))
      assert.equal(await bench.held(bench.pay_to), before_minor + 30_000n)
      assert.equal(await bench.chain.account_nonce(wallet.address), 1)
      assert.deepEqual(await bench.store.payments.open_sendings(wallet.address), [])
    })
  }

  test('of an error at a step, and not for good, goes on by itself', async () => {
    const wallet = await newWallet(bench.anvil)
    const payments = await threePayments(wallet.address)
    const failed = new Set<FaultPoint>()
    const reach = async (at: FaultPoint) => {
      if (failed.has(at)) return
      failed.add(at)
      throw new Error(`the step ${at} failed`)
    }
    const settler = bench.settler({ wallets: [wallet], reach })
    settler.start()
    const results = await Promise.all(payments.map((payment) => settler.settle(payment, 10_000)))
    await settler.stop()
    assert.deepEqual(
      results.map(({ kind }) => kind),
      ['settled', 'settled', 'settled'],
    )
    assert.deepEqual([...failed], ['before_send', 'before_settled_row'])
    assert.equal(await bench.chain.account_nonce(wallet.address), 1)
  })

  test('and comes back to life after its successor took over, writes nothing more', async () => {
    const wallet = await newWallet(bench.anvil)
    const payments = await threePayments(wallet.address)
    const { promise: asleep, resolve: wake } = Promise.withResolvers<void>()
    const { promise: reached, resolve: arrived } = Promise.withResolvers<void>()
    const sleeper = bench.settler({
      wallets: [wallet],
      reach: async (at) => {
        if (at !== 'before_settled_row') return
        arrived()
        await asleep
      },
    })
    sleeper.start()
    await reached
    const successor = bench.settler({ wallets: [wallet] })
    successor.start()
    bench.clock.ahead_ms += QUICK.lease_ms + 1
    const results = await Promise.all(payments.map((payment) => successor.settle(payment, 10_000)))
    const rows = await Promise.all(payments.map((payment) => bench.row(payment)))
    wake()
    await sleeper.stop()
    await successor.stop()
    assert.deepEqual(
      results.map(({ kind }) => kind),
      ['settled', 'settled', 'settled'],
    )
    assert.deepEqual(await Promise.all(payments.map((payment) => bench.row(payment))), rows)
  })
})

test('two writers compete for a wallet: all is settled once, with account nonces in a row', async () => {
  const wallet = await newWallet(bench.anvil)
  const payers = await Promise.all(Array.from({ length: 24 }, () => bench.payer()))
  const before_minor = await bench.held(bench.pay_to)
  const options = { wallets: [wallet], rules: { batch_items: 4 } }
  const [one, two] = [bench.settler(options), bench.settler({ ...options, chain: bench.freshChain() })]
  one.start()
  two.start()
  const payments = await Promise.all(payers.map((payer) => bench.settling(payer, { settler: wallet.address })))
  const results = await Promise.all(payments.map((payment, index) => (index % 2 === 0 ? one : two).settle(payment, 10_000)))
  assert.ok(results.every(({ kind }) => kind === 'settled'))
  assert.equal(await bench.held(bench.pay_to), before_minor + 240_000n)
  const nonces = results.map((result) => (result.kind === 'settled' ? result.payment.account_nonce : null))
  const mined = await bench.chain.account_nonce(wallet.address)
  assert.deepEqual(new Set(nonces), new Set(Array.from({ length: mined }, (_, index) => index)))
  await Promise.all([one.stop(), two.stop()])
})
