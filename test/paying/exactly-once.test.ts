/** One payment, one charge, one answer, whoever asks at once. What was charged is read from the chain, never from the service. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { PrivateKeyAccount } from 'viem/accounts'
import { runs } from '../support/counts.ts'
import { call, INPUT, priceOf, signed, v1, v2, type Answered } from '../support/paying-calls.ts'
import { authorizationsUsed, received } from '../support/paying-chain.ts'
import { startWorld, type World } from '../support/paying-world.ts'
import { held, signTerms, termsOf } from '../support/paying.ts'
import { until } from '../support/until.ts'

const CLIENTS = 50
const PAYERS = runs(50, 200)

let world: World
let price: bigint

before(async () => {
  world = await startWorld()
  price = await priceOf(world.url)
})
after(() => world.stop())

const balance = (account: string) => held(world.chain.rpc_url, world.chain.token, account)
/** The codes of problems, and the status of answers. */
const codes = (answers: Answered[]) =>
  answers.map(({ status, body }) => (typeof body['code'] === 'string' ? body['code'] : String(status))).toSorted()

/** Each authorization was used once, for the price, and the payer has the rest. */
async function assertCharged(payer: PrivateKeyAccount, times: number, left: bigint): Promise<void> {
  assert.equal((await authorizationsUsed(world.chain, payer.address)).length, times)
  const paid = (await received(world.chain)).filter(({ from }) => from === payer.address.toLowerCase())
  assert.deepEqual(
    paid.map(({ value }) => value),
    Array.from({ length: times }, () => price),
  )
  assert.equal(await balance(payer.address), left)
}

test(`one payment sent ${CLIENTS} times at once settles once, and everybody gets the same bytes`, async () => {
  const payer = await world.payer(3n * price)
  const payment = await signed(world.url, payer)
  // Of one network, since one that arrives after the settlement gets the stored answer there alone.
  const from = (index: number) => ({ client: `198.51.100.${index + 1}` })
  const answers = await Promise.all(Array.from({ length: CLIENTS }, (_, index) => call(world.url, v2(payment), from(index))))
  assert.deepEqual(new Set(codes(answers)), new Set(['200']))
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
  const receipts = answers.map(({ headers }) => [headers.get('payment-response'), headers.get('x-payment-response')].join(' '))
  assert.equal(new Set(receipts).size, 1)
  await assertCharged(payer, 1, 2n * price)
})

test('what a payer has spent in a block already is not held against what it has left', async () => {
  const payer = await world.payer(2n * price)
  const [first, second] = [await signed(world.url, payer), await signed(world.url, payer)]
  let other: Promise<Answered> | null = null
  // The transfer of the first is in a block, and its row is still open.
  world.at('before_settled_row', async () => {
    let ended = false
    other = call(world.url, v2(second), { input: { iban: 'DE89 3704 0044 0532 0130 00' } }).finally(() => (ended = true))
    const { from: payer_address, nonce } = second.message
    const key = { payer: payer_address.toLowerCase(), nonce }
    await until('the second is claimed or refused', async () => ended || (await world.payments.find(key)) !== null)
  })
  assert.equal((await call(world.url, v2(first))).status, 200)
  const answer = await (other as Promise<Answered> | null)
  assert.equal(answer?.status, 200, answer?.text)
  await assertCharged(payer, 2, 0n)
})

test('the resend, in either header and either version, gets the same bytes later', async () => {
  const payer = await world.payer(3n * price)
  const payment = await signed(world.url, payer)
  const first = await call(world.url, v1(payment))
  assert.equal(first.status, 200)
  const { settlement, receipt } = first.body as { settlement: { transaction: string }; receipt: { nonce: string; amount: string } }
  assert.deepEqual([receipt.nonce, receipt.amount], [payment.message.nonce, String(price)])
  const [used] = await authorizationsUsed(world.chain, payer.address)
  assert.deepEqual([used?.transactionHash, used?.args.nonce], [settlement.transaction, payment.message.nonce])
  const resent = [v1(payment), v2(payment), { 'x-payment': payment.v2 }, { 'payment-signature': payment.v1 }]
  for (const headers of resent) {
    const again = await call(world.url, headers)
    assert.equal(again.status, 200)
    assert.equal(again.text, first.text)
    assert.equal(again.headers.get('payment-response'), first.headers.get('payment-response'))
  }
  // The same input, written otherwise.
  assert.equal((await call(world.url, v2(payment), { raw: `{ "input" : {"iban":"GB29 NWBK 6016 1331 9268 19"} }` })).text, first.text)
  await assertCharged(payer, 1, 2n * price)
})

// attack: one payment for two calls
// in: money and signatures
// asset: paid answers
// attacker: payer
// defence: a payment is bound to tool and input before the tool runs
test('a payment buys one request: another input or another tool is refused, also at once', async () => {
  const payer = await world.payer(3n * price)
  const payment = await signed(world.url, payer)
  const other = { input: { iban: 'DE89 3704 0044 0532 0130 00' } }
  const at_once = await Promise.all([call(world.url, v2(payment)), call(world.url, v2(payment), other)])
  assert.deepEqual(codes(at_once), ['200', 'NONCE_BOUND'])
  const [won] = at_once
  const bound = won.status === 200 ? { input: INPUT } : other
  const refused = [
    { input: { iban: 'FR14 2004 1010 0505 0001 3M02 606' } },
    { tool: 'luhn-check', input: { number: '4111111111111111' } },
    { tool: 'lei-check', input: { lei: '5493001KJTIIGC8Y1R12' } },
  ]
  for (const request of refused) {
    const { status, body } = await call(world.url, v2(payment), request)
    assert.deepEqual([status, body['code'], body['charged']], [409, 'NONCE_BOUND', false])
  }
  assert.equal((await call(world.url, v2(payment), bound)).status, 200)
  await assertCharged(payer, 1, 2n * price)
})

test('another authorization under the same nonce is not the one that was bound', async () => {
  const payer = await world.payer(3n * price)
  const required = await termsOf(world.url, 'iban-check', INPUT)
  const payment = await signTerms(payer, required)
  const longer = await signTerms(payer, required, { nonce: payment.message.nonce, validBefore: payment.message.validBefore + 60n })
  assert.equal((await call(world.url, v2(payment))).status, 200)
  const { status, body } = await call(world.url, v2(longer))
  assert.deepEqual([status, body['code']], [409, 'NONCE_BOUND'])
  await assertCharged(payer, 1, 2n * price)
})

test('of two authorizations that one balance covers once, exactly one settles: at once', async () => {
  const payer = await world.payer(price)
  const payments = await Promise.all([signed(world.url, payer), signed(world.url, payer)])
  const answers = await Promise.all(payments.map((payment) => call(world.url, v2(payment))))
  assert.deepEqual(codes(answers), ['200', 'INSUFFICIENT_FUNDS'])
  await assertCharged(payer, 1, 0n)
})

test('of two authorizations that one balance covers once, exactly one settles: one after the other', async () => {
  const payer = await world.payer(price)
  const [first, second] = [await signed(world.url, payer), await signed(world.url, payer)]
  assert.equal((await call(world.url, v2(first))).status, 200)
  const refused = await call(world.url, v2(second))
  assert.deepEqual([refused.status, refused.body['code'], refused.body['charged']], [402, 'INSUFFICIENT_FUNDS', false])
  assert.equal((await call(world.url, v2(first))).status, 200)
  await assertCharged(payer, 1, 0n)
})

test(`${PAYERS} payers at once: as many settlements, and the ledger is what the chain says`, async () => {
  const payers: PrivateKeyAccount[] = []
  for (let index = 0; index < PAYERS; index += 1) payers.push(await world.payer(2n * price))
  const before_minor = await balance(world.chain.pay_to)
  const required = await termsOf(world.url, 'iban-check', INPUT)
  const payments = await Promise.all(payers.map((payer) => signTerms(payer, required)))
  const answers = await Promise.all(payments.map((payment) => call(world.url, v2(payment))))
  assert.deepEqual(new Set(codes(answers)), new Set(['200']))
  assert.equal(new Set(answers.map(({ body }) => (body['receipt'] as { nonce: string }).nonce)).size, PAYERS)
  assert.equal(await balance(world.chain.pay_to), before_minor + BigInt(PAYERS) * price)
  const transfers = await received(world.chain)
  const charged = new Map(payers.map(({ address }) => [address.toLowerCase(), 0]))
  for (const { from } of transfers) if (charged.has(from)) charged.set(from, (charged.get(from) ?? 0) + 1)
  assert.deepEqual(new Set(charged.values()), new Set([1]))
  await assertLedger(transfers)
})

/** Everything that ever reached the recipient, against the settled rows of the ledger. */
async function assertLedger(transfers: { value: bigint }[]): Promise<void> {
  const sums = (await world.payments.ledger_sums({})).filter(({ state }) => state === 'settled')
  const booked = sums.reduce((all, { count, value_minor }) => ({ count: all.count + count, minor: all.minor + value_minor }), {
    count: 0,
    minor: 0n,
  })
  const moved = transfers.reduce((sum, { value }) => sum + value, 0n)
  assert.deepEqual(booked, { count: transfers.length, minor: moved })
  const rows = world.sql((database) =>
    database.prepare('select payer, nonce, transaction_hash as hash from payment where state = ?').all('settled'),
  )
  const used = (await authorizationsUsed(world.chain)).map(
    ({ args, transactionHash }) => `${args.authorizer} ${args.nonce} ${transactionHash}`,
  )
  assert.deepEqual(
    rows.map(({ payer, nonce, hash }) => [payer, nonce, hash].map(String).join(' ')).toSorted(),
    used.map((line) => line.toLowerCase()).toSorted(),
  )
}
