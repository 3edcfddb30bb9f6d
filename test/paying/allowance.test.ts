/** A payment is a payment, whatever is free: it never draws on the free calls, and a broken one is not overlooked for their sake. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { call, INPUT, stranger, TOOL, v2 } from '../support/paying-calls.ts'
import { startWorld, type World } from '../support/paying-world.ts'
import { signTerms, termsOf } from '../support/paying.ts'

const FREE = 2

let world: World

before(async () => {
  world = await startWorld({ free_daily: FREE })
  // The test's own address, without a proxy's word, is a client of its own: it asks for terms.
  for (let calls = 0; calls < FREE; calls += 1) await fetchPlain()
})
after(() => world.stop())

function fetchPlain(): Promise<Response> {
  return fetch(`${world.url}/v1/tools/${TOOL}/call`, { method: 'POST', body: JSON.stringify({ input: INPUT }) })
}

const used = () => world.sql((database) => database.prepare('select sum(used) as used from allowance').get()?.['used'])

test('a payment with free calls left is used, and they are left', async () => {
  const client = stranger()
  const before_used = used()
  const payment = await signTerms(await world.payer(), await termsOf(world.url, TOOL, INPUT))
  const { status, body } = await call(world.url, v2(payment), { client })
  assert.deepEqual([status, body['tier'], (body['allowance'] as { remaining: number }).remaining], [200, 'paid', FREE])
  assert.equal((body['settlement'] as { payer: string }).payer, payment.message.from.toLowerCase())
  assert.equal(used(), before_used)
  const free = await call(world.url, {}, { client })
  assert.deepEqual([free.body['tier'], free.body['settlement']], ['free', null])
  assert.deepEqual((free.body['allowance'] as { remaining: number }).remaining, FREE - 1)
})

test('a payment that cannot be read, or does not fit, is refused although free calls are left', async () => {
  const client = stranger()
  const before_used = used()
  const payment = await signTerms(await world.payer(0n), await termsOf(world.url, TOOL, INPUT))
  for (const given of [{ 'x-payment': 'e30=' }, v2(payment)]) {
    const { status, body } = await call(world.url, given, { client })
    assert.deepEqual([status, body['charged'], (body['allowance'] as { remaining: number }).remaining], [402, false, FREE])
  }
  for (const given of [{ 'x-payment': '' }, { 'payment-signature': payment.v2.slice(4) }]) {
    const { status, body } = await call(world.url, given, { client })
    assert.deepEqual([status, body['code'], body['charged']], [400, 'PAYMENT_UNDECODABLE', false])
  }
  assert.equal(used(), before_used)
})
