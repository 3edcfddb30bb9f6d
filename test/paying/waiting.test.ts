/** What is told of a payment while it is on its way, and afterwards, to its payer and to strangers. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { call, priceOf, read, signed, statusUrl, TOOL, v1, v2, type Answered } from '../support/paying-calls.ts'
import { authorizationsUsed, spendElsewhere } from '../support/paying-chain.ts'
import { startLiveWorld, startWorld, type World } from '../support/paying-world.ts'
import type { Signed } from '../support/paying.ts'
import { until } from '../support/until.ts'

const INPUT = { iban: 'GB29 NWBK 6016 1331 9268 19' }

let world: World
let anvil: Anvil
let live: World
/** A payment whose transaction no block takes up, sent at the start. */
let slow: Signed
let slow_answer: Promise<Answered>

before(async () => {
  world = await startWorld()
  anvil = await startAnvil()
  live = await startLiveWorld({ anvil })
  slow = await signed(live.url, await live.payer())
  await anvil.automine(false)
  slow_answer = call(live.url, v2(slow), { input: INPUT })
})
after(async () => {
  await slow_answer
  await world.stop()
  await live.stop()
  await anvil.stop()
})

function inBase64(header: string | null): unknown {
  return JSON.parse(Buffer.from(header ?? '', 'base64').toString())
}

async function stateOf(own: World, payment: Signed): Promise<Record<string, unknown>> {
  const { status, body } = await read(statusUrl(own.url, payment))
  assert.equal(status, 200)
  return body
}

test('a payment that nobody has seen is unpaid, whatever the case of its digits', async () => {
  const payment = await signed(world.url, await world.payer(0n))
  const { state, charged, amount_minor, pay_to, transaction } = await stateOf(world, payment)
  assert.deepEqual([state, charged, amount_minor, pay_to, transaction], ['unpaid', false, null, null, null])
  const path = statusUrl(world.url, payment).replace(/0x[0-9a-fA-F]+$/, (nonce) => `0x${nonce.slice(2).toUpperCase()}`)
  assert.equal((await read(path)).body['nonce'], payment.message.nonce)
  assert.equal((await read(`${world.url}/v1/payments/0x12/0x34`)).status, 400)
})

test('who sends it again while it is on its way waits, and gets the same bytes', async () => {
  const payer = await world.payer()
  const payment = await signed(world.url, payer)
  const gate = Promise.withResolvers<void>()
  const reached = Promise.withResolvers<void>()
  world.at('before_send', () => {
    reached.resolve()
    return gate.promise
  })
  const first = call(world.url, v2(payment))
  await reached.promise
  const second = call(world.url, v1(payment))
  const { state, charged, payer: named } = await stateOf(world, payment)
  assert.deepEqual([state, charged, named], ['pending', 'unknown', payer.address.toLowerCase()])
  assert.equal((await authorizationsUsed(world.chain, payer.address)).length, 0)
  gate.resolve()
  const [one, other] = await Promise.all([first, second])
  assert.deepEqual([one.status, other.status], [200, 200])
  assert.equal(one.text, other.text)
  assert.equal((await authorizationsUsed(world.chain, payer.address)).length, 1)
})

test('a settled payment is told with its transaction, and without what was asked', async () => {
  const payment = await signed(world.url, await world.payer())
  const answer = await call(world.url, v2(payment), { input: INPUT })
  assert.equal(answer.status, 200)
  const { transaction } = answer.body['settlement'] as { transaction: string }
  const told = await stateOf(world, payment)
  assert.deepEqual(
    [told['state'], told['charged'], told['transaction'], told['pay_to'], told['amount_minor'], told['network']],
    ['settled', true, transaction, world.chain.pay_to, String(payment.message.value), 'eip155:84532'],
  )
  const { input_hash, output_hash, nonce } = answer.body['receipt'] as Record<string, string>
  assert.equal(nonce, told['nonce'])
  const text = JSON.stringify(told)
  for (const secret of [TOOL, 'iban', 'NWBK', input_hash ?? '', output_hash ?? ''])
    assert.ok(secret !== '' && !text.includes(secret), secret)
})

test('a payment that was refused on chain stays so, and may be executed by others until it runs out', async () => {
  const payer = await world.payer(await priceOf(world.url))
  const payment = await signed(world.url, payer)
  world.at('after_prepare', () => spendElsewhere(world.chain, payer, payment.message.value))
  const first = await call(world.url, v2(payment))
  const { state, charged } = await stateOf(world, payment)
  assert.deepEqual([state, charged], ['pending', 'unknown'])
  // transports-v2/http.md of x402, "Example (Failure)", and its like of version 1.
  const failure = {
    success: false,
    errorReason: 'invalid_exact_evm_transaction_failed',
    transaction: '',
    payer: payer.address.toLowerCase(),
  }
  for (const { status, body, headers } of [first, await call(world.url, v2(payment))]) {
    assert.deepEqual([status, body['code'], body['charged']], [402, 'SETTLEMENT_FAILED', 'unknown'])
    assert.deepEqual(inBase64(headers.get('payment-response')), { ...failure, network: 'eip155:84532' })
    assert.deepEqual(inBase64(headers.get('x-payment-response')), { ...failure, network: 'base-sepolia' })
  }
  assert.equal((await authorizationsUsed(world.chain, payer.address)).length, 1, 'the one that was spent elsewhere')
})

test('an address of an answer that was never given is unknown', async () => {
  for (const token of ['0'.repeat(64), 'F'.repeat(64), 'latest', '0'.repeat(63)]) {
    const { status, body } = await read(`${live.url}/v1/answers/${token}`)
    assert.deepEqual([status, body['code'], body['charged']], [404, 'ANSWER_NOT_FOUND', false])
  }
})

test('a call that waits in vain is told where its answer will be; there it is, in the bytes that a resend gets', async () => {
  const pending = await slow_answer
  assert.deepEqual([pending.status, pending.body['code'], pending.body['charged']], [202, 'PAYMENT_PENDING', 'unknown'])
  const { transaction, status_url } = pending.body
  const waiting = (await anvil.rpc('eth_getTransactionByHash', [transaction])) as { blockNumber: unknown; to: string }
  assert.equal(waiting.blockNumber, null)
  assert.equal(String(status_url).toLowerCase(), statusUrl(live.url, slow).toLowerCase())
  assert.equal((await stateOf(live, slow))['state'], 'pending')

  const location = pending.headers.get('location') ?? ''
  assert.match(location, /\/v1\/answers\/[0-9a-f]{64}$/)
  const early = await read(location)
  assert.deepEqual([early.status, early.body['code'], early.body['transaction']], [202, 'PAYMENT_PENDING', transaction])
  assert.match(early.headers.get('retry-after') ?? '', /^[1-9]\d*$/)

  await anvil.automine(true)
  await anvil.mine()
  await until('the payment is settled', async () => (await stateOf(live, slow))['state'] === 'settled')
  const fetched = await read(location)
  const resent = await call(live.url, v2(slow), { input: INPUT })
  assert.deepEqual([fetched.status, resent.status], [200, 200])
  assert.equal(fetched.text, resent.text)
  assert.equal(fetched.headers.get('payment-response'), resent.headers.get('payment-response'))
  assert.equal((fetched.body['settlement'] as { transaction: string }).transaction, transaction)
  assert.equal((await authorizationsUsed(live.chain, slow.message.from)).length, 1)
})
