/** Invoice payments that were not sent to the chain use up none of the daily relay budgets. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { AllowanceRequest } from '../../src/ports/store.ts'
import { createSponsoring } from '../../src/service/invoices/sponsored.ts'
import { restCall } from '../support/app.ts'
import { signTerms, termsOf } from '../support/paying.ts'
import { invoiceUrl, issue, send, sendAsStranger, signFor, type InvoiceShown } from '../support/invoicing.ts'
import { spendElsewhere } from '../support/paying-chain.ts'
import { rejectOnce } from '../support/paying-faults.ts'
import { startWorld, type World } from '../support/paying-world.ts'

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.stop())

const TEN = 10_000_000n

/** Units of the client, network, merchant and global budgets of unsigned invoices that `work` used, for all clients and merchants together. */
async function usedBy(work: () => Promise<unknown>): Promise<number[]> {
  const used_before = units()
  await work()
  return units().map((used, index) => used - (used_before[index] ?? 0))
}

function units(): number[] {
  const text = 'select coalesce(sum(used), 0) as used from allowance where bucket = ?'
  const buckets = ['invoice-relay-client', 'invoice-relay-network', 'invoice-relay-merchant-unsigned', 'invoice-relay-unsigned']
  return world.sql((database) => buckets.map((bucket) => Number(database.prepare(text).get(bucket)?.['used'])))
}

function pay(invoice: InvoiceShown, body: unknown) {
  return send(`${invoiceUrl(world, invoice)}/pay`, body)
}

test('a payment that was sent uses one unit of each budget, also when it fails on chain; its replay uses none', async () => {
  const [payer, poor, invoice] = [await world.payer(TEN), await world.payer(TEN), await issue(world, '10')]
  const { body } = await signFor(world.chain, payer, invoice)
  for (const expected of [1, 0]) {
    const units_used = await usedBy(async () => assert.equal((await pay(invoice, body)).status, 200))
    assert.deepEqual(units_used, [expected, expected, expected, expected])
  }
  const other = await issue(world, '10')
  world.at('after_prepare', () => spendElsewhere(world.chain, poor, TEN))
  const failed = await signFor(world.chain, poor, other)
  assert.deepEqual(await usedBy(async () => assert.equal((await pay(other, failed.body)).status, 402)), [1, 1, 1, 1])
})

// attack: payments that are never sent and use up the daily relay budgets
// in: money and signatures
// asset: invoice relay
// attacker: payer
// defence: units are returned when no transaction was sent
test('a payment that somebody else sent first costs no gas, and its units are returned', async () => {
  const [payer, invoice] = [await world.payer(TEN), await issue(world, '10')]
  const signed = await signFor(world.chain, payer, invoice)
  world.at('after_prepare', () => sendAsStranger(world.chain, signed))
  assert.deepEqual(await usedBy(async () => assert.equal((await pay(invoice, signed.body)).status, 200)), [0, 0, 0, 0])
})

test('a claim that was released before it was prepared is not sent, and its units are returned', async () => {
  const [payer, invoice] = [await world.payer(TEN), await issue(world, '10')]
  world.at('after_claim', async () => {
    world.sql((database) => database.prepare(`update payment set state = 'released' where state = 'claimed'`).run())
  })
  const { body } = await signFor(world.chain, payer, invoice)
  assert.deepEqual(await usedBy(async () => assert.equal((await pay(invoice, body)).status, 500)), [0, 0, 0, 0])
})

test('a store error before anything is sent returns the units', async (t) => {
  for (const method of ['claim', 'prepare'] as const) {
    const [payer, invoice] = [await world.payer(TEN), await issue(world, '10')]
    const { body } = await signFor(world.chain, payer, invoice)
    rejectOnce(t, world.payments, method)
    assert.deepEqual(await usedBy(async () => assert.equal((await pay(invoice, body)).status, 503, method)), [0, 0, 0, 0], method)
  }
})

test('a store error at the last budget returns the units of those before it', async (t) => {
  const [payer, invoice] = [await world.payer(TEN), await issue(world, '10')]
  const { body } = await signFor(world.chain, payer, invoice)
  const take = world.store.take.bind(world.store)
  t.mock.method(world.store, 'take', (request: AllowanceRequest) =>
    request.bucket === 'invoice-relay-unsigned'
      ? Promise.reject(Object.assign(new Error('gone'), { code: 'STORE_UNAVAILABLE' }))
      : take(request),
  )
  assert.deepEqual(await usedBy(async () => assert.equal((await pay(invoice, body)).status, 503)), [0, 0, 0, 0])
})

test('one payer, and one network that creates invoices, have a share of the relays of a day; larger payments of others go on', () => {
  const sponsoring = createSponsoring({ store: { used: () => Promise.resolve(0) }, clock: { now_ms: () => 0 } })
  const asked = (value_minor: bigint, is_known = false) =>
    sponsoring
      .relayBudgets({ payer: '0xaa', value_minor, merchant: '0xbb', is_signed: false, creator: 'cc', is_known }, 0)
      .map(({ bucket, client, limit }) => [bucket, client, limit])
  assert.deepEqual(asked(1_000_000n), [
    ['invoice-relay-payer', '0xaa', 100],
    ['invoice-relay-creator', 'cc', 100],
    ['invoice-relay-merchant-unsigned', '0xbb', 100],
    ['invoice-relay-new-unsigned', 'all', 500],
    ['invoice-relay-unsigned', 'all', 500],
  ])
  assert.deepEqual(asked(10_000_000n), [
    ['invoice-relay-payer', '0xaa', 100],
    ['invoice-relay-creator', 'cc', 200],
    ['invoice-relay-merchant-unsigned', '0xbb', 100],
    ['invoice-relay-new-unsigned', 'all', 500],
    ['invoice-relay-unsigned', 'all', 1_000],
  ])
  assert.deepEqual(asked(1_000_000n, true).at(-1), ['invoice-relay-unsigned', 'all', 750])
  assert.deepEqual(asked(10_000_000n, true).slice(-2), [
    ['invoice-relay-merchant-unsigned', '0xbb', 100],
    ['invoice-relay-unsigned', 'all', 1_000],
  ])
})

test('a payer whose share is used up is told which one it is, and another payer of the same invoice pays', async () => {
  const [payer, other, invoice] = [await world.payer(TEN), await world.payer(TEN), await issue(world, '10')]
  const day = Math.floor(Date.now() / 86_400_000)
  const share = { day, bucket: 'invoice-relay-payer', client: payer.address.toLowerCase(), limit: 100 }
  for (let count = 0; count < 100; count += 1) await world.store.take(share)
  const refused = await pay(invoice, (await signFor(world.chain, payer, invoice)).body)
  assert.deepEqual([refused.status, refused.body['code']], [429, 'INVOICE_RATE_LIMITED'])
  assert.match(String(refused.body['detail']), /used up for this payer until 00:00 UTC\. Nothing was sent/)
  assert.equal((await pay(invoice, (await signFor(world.chain, other, invoice)).body)).status, 200)
})

test('invoices that calls create count for the network of the caller, and those of another network for that one', async () => {
  const asked = { amount_usdc: '5', merchant: `0x${'12'.repeat(20)}` }
  const creatorOf = async (invoice_id: string) => (await world.store.invoices.deposit_origin(invoice_id))?.creator ?? assert.fail()
  const created = async (address: string) => {
    const { v2 } = await signTerms(await world.payer(TEN), await termsOf(world.url, 'create-b2b-invoice', asked))
    const headers = { 'payment-signature': v2, 'x-forwarded-for': address }
    const { body } = await restCall(world.url, 'create-b2b-invoice', asked, headers)
    return creatorOf((body['result'] as { invoice_id: string }).invoice_id)
  }
  const [first, second, other] = [await created('203.0.113.7'), await created('203.0.113.200'), await created('198.51.100.7')]
  assert.deepEqual([first === second, first === other], [true, false])
})
