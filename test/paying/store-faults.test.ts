/** Once a payment is to be sent, a store that fails delays its end; it never makes it two. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { call, INPUT, priceOf, read, signed, statusUrl, TOOL, v2 } from '../support/paying-calls.ts'
import { channelFor } from '../support/channels.ts'
import { authorizationsUsed } from '../support/paying-chain.ts'
import { loseOnce, rejectOnce } from '../support/paying-faults.ts'
import { startWorld, type World } from '../support/paying-world.ts'
import { held } from '../support/paying.ts'

let world: World
let price: bigint

before(async () => {
  world = await startWorld({ settings: { ASSAY_BATCH_SETTLEMENT: 'on' } })
  price = await priceOf(world.url)
})
after(() => world.stop())

const FAULTS = { 'does not answer': rejectOnce, 'does what it is told, and its answer is lost': loseOnce }

for (const method of ['lease', 'waiting', 'add_sending', 'apply_transitions', 'finish_sending'] as const) {
  for (const [words, fail] of Object.entries(FAULTS)) {
    test(`a store that at ${method} once ${words}: settled once, answered`, async (context) => {
      const payer = await world.payer(3n * price)
      const payment = await signed(world.url, payer)
      if (method === 'lease') fail(context, world.store, method)
      else fail(context, world.payments, method)
      const answer = await call(world.url, v2(payment))
      assert.equal(answer.status, 200, answer.text)
      assert.equal((await call(world.url, v2(payment))).text, answer.text)
      assert.equal((await authorizationsUsed(world.chain, payer.address)).length, 1)
      assert.equal(await held(world.chain.rpc_url, world.chain.token, payer.address), 2n * price)
    })
  }
}

test('a settled payment whose answer cannot be read just now is not called uncharged', async (context) => {
  const payment = await signed(world.url, await world.payer())
  const paid = await call(world.url, v2(payment))
  assert.equal(paid.status, 200)
  for (const method of ['find', 'answer'] as const) {
    rejectOnce(context, world.payments, method)
    const { status, body, headers } = await call(world.url, v2(payment))
    assert.deepEqual([status, body['code'], body['charged']], [503, 'STORE_UNAVAILABLE', 'unknown'])
    assert.match(headers.get('retry-after') ?? '', /^[1-9]\d*$/)
  }
  rejectOnce(context, world.payments, 'find')
  const { status, body } = await read(statusUrl(world.url, payment))
  assert.deepEqual([status, body['code'], body['charged']], [503, 'STORE_UNAVAILABLE', 'unknown'])
  assert.equal((await call(world.url, v2(payment))).text, paid.text)
})

test('a copy that cannot be claimed is called uncharged only if no other copy was settled meanwhile', async (context) => {
  const payment = await signed(world.url, await world.payer())
  rejectOnce(context, world.payments, 'claim')
  const alone = await call(world.url, v2(payment))
  assert.deepEqual([alone.status, alone.body['code'], alone.body['charged']], [503, 'STORE_UNAVAILABLE', false])
  let other: Awaited<ReturnType<typeof call>> | null = null
  const claim = world.payments.claim.bind(world.payments)
  const faulty = async () => {
    world.payments.claim = claim
    other = await call(world.url, v2(payment))
    throw new Error('the store does not answer')
  }
  world.payments.claim = faulty
  const copy = await call(world.url, v2(payment))
  assert.deepEqual([copy.status, copy.body['code'], copy.body['charged']], [503, 'STORE_UNAVAILABLE', 'unknown'])
  assert.equal((other as Awaited<ReturnType<typeof call>> | null)?.status, 200)
})

test('a deposit that is on the chain is not called uncharged when the store fails before its charge', async (context) => {
  const payer = await world.payer(20n * price)
  const channel = await channelFor(world.url, TOOL, INPUT, payer)
  const payment = { 'payment-signature': await channel.deposit(10n * price, price) }
  const client = '10.9.9.9'
  // The channel is stored before the deposit, and once more after it.
  world.at('after_prepare', async () => rejectOnce(context, world.store.channels, 'add'))
  const { status, body } = await call(world.url, payment, { client })
  assert.equal((await authorizationsUsed(world.chain, payer.address)).length, 1)
  assert.deepEqual([status, body['code'], body['charged'], body['retryable']], [503, 'STORE_UNAVAILABLE', 'unknown', true])
  const answer = await call(world.url, payment, { client })
  assert.equal(answer.status, 200, answer.text)
  assert.equal((await call(world.url, payment, { client })).text, answer.text)
  assert.equal((await authorizationsUsed(world.chain, payer.address)).length, 1)
})
