/** An id of payment-identifier buys once: another payment under it is refused uncharged, with the way to the answer of the first. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { restCall } from '../support/app.ts'
import { channelFor, PayingChannel } from '../support/channels.ts'
import { invoiceUrl, issue, send } from '../support/invoicing.ts'
import { call, INPUT, read, signed, TOOL, v2, type Answered } from '../support/paying-calls.ts'
import { authorizationsUsed, spendElsewhere } from '../support/paying-chain.ts'
import { rejectOnce } from '../support/paying-faults.ts'
import { startWorld, type World } from '../support/paying-world.ts'
import { headersOf, held, signTerms, termsOf, withIdentifier, type Signed } from '../support/paying.ts'

const OTHER = { iban: 'DE89 3704 0044 0532 0130 00' }
const PRICE_MINOR = 5_000n

let world: World
before(async () => {
  world = await startWorld({ settings: { ASSAY_BATCH_SETTLEMENT: 'on' } })
})
after(() => world.stop())

const newId = () => `order_${randomBytes(12).toString('hex')}`
const sent = (payment: Pick<Signed, 'v2'>, id: string, options = {}) => call(world.url, withIdentifier(payment.v2, id), options)
const charges = async ({ address }: PrivateKeyAccount) => (await authorizationsUsed(world.chain, address)).length

interface First {
  payer: PrivateKeyAccount
  id: string
  payment: Signed
  answer: Answered
}

async function bought(): Promise<First> {
  const [payer, id] = [await world.payer(), newId()]
  const payment = await signed(world.url, payer)
  const answer = await sent(payment, id)
  assert.equal(answer.status, 200, answer.text)
  return { payer, id, payment, answer }
}

/** The refusal names the first payment, and is no offer of another one. */
function assertTaken({ payment: { message } }: Pick<First, 'payment'>, { status, body, headers, text }: Answered): void {
  assert.deepEqual([status, body['code'], body['charged']], [409, 'PAYMENT_ALREADY_USED', false], text)
  assert.equal(body['status_url'], `${world.url}/v1/payments/${message.from.toLowerCase()}/${message.nonce}`)
  assert.equal(headers.get('payment-required'), null)
  assert.match(String(body['detail']), /This payment was not used, and nothing is charged for it/)
}

/** A channel that pays the first price: prices rise with the payments of this file, and a quoted one is payable for two minutes. */
async function channelAt(payer: PrivateKeyAccount, salt?: Hex): Promise<PayingChannel> {
  const { entry } = await channelFor(world.url, TOOL, INPUT, payer, salt)
  return new PayingChannel(payer, { ...entry, amount: String(PRICE_MINOR) }, salt)
}

test('the same id with a fresh nonce is refused, uncharged, and its answer_url has the first answer', async () => {
  const first = await bought()
  const again = await sent(await signed(world.url, first.payer), first.id)
  assertTaken(first, again)
  assert.deepEqual((again.body['first_payment'] as { charged: unknown }).charged, true)
  assert.equal((await read(String(again.body['answer_url']))).text, first.answer.text)
  assert.equal((await read(String(again.body['status_url']))).body['state'], 'settled')
  // The first payload itself is answered as before, from anywhere.
  assert.equal((await sent(first.payment, first.id)).text, first.answer.text)
  assert.equal(await charges(first.payer), 1)
})

test('for another input or tool the first answer stays closed; another id, and the id of another payer, buy', async () => {
  const first = await bought()
  for (const options of [{ input: OTHER }, { tool: 'lei-check', input: { lei: '5493001KJTIIGC8Y1R12' } }]) {
    const again = await sent(await signed(world.url, first.payer), first.id, options)
    assertTaken(first, again)
    assert.equal(again.body['answer_url'], undefined)
  }
  assert.equal(await charges(first.payer), 1)
  assert.equal((await sent(await signed(world.url, first.payer), newId())).status, 200)
  assert.equal((await call(world.url, v2(await signed(world.url, first.payer)))).status, 200)
  assert.equal((await sent(await signed(world.url, await world.payer()), first.id)).status, 200)
  assert.equal(await charges(first.payer), 3)
})

test('a payer whose money is spent, or whose new terms no longer fit, is led to the first answer all the same', async () => {
  const [payer, id] = [await world.payer(PRICE_MINOR), newId()]
  const payment = await signed(world.url, payer)
  const answer = await sent(payment, id)
  assert.equal(answer.status, 200, answer.text)
  for (const change of [{}, { value: 1n }, { validBefore: 1n }]) {
    const again = await sent(await signed(world.url, payer, change), id)
    assertTaken({ payment }, again)
    assert.equal((await read(String(again.body['answer_url']))).text, answer.text)
  }
})

test('twenty payments under one id at once are one charge', async () => {
  const [payer, id] = [await world.payer(), newId()]
  const payments = await Promise.all(Array.from({ length: 20 }, () => signed(world.url, payer)))
  const answers = await Promise.all(payments.map((payment) => sent(payment, id)))
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
  assert.ok(answers.every(({ status, body }) => status === 200 || body['code'] === 'PAYMENT_ALREADY_USED'))
  assert.equal(await charges(payer), 1)
})

test('while the first is on its way, another payment is refused, and the addresses lead to the answer', async () => {
  const [payer, id] = [await world.payer(), newId()]
  const [payment, other] = [await signed(world.url, payer), await signed(world.url, payer)]
  let refused: Answered | null = null
  world.at('after_send', async () => (refused = await sent(other, id)))
  const answer = await sent(payment, id)
  assert.equal(answer.status, 200, answer.text)
  const seen = refused as Answered | null
  assert.ok(seen !== null)
  assertTaken({ payment }, seen)
  assert.equal((seen.body['first_payment'] as { charged: unknown }).charged, 'unknown')
  assert.equal((await read(String(seen.body['answer_url']))).text, answer.text)
  assert.equal(await charges(payer), 1)
})

test('a payment that was given up before anything was sent gives its id back', async (context) => {
  const [payer, id] = [await world.payer(), newId()]
  const payment = await signed(world.url, payer)
  rejectOnce(context, world.payments, 'prepare')
  assert.equal((await sent(payment, id)).status, 503)
  assert.equal((await sent(await signed(world.url, payer), id)).status, 200)
  // The id is now that of the second: the first, which nobody charged, is refused under it.
  const again = await sent(payment, id)
  assert.deepEqual([again.status, again.body['code'], again.body['charged']], [409, 'PAYMENT_ALREADY_USED', false])
  assert.equal(await charges(payer), 1)
})

test('a refused payment keeps its id while it may still be executed, and gives it back afterwards', async () => {
  const [payer, id] = [await world.payer(PRICE_MINOR), newId()]
  const payment = await signed(world.url, payer)
  world.at('after_prepare', () => spendElsewhere(world.chain, payer, PRICE_MINOR))
  assert.equal((await sent(payment, id)).body['code'], 'SETTLEMENT_FAILED')
  const other = await signed(world.url, payer)
  assertTaken({ payment }, await sent(other, id))
  world.sql((database) => database.prepare('update payment set final = 1 where nonce = ?').run(payment.message.nonce))
  const retried = await sent(other, id)
  assert.deepEqual([retried.status, retried.body['code']], [402, 'INSUFFICIENT_FUNDS'], 'it is judged by itself again')
})

test('an id that was guessed opens nothing without the signature of the payer', async () => {
  const first = await bought()
  const required = await termsOf(world.url, TOOL, INPUT)
  const { message, signature } = await signTerms(await world.payer(0n), required, { from: first.payer.address })
  const guessed = await sent(headersOf(required, message, signature), first.id)
  assert.deepEqual([guessed.status, guessed.body['code']], [402, 'BAD_SIGNATURE'])
  assert.ok(!guessed.text.includes('/v1/answers/'))
})

test('over MCP it is the same refusal', async () => {
  const first = await bought()
  const header = withIdentifier((await signed(world.url, first.payer)).v2, first.id)['payment-signature'] ?? ''
  const payment: unknown = JSON.parse(Buffer.from(header, 'base64').toString())
  const params = { name: TOOL, arguments: INPUT, _meta: { 'x402/payment': payment } }
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  const text = await (await fetch(`${world.url}/mcp`, { method: 'POST', headers, body })).text()
  assert.ok(text.includes('PAYMENT_ALREADY_USED') && text.includes('/v1/answers/'), text)
  assert.equal(await charges(first.payer), 1)
})

test('a call and an invoice do not share an id, and an invoice is paid once under it', async () => {
  const first = await bought()
  const invoice = await issue(world, '1')
  const pay_url = `${invoiceUrl(world, invoice)}/pay`
  const { headers } = await send(pay_url, {})
  const required = JSON.parse(Buffer.from(headers.get('payment-required') ?? '', 'base64').toString()) as Parameters<typeof signTerms>[1]
  const payer = await world.payer(3_000_000n)
  const pay = async (by: PrivateKeyAccount, id: string) => send(pay_url, {}, withIdentifier((await signTerms(by, required)).v2, id))
  assertTaken(first, await pay(first.payer, first.id))
  const id = newId()
  const paid = await pay(payer, id)
  assert.equal(paid.status, 200, paid.text)
  const again = await pay(payer, id)
  assert.deepEqual([again.status, again.body['code'], again.body['charged']], [409, 'PAYMENT_ALREADY_USED', false], again.text)
  assert.equal((await read(String(again.body['answer_url']))).text, paid.text)
  assert.equal(await held(world.chain.rpc_url, world.chain.token, payer.address), 2_000_000n)
})

/** Calls of a channel, each with an id. */
const voucherCall = (header: string, id: string, input: object = INPUT) =>
  restCall(world.url, TOOL, input, { ...withIdentifier(header, id), 'x-forwarded-for': '198.51.100.9' })

async function opened(payer: PrivateKeyAccount, id: string, salt?: `0x${string}`): Promise<PayingChannel> {
  const channel = await channelAt(payer, salt)
  const { status, body } = await voucherCall(await channel.deposit(50_000n, PRICE_MINOR), id)
  assert.equal(status, 200, JSON.stringify(body))
  return channel
}

test('vouchers: an id is bound with the charge, on every channel of the payer and against the scheme exact', async () => {
  const [payer, id, second] = [await world.payer(), newId(), newId()]
  const channel = await opened(payer, id)
  const other = await opened(payer, newId(), `0x${'07'.repeat(32)}`)
  const voucher = await channel.voucher(2n * PRICE_MINOR)
  const first = await voucherCall(voucher, second)
  assert.equal(first.status, 200)
  assert.deepEqual((await voucherCall(voucher, second)).body, first.body, 'the same voucher')
  const refusals = [
    await voucherCall(await channel.voucher(3n * PRICE_MINOR), second),
    await voucherCall(await other.voucher(2n * PRICE_MINOR), second),
    await voucherCall(await other.voucher(2n * PRICE_MINOR), id),
    await voucherCall((await signed(world.url, payer)).v2, second),
  ]
  for (const { status, body } of refusals) {
    assert.deepEqual([status, body['code'], body['charged']], [409, 'PAYMENT_ALREADY_USED', false], JSON.stringify(body))
    assert.equal(typeof body['answer_url'], 'string')
  }
  assert.deepEqual((await read(String(refusals[0]?.body['answer_url']))).body, first.body)
  const exact_id = newId()
  assert.equal((await voucherCall((await signed(world.url, payer)).v2, exact_id)).status, 200)
  const { status, body } = await voucherCall(await channel.voucher(3n * PRICE_MINOR), exact_id)
  assert.deepEqual([status, body['code']], [409, 'PAYMENT_ALREADY_USED'])
  // Nothing of this moved the channels: their next vouchers are taken.
  assert.equal((await voucherCall(await channel.voucher(3n * PRICE_MINOR), newId())).status, 200)
  assert.equal((await voucherCall(await other.voucher(2n * PRICE_MINOR), newId())).status, 200)
})

test('vouchers of two channels and payments under one id at once are one charge', async () => {
  const [payer, id] = [await world.payer(), newId()]
  const channels = [await opened(payer, newId()), await opened(payer, newId(), `0x${'09'.repeat(32)}`)]
  const headers = [
    ...(await Promise.all(channels.map((channel) => channel.voucher(2n * PRICE_MINOR)))),
    ...(await Promise.all(Array.from({ length: 3 }, async () => (await signed(world.url, payer)).v2))),
  ]
  const answers = await Promise.all(headers.map((header) => voucherCall(header, id)))
  assert.equal(answers.filter(({ status }) => status === 200).length, 1, JSON.stringify(answers.map(({ body }) => body['code'])))
  assert.ok(answers.every(({ body }) => body['code'] === undefined || body['charged'] === false))
})

test('a deposit under an id that is taken never moves, and one that is sent again with its own id is answered', async () => {
  const first = await bought()
  const channel = await channelAt(first.payer)
  const before_minor = await held(world.chain.rpc_url, world.chain.token, first.payer.address)
  const refused = await voucherCall(await channel.deposit(50_000n, PRICE_MINOR), first.id)
  assert.deepEqual([refused.status, refused.body['code']], [409, 'PAYMENT_ALREADY_USED'])
  assert.equal(await held(world.chain.rpc_url, world.chain.token, first.payer.address), before_minor)
  const [own, id] = [await channel.deposit(50_000n, PRICE_MINOR), newId()]
  const paid = await voucherCall(own, id)
  assert.equal(paid.status, 200, JSON.stringify(paid.body))
  assert.deepEqual((await voucherCall(own, id)).body, paid.body)
  const other = await voucherCall(await channel.deposit(50_000n, 2n * PRICE_MINOR), id)
  assert.deepEqual([other.status, other.body['code'], other.body['charged']], [409, 'PAYMENT_ALREADY_USED', false])
  assert.equal(await held(world.chain.rpc_url, world.chain.token, first.payer.address), before_minor - 50_000n)
})

test('deposits of two channels under one id at once: one moves, and the other is refused for its id', async () => {
  const [payer, id] = [await world.payer(), newId()]
  const before_minor = await held(world.chain.rpc_url, world.chain.token, payer.address)
  const salts = [`0x${'0a'.repeat(32)}`, `0x${'0b'.repeat(32)}`, `0x${'0c'.repeat(32)}`] as const
  const channels = await Promise.all(salts.map((salt) => channelAt(payer, salt)))
  const deposits = await Promise.all(channels.map((channel) => channel.deposit(50_000n, PRICE_MINOR)))
  const answers = await Promise.all(deposits.map((deposit) => voucherCall(deposit, id)))
  assert.deepEqual(
    ['answered', 'PAYMENT_ALREADY_USED'].map((code) => answers.filter(({ body }) => (body['code'] ?? 'answered') === code).length),
    [1, 2],
    JSON.stringify(answers.map(({ body }) => body)),
  )
  assert.equal(await held(world.chain.rpc_url, world.chain.token, payer.address), before_minor - 50_000n)
})
