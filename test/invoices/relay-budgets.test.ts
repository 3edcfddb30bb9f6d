/** Invoice payments that were not sent to the chain use up none of the daily relay budgets. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { AllowanceRequest } from '../../src/ports/store.ts'
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
